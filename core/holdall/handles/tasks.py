"""Work that goes on when whoever awaits it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

_going_on: set[asyncio.Future[Any]] = set()
"""A loop remembers its tasks only weakly."""


def _begun(work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
    task = asyncio.ensure_future(work)
    _going_on.add(task)
    task.add_done_callback(_ended)
    return task


def _ended(task: asyncio.Task[Any]) -> None:
    _going_on.discard(task)
    if not task.cancelled():
        task.exception()  # whoever awaited it was told, or is gone


async def finished(work: Coroutine[Any, Any, Result]) -> Result:
    """Await work that is done to its end even if the awaiting task is cancelled.

    Args:
        work: what to do.

    """
    return await asyncio.shield(_begun(work))


async def finished_or_undone(work: Coroutine[Any, Any, Result], undo: Callable[[Result], Awaitable[Any]]) -> Result:
    """Await work whose result is undone if the awaiting task is cancelled before it has it.

    Args:
        work: what to do.
        undo: takes the result back.

    """
    task = _begun(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        _begun(_undone(task, undo))
        raise


async def _undone(task: asyncio.Task[Result], undo: Callable[[Result], Awaitable[Any]]) -> None:
    await undo(await task)
