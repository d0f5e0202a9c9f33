"""How many may use something at once, of those that block and of those that suspend."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["BlockingRoom", "Room", "SuspendingRoom", "awaited", "finished"]


class Room(Protocol):
    """Room for some at once."""

    async def enter(self, deadline: float) -> bool:
        """Take a place; return whether there was one in time.

        Args:
            deadline: a moment of the clock.

        """
        ...

    def leave(self) -> None:
        """Give the place back."""
        ...


class BlockingRoom:
    """Room for threads."""

    def __init__(self, places: int, clock: Callable[[], float]) -> None:
        self._places = threading.Semaphore(places)
        self._clock = clock

    async def enter(self, deadline: float) -> bool:
        """Take a place; return whether there was one in time."""
        return self._places.acquire(timeout=max(0.0, deadline - self._clock()))

    def leave(self) -> None:
        """Give the place back."""
        self._places.release()


class SuspendingRoom:
    """Room for tasks of one event loop."""

    def __init__(self, places: int, clock: Callable[[], float]) -> None:
        self._places = asyncio.Semaphore(places)
        self._clock = clock

    async def enter(self, deadline: float) -> bool:
        """Take a place; return whether there was one in time."""
        try:
            async with asyncio.timeout(max(0.0, deadline - self._clock())):
                return await self._places.acquire()
        except TimeoutError:
            return False

    def leave(self) -> None:
        """Give the place back."""
        self._places.release()


async def awaited(result: Any) -> Any:
    """Return a result of psycopg, which its asynchronous side gives later.

    Args:
        result: what a call returned.

    """
    return await result if inspect.isawaitable(result) else result


async def finished(result: Any) -> None:
    """Await a result to its end, also when the task is cancelled meanwhile.

    Args:
        result: what a call returned.

    """
    if inspect.isawaitable(result):
        await asyncio.shield(result)
