"""Broken in leases: who gets one, for how long, and with which token."""
# ruff: noqa: ARG002, D102, PLR2004 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import replace
from typing import Any

from holdall import Holder, Lease, LeaseLost, LockTimeout
from holdall.clock import boot_time
from holdall.spi import LeaseRequest
from holdall_conformance.broken.plain_lock import PlainLock
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import LeaseState, Space
from holdall_conformance.broken.wrapping import WrappedLock


@broken("stale-renew", "leases")
class StaleRenew(PlainLock):
    """Renews a lease that has expired, as long as nobody else took the key."""

    def is_current(self, lease: LeaseState, request: LeaseRequest) -> bool:
        return (lease.nonce, lease.token) == (request.nonce, request.token)


@broken("released-lease-renewed", "leases")
class ReleasedLeaseRenewed(PlainLock):
    """Renews a lease that was released, and so takes the key again."""

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, request.key)
            if lease.nonce is None and lease.token == request.token:
                lease.nonce, lease.expires = request.nonce, self.now() + ttl
        return await super().renew(request, ttl)


@broken("renew-of-any-lease", "leases")
class RenewOfAnyLease(PlainLock):
    """Renews whatever lease the key has for whoever asks."""

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, request.key)
            if self.is_taken(lease):
                lease.expires = self.now() + ttl
            return self.is_taken(lease)


@broken("renew-without-effect", "leases", "holds")
class RenewWithoutEffect(PlainLock):
    """Says that a lease was renewed and leaves it as it was."""

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        with self.room.turn() as space:
            return self.is_current(self.lease_at(space, request.key), request)


@broken("renew-keeps-the-ttl", "leases")
class RenewKeepsTheTtl(WrappedLock):
    """Forgets the ttl of a renewal."""

    def renew(self, lease: Lease, *, ttl: Any = None) -> Any:
        return self.inner.renew(lease)


@broken("renew-never-shortens", "leases")
class RenewNeverShortens(PlainLock):
    """Leaves the end of a lease where it is if a renewal would bring it nearer."""

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        with self.room.turn() as space:
            left = self.lease_at(space, request.key).expires - self.now()
        return await super().renew(request, max(ttl, left))


@broken("renew-makes-a-token", "leases")
class RenewMakesAToken(WrappedLock):
    """Gives a lease another token when it is renewed."""

    def renew(self, lease: Lease, **named: Any) -> Any:
        renewed = self.inner.renew(lease, **named)
        return replace(renewed, token=renewed.token + 1)


@broken("renew-fails-quietly", "leases", "holds")
class RenewFailsQuietly(WrappedLock):
    """Returns the lease unchanged where it could not be renewed."""

    def renew(self, lease: Lease, **named: Any) -> Any:
        try:
            return self.inner.renew(lease, **named)
        except LeaseLost:
            return lease


@broken("release-by-anyone", "leases")
class ReleaseByAnyone(PlainLock):
    """Frees a key for whoever asks."""

    async def release(self, request: LeaseRequest) -> bool:
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, request.key)
            taken = self.is_taken(lease)
            self.free(space, request.key, lease)
            return taken


@broken("release-by-owner", "leases")
class ReleaseByOwner(WrappedLock):
    """Frees a key for whoever gives the owner's name, also for an earlier lease of his."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.granted: dict[Any, Lease] = {}

    def try_acquire(self, key: str, **named: Any) -> Any:
        lease = self.inner.try_acquire(key, **named)
        if lease is not None:
            self.granted[key, lease.owner] = lease
        return lease

    def release(self, lease: Lease) -> Any:
        known = self.granted.get((lease.key, lease.owner), lease) if isinstance(lease, Lease) else lease
        return self.inner.release(known)


@broken("release-by-token", "leases")
class ReleaseByToken(PlainLock):
    """Compares the token of a lease and not its nonce."""

    def is_current(self, lease: LeaseState, request: LeaseRequest) -> bool:
        return self.is_taken(lease) and lease.token == request.token


@broken("release-by-nonce", "leases")
class ReleaseByNonce(PlainLock):
    """Compares the nonce of a lease and not its token."""

    def is_current(self, lease: LeaseState, request: LeaseRequest) -> bool:
        return self.is_taken(lease) and lease.nonce == request.nonce


@broken("release-always-true", "leases")
class ReleaseAlwaysTrue(PlainLock):
    """Says of every release that the lease was the current one."""

    async def release(self, request: LeaseRequest) -> bool:
        await super().release(request)
        return True


@broken("release-does-nothing", "leases")
class ReleaseDoesNothing(PlainLock):
    """Leaves a released key to its expiry."""

    def free(self, space: Space, key: str, lease: LeaseState) -> None:
        return


@broken("release-resets-the-token", "leases")
class ReleaseResetsTheToken(PlainLock):
    """Deletes what it knows of a key that is released, and begins with token 1 again."""

    def free(self, space: Space, key: str, lease: LeaseState) -> None:
        del space.leases[key]


@broken("expiry-resets-the-token", "leases")
class ExpiryResetsTheToken(PlainLock):
    """Forgets with an expired lease its token."""

    def next_token(self, lease: LeaseState) -> int:
        if lease.nonce is not None:
            lease.token = 0
        return super().next_token(lease)


@broken("sweep-resets-tokens", "leases", "fencing")
class SweepResetsTokens(PlainStore):
    """Sweeps what it knows of keys that nobody holds, tokens included."""

    async def sweep(self) -> int:
        with self.room.turn(write=True) as space:
            for key, lease in list(space.leases.items()):
                if lease.nonce is None or lease.expires <= self.now():
                    del space.leases[key]
        return await super().sweep()


@broken("same-token-again", "leases")
class SameTokenAgain(PlainLock):
    """Gives the next holder the token of the one whose lease expired."""

    def next_token(self, lease: LeaseState) -> int:
        return lease.token if lease.nonce is not None else super().next_token(lease)


@broken("token-of-the-clock", "leases")
class TokenOfTheClock(PlainLock):
    """Makes tokens from whole seconds, so that two in one second are equal."""

    def next_token(self, lease: LeaseState) -> int:
        return max(int(self.environment.wall_time()), lease.floor + 1)


@broken("refused-try-takes-a-token", "leases")
class RefusedTryTakesAToken(PlainLock):
    """Raises the token with every try, so that a holder's own is not the highest any more."""

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, key)
            if self.is_taken(lease):
                lease.token += 1
        return await super().acquire(key, nonce, owner, ttl)


@broken("refused-try-prolongs", "leases")
class RefusedTryProlongs(PlainLock):
    """Begins the ttl of a lease anew when somebody else tries for the key."""

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, key)
            if self.is_taken(lease):
                lease.expires = self.now() + ttl
        return await super().acquire(key, nonce, owner, ttl)


@broken("floor-ignored", "leases")
class FloorIgnored(PlainLock):
    """Does not raise the floor of tokens."""

    async def raise_floor(self, key: str, token: int) -> None:
        return


@broken("floor-lowers", "leases")
class FloorLowers(PlainLock):
    """Sets the last token to the floor, also where it was higher."""

    async def raise_floor(self, key: str, token: int) -> None:
        with self.room.turn(write=True) as space:
            self.lease_at(space, key).token = token


@broken("floor-is-the-next-token", "leases")
class FloorIsTheNextToken(PlainLock):
    """Gives out the floor itself as the next token."""

    def next_token(self, lease: LeaseState) -> int:
        return max(lease.token + 1, lease.floor)


@broken("floor-frees-the-key", "leases")
class FloorFreesTheKey(PlainLock):
    """Ends the lease of a key whose floor is raised."""

    async def raise_floor(self, key: str, token: int) -> None:
        await super().raise_floor(key, token)
        with self.room.turn(write=True) as space:
            self.lease_at(space, key).nonce = None


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
        return self.inner.release(self.latest.get(lease.key, lease) if isinstance(lease, Lease) else lease)
