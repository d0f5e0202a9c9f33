"""Broken in when a record expires, and in what becomes of it then."""
# ruff: noqa: ARG002, D102, PLR2004 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from holdall import ABSENT, Put, Record
from holdall.spi import CheckRequest, DeleteRequest, PutRequest, StoredPage, StoredRecord
from holdall.values import Expect
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Record as Kept
from holdall_conformance.broken.state import Space
from holdall_conformance.broken.translating import TranslatingStore
from holdall_conformance.broken.wrapping import WrappedStore


@broken("immortal", "expiry")
class Immortal(PlainStore):
    """Takes a ttl and forgets it."""

    def expiry(self, ttl: float | None, before: Kept) -> float | None:
        return None


@broken("expires-when-swept", "expiry")
class ExpiresWhenSwept(PlainStore):
    """Lets records expire with the next sweep, and not before."""

    sweeping = False

    def is_live(self, record: Kept) -> bool:
        return record.payload is not None if not self.sweeping else super().is_live(record)

    def sweep_records(self, space: Space) -> int:
        self.sweeping = True
        try:
            return super().sweep_records(space)
        finally:
            self.sweeping = False


class _ShowsTheDead(PlainStore):
    """Shows expired records to what asks for them."""

    def dead_too(self, key: str, record: Kept) -> StoredRecord | None:
        shown = record if self.is_live(record) else replace(record, expires=None)
        return self.stored(key, shown)


@broken("get-shows-the-expired", "expiry")
class GetShowsTheExpired(_ShowsTheDead):
    """Reads expired records as long as nobody has swept them."""

    async def get(self, scope: str, key: str) -> StoredRecord | None:
        with self.room.turn() as space:
            return self.dead_too(key, self.record_at(space, scope, key))


@broken("get-many-shows-the-expired", "expiry")
class GetManyShowsTheExpired(_ShowsTheDead):
    """Reads expired records in get_many."""

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        with self.room.turn() as space:
            return [self.dead_too(key, self.record_at(space, scope, key)) for key in keys]


@broken("scan-shows-the-expired", "expiry")
class ScanShowsTheExpired(_ShowsTheDead):
    """Lists expired records in scan."""

    async def scan(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[StoredRecord]:
        with self.room.turn() as space:
            records = space.records.get(scope, {})
            rows = (self.dead_too(key, records[key]) for key in self.names(records, prefix, after))
            return self.page((row for row in rows if row is not None), limit, lambda row: row.key)


@broken("keys-show-the-expired", "expiry")
class KeysShowTheExpired(PlainStore):
    """Lists the keys of expired records."""

    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        with self.room.turn() as space:
            records = space.records.get(scope, {})
            kept = {key: record for key, record in records.items() if record.payload is not None}
            return self.page(self.names(kept, prefix, after), limit, str)


@broken("scopes-show-the-expired", "expiry", "paging")
class ScopesShowTheExpired(PlainStore):
    """Lists scopes that hold only expired records."""

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        with self.room.turn() as space:
            kept = {
                scope: None
                for scope, records in space.records.items()
                if any(record.payload is not None for record in records.values())
            }
            return self.page(self.names(kept, prefix, after), limit, str)


@broken("expired-are-not-absent", "expiry")
class ExpiredAreNotAbsent(PlainStore):
    """Refuses to create a record where one has expired."""

    def check(self, space: Space, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        record = self.record_at(space, scope, key)
        if expect is ABSENT and record.payload is not None:
            self.check_version(expect, record.version)
        return super().check(space, scope, key, expect, fence)


@broken("expired-keep-their-version", "expiry")
class ExpiredKeepTheirVersion(PlainStore):
    """Lets writes in that expect the version of a record which has expired."""

    def check(self, space: Space, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        record = self.record_at(space, scope, key)
        if record.payload is not None and expect == record.version:
            return record.version
        return super().check(space, scope, key, expect, fence)


@broken("conflict-tells-an-expired-version", "expiry")
class ConflictTellsAnExpiredVersion(PlainStore):
    """Names the version of an expired record as the current one of a conflict."""

    def check(self, space: Space, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        record = self.record_at(space, scope, key)
        if record.payload is not None and not self.is_live(record) and isinstance(expect, str):
            self.check_version("another", record.version)
        return super().check(space, scope, key, expect, fence)


@broken("delete-finds-the-expired", "expiry")
class DeleteFindsTheExpired(PlainStore):
    """Says that a delete found a record which had expired."""

    async def delete(self, request: DeleteRequest) -> bool:
        with self.room.turn() as space:
            there = self.record_at(space, request.scope, request.key).payload is not None
        return await super().delete(request) or there


@broken("delete-many-counts-the-expired", "expiry")
class DeleteManyCountsTheExpired(PlainStore):
    """Counts expired records in delete_many."""

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        with self.room.turn() as space:
            there = sum(self.record_at(space, scope, key).payload is not None for key in set(keys))
        return max(await super().delete_many(scope, keys), there)


@broken("touch-revives", "expiry")
class TouchRevives(PlainStore):
    """Brings expired records back when they are touched."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        with self.room.turn(write=True) as space:
            record = self.record_at(space, scope, key)
            if record.payload is not None:
                record.expires = None
        return await super().touch(scope, key, ttl, fence)


@broken("seal-revives", "expiry", "fencing")
class SealRevives(PlainStore):
    """Returns from seal the version of a record that has expired, and brings it back."""

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        version = await super().seal(scope, key, fence)
        with self.room.turn(write=True) as space:
            record = self.record_at(space, scope, key)
            if record.payload is None or version is not None:
                return version
            record.expires = None
            return record.version


@broken("commit-checks-the-expired", "expiry")
class CommitChecksTheExpired(PlainStore):
    """Takes expired records for present in the checks of a commit."""

    def check_one(self, space: Space, request: Any) -> Any:
        if isinstance(request, CheckRequest):
            record = self.record_at(space, request.scope, request.key)
            version = None if record.payload is None else record.version
            self.check_version(request.expect, version)
            return version
        return super().check_one(space, request)


@broken("put-keeps-the-ttl", "expiry")
class PutKeepsTheTtl(PlainStore):
    """Keeps a former ttl when a record is written without one."""

    def expiry(self, ttl: float | None, before: Kept) -> float | None:
        return before.expires if ttl is None else self.now() + ttl


@broken("first-ttl-counts", "expiry")
class FirstTtlCounts(PlainStore):
    """Keeps a former ttl when a record is written with another."""

    def expiry(self, ttl: float | None, before: Kept) -> float | None:
        living = before.expires is not None and self.is_live(before)
        return before.expires if ttl is not None and living else super().expiry(ttl, before)


@broken("put-many-without-ttl", "expiry")
class PutManyWithoutTtl(WrappedStore):
    """Forgets the ttl of put_many."""

    def put_many(self, scope: str, values: Any, *, ttl: Any = None) -> Any:
        return self.inner.put_many(scope, values)


@broken("update-without-ttl", "expiry")
class UpdateWithoutTtl(WrappedStore):
    """Forgets the ttl of update."""

    def update(self, scope: str, key: str, function: Any, *, ttl: Any = None, fence: Any = None) -> Any:
        return self.inner.update(scope, key, function, fence=fence)


@broken("commit-without-ttl", "expiry", "transactions")
class CommitWithoutTtl(WrappedStore):
    """Forgets the ttl of puts in a commit."""

    def commit(self, operations: Any) -> Any:
        return self.inner.commit([replace(each, ttl=None) if isinstance(each, Put) else each for each in operations])


@broken("touch-adds-to-the-ttl", "expiry")
class TouchAddsToTheTtl(PlainStore):
    """Adds the ttl of a touch to what was left."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        with self.room.turn() as space:
            expires = self.record_at(space, scope, key).expires
        left = 0.0 if expires is None else max(0.0, expires - self.now())
        return await super().touch(scope, key, None if ttl is None else ttl + left, fence)


@broken("touch-never-shortens", "expiry")
class TouchNeverShortens(PlainStore):
    """Leaves the expiry where it is if a touch would bring it nearer."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        with self.room.turn() as space:
            expires = self.record_at(space, scope, key).expires
        left = 0.0 if expires is None else max(0.0, expires - self.now())
        return await super().touch(scope, key, None if ttl is None else max(ttl, left), fence)


@broken("touch-cannot-clear", "expiry")
class TouchCannotClear(PlainStore):
    """Does nothing in a touch with None, instead of clearing the ttl."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        if ttl is None:
            return await self.get(scope, key) is not None
        return await super().touch(scope, key, ttl, fence)


@broken("reading-prolongs", "expiry")
class ReadingProlongs(PlainStore):
    """Begins the ttl anew whenever a record is read."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        super().apply_put(space, request)
        space.notes[request.scope, request.key] = request.ttl

    async def get(self, scope: str, key: str) -> StoredRecord | None:
        found = await super().get(scope, key)
        with self.room.turn(write=True) as space:
            ttl = space.notes.get((scope, key))
            record = self.record_at(space, scope, key)
            if found is not None and ttl is not None and record.expires is not None:
                record.expires = self.now() + ttl
        return found


@broken("whole-seconds", "expiry")
class WholeSeconds(PlainStore):
    """Rounds a ttl up to whole seconds."""

    def expiry(self, ttl: float | None, before: Kept) -> float | None:
        return None if ttl is None else self.now() + math.ceil(ttl)


@broken("milliseconds-for-seconds", "expiry")
class MillisecondsForSeconds(PlainStore):
    """Takes a ttl in seconds for one in milliseconds."""

    def expiry(self, ttl: float | None, before: Kept) -> float | None:
        return None if ttl is None else self.now() + ttl / 1000


@broken("ttl-of-31-bits", "expiry")
class TtlOf31Bits(PlainStore):
    """Counts the milliseconds of a ttl in 31 bits, so that long ones are over at once."""

    def expiry(self, ttl: float | None, before: Kept) -> float | None:
        return None if ttl is None else self.now() + (ttl * 1000 % 2**31) / 1000


@broken("expires-in-whole-seconds", "expiry")
class ExpiresInWholeSeconds(TranslatingStore):
    """Rounds up to whole seconds what it tells as expires_in."""

    def given(self, record: Record) -> Record:
        return record if record.expires_in is None else record._replace(expires_in=float(math.ceil(record.expires_in)))


@broken("expires-in-is-a-time", "expiry")
class ExpiresInIsATime(PlainStore):
    """Tells as expires_in the moment of expiry."""

    def stored(self, key: str, record: Kept) -> StoredRecord | None:
        row = super().stored(key, record)
        return None if row is None else row._replace(expires_in=record.expires)


@broken("scan-without-expires-in", "expiry")
class ScanWithoutExpiresIn(PlainStore):
    """Lists records as if none had a ttl."""

    def live(self, space: Space, scope: str, prefix: str, after: str | None) -> Iterable[StoredRecord]:
        return (row._replace(expires_in=None) for row in super().live(space, scope, prefix, after))


@broken("zero-ttl-is-none", "expiry")
class ZeroTtlIsNone(WrappedStore):
    """Takes a ttl of 0 for none."""

    def put(self, scope: str, key: str, value: Any, *, ttl: Any = None, **named: Any) -> Any:
        return self.inner.put(scope, key, value, ttl=ttl or None, **named)


@broken("negative-ttl-deletes", "expiry")
class NegativeTtlDeletes(WrappedStore):
    """Takes a touch with a negative ttl for a delete, as some databases do."""

    def touch(self, scope: str, key: str, ttl: Any, **named: Any) -> Any:
        if isinstance(ttl, int | float) and ttl <= 0:
            return self.inner.delete(scope, key)
        return self.inner.touch(scope, key, ttl, **named)


@broken("sweep-by-an-old-index", "expiry")
class SweepByAnOldIndex(PlainStore):
    """Sweeps by an index of expiries that a new write of the record does not correct."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        super().apply_put(space, request)
        if request.ttl is not None:
            space.notes[request.scope, request.key] = self.now() + request.ttl

    def sweep_records(self, space: Space) -> int:
        for (scope, key), moment in list(space.notes.items()):
            if moment <= self.now():
                del space.notes[scope, key]
                self.keep(space, scope, key, Kept(mark=self.record_at(space, scope, key).mark))
        return super().sweep_records(space)


@broken("sweep-counts-again", "expiry")
class SweepCountsAgain(PlainStore):
    """Counts in every sweep what was swept before."""

    def sweep_records(self, space: Space) -> int:
        space.notes["swept"] = space.notes.get("swept", 0) + super().sweep_records(space)
        total: int = space.notes["swept"]
        return total


@broken("sweep-sweeps-nothing", "expiry")
class SweepSweepsNothing(PlainStore):
    """Never removes anything."""

    async def sweep(self) -> int:
        return 0


@broken("marked-records-live-on", "expiry", "fencing")
class MarkedRecordsLiveOn(PlainStore):
    """Keeps records with a fencing mark beyond their ttl, in order not to lose the mark."""

    def is_live(self, record: Kept) -> bool:
        return super().is_live(record) or (record.payload is not None and record.mark > 0)
