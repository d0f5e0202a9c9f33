"""Broken in the plain operations on records."""
# ruff: noqa: D102, PLR2004 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from holdall import ANY, Appended, Conflict, Record
from holdall.codec import decode, encode
from holdall.spi import AppendRequest, DeleteRequest, PutRequest, StoredRecord
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Record as Kept
from holdall_conformance.broken.state import Space
from holdall_conformance.broken.wrapping import WrappedStore


@broken("delete-always-true", "records")
class DeleteAlwaysTrue(PlainStore):
    """Says of every delete that there was something."""

    async def delete(self, request: DeleteRequest) -> bool:
        await super().delete(request)
        return True


@broken("delete-without-answer", "records")
class DeleteWithoutAnswer(PlainStore):
    """Says of no delete that there was something."""

    async def delete(self, request: DeleteRequest) -> bool:
        await super().delete(request)
        return False


@broken("deletes-nothing", "records")
class DeletesNothing(PlainStore):
    """Deletes nothing, but says so."""

    def apply_delete(self, space: Space, request: DeleteRequest) -> bool:
        return self.is_live(self.record_at(space, request.scope, request.key))


@broken("get-many-sorted", "records")
class GetManySorted(PlainStore):
    """Answers get_many in the order of the storage, not in that asked."""

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        return await super().get_many(scope, sorted(keys))


@broken("get-many-once-each", "records")
class GetManyOnceEach(PlainStore):
    """Answers get_many only once for a key that is asked twice."""

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        found = await super().get_many(scope, keys)
        return [None if key in keys[:index] else found[index] for index, key in enumerate(keys)]


@broken("get-many-first-hundred", "records")
class GetManyFirstHundred(PlainStore):
    """Answers get_many for the first 100 keys, as many as one request of the database takes."""

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        return [*await super().get_many(scope, keys[:100]), *(None for _ in keys[100:])]


@broken("put-many-drops-the-rest", "records")
class PutManyDropsTheRest(PlainStore):
    """Writes put_many in chunks of 25 and forgets the last one if it is not full."""

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        whole = len(requests) if len(requests) < 25 else len(requests) // 25 * 25
        await super().put_many(requests[:whole])


@broken("delete-many-counts-what-was-asked", "records")
class DeleteManyCountsWhatWasAsked(PlainStore):
    """Counts in delete_many the keys it was given, not the records there were."""

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        await super().delete_many(scope, keys)
        return len(keys)


@broken("put-merges-fields", "records")
class PutMergesFields(PlainStore):
    """Writes the fields of an object into the object there is, as an upsert with $set does."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        before = self.record_at(space, request.scope, request.key)
        new = decode(request.payload)
        old = decode(before.payload) if before.payload is not None and self.is_live(before) else None
        if isinstance(old, dict) and isinstance(new, dict):
            request = request._replace(payload=encode({**old, **new}))
        super().apply_put(space, request)


@broken("null-is-absent", "records")
class NullIsAbsent(PlainStore):
    """Takes a record whose value is null for none."""

    def is_live(self, record: Kept) -> bool:
        return record.payload != b"null" and super().is_live(record)


@broken("falsy-is-absent", "records", "values")
class FalsyIsAbsent(WrappedStore):
    """Returns None for records whose value is 0, false or empty, by testing the value for truth."""

    def get(self, scope: str, key: str) -> Record | None:
        record: Record | None = self.inner.get(scope, key)
        return record if record and record.value else None


@broken("update-writes-over-rivals", "records", "concurrency")
class UpdateWritesOverRivals(WrappedStore):
    """Reads, calls the function and writes, whatever happened in between."""

    def update(self, scope: str, key: str, function: Any, **named: Any) -> Any:
        if not callable(function):
            return self.inner.update(scope, key, function, **named)
        record = self.inner.get(scope, key)
        self.inner.put(scope, key, function(None if record is None else record.value), **named)
        return self.inner.get(scope, key)


@broken("update-gives-up-at-once", "records")
class UpdateGivesUpAtOnce(WrappedStore):
    """Raises Conflict from update as soon as one rival was faster."""

    def update(self, scope: str, key: str, function: Any, **named: Any) -> Any:
        calls: list[None] = []

        def once(value: Any) -> Any:
            calls.append(None)
            if len(calls) > 1:
                message = "somebody was faster"
                raise Conflict(message)
            return function(value)

        return self.inner.update(scope, key, once if callable(function) else function, **named)


@broken("update-hides-errors", "records")
class UpdateHidesErrors(WrappedStore):
    """Wraps what the function of an update raises into an error of its own."""

    def update(self, scope: str, key: str, function: Any, **named: Any) -> Any:
        def guarded(value: Any) -> Any:
            try:
                return function(value)
            except Exception as error:
                message = "the function failed"
                raise RuntimeError(message) from error

        return self.inner.update(scope, key, guarded if callable(function) else function, **named)


@broken("update-skips-absent", "records")
class UpdateSkipsAbsent(WrappedStore):
    """Gives the function of an update an empty object where there is no record."""

    def update(self, scope: str, key: str, function: Any, **named: Any) -> Any:
        def started(value: Any) -> Any:
            return function({} if value is None else value)

        return self.inner.update(scope, key, started if callable(function) else function, **named)


@broken("clears-the-first-page", "records")
class ClearsTheFirstPage(WrappedStore):
    """Clears the first hundred records of a scope."""

    def clear(self, scope: str) -> Any:
        return self.inner.delete_many(scope, self.inner.keys(scope, limit=100).items)


@broken("clear-takes-logs-along", "records", "logs")
class ClearTakesLogsAlong(WrappedStore):
    """Drops the logs of a scope that is cleared."""

    def clear(self, scope: str) -> Any:
        count = self.inner.clear(scope)
        for key in self.inner.logs(scope).items:
            self.inner.drop(scope, key)
        return count


@broken("letters-for-keys", "records")
class LettersForKeys(WrappedStore):
    """Takes a text in place of several keys for its letters."""

    def delete_many(self, scope: str, keys: Iterable[str]) -> Any:
        return self.inner.delete_many(scope, list(keys))


@broken("caches-reads", "records", "concurrency")
class CachesReads(WrappedStore):
    """Remembers in each handle what it has read, and does not see what others write."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.known: dict[Any, Any] = {}

    def get(self, scope: str, key: str) -> Any:
        if (scope, key) not in self.known:
            self.known[scope, key] = self.inner.get(scope, key)
        return self.known[scope, key]

    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        self.known.pop((scope, key), None)
        return self.inner.put(scope, key, value, **named)


@broken("touch-makes-records", "records", "paging")
class TouchMakesRecords(PlainStore):
    """Makes an empty record of what is touched and is not there."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        if not await super().touch(scope, key, ttl, fence):
            await self.put(PutRequest(scope, key, b"null", self.environment.new_id(), ANY, ttl, fence))
        return True


@broken("sweep-takes-idle-records", "records", "expiry")
class SweepTakesIdleRecords(PlainStore):
    """Sweeps records that have a ttl, whether or not it is over."""

    async def sweep(self) -> int:
        with self.room.turn(write=True) as space:
            for scope, records in list(space.records.items()):
                for key, record in list(records.items()):
                    if record.expires is not None:
                        self.keep(space, scope, key, Kept(mark=record.mark))
        return await super().sweep()


@broken("loses-a-write", "records", "values")
class LosesAWrite(PlainStore):
    """Acknowledges every 25th write of a record without carrying it out."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        space.notes["writes"] = space.notes.get("writes", 0) + 1
        if space.notes["writes"] % 25:
            super().apply_put(space, request)


@broken("loses-a-batch", "logs", "concurrency")
class LosesABatch(PlainStore):
    """Acknowledges every 25th append without carrying it out."""

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        result = super().apply_append(space, request)
        space.notes["appends"] = space.notes.get("appends", 0) + 1
        if not space.notes["appends"] % 25:
            del self.log_at(space, request.scope, request.key).payloads[-result.count :]
        return result
