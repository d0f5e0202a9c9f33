"""Broken when an operation is cancelled."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from holdall import ANY
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.wrapping import WrappedAsyncStore


@broken("cancelled-keeps-the-lock", "cancellation", side="async")
class CancelledKeepsTheLock(WrappedAsyncStore):
    """Does not give back the lock that guards its connection when it is cancelled while it has it."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.turn = asyncio.Lock()

    async def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        await self.turn.acquire()
        await asyncio.sleep(0)
        result = await self.inner.put(scope, key, value, **named)
        self.turn.release()
        return result


@broken("cancelled-keeps-the-connection", "cancellation", side="async")
class CancelledKeepsTheConnection(WrappedAsyncStore):
    """Loses one of its eight connections with every operation that is cancelled."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.pool = asyncio.Semaphore(8)

    async def append(self, scope: str, key: str, entries: Any, **named: Any) -> Any:
        await self.pool.acquire()
        await asyncio.sleep(0)
        result = await self.inner.append(scope, key, entries, **named)
        self.pool.release()
        return result


@broken("cancelled-append-is-torn", "cancellation", side="async")
class CancelledAppendIsTorn(WrappedAsyncStore):
    """Appends the entries of a batch one by one, and stops in the middle when it is cancelled."""

    async def append(self, scope: str, key: str, entries: Any, *, expect: Any = ANY, **named: Any) -> Any:
        entries = list(entries)
        if len(entries) < 2 or named.get("batch_id"):  # noqa: PLR2004 - one cannot be torn
            return await self.inner.append(scope, key, entries, expect=expect, **named)
        result = last = await self.inner.append(scope, key, entries[:1], expect=expect, **named)
        for entry in entries[1:]:
            await asyncio.sleep(0)
            last = await self.inner.append(scope, key, [entry], **named)
        return type(result)(result.start, len(entries), last.head)


@broken("cancelled-commit-is-torn", "cancellation", side="async")
class CancelledCommitIsTorn(WrappedAsyncStore):
    """Applies the operations of a commit one by one, and stops in the middle when it is cancelled."""

    async def commit(self, operations: Any) -> Any:
        results: list[Any] = []
        for operation in list(operations):
            results += await self.inner.commit([operation])
            await asyncio.sleep(0)
        return results


@broken("cancelled-reply-goes-to-the-next", "cancellation", side="async")
class CancelledReplyGoesToTheNext(WrappedAsyncStore):
    """Leaves the reply of a cancelled read in the connection, where the next one takes it for its own."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.turn = asyncio.Lock()
        self.replies: list[Any] = []

    async def get(self, scope: str, key: str) -> Any:
        async with self.turn:
            self.replies.append(await self.inner.get(scope, key))
            await asyncio.sleep(0)
            return self.replies.pop(0)


@broken("cannot-be-cancelled", "cancellation", side="async")
class CannotBeCancelled(WrappedAsyncStore):
    """Swallows a cancellation and returns as if nothing had been."""

    async def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        return await self.inner.put(scope, key, value, **named)
