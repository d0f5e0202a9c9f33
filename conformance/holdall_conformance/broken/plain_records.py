"""Records of a plain backend, in steps that a broken one can replace one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from holdall import ANY
from holdall.rules import check_fence, check_version, raised_mark
from holdall.spi import DeleteRequest, PutRequest, StoredPage, StoredRecord
from holdall_conformance.broken.state import Record, Space

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall.values import Expect
    from holdall_conformance.broken.rooms import Room

__all__ = ["PlainRecords"]

Row = TypeVar("Row")


class PlainRecords:
    """The half of a store that keeps records.

    Args:
        room: where the state lives.
        environment: clock, sleep and ids.

    """

    def __init__(self, room: Room, environment: Environment) -> None:
        self.room = room
        self.environment = environment

    def now(self) -> float:
        """Return the time by which expiry is judged."""
        return self.environment.boot_time()

    async def pause(self) -> None:
        """Let others go on, between two steps that should be one."""
        await self.environment.sleep(0.0005)

    def place(self, scope: str, key: str) -> tuple[str, str]:
        """Return under what the state of a scope and key is kept."""
        return scope, key

    def kept(self, payload: bytes) -> bytes:
        """Return the bytes that are stored for those of a value."""
        return payload

    def is_live(self, record: Record) -> bool:
        """Tell whether a record is there and has not expired."""
        return record.payload is not None and (record.expires is None or record.expires > self.now())

    def record_at(self, space: Space, scope: str, key: str) -> Record:
        """Return what is kept, or a new record that is not kept yet."""
        inside, name = self.place(scope, key)
        return space.records.get(inside, {}).get(name) or Record()

    def keep(self, space: Space, scope: str, key: str, record: Record) -> None:
        """Keep a record; one without payload and mark is forgotten."""
        inside, name = self.place(scope, key)
        records = space.records.setdefault(inside, {})
        records[name] = record
        if record.payload is None and not record.mark:
            del records[name]
        if not records:
            del space.records[inside]

    def stored(self, key: str, record: Record) -> StoredRecord | None:
        """Return a record as core wants it, None if it is not live."""
        if record.payload is None or not self.is_live(record):
            return None
        left = None if record.expires is None else record.expires - self.now()
        return StoredRecord(key, record.payload, record.version, left)

    def version_at(self, space: Space, scope: str, key: str) -> str | None:
        """Return the version of a record, None if it is not live."""
        record = self.record_at(space, scope, key)
        return record.version if self.is_live(record) else None

    def check(self, space: Space, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        """Refuse a write, or return the version that is there."""
        self.check_fence(self.record_at(space, scope, key).mark, fence)
        version = self.version_at(space, scope, key)
        self.check_version(expect, version)
        return version

    def check_fence(self, mark: int, fence: int | None) -> None:
        """Refuse a stale token."""
        check_fence(mark, fence)

    def check_version(self, expect: Expect, version: str | None) -> None:
        """Refuse a version that is not there."""
        check_version(expect, version)

    def expiry(self, ttl: float | None, before: Record) -> float | None:  # noqa: ARG002 - a broken one looks at it
        """Return when a record expires that is written now."""
        return None if ttl is None else self.now() + ttl

    async def get(self, scope: str, key: str) -> StoredRecord | None:
        """Return a live record."""
        with self.room.turn() as space:
            return self.stored(key, self.record_at(space, scope, key))

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        """Return live records in the order asked."""
        with self.room.turn() as space:
            return [self.stored(key, self.record_at(space, scope, key)) for key in keys]

    async def put(self, request: PutRequest) -> None:
        """Write a record."""
        with self.room.turn(write=True) as space:
            self.check(space, request.scope, request.key, request.expect, request.fence)
            self.apply_put(space, request)

    def apply_put(self, space: Space, request: PutRequest) -> None:
        """Write a record that was checked."""
        before = self.record_at(space, request.scope, request.key)
        mark = raised_mark(before.mark, request.fence)
        record = Record(self.kept(request.payload), request.version, self.expiry(request.ttl, before), mark)
        self.keep(space, request.scope, request.key, record)

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        """Write records without conditions."""
        with self.room.turn(write=True) as space:
            for request in requests:
                self.apply_put(space, request)

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        """Set a new expiry."""
        with self.room.turn(write=True) as space:
            record = self.record_at(space, scope, key)
            self.check_fence(record.mark, fence)
            record.mark = raised_mark(record.mark, fence)
            there = self.is_live(record)
            if there:
                record.expires = None if ttl is None else self.now() + ttl
            self.keep(space, scope, key, record)
            return there

    async def delete(self, request: DeleteRequest) -> bool:
        """Delete a record."""
        with self.room.turn(write=True) as space:
            self.check(space, request.scope, request.key, request.expect, request.fence)
            return self.apply_delete(space, request)

    def apply_delete(self, space: Space, request: DeleteRequest) -> bool:
        """Delete a record that was checked."""
        before = self.record_at(space, request.scope, request.key)
        self.keep(space, request.scope, request.key, Record(mark=raised_mark(before.mark, request.fence)))
        return self.is_live(before)

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        """Delete records without conditions."""
        with self.room.turn(write=True) as space:
            return sum(self.apply_delete(space, DeleteRequest(scope, key, ANY, None)) for key in keys)

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        """Return the names that begin with a prefix and lie behind another, in order."""
        return sorted(name for name in kept if name.startswith(prefix) and (after is None or name > after))

    def page(self, rows: Iterable[Row], limit: int, name: Callable[[Row], str]) -> StoredPage[Row]:
        """Return the first rows; `next` tells whether there are more."""
        found: list[Row] = []
        for row in rows:
            if len(found) == limit:
                return StoredPage(found, name(found[-1]))
            found.append(row)
        return StoredPage(found, None)

    def live(self, space: Space, scope: str, prefix: str, after: str | None) -> Iterable[StoredRecord]:
        """Iterate over the live records of a scope."""
        records = space.records.get(self.place(scope, "")[0], {})
        for key in self.names(records, prefix, after):
            row = self.stored(key, records[key])
            if row is not None:
                yield row

    async def scan(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[StoredRecord]:
        """Return a page of live records."""
        with self.room.turn() as space:
            return self.page(self.live(space, scope, prefix, after), limit, lambda row: row.key)

    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""
        with self.room.turn() as space:
            return self.page((row.key for row in self.live(space, scope, prefix, after)), limit, str)

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes."""
        with self.room.turn() as space:
            names = self.names(space.records, prefix, after)
            return self.page((name for name in names if any(self.live(space, name, "", None))), limit, str)

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        """Raise the mark of a record."""
        with self.room.turn(write=True) as space:
            record = self.record_at(space, scope, key)
            self.check_fence(record.mark, fence)
            record.mark = raised_mark(record.mark, fence)
            self.keep(space, scope, key, record)
            return record.version if self.is_live(record) else None

    def sweep_records(self, space: Space) -> int:
        """Remove what has expired, except for marks."""
        swept = 0
        for scope, records in list(space.records.items()):
            for key, record in list(records.items()):
                if record.payload is not None and not self.is_live(record):
                    self.keep(space, scope, key, self.swept(record))
                    swept += 1
        return swept

    def swept(self, record: Record) -> Record:
        """Return what stays of an expired record."""
        return Record(mark=record.mark)
