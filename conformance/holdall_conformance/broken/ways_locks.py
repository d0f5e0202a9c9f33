"""Broken in one of several ways to use marks, tokens and flags: the others are right."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from holdall import Fenced, Head
from holdall.spi import DeleteRequest, LeaseRequest, LogRequest
from holdall_conformance.broken.plain_lock import PlainLock
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import LeaseState, Space


def _higher(mark: int, fence: int | None) -> None:
    """Refuse a token that is not above the mark.

    Raises:
        Fenced: it is the mark itself.

    """
    if fence is not None and mark and fence == mark:
        message = "not above the mark"
        raise Fenced(message, mark)


@broken("seal-refuses-its-own-token", "fencing")
class SealRefusesItsOwnToken(PlainStore):
    """Refuses a second seal with the token of the first."""

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        with self.room.turn() as space:
            _higher(self.record_at(space, scope, key).mark, fence)
        return await super().seal(scope, key, fence)


@broken("seal-of-logs-refuses-its-own-token", "fencing")
class SealOfLogsRefusesItsOwnToken(PlainStore):
    """Refuses a second seal of a log with the token of the first."""

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        with self.room.turn() as space:
            _higher(self.log_at(space, scope, key).mark, fence)
        return await super().seal_log(scope, key, fence)


@broken("delete-refuses-its-own-token", "fencing")
class DeleteRefusesItsOwnToken(PlainStore):
    """Refuses a delete with the token that wrote the record."""

    async def delete(self, request: DeleteRequest) -> bool:
        with self.room.turn() as space:
            _higher(self.record_at(space, request.scope, request.key).mark, request.fence)
        return await super().delete(request)


@broken("truncate-refuses-its-own-token", "fencing")
class TruncateRefusesItsOwnToken(PlainStore):
    """Refuses a truncate with the token that wrote the log."""

    async def truncate(self, request: LogRequest, before: int) -> int:
        with self.room.turn() as space:
            _higher(self.log_at(space, request.scope, request.key).mark, request.fence)
        return await super().truncate(request, before)


@broken("touch-refuses-its-own-token", "fencing")
class TouchRefusesItsOwnToken(PlainStore):
    """Refuses a touch with the token that wrote the record."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        with self.room.turn() as space:
            _higher(self.record_at(space, scope, key).mark, fence)
        return await super().touch(scope, key, ttl, fence)


@broken("floor-spoils-renewal", "leases")
class FloorSpoilsRenewal(PlainLock):
    """Takes a lease for lost whose token is not above a floor that was raised meanwhile."""

    def is_current(self, lease: LeaseState, request: LeaseRequest) -> bool:
        return super().is_current(lease, request) and request.token > lease.floor


@broken("sweep-lowers-flags", "flags")
class SweepLowersFlags(PlainStore):
    """Sweeps flags that are raised."""

    def sweep_flags(self, space: Space) -> int:
        for key in list(space.flags):
            space.flags[key] = 0.0
        return super().sweep_flags(space)


@broken("holder-of-a-sweep", "leases")
class HolderOfASweep(PlainStore):
    """Forgets in a sweep who holds a key, and keeps the key taken."""

    async def sweep(self) -> int:
        with self.room.turn(write=True) as space:
            for lease in space.leases.values():
                lease.owner = ""
        return await super().sweep()
