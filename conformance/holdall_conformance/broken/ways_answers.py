"""Broken in what an operation answers: what it does is right."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from holdall import Appended, Entry, Head
from holdall.spi import AppendRequest, DeleteRequest, LogRequest, StoredEntries, WriteRequest
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Space
from holdall_conformance.broken.transactions import Passing
from holdall_conformance.broken.wrapping import WrappedStore


@broken("touch-finds-the-expired", "expiry")
class TouchFindsTheExpired(PlainStore):
    """Says that a touch found a record which had expired."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        there = await super().touch(scope, key, ttl, fence)
        with self.room.turn() as space:
            return there or self.record_at(space, scope, key).payload is not None


@broken("append-tells-the-first-as-zero", "logs")
class AppendTellsTheFirstAsZero(PlainStore):
    """Tells after an append a head that begins at 0, whatever was truncated."""

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        result = super().apply_append(space, request)
        return Appended(result.start, result.count, result.head._replace(first=0))


class _HeadBefore(PlainStore):
    """Knows for each log the head before the last append."""

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        before = self.log_at(space, request.scope, request.key).head()
        result = super().apply_append(space, request)
        space.notes["before", request.scope, request.key] = before or result.head
        return result

    def head_before(self, scope: str, key: str, head: Head | None) -> Head | None:
        """Return an older head than one that was read."""
        with self.room.turn() as space:
            before: Head | None = space.notes.get(("before", scope, key))
        known = head is not None and before is not None and before.incarnation == head.incarnation
        return before if known else head


@broken("read-tells-the-head-before", "logs")
class ReadTellsTheHeadBefore(_HeadBefore):
    """Tells with the entries of a read the head from before the last append."""

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        found = await super().read(scope, key, start, limit, max_bytes)
        return found._replace(head=self.head_before(scope, key, found.head))


@broken("tail-tells-the-head-before", "logs")
class TailTellsTheHeadBefore(_HeadBefore):
    """Tells with the entries of a tail the head from before the last append."""

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        found = await super().tail(scope, key, count)
        return found._replace(head=self.head_before(scope, key, found.head))


@broken("seal-of-log-tells-the-head-before", "fencing", "logs")
class SealOfLogTellsTheHeadBefore(_HeadBefore):
    """Tells with a seal the head from before the last append, from which its holder would read on."""

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        return self.head_before(scope, key, await super().seal_log(scope, key, fence))


@broken("seal-of-log-tells-nothing", "fencing")
class SealOfLogTellsNothing(PlainStore):
    """Returns nothing from the seal of a log."""

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        await super().seal_log(scope, key, fence)
        return None


@broken("drop-always-true", "logs")
class DropAlwaysTrue(PlainStore):
    """Says of every drop that there was a log."""

    async def drop(self, request: LogRequest) -> bool:
        await super().drop(request)
        return True


@broken("iterates-entries-from-the-first", "logs")
class IteratesEntriesFromTheFirst(WrappedStore):
    """Iterates over all entries of a log, wherever one asked it to begin."""

    def iter_entries(self, scope: str, key: str, start: int = 0, **named: Any) -> Iterator[Entry]:
        head = self.inner.head(scope, key) if type(start) is int else None
        begin = start if head is None or start < head.first else head.first
        entries: Iterator[Entry] = self.inner.iter_entries(scope, key, begin, **named)
        return entries


@broken("clear-counts-nothing", "records")
class ClearCountsNothing(WrappedStore):
    """Returns 0 from clear."""

    def clear(self, scope: str) -> int:
        self.inner.clear(scope)
        return 0


@broken("put-many-counts-new-ones", "records")
class PutManyCountsNewOnes(WrappedStore):
    """Counts in put_many the records that it made, and not those that it changed."""

    def put_many(self, scope: str, values: Any, **named: Any) -> Any:
        there = 0
        if isinstance(values, dict) and values:
            keys: list[Any] = [*values]
            there = sum(record is not None for record in self.inner.get_many(scope, keys))
        return self.inner.put_many(scope, values, **named) - there


@broken("delete-of-nothing-expects-anything", "versions")
class DeleteOfNothingExpectsAnything(PlainStore):
    """Answers False, and not with a conflict, where a delete expects a version of what is absent."""

    async def delete(self, request: DeleteRequest) -> bool:
        with self.room.turn() as space:
            record = self.record_at(space, request.scope, request.key)
            self.check_fence(record.mark, request.fence)
            if not self.is_live(record) and isinstance(request.expect, str):
                return False
        return await super().delete(request)


@broken("commit-deletes-nothing-as-expected", "commits", "versions")
class CommitDeletesNothingAsExpected(PlainStore):
    """Lets in a commit a delete in that expects a version of what is absent."""

    def check_one(self, space: Space, request: WriteRequest) -> Any:
        if isinstance(request, DeleteRequest) and isinstance(request.expect, str):
            record = self.record_at(space, request.scope, request.key)
            self.check_fence(record.mark, request.fence)
            if not self.is_live(record):
                return None
        return super().check_one(space, request)


@broken("sweep-tells-nothing", "expiry", "records")
class SweepTellsNothing(WrappedStore):
    """Returns None from sweep."""

    def sweep(self) -> Any:
        self.inner.sweep()


class _ReadOnce(Passing):
    seen: dict[tuple[str, str], Any]

    def get(self, scope: str, key: str) -> Any:
        if self.is_written(scope, key):
            return self.inner.get(scope, key)
        return self.seen.setdefault((scope, key), self.inner.get(scope, key))


@broken("second-attempt-sees-the-first-reads", "transactions")
class SecondAttemptSeesTheFirstReads(WrappedStore):
    """Gives to the second attempt of a transaction what the first one has read."""

    def transaction(self, function: Any, **named: Any) -> Any:
        if not callable(function):
            return self.inner.transaction(function, **named)
        seen: dict[tuple[str, str], Any] = {}

        def run(inner: Any) -> Any:
            passing = _ReadOnce(inner, self.inner)
            passing.seen = seen
            return function(passing)

        return self.inner.transaction(run, **named)


@broken("commit-tells-starts-of-one", "commits")
class CommitTellsStartsOfOne(PlainStore):
    """Tells of every append of a commit the start of the first."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        results = list(await super().commit(requests))
        starts = [result.start for result in results if isinstance(result, Appended)]
        return [
            Appended(starts[0], result.count, result.head) if isinstance(result, Appended) else result
            for result in results
        ]
