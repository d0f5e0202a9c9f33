"""Broken in which writes a fencing token keeps out."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from typing import Any

from holdall import Append
from holdall.rules import check_fence
from holdall.spi import AppendRequest, DeleteRequest, LogRequest, PutRequest
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Space
from holdall_conformance.broken.wrapping import WrappedStore


@broken("fences-ignored", "fencing")
class FencesIgnored(PlainStore):
    """Lets every token in."""

    def check_fence(self, mark: int, fence: int | None) -> None:
        return


@broken("fence-ignored-by-append", "fencing")
class FenceIgnoredByAppend(PlainStore):
    """Lets stale tokens append."""

    async def append(self, request: AppendRequest) -> Any:
        return await super().append(request._replace(fence=None))


@broken("fence-ignored-by-delete", "fencing")
class FenceIgnoredByDelete(PlainStore):
    """Lets stale tokens delete."""

    async def delete(self, request: DeleteRequest) -> bool:
        return await super().delete(request._replace(fence=None))


@broken("fence-ignored-by-touch", "fencing")
class FenceIgnoredByTouch(PlainStore):
    """Lets stale tokens touch."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        return await super().touch(scope, key, ttl, None)


@broken("fence-ignored-by-truncate", "fencing")
class FenceIgnoredByTruncate(PlainStore):
    """Lets stale tokens truncate."""

    async def truncate(self, request: LogRequest, before: int) -> int:
        return await super().truncate(request._replace(fence=None), before)


@broken("fence-ignored-by-drop", "fencing")
class FenceIgnoredByDrop(PlainStore):
    """Lets stale tokens drop a log."""

    async def drop(self, request: LogRequest) -> bool:
        return await super().drop(request._replace(fence=None))


@broken("fence-ignored-by-update", "fencing")
class FenceIgnoredByUpdate(WrappedStore):
    """Forgets the fence of an update."""

    def update(self, scope: str, key: str, function: Any, *, ttl: Any = None, fence: Any = None) -> Any:
        return self.inner.update(scope, key, function, ttl=ttl)


@broken("fence-of-commits-forgotten", "fencing", "commits")
class FenceOfCommitsForgotten(WrappedStore):
    """Forgets the fences of appends in a commit of one operation."""

    def commit(self, operations: Any) -> Any:
        operations = list(operations)
        if len(operations) == 1 and isinstance(operations[0], Append):
            one = operations[0]
            named = {"expect": one.expect, "batch_id": one.batch_id}
            return [self.inner.append(one.scope, one.key, one.entries, **named)]
        return self.inner.commit(operations)


@broken("own-token-refused", "fencing")
class OwnTokenRefused(PlainStore):
    """Refuses a token that equals the mark, and with it the second write of a holder."""

    def check_fence(self, mark: int, fence: int | None) -> None:
        check_fence(mark + 1 if mark else 0, fence)


@broken("mark-not-raised", "fencing")
class MarkNotRaised(PlainStore):
    """Compares tokens with the mark that a seal set, and does not raise it with writes."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        super().apply_put(space, request._replace(fence=None))


@broken("append-raises-no-mark", "fencing")
class AppendRaisesNoMark(PlainStore):
    """Does not raise the mark of a log with appends."""

    def apply_append(self, space: Space, request: AppendRequest) -> Any:
        return super().apply_append(space, request._replace(fence=None))


@broken("touch-raises-no-mark", "fencing")
class TouchRaisesNoMark(PlainStore):
    """Does not raise the mark with a touch."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        with self.room.turn() as space:
            mark = self.record_at(space, scope, key).mark
        there = await super().touch(scope, key, ttl, fence)
        with self.room.turn(write=True) as space:
            record = self.record_at(space, scope, key)
            record.mark = mark
            self.keep(space, scope, key, record)
        return there


@broken("truncate-raises-no-mark", "fencing")
class TruncateRaisesNoMark(PlainStore):
    """Does not raise the mark with a truncate."""

    async def truncate(self, request: LogRequest, before: int) -> int:
        with self.room.turn() as space:
            self.check_fence(self.log_at(space, request.scope, request.key).mark, request.fence)
        return await super().truncate(request._replace(fence=None), before)


@broken("unfenced-clears-the-mark", "fencing")
class UnfencedClearsTheMark(PlainStore):
    """Forgets the mark with an unfenced write."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        super().apply_put(space, request)
        if request.fence is None:
            self.record_at(space, request.scope, request.key).mark = 0


@broken("unfenced-refused", "fencing")
class UnfencedRefused(PlainStore):
    """Refuses unfenced writes where there is a mark."""

    def check_fence(self, mark: int, fence: int | None) -> None:
        check_fence(mark, 0 if fence is None and mark else fence)
