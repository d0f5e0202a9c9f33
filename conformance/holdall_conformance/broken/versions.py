"""Broken in what a version is and what is compared with it."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, ClassVar

from holdall import ABSENT, ANY, Conflict, Record
from holdall.codec import encode
from holdall.spi import DeleteRequest, PutRequest, StoredRecord
from holdall.values import Expect
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Record as Kept
from holdall_conformance.broken.state import Space
from holdall_conformance.broken.translating import TranslatingStore
from holdall_conformance.broken.wrapping import WrappedStore


@broken("lost-update", "versions", "concurrency")
class LostUpdate(PlainStore):
    """Writes although the version is another than expected."""

    def check_version(self, expect: Expect, version: str | None) -> None:
        if expect is ABSENT or version is None:
            super().check_version(expect, version)


@broken("absent-overwrites", "versions", "concurrency")
class AbsentOverwrites(PlainStore):
    """Writes over a record although none was expected."""

    def check_version(self, expect: Expect, version: str | None) -> None:
        if expect is not ABSENT:
            super().check_version(expect, version)


@broken("version-of-nothing-creates", "versions")
class VersionOfNothingCreates(PlainStore):
    """Creates a record where a version was expected and there is none, as an upsert does."""

    def check_version(self, expect: Expect, version: str | None) -> None:
        if version is not None:
            super().check_version(expect, version)


@broken("delete-ignores-the-version", "versions")
class DeleteIgnoresTheVersion(PlainStore):
    """Deletes whatever version there is."""

    async def delete(self, request: DeleteRequest) -> bool:
        return await super().delete(request._replace(expect=ANY))


@broken("conflict-tells-nothing", "versions", "errors")
class ConflictTellsNothing(PlainStore):
    """Raises Conflict without the version that is there."""

    def check_version(self, expect: Expect, version: str | None) -> None:
        try:
            super().check_version(expect, version)
        except Conflict as conflict:
            raise Conflict(conflict.message) from None


@broken("conflict-tells-the-expected", "versions", "errors")
class ConflictTellsTheExpected(PlainStore):
    """Raises Conflict with the version that was expected as the current one."""

    def check_version(self, expect: Expect, version: str | None) -> None:
        try:
            super().check_version(expect, version)
        except Conflict as conflict:
            raise Conflict(conflict.message, expect if isinstance(expect, str) else version) from None


@broken("conflict-as-false", "versions")
class ConflictAsFalse(WrappedStore):
    """Returns an empty version instead of raising Conflict."""

    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        try:
            return self.inner.put(scope, key, value, **named)
        except Conflict:
            return ""


@broken("none-checks-nothing", "versions")
class NoneChecksNothing(WrappedStore):
    """Takes None for "do not check", as a version that somebody forgot to pass is."""

    def put(self, scope: str, key: str, value: Any, *, expect: Any = ANY, **named: Any) -> Any:
        return self.inner.put(scope, key, value, expect=ANY if expect is None else expect, **named)


@broken("empty-version-is-absent", "versions")
class EmptyVersionIsAbsent(WrappedStore):
    """Takes an empty text for "there must be none"."""

    def put(self, scope: str, key: str, value: Any, *, expect: Any = ANY, **named: Any) -> Any:
        absent = isinstance(expect, str) and not expect
        return self.inner.put(scope, key, value, expect=ABSENT if absent else expect, **named)


class _OwnVersions(TranslatingStore):
    """Gives versions of its own instead of those of the store behind it."""

    def named(self, record: Record) -> str:
        return record.version

    def given(self, record: Record) -> Record:
        return record._replace(version=self.named(record))

    def inner_version(self, scope: str, key: str, expect: Any) -> Any:
        current = self.inner.get(scope, key) if isinstance(expect, str) and expect else None
        return current.version if current is not None and self.named(current) == expect else expect

    def translated(self, scope: str, key: str, conflict: Conflict) -> Conflict:
        current = self.get(scope, key)
        conflict.current = None if current is None else current.version
        return conflict

    def put(self, scope: str, key: str, value: Any, *, expect: Any = ANY, **named: Any) -> Any:
        try:
            version = self.inner.put(scope, key, value, expect=self.inner_version(scope, key, expect), **named)
        except Conflict as conflict:
            raise self.translated(scope, key, conflict) from None
        return self.named(Record(scope, key, value, version, None))

    def delete(self, scope: str, key: str, *, expect: Any = ANY, **named: Any) -> Any:
        try:
            return self.inner.delete(scope, key, expect=self.inner_version(scope, key, expect), **named)
        except Conflict as conflict:
            raise self.translated(scope, key, conflict) from None

    def commit(self, operations: Any) -> list[Any]:
        known = [
            replace(one, expect=self.inner_version(one.scope, one.key, one.expect)) if hasattr(one, "expect") else one
            for one in operations
        ]
        found: list[Any] = self.inner.commit(known)
        return found


@broken("version-of-the-value", "versions")
class VersionOfTheValue(_OwnVersions):
    """Makes the version from the value, so that a change there and back is not noticed, as with an ETag."""

    def named(self, record: Record) -> str:
        return hashlib.sha256(encode(record.value)).hexdigest()


@broken("version-counts-anew", "versions")
class VersionCountsAnew(_OwnVersions):
    """Counts versions from 1 again in a record that is made anew."""

    numbers: ClassVar[dict[str, str]] = {}
    last: ClassVar[dict[tuple[str, str], int]] = {}

    def named(self, record: Record) -> str:
        if record.version not in self.numbers:
            place = record.scope, record.key
            self.last[place] = self.last.get(place, 0) + 1
            self.numbers[record.version] = str(self.last[place])
        return self.numbers[record.version]

    def delete(self, scope: str, key: str, **named: Any) -> Any:
        there = super().delete(scope, key, **named)
        self.last.pop((scope, key), None)
        return there


@broken("version-counts-per-record", "versions")
class VersionCountsPerRecord(VersionCountsAnew):
    """Counts versions in each record, so that another record has the same ones."""

    numbers: ClassVar[dict[str, str]] = {}
    last: ClassVar[dict[tuple[str, str], int]] = {}

    def delete(self, scope: str, key: str, **named: Any) -> Any:
        return _OwnVersions.delete(self, scope, key, **named)


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
