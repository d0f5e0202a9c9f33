"""Broken in when a record expires, and in what becomes of it then."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from holdall import ABSENT
from holdall.spi import CheckRequest, DeleteRequest, StoredPage, StoredRecord
from holdall.values import Expect
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Record as Kept
from holdall_conformance.broken.state import Space


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
