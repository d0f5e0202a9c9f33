"""Broken in fences of some writes only: by what they expect, what they carry, or what was there."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdall import ABSENT, ANY, Appended, Head
from holdall.spi import (
    AppendRequest,
    CheckLogRequest,
    CheckRequest,
    DeleteRequest,
    LogRequest,
    PutRequest,
    WriteRequest,
)
from holdall.values import Expect
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Record, Space


@broken("creating-needs-no-token", "fencing")
class CreatingNeedsNoToken(PlainStore):
    """Lets stale tokens create, by an insert that has no condition, what was deleted or only sealed."""

    def check(self, space: Space, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        return super().check(space, scope, key, expect, None if expect is ABSENT else fence)


@broken("put-with-ttl-is-unfenced", "fencing", "expiry")
class PutWithTtlIsUnfenced(PlainStore):
    """Puts with a ttl by another statement than without, in which the token was forgotten."""

    async def put(self, request: PutRequest) -> None:
        await super().put(request if request.ttl is None else request._replace(fence=None))


@broken("expected-head-needs-no-token", "fencing")
class ExpectedHeadNeedsNoToken(PlainStore):
    """Compares of an append that expects a head or a length only that, and not its token too."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        return super().check_append(space, request if request.expect is ANY else request._replace(fence=None))


@broken("batch-with-id-needs-no-token", "fencing", "batches")
class BatchWithIdNeedsNoToken(PlainStore):
    """Compares no token where a batch has an id, as if that alone made its append safe."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        return super().check_append(space, request if request.batch_id is None else request._replace(fence=None))


@broken("creating-raises-no-mark", "fencing")
class CreatingRaisesNoMark(PlainStore):
    """Raises the mark of records that are there, and not with a write that creates one."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        there = self.version_at(space, request.scope, request.key) is not None
        super().apply_put(space, request if there else request._replace(fence=None))


@broken("expected-version-raises-no-mark", "fencing")
class ExpectedVersionRaisesNoMark(PlainStore):
    """Raises no mark with a put that expects a version, whose statement sets the value and nothing else."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        super().apply_put(space, request._replace(fence=None) if isinstance(request.expect, str) else request)


@broken("batch-with-id-raises-no-mark", "fencing")
class BatchWithIdRaisesNoMark(PlainStore):
    """Raises the mark of a log with batches that have no id, and not with the others."""

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        return super().apply_append(space, request if request.batch_id is None else request._replace(fence=None))


@broken("drop-of-absent-raises-no-mark", "fencing")
class DropOfAbsentRaisesNoMark(PlainStore):
    """Does nothing at all where a log is to be dropped that does not exist, and so does not raise its mark."""

    async def drop(self, request: LogRequest) -> bool:
        if await self.head(request.scope, request.key) is not None:
            return await super().drop(request)
        with self.room.turn() as space:
            self.check_log(space, request)
        return False


@broken("token-excuses-the-version", "fencing")
class TokenExcusesTheVersion(PlainStore):
    """Takes a good token for enough, and compares versions only where no token is given."""

    def check(self, space: Space, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        return super().check(space, scope, key, expect if fence is None else ANY, fence)


@broken("token-excuses-the-head", "fencing")
class TokenExcusesTheHead(PlainStore):
    """Takes a good token for enough, and compares heads only where no token is given."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        return super().check_append(space, request if request.fence is None else request._replace(expect=ANY))


@broken("put-over-expired-forgets-the-mark", "fencing")
class PutOverExpiredForgetsTheMark(PlainStore):
    """Begins a record without a mark where it writes, unfenced, over one that has expired."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        before = self.record_at(space, request.scope, request.key)
        if request.fence is None and before.payload is not None and not self.is_live(before):
            self.keep(space, request.scope, request.key, Record())
        super().apply_put(space, request)


@broken("put-over-deleted-forgets-the-mark", "fencing")
class PutOverDeletedForgetsTheMark(PlainStore):
    """Begins a record without a mark where it writes, unfenced, over one that was deleted."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        before = self.record_at(space, request.scope, request.key)
        if request.fence is None and before.payload is None:
            self.keep(space, request.scope, request.key, Record())
        super().apply_put(space, request)


@broken("append-compares-the-mark-of-the-record", "fencing")
class AppendComparesTheMarkOfTheRecord(PlainStore):
    """Compares the token of an append with the mark of the record of that name too."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        self.check_fence(self.record_at(space, request.scope, request.key).mark, request.fence)
        return super().check_append(space, request)


@broken("commit-raises-the-first-mark", "fencing")
class CommitRaisesTheFirstMark(PlainStore):
    """Raises with a commit the mark of its first operation only."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        first, *others = requests
        with self.room.turn(write=True) as space:
            checked = [self.check_one(space, request) for request in requests]
            told = [first, *map(self._unfenced, others)]
            return [self.apply_one(space, request, found) for request, found in zip(told, checked, strict=True)]

    def _unfenced(self, request: WriteRequest) -> WriteRequest:
        return request if isinstance(request, CheckRequest | CheckLogRequest) else request._replace(fence=None)


@broken("stale-delete-in-a-commit", "fencing")
class StaleDeleteInACommit(PlainStore):
    """Compares in a commit the tokens of what it writes, and not of what it deletes."""

    def check_one(self, space: Space, request: WriteRequest) -> Any:
        return super().check_one(space, request._replace(fence=None) if isinstance(request, DeleteRequest) else request)


@broken("seal-of-emptied-log-raises-nothing", "fencing")
class SealOfEmptiedLogRaisesNothing(PlainStore):
    """Keeps the mark with the last entry of a log, so that a seal of one that was truncated to nothing is lost."""

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        with self.room.turn() as space:
            log = self.log_at(space, scope, key)
            self.check_fence(log.mark, fence)
            if log.incarnation is not None and not log.payloads:
                return log.head()
        return await super().seal_log(scope, key, fence)
