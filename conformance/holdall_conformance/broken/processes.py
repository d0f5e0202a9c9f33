"""Broken between processes: right as long as there is only one."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import contextlib
import copy
import threading
import time
from collections.abc import Generator
from typing import Any, ClassVar

from holdall import Appended, Entry
from holdall.spi import AppendRequest
from holdall_conformance.broken.follow import Polling
from holdall_conformance.broken.plain_lock import PlainLock
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.rooms import FileRoom, MemoryRoom
from holdall_conformance.broken.state import LeaseState, Record, Remembered, Space

_STARTED = time.monotonic()


@broken("memory-for-shared", "processes")
class MemoryForShared(MemoryRoom):
    """Declares that processes share it, and keeps everything in the memory of each."""

    shared = True


@broken("cache-per-process", "processes")
class CachePerProcess(FileRoom):
    """Reads the file once in each process, and sees of others what it happens to read then."""

    known: ClassVar[dict[Any, Space]] = {}

    def load(self) -> Space:
        if self.file not in self.known:
            self.known[self.file] = super().load()
        return copy.deepcopy(self.known[self.file])

    def save(self, space: Space) -> None:
        super().save(space)
        self.known[self.file] = space


@broken("no-lock-between-processes", "processes")
class NoLockBetweenProcesses(FileRoom):
    """Keeps threads apart with a lock in memory, and processes not at all."""

    turns: ClassVar[threading.RLock] = threading.RLock()

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        with self.turns:
            yield


@broken("tokens-per-process", "processes", room=FileRoom)
class TokensPerProcess(PlainLock):
    """Counts tokens in the memory of each process."""

    counts: ClassVar[dict[int, int]] = {}

    def next_token(self, lease: LeaseState) -> int:
        self.counts[0] = self.counts.get(0, lease.floor) + 1
        return self.counts[0]


@broken("marks-per-process", "processes", room=FileRoom)
class MarksPerProcess(PlainStore):
    """Keeps the marks of records in the memory of each process."""

    marks: ClassVar[dict[Any, int]] = {}

    def record_at(self, space: Space, scope: str, key: str) -> Record:
        record = super().record_at(space, scope, key)
        record.mark = self.marks.get((scope, key), 0)
        return record

    def keep(self, space: Space, scope: str, key: str, record: Record) -> None:
        self.marks[scope, key] = record.mark
        super().keep(space, scope, key, record)


@broken("ids-per-process", "processes", "crash", room=FileRoom)
class IdsPerProcess(PlainStore):
    """Remembers batch ids in the memory of each process, so that a restarted one appends again."""

    ids: ClassVar[dict[Any, dict[str, Remembered]]] = {}

    def log_at(self, space: Space, scope: str, key: str) -> Any:
        log = super().log_at(space, scope, key)
        known = self.ids.setdefault((scope, key, log.incarnation), {})
        log.remembered = known
        return log

    def __getstate__(self) -> None:
        return None

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        result = super().apply_append(space, request)
        log = super().log_at(space, request.scope, request.key)
        self.ids[request.scope, request.key, log.incarnation] = dict(log.remembered)
        log.remembered = {}
        return result


@broken("flags-per-process", "processes", room=FileRoom)
class FlagsPerProcess(PlainLock):
    """Keeps flags in the memory of each process."""

    flags: ClassVar[dict[str, float]] = {}

    async def set_flag(self, key: str, ttl: float) -> None:
        self.flags[key] = self.now() + ttl

    async def flag(self, key: str) -> bool:
        return self.flags.get(key, 0.0) > self.now()

    async def clear_flag(self, key: str) -> None:
        self.flags.pop(key, None)


@broken("leases-per-process", "processes", room=FileRoom)
class LeasesPerProcess(PlainLock):
    """Excludes threads with leases in memory, and other processes not at all."""

    leases: ClassVar[dict[str, LeaseState]] = {}

    def lease_at(self, space: Space, key: str) -> LeaseState:
        return self.leases.setdefault(key, LeaseState())

    async def holder(self, key: str) -> Any:
        with self.room.turn() as space:
            space.leases[key] = self.lease_at(space, key)
            found = self.lease_at(space, key)
        return None if not self.is_taken(found) else (await self._told(found))

    async def _told(self, lease: LeaseState) -> Any:
        from holdall import Holder  # noqa: PLC0415 - read where it is used once

        return Holder(lease.owner, lease.token, lease.expires - self.now())


@broken("wall-clock-for-leases", "processes", room=FileRoom)
class WallClockForLeases(PlainLock):
    """Judges leases by the wall clock, which steps."""

    def now(self) -> float:
        return time.time()


@broken("wall-clock-for-records", "processes", room=FileRoom)
class WallClockForRecords(PlainStore):
    """Judges the expiry of records by the wall clock, which steps."""

    def now(self) -> float:
        return time.time()


@broken("clock-of-the-process", "processes", room=FileRoom)
class ClockOfTheProcess(PlainLock):
    """Judges leases by a clock that begins with each process."""

    def now(self) -> float:
        return time.monotonic() - _STARTED


@broken("clock-of-the-process-for-records", "processes", room=FileRoom)
class ClockOfTheProcessForRecords(PlainStore):
    """Judges the expiry of records by a clock that begins with each process."""

    def now(self) -> float:
        return time.monotonic() - _STARTED


@broken("lengths-per-process", "processes", room=FileRoom)
class LengthsPerProcess(PlainStore):
    """Remembers in each process how long a log is, and tells positions by it."""

    lengths: ClassVar[dict[Any, int]] = {}

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        result = super().apply_append(space, request)
        place = request.scope, request.key, result.head.incarnation
        start = self.lengths.get(place, result.start)
        self.lengths[place] = start + result.count
        return Appended(start, result.count, result.head._replace(length=start + result.count))


@broken("followers-hear-their-own-process", "processes", "follow", room=FileRoom)
class FollowersHearTheirOwnProcess(Polling):
    """Wakes followers when the same process appends, and lets the others wait."""

    told: ClassVar[dict[Any, int]] = {}

    def append(self, scope: str, key: str, entries: Any, **named: Any) -> Any:
        result = self.inner.append(scope, key, entries, **named)
        self.told[scope, key] = result.head.length
        return result

    def found(self, scope: str, key: str, start: int) -> list[Entry]:
        waiting = start and self.told.get((scope, key), start) <= start
        return [] if waiting else super().found(scope, key, start)
