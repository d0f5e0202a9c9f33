"""Broken in who has a lease: for how long, who else is told so, and what waiting for it does."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import replace
from typing import Any

from holdall import Holder, Lease, LockTimeout
from holdall.clock import boot_time
from holdall_conformance.broken.plain_lock import PlainLock
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import LeaseState, Space
from holdall_conformance.broken.wrapping import WrappedLock


@broken("re-entrant", "leases", "holds")
class ReEntrant(PlainLock):
    """Gives a held key to its owner a second time."""

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, key)
            if self.is_taken(lease) and lease.owner == owner:
                return self.grant(lease, nonce, owner, ttl)
        return await super().acquire(key, nonce, owner, ttl)


@broken("held-prolongs", "leases")
class HeldProlongs(PlainLock):
    """Begins the ttl of a lease anew when somebody asks who has the key."""

    async def holder(self, key: str) -> Holder | None:
        found = await super().holder(key)
        with self.room.turn(write=True) as space:
            if found is not None:
                self.lease_at(space, key).expires = self.now() + 60
        return found


@broken("holder-outlives-its-lease", "leases")
class HolderOutlivesItsLease(PlainLock):
    """Names the holder of a lease that has expired."""

    async def holder(self, key: str) -> Holder | None:
        with self.room.turn() as space:
            lease = space.leases.get(key)
            if lease is None or lease.nonce is None:
                return None
            return Holder(lease.owner, lease.token, max(0.0, lease.expires - self.now()))


@broken("holder-without-token", "leases")
class HolderWithoutToken(PlainLock):
    """Names the holder with the token 0."""

    async def holder(self, key: str) -> Holder | None:
        found = await super().holder(key)
        return None if found is None else found._replace(token=0)


@broken("lease-of-whole-seconds", "leases")
class LeaseOfWholeSeconds(PlainLock):
    """Keeps a lease for the whole seconds of its ttl, at least one."""

    def grant(self, lease: LeaseState, nonce: str, owner: str, ttl: float) -> int:
        return super().grant(lease, nonce, owner, max(1, math.floor(ttl)))


@broken("lease-of-half-its-ttl", "leases")
class LeaseOfHalfItsTtl(PlainLock):
    """Gives a key away after half of the lease's ttl."""

    def grant(self, lease: LeaseState, nonce: str, owner: str, ttl: float) -> int:
        return super().grant(lease, nonce, owner, ttl / 2)


@broken("lease-for-ever", "leases")
class LeaseForEver(PlainLock):
    """Never gives away the key of a holder that does not release it."""

    def is_taken(self, lease: LeaseState) -> bool:
        return lease.nonce is not None


@broken("triers-ttl-counts", "leases")
class TriersTtlCounts(PlainLock):
    """Takes a lease for expired once it is older than the ttl of whoever tries."""

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, key)
            if self.is_taken(lease) and self.now() > space.notes.get(key, math.inf) + ttl:
                lease.nonce = None
        token = await super().acquire(key, nonce, owner, ttl)
        with self.room.turn(write=True) as space:
            if token is not None:
                space.notes[key] = self.now()
        return token


@broken("deadline-too-late", "leases")
class DeadlineTooLate(WrappedLock):
    """Tells holders a deadline a second after the one at which the key is given away."""

    def try_acquire(self, key: str, **named: Any) -> Any:
        lease = self.inner.try_acquire(key, **named)
        return None if lease is None else replace(lease, deadline=boot_time() + lease.ttl + 1)


@broken("keys-of-leases-fold-case", "leases", "keys")
class KeysOfLeasesFoldCase(PlainLock):
    """Takes keys of leases that differ in case for one."""

    def lease_at(self, space: Space, key: str) -> LeaseState:
        return super().lease_at(space, key.lower())

    async def holder(self, key: str) -> Holder | None:
        return await super().holder(key.lower())


@broken("keys-of-leases-hashed", "leases")
class KeysOfLeasesHashed(PlainLock):
    """Guards keys by one of eight locks, so that keys which nobody holds are taken."""

    def lease_at(self, space: Space, key: str) -> LeaseState:
        return super().lease_at(space, str(sum(key.encode()) % 8))

    async def holder(self, key: str) -> Holder | None:
        return await super().holder(str(sum(key.encode()) % 8))


@broken("timeout-zero-never-tries", "leases")
class TimeoutZeroNeverTries(WrappedLock):
    """Raises LockTimeout for a timeout of 0 without a try."""

    def acquire(self, key: str, *, timeout: Any, **named: Any) -> Any:
        if timeout == 0 and type(timeout) is not bool:
            message = "timed out"
            raise LockTimeout(message, self.inner.holder(key))
        return self.inner.acquire(key, timeout=timeout, **named)


@broken("timeout-too-early", "leases")
class TimeoutTooEarly(WrappedLock):
    """Raises LockTimeout after half of the timeout."""

    def acquire(self, key: str, *, timeout: Any, **named: Any) -> Any:
        half = timeout / 2 if type(timeout) in {int, float} else timeout
        return self.inner.acquire(key, timeout=half, **named)


@broken("timeout-names-nobody", "leases", "errors")
class TimeoutNamesNobody(WrappedLock):
    """Raises LockTimeout without the holder."""

    def acquire(self, key: str, **named: Any) -> Any:
        try:
            return self.inner.acquire(key, **named)
        except LockTimeout as error:
            error.holder = None
            raise


@broken("timeout-returns-none", "leases")
class TimeoutReturnsNone(WrappedLock):
    """Returns None from acquire when the time is up."""

    def acquire(self, key: str, **named: Any) -> Any:
        try:
            return self.inner.acquire(key, **named)
        except LockTimeout:
            return None


@broken("waits-out-the-ttl", "leases")
class WaitsOutTheTtl(WrappedLock):
    """Looks for a held key again when the holder's ttl is over, not when it is released."""

    def acquire(self, key: str, *, timeout: Any, **named: Any) -> Any:
        holder = self.inner.holder(key)
        if holder is None or not isinstance(timeout, int | float | None):
            return self.inner.acquire(key, timeout=timeout, **named)
        time.sleep(min(holder.expires_in, 60 if timeout is None else max(0, timeout)))
        return self.inner.acquire(key, timeout=0, **named)


@broken("try-waits", "leases")
class TryWaits(WrappedLock):
    """Waits in try_acquire until the key is free."""

    def try_acquire(self, key: str, **named: Any) -> Any:
        return self.inner.acquire(key, timeout=None, **named)


@broken("two-may-hold", "leases")
class TwoMayHold(PlainLock):
    """Lets two have a key, as a semaphore of the wrong size does."""

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        with self.room.turn(write=True) as space:
            counts: Counter[str] = space.notes.setdefault("counts", Counter())
            lease = self.lease_at(space, key)
            if self.is_taken(lease):
                counts[key] += 1
                if counts[key] == 1:
                    return self.grant(lease, nonce, owner, ttl)
            else:
                counts[key] = 0
        return await super().acquire(key, nonce, owner, ttl)


@broken("owner-forgotten", "leases")
class OwnerForgotten(PlainLock):
    """Names every holder the same."""

    def grant(self, lease: LeaseState, nonce: str, owner: str, ttl: float) -> int:
        return super().grant(lease, nonce, "owner", ttl)


@broken("release-spoils-the-next", "leases")
class ReleaseSpoilsTheNext(WrappedLock):
    """Releases with an expired lease the key of whoever has it now."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.latest: dict[str, Lease] = {}

    def try_acquire(self, key: str, **named: Any) -> Any:
        lease = self.inner.try_acquire(key, **named)
        if lease is not None:
            self.latest[key] = lease
        return lease

    def release(self, lease: Lease) -> Any:
        return self.inner.release(self.latest.get(getattr(lease, "key", ""), lease))


@broken("renew-for-a-minute", "leases")
class RenewForAMinute(WrappedLock):
    """Renews for a minute where no ttl is given, whatever the lease had."""

    def renew(self, lease: Lease, *, ttl: Any = None) -> Any:
        return self.inner.renew(lease, ttl=60 if ttl is None else ttl)


@broken("holder-with-its-whole-ttl", "leases")
class HolderWithItsWholeTtl(PlainLock):
    """Tells of a holder how long its lease was to last, not how long it has left."""

    async def holder(self, key: str) -> Holder | None:
        found = await super().holder(key)
        return None if found is None else found._replace(expires_in=600.0)


@broken("sweep-ends-leases", "leases", "records")
class SweepEndsLeases(PlainStore):
    """Sweeps the leases that are held."""

    async def sweep(self) -> int:
        with self.room.turn(write=True) as space:
            for lease in space.leases.values():
                lease.nonce = None
        return await super().sweep()
