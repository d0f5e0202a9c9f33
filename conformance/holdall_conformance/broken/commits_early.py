"""Broken in commits that are checked in one step and written in another."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdall.spi import AppendRequest, CheckLogRequest, CheckRequest, WriteRequest
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken


class _ChecksFirst(PlainStore):
    """Checks some of the operations of a commit in an earlier step than that in which it writes."""

    def is_early(self, request: WriteRequest, count: int) -> bool:
        """Tell whether one of so many is checked early."""
        return False

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        early = [self.is_early(request, len(requests)) for request in requests]
        with self.room.turn() as space:
            found = [self.check_one(space, request) for request, soon in zip(requests, early, strict=True) if soon]
        await self.pause()
        with self.room.turn(write=True) as space:
            known = iter(found)
            checked = [
                next(known) if soon else self.check_one(space, request)
                for request, soon in zip(requests, early, strict=True)
            ]
            return [self.apply_one(space, request, one) for request, one in zip(requests, checked, strict=True)]


@broken("commit-checked-before-its-turn", "concurrency")
class CommitCheckedBeforeItsTurn(_ChecksFirst):
    """Checks a commit before it takes the lock under which it writes."""

    def is_early(self, request: WriteRequest, count: int) -> bool:
        return True


@broken("commit-of-one-is-a-plain-put", "concurrency")
class CommitOfOneIsAPlainPut(_ChecksFirst):
    """Checks a commit of one put or delete in one step and writes in another, as if one alone needed no transaction."""

    def is_early(self, request: WriteRequest, count: int) -> bool:
        return count == 1 and not isinstance(request, AppendRequest)


@broken("commit-of-one-is-a-plain-append", "concurrency")
class CommitOfOneIsAPlainAppend(_ChecksFirst):
    """Checks a commit of one append in one step and writes in another, as if one alone needed no transaction."""

    def is_early(self, request: WriteRequest, count: int) -> bool:
        return count == 1 and isinstance(request, AppendRequest)


@broken("reads-checked-before-the-turn", "concurrency")
class ReadsCheckedBeforeTheTurn(_ChecksFirst):
    """Checks what a commit only read before it takes the lock under which it writes, as snapshot isolation does."""

    def is_early(self, request: WriteRequest, count: int) -> bool:
        return isinstance(request, CheckRequest)


@broken("heads-checked-before-the-turn", "concurrency")
class HeadsCheckedBeforeTheTurn(_ChecksFirst):
    """Checks the heads that a commit only read before it takes the lock under which it writes."""

    def is_early(self, request: WriteRequest, count: int) -> bool:
        return isinstance(request, CheckLogRequest)
