"""Broken in the versions that are told, and in what else changes them."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from dataclasses import replace
from typing import Any

from holdall import ABSENT, Conflict, Record
from holdall.spi import DeleteRequest, PutRequest, StoredRecord
from holdall.values import Expect
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Record as Kept
from holdall_conformance.broken.state import Space
from holdall_conformance.broken.wrapping import WrappedStore


@broken("put-returns-the-old-version", "versions", "records")
class PutReturnsTheOldVersion(WrappedStore):
    """Returns from put the version there was before."""

    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        before = self.inner.get(scope, key)
        version = self.inner.put(scope, key, value, **named)
        return version if before is None else before.version


@broken("same-value-same-version", "versions")
class SameValueSameVersion(PlainStore):
    """Does not write a value that is there already, and keeps its version."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        before = self.record_at(space, request.scope, request.key)
        if before.payload != request.payload or not self.is_live(before):
            super().apply_put(space, request)


@broken("touch-makes-a-version", "versions")
class TouchMakesAVersion(PlainStore):
    """Gives a record another version when it is touched."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        there = await super().touch(scope, key, ttl, fence)
        with self.room.turn(write=True) as space:
            if there:
                self.record_at(space, scope, key).version = self.environment.new_id()
        return there


@broken("seal-makes-a-version", "versions", "fencing")
class SealMakesAVersion(PlainStore):
    """Gives a record another version when it is sealed."""

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        version = await super().seal(scope, key, fence)
        with self.room.turn(write=True) as space:
            record = self.record_at(space, scope, key)
            if version is not None:
                record.version = self.environment.new_id()
                self.keep(space, scope, key, record)
        return version


@broken("refusal-makes-a-version", "versions")
class RefusalMakesAVersion(PlainStore):
    """Gives a record another version when a write to it is refused."""

    def check(self, space: Space, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        try:
            return super().check(space, scope, key, expect, fence)
        except Conflict:
            self.record_at(space, scope, key).version = self.environment.new_id()
            raise


@broken("listing-tells-other-versions", "versions")
class ListingTellsOtherVersions(PlainStore):
    """Tells in listings the version that a record was created with."""

    def keep(self, space: Space, scope: str, key: str, record: Kept) -> None:
        super().keep(space, scope, key, record)
        place = scope, key
        if record.payload is None:
            space.notes.pop(place, None)
        else:
            space.notes.setdefault(place, record.version)

    async def scan(self, scope: str, prefix: str, after: str | None, limit: int) -> Any:
        page = await super().scan(scope, prefix, after, limit)
        with self.room.turn() as space:
            rows = [row._replace(version=space.notes[scope, row.key]) for row in page.rows]
        return replace(page, rows=rows)


@broken("versions-of-eight-characters", "versions")
class VersionsOfEightCharacters(PlainStore):
    """Compares the first eight characters of versions, and takes a longer text that begins like one for it."""

    def check_version(self, expect: Expect, version: str | None) -> None:
        begins = isinstance(expect, str) and version is not None and expect[:8] == version[:8]
        if not begins:
            super().check_version(expect, version)


@broken("expect-folds-case", "versions")
class ExpectFoldsCase(PlainStore):
    """Compares versions without regard to case, as a case-insensitive collation does."""

    def check_version(self, expect: Expect, version: str | None) -> None:
        super().check_version(expect.lower() if isinstance(expect, str) else expect, version)


@broken("update-tells-an-older-version", "versions", "records")
class UpdateTellsAnOlderVersion(WrappedStore):
    """Returns from update the new value with the version there was before."""

    def update(self, scope: str, key: str, function: Any, **named: Any) -> Any:
        before = self.inner.get(scope, key)
        record: Record = self.inner.update(scope, key, function, **named)
        return record if before is None else record._replace(version=before.version)


@broken("delete-absent-refused", "versions")
class DeleteAbsentRefused(PlainStore):
    """Refuses to delete with ABSENT what is absent."""

    async def delete(self, request: DeleteRequest) -> bool:
        if request.expect is ABSENT:
            message = "there is nothing to delete"
            raise Conflict(message, None)
        return await super().delete(request)


@broken("stale-get-many", "versions", "records")
class StaleGetMany(PlainStore):
    """Reads in get_many from a replica that is one write behind for each record."""

    def keep(self, space: Space, scope: str, key: str, record: Kept) -> None:
        old = self.record_at(space, scope, key)
        if old is not record and old.payload is not None and record.payload is not None:
            space.notes[scope, key] = replace(old)
        super().keep(space, scope, key, record)

    async def get_many(self, scope: str, keys: Any) -> Any:
        found: list[StoredRecord | None] = list(await super().get_many(scope, keys))
        with self.room.turn() as space:
            for index, row in enumerate(found):
                old = space.notes.get((scope, keys[index]))
                found[index] = row if row is None or old is None else self.stored(row.key, old)
        return found
