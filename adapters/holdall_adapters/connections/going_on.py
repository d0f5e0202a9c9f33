"""Commands that go on for a while though nobody waits for them any more."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any

__all__ = ["GoingOn", "awaited"]

_GRACE = 1.0
"""Seconds for which a command goes on that nobody waits for any more."""


async def awaited(result: Any) -> Any:
    """Return a result, which clients that suspend give later.

    Args:
        result: what a call of the driver returned.

    """
    return await result if inspect.isawaitable(result) else result


async def _called(call: Callable[[], Any]) -> Any:
    """Call and await in one: what is cancelled before it begins leaves nothing that was never awaited."""
    return await awaited(call())


class GoingOn:
    """What a client is doing.

    Breaking off a command costs its connection, and letting it go on unseen might undo what the caller writes next:
    hence one whose caller is cancelled is waited for, and not broken off at once.

    Args:
        suspending: whether the commands of the client are awaited; others cannot be cancelled.

    """

    def __init__(self, *, suspending: bool) -> None:
        self._suspending = suspending
        self._tasks: set[asyncio.Future[Any]] = set()

    async def result(self, call: Callable[[], Any]) -> Any:
        """Return what a call of the driver comes to; if the caller is cancelled, break it off after a while.

        Args:
            call: makes the call.

        """
        if not self._suspending:
            return await awaited(call())
        task = self._begun(_called(call))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            try:
                await asyncio.wait({task}, timeout=_GRACE)
            finally:
                task.cancel()
            raise

    async def to_its_end(self, work: Coroutine[Any, Any, None], give_up: Callable[[], None]) -> None:
        """Do work that ends by itself once it is told that nobody waits for it any more.

        Args:
            work: the work.
            give_up: tells it.

        """
        if not self._suspending:
            await work
            return
        task = self._begun(work)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            give_up()
            await asyncio.wait({task}, timeout=_GRACE)
            raise

    def _begun(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever awaited it was told, or is gone

    async def ended(self) -> None:
        """Wait until all of it has ended."""
        if self._tasks:
            await asyncio.wait(self._tasks)
