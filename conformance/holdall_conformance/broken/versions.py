"""Broken in what a version is and what is compared with it."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, ClassVar

from holdall import ABSENT, ANY, Conflict, Record
from holdall.codec import encode
from holdall.spi import DeleteRequest
from holdall.values import Expect
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
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
