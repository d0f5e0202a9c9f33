"""Requests beside each other: tasks on an event loop, or threads."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from holdall.drive import drive

__all__ = ["together"]

Result = TypeVar("Result")
Work = Callable[[], Awaitable[Result]]


async def together(work: Sequence[Work[Result]], most: int, *, suspending: bool) -> list[Result | Exception]:
    """Do several things beside each other, all of them to their end, and return what each came to, errors too.

    Args:
        work: the things.
        most: how many at once.
        suspending: whether they suspend; otherwise they block a thread each.

    """
    if len(work) <= 1:
        return [await _caught(each) for each in work]
    if suspending:
        turns = asyncio.Semaphore(most)
        return list(await asyncio.gather(*(_in_turn(turns, each) for each in work)))
    with ThreadPoolExecutor(min(most, len(work)), "holdall-request") as pool:
        running = [pool.submit(contextvars.copy_context().run, drive, _caught(each)) for each in work]
        return [each.result() for each in running]


async def _in_turn(turns: asyncio.Semaphore, work: Work[Result]) -> Result | Exception:
    async with turns:
        return await _caught(work)


async def _caught(work: Work[Result]) -> Result | Exception:
    try:
        return await work()
    except Exception as error:  # noqa: BLE001 - the caller decides which of them counts
        return error
