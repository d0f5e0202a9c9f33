"""Broken in leases: who gets one, for how long, and with which token."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from dataclasses import replace
from typing import Any

from holdall import Lease, LeaseLost
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
        owner = getattr(lease, "owner", None)
        return self.inner.release(self.granted.get((getattr(lease, "key", None), owner), lease))


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
