"""Broken in what only the process knows that did it."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from typing import Any, ClassVar

from holdall.rules import raised_mark
from holdall_conformance.broken.plain_lock import PlainLock
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.rooms import FileRoom
from holdall_conformance.broken.state import LeaseState, Record, Space


@broken("touches-per-process", "processes", room=FileRoom)
class TouchesPerProcess(PlainStore):
    """Remembers in the memory of each process how long a touched record lasts."""

    ends: ClassVar[dict[Any, float | None]] = {}

    def record_at(self, space: Space, scope: str, key: str) -> Record:
        record = super().record_at(space, scope, key)
        record.expires = self.ends.get((scope, key, record.version), record.expires)
        return record

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        with self.room.turn(write=True) as space:
            record = super().record_at(space, scope, key)
            self.check_fence(record.mark, fence)
            record.mark = raised_mark(record.mark, fence)
            self.keep(space, scope, key, record)
            there = self.is_live(record)
        if there:
            self.ends[scope, key, record.version] = None if ttl is None else self.now() + ttl
        return there


@broken("floors-per-process", "processes", room=FileRoom)
class FloorsPerProcess(PlainLock):
    """Remembers floors in the memory of the process that raised them."""

    floors: ClassVar[dict[str, int]] = {}

    def lease_at(self, space: Space, key: str) -> LeaseState:
        lease = super().lease_at(space, key)
        lease.floor = self.floors.get(key, 0)
        return lease

    async def raise_floor(self, key: str, token: int) -> None:
        self.floors[key] = max(token, self.floors.get(key, 0))
