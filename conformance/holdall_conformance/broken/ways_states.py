"""Broken where something is absent, empty or marked: right where there is something plain."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdall import Appended, Head, NotFound
from holdall.codec import decode
from holdall.errors import BatchMismatch
from holdall.spi import AppendRequest, LogRequest, StoredEntries, StoredRecord
from holdall_conformance.broken.follow import Polling
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Remembered, Space
from holdall_conformance.broken.transactions import Passing
from holdall_conformance.broken.wrapping import WrappedAsyncStore, WrappedStore


@broken("clear-spares-the-fenced", "records", "fencing")
class ClearSparesTheFenced(PlainStore):
    """Leaves records with a mark where a scope is cleared, or many are deleted."""

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        with self.room.turn() as space:
            plain = [key for key in keys if not self.record_at(space, scope, key).mark]
        return await super().delete_many(scope, plain)


@broken("put-many-spares-the-fenced", "records", "fencing")
class PutManySparesTheFenced(PlainStore):
    """Passes in put_many over records that have a mark."""

    async def put_many(self, requests: Sequence[Any]) -> None:
        with self.room.turn() as space:
            plain = [request for request in requests if not self.record_at(space, request.scope, request.key).mark]
        await super().put_many(plain)


@broken("listing-hides-the-fenced", "paging", "fencing")
class ListingHidesTheFenced(PlainStore):
    """Takes records with a mark for bare marks, and lists them not."""

    def live(self, space: Space, scope: str, prefix: str, after: str | None) -> Iterable[StoredRecord]:
        return (
            row for row in super().live(space, scope, prefix, after) if not self.record_at(space, scope, row.key).mark
        )


@broken("logs-with-marks-are-not-listed", "paging", "fencing")
class LogsWithMarksAreNotListed(PlainStore):
    """Takes logs with a mark for bare marks, and lists them not."""

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        found = super().names(kept, prefix, after)
        return [name for name in found if not (hasattr(kept[name], "incarnation") and kept[name].mark)]


@broken("read-makes-a-log", "logs", "paging")
class ReadMakesALog(PlainStore):
    """Makes an empty log of what is read and not there."""

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        with self.room.turn(write=True) as space:
            log = self.log_at(space, scope, key)
            log.incarnation = log.incarnation or self.new_incarnation()
            self.keep_log(space, scope, key, log)
        return await super().read(scope, key, start, limit, max_bytes)


@broken("truncate-makes-a-log", "logs")
class TruncateMakesALog(PlainStore):
    """Makes an empty log of what is truncated and not there."""

    async def truncate(self, request: LogRequest, before: int) -> int:
        count = await super().truncate(request, before)
        with self.room.turn(write=True) as space:
            log = self.log_at(space, request.scope, request.key)
            log.incarnation = log.incarnation or self.new_incarnation()
            self.keep_log(space, request.scope, request.key, log)
        return count


@broken("null-entries-dropped", "logs", "values")
class NullEntriesDropped(PlainStore):
    """Leaves null out of a batch."""

    async def append(self, request: AppendRequest) -> Appended:
        payloads = [payload for payload in request.payloads if payload != b"null"]
        return await super().append(request._replace(payloads=payloads) if payloads else request)


@broken("ids-per-handle", "batches")
class IdsPerHandle(PlainStore):
    """Remembers batch ids in each handle, so that another one appends again."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        mine = (id(self), request.scope, request.key, request.batch_id)
        if request.batch_id is not None and mine not in space.notes:
            self.log_at(space, request.scope, request.key).remembered.pop(request.batch_id, None)
        return super().check_append(space, request)

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        space.notes[id(self), request.scope, request.key, request.batch_id] = True
        return super().apply_append(space, request)


@broken("batches-compared-by-equality", "batches")
class BatchesComparedByEquality(PlainStore):
    """Compares the entries of a repeated batch as Python does, where 1, 1.0 and true are equal."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        log = self.log_at(space, request.scope, request.key)
        known: Remembered | None = log.remembered.get(request.batch_id) if request.batch_id else None
        if known is not None and known.result.start >= log.first:
            begin = known.result.start - log.first
            kept = log.payloads[begin : begin + known.result.count]
            if list(map(decode, kept)) != list(map(decode, request.payloads)):
                message = "other entries"
                raise BatchMismatch(message)
            request = request._replace(digest=known.digest)
        return super().check_append(space, request)


@broken("follow-notices-only-shorter-logs", "follow")
class FollowNoticesOnlyShorterLogs(Polling):
    """Takes a log that was dropped and has grown to its position again for the one it followed."""

    def checked(self, scope: str, key: str, incarnation: str | None) -> str | None:
        head: Head | None = self.inner.head(scope, key)
        if head is None and incarnation is not None:
            message = "the log was dropped"
            raise NotFound(message)
        return None if head is None else head.incarnation


class _Forgetting(Passing):
    """A transaction that forgets some of the options of its writes."""

    forgotten = ""

    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        named.pop(self.forgotten.removeprefix("put "), None)
        return super().put(scope, key, value, **named)

    def delete(self, scope: str, key: str, **named: Any) -> Any:
        named.pop(self.forgotten.removeprefix("delete "), None)
        return super().delete(scope, key, **named)

    def append(self, scope: str, key: str, entries: Iterable[Any], **named: Any) -> Any:
        named.pop(self.forgotten.removeprefix("append "), None)
        return super().append(scope, key, entries, **named)


class _Transacting(WrappedStore):
    """Puts another transaction before that of the store."""

    passing: type[Passing] = _Forgetting

    def transaction(self, function: Any, **named: Any) -> Any:
        if not callable(function):
            return self.inner.transaction(function, **named)

        def run(inner: Any) -> Any:
            return function(self.passing(inner, self.inner))

        return self.inner.transaction(run, **named)


class _ForgettingTtl(_Forgetting):
    forgotten = "put ttl"


class _ForgettingFenceOfDeletes(_Forgetting):
    forgotten = "delete fence"


class _ForgettingFenceOfAppends(_Forgetting):
    forgotten = "append fence"


class _ForgettingIds(_Forgetting):
    forgotten = "append batch_id"


class _SeeingDeleted(Passing):
    def get(self, scope: str, key: str) -> Any:
        found = self.inner.get(scope, key)
        return self.store.get(scope, key) if found is None and self.is_written(scope, key) else found


@broken("transaction-without-ttl", "transactions")
class TransactionWithoutTtl(_Transacting):
    """Forgets the ttl of what a transaction puts."""

    passing = _ForgettingTtl


@broken("transaction-deletes-unfenced", "transactions", "fencing")
class TransactionDeletesUnfenced(_Transacting):
    """Forgets the fences of what a transaction deletes."""

    passing = _ForgettingFenceOfDeletes


@broken("transaction-appends-unfenced", "transactions", "fencing")
class TransactionAppendsUnfenced(_Transacting):
    """Forgets the fences of what a transaction appends."""

    passing = _ForgettingFenceOfAppends


@broken("transaction-without-batch-ids", "transactions", "batches")
class TransactionWithoutBatchIds(_Transacting):
    """Forgets the batch ids of what a transaction appends."""

    passing = _ForgettingIds


@broken("transaction-sees-what-it-deleted", "transactions")
class TransactionSeesWhatItDeleted(_Transacting):
    """Reads in a transaction what it has deleted itself."""

    passing = _SeeingDeleted


@broken("tasks-share-their-arguments", "concurrency", "handles", side="async")
class TasksShareTheirArguments(WrappedAsyncStore):
    """Keeps the key of the current read in the handle, where another task overwrites it."""

    wanted: Any = None

    async def get(self, scope: str, key: str) -> Any:
        self.wanted = scope, key
        await asyncio.sleep(0)
        return await self.inner.get(*self.wanted)
