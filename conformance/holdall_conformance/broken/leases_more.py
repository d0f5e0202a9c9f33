"""Broken in long leases, in those that were waited for, and in floors."""
# ruff: noqa: D102, PLR2004 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from holdall import LockTimeout
from holdall.spi import LeaseRequest
from holdall_conformance.broken.plain_lock import PlainLock
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import LeaseState, Space
from holdall_conformance.broken.wrapping import WrappedLock


@broken("lease-of-an-hour-at-most", "leases")
class LeaseOfAnHourAtMost(PlainLock):
    """Cuts the ttl of a lease at an hour."""

    def grant(self, lease: LeaseState, nonce: str, owner: str, ttl: float) -> int:
        return super().grant(lease, nonce, owner, min(ttl, 3_600.0))


@broken("renew-adds", "leases")
class RenewAdds(PlainLock):
    """Adds the ttl of a renewal to what was left of the lease."""

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        with self.room.turn() as space:
            left = self.lease_at(space, request.key).expires - self.now()
        return await super().renew(request, max(0.0, left) + ttl)


class _Waiting(WrappedLock):
    """Acquires by trying again and again; what is asked for after a wait is up to a broken one."""

    def after_a_wait(self, named: dict[str, Any]) -> dict[str, Any]:
        """Return the options of every try but the first."""
        return named

    def acquire(self, key: str, *, timeout: Any, **named: Any) -> Any:
        waits = timeout is None or (type(timeout) in {int, float} and timeout > 0)
        try:
            return self.inner.acquire(key, timeout=0 if waits else timeout, **named)
        except LockTimeout:
            if not waits:
                raise
            return self.inner.acquire(key, timeout=timeout, **self.after_a_wait(named))


@broken("waiting-forgets-the-owner", "leases")
class WaitingForgetsTheOwner(_Waiting):
    """Forgets the owner's name where the key had to be waited for."""

    def after_a_wait(self, named: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in named.items() if name != "owner"}


@broken("waiting-forgets-the-ttl", "leases")
class WaitingForgetsTheTtl(_Waiting):
    """Forgets the ttl where the key had to be waited for."""

    def after_a_wait(self, named: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in named.items() if name != "ttl"}


@broken("waiting-hold-forgets-the-ttl", "leases", "holds")
class WaitingHoldForgetsTheTtl(WrappedLock):
    """Holds for a minute where the key had to be waited for."""

    def hold(self, key: str, *, ttl: Any = 60, **named: Any) -> Any:
        long = type(ttl) in {int, float} and ttl > 60
        return self.inner.hold(key, ttl=60 if long and self.inner.held(key) else ttl, **named)


@broken("sweep-forgets-floors", "leases")
class SweepForgetsFloors(PlainStore):
    """Sweeps the floors of keys that nobody holds."""

    async def sweep(self) -> int:
        with self.room.turn(write=True) as space:
            for lease in space.leases.values():
                lease.floor = 0 if lease.nonce is None else lease.floor
        return await super().sweep()


@broken("floor-of-unknown-key-ignored", "leases")
class FloorOfUnknownKeyIgnored(PlainLock):
    """Raises the floor of keys that were taken before, by an update that finds no row for the others."""

    async def raise_floor(self, key: str, token: int) -> None:
        with self.room.turn() as space:
            known = key in space.leases
        if known:
            await super().raise_floor(key, token)


@broken("floors-of-32-bits", "leases")
class FloorsOf32Bits(PlainLock):
    """Keeps the lower 32 bits of a floor."""

    async def raise_floor(self, key: str, token: int) -> None:
        await super().raise_floor(key, token % 2**32)


@broken("tokens-counted-in-floats", "leases")
class TokensCountedInFloats(PlainLock):
    """Counts tokens in floats, of which there is no next one above 2**53."""

    def next_token(self, lease: LeaseState) -> int:
        return int(float(max(lease.token, lease.floor)) + 1)


class _ACopy(PlainLock):
    """Changes a copy of all that is kept of leases and flags, and writes some of it back."""

    async def written_back(self, change: Callable[[Space], Any], write: Callable[[Space, Space], None]) -> Any:
        """Change a copy of the space, and let it be written back in another step."""
        with self.room.turn() as space:
            changed = Space(leases=copy.deepcopy(space.leases), flags=dict(space.flags))
        result = change(changed)
        await self.environment.sleep(0.0005)
        with self.room.turn(write=True) as space:
            write(space, changed)
        return result


@broken("floor-overwrites-the-lease", "leases")
class FloorOverwritesTheLease(_ACopy):
    """Reads what is kept of a key, raises the floor, and writes it back over a lease that was granted meanwhile."""

    async def raise_floor(self, key: str, token: int) -> None:
        def change(space: Space) -> None:
            lease = self.lease_at(space, key)
            lease.floor = max(lease.floor, token)

        def write(space: Space, changed: Space) -> None:
            space.leases[key] = changed.leases[key]

        await self.written_back(change, write)


@broken("last-floor-counts", "leases")
class LastFloorCounts(_ACopy):
    """Compares a floor with the one before in one step and writes it in another, so that a higher one is lost."""

    async def raise_floor(self, key: str, token: int) -> None:
        def change(space: Space) -> None:
            lease = self.lease_at(space, key)
            lease.floor = max(lease.floor, token)

        def write(space: Space, changed: Space) -> None:
            self.lease_at(space, key).floor = changed.leases[key].floor

        await self.written_back(change, write)


@broken("leases-in-one-document", "leases")
class LeasesInOneDocument(_ACopy):
    """Keeps all leases in one document, and writes it back over those of other keys that were granted meanwhile."""

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        with self.room.turn() as space:
            before = copy.deepcopy(space.leases)
        await self.environment.sleep(0.0005)
        with self.room.turn(write=True) as space:
            own = self.lease_at(space, key)
            space.leases.update(before)
            space.leases[key] = own
        return await super().acquire(key, nonce, owner, ttl)


@broken("flags-in-one-document", "flags")
class FlagsInOneDocument(_ACopy):
    """Keeps all flags in one document, and writes it back over those that were raised or lowered meanwhile."""

    async def set_flag(self, key: str, ttl: float) -> None:
        def write(space: Space, changed: Space) -> None:
            space.flags.clear()
            space.flags.update(changed.flags)

        await self.written_back(lambda space: space.flags.update({key: self.now() + ttl}), write)


@broken("heartbeat-ignored", "holds")
class HeartbeatIgnored(WrappedLock):
    """Renews every third of a ttl, whatever heartbeat was asked for."""

    def hold(self, key: str, *, heartbeat: Any = None, **named: Any) -> Any:
        wrong = heartbeat is not None and not (isinstance(heartbeat, float) and 0 < heartbeat < named.get("ttl", 60))
        return self.inner.hold(key, heartbeat=heartbeat if wrong else None, **named)
