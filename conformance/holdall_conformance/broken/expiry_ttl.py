"""Broken in which ttl counts and how it is told."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from holdall import Put, Record
from holdall.spi import PutRequest, StoredRecord
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Record as Kept
from holdall_conformance.broken.state import Space
from holdall_conformance.broken.translating import TranslatingStore
from holdall_conformance.broken.wrapping import WrappedStore


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
