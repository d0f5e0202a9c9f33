"""Broken in some leases, flags and holds only: by their names, by who asks, or by how the body ended."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import unicodedata
from typing import Any

from holdall import Holder, Lease
from holdall.spi import LeaseRequest
from holdall_conformance.broken.holds import PassingHold
from holdall_conformance.broken.plain_lock import PlainLock
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import LeaseState, Space
from holdall_conformance.broken.wrapping import WrappedLock


class _Renaming(PlainLock):
    """Keeps leases under other names than their keys."""

    def name(self, key: str) -> str:
        """Return under what a lease is kept."""
        return key

    def lease_at(self, space: Space, key: str) -> LeaseState:
        return super().lease_at(space, self.name(key))

    async def holder(self, key: str) -> Holder | None:
        return await super().holder(self.name(key))


@broken("keys-of-leases-cut", "leases", "keys")
class KeysOfLeasesCut(_Renaming):
    """Keeps the first 64 characters of a key that is leased, as many as the name of a lock may have."""

    def name(self, key: str) -> str:
        return key[:64]


@broken("keys-of-leases-end-at-nul", "leases", "keys")
class KeysOfLeasesEndAtNul(_Renaming):
    """Cuts keys of leases at their first NUL."""

    def name(self, key: str) -> str:
        return key.partition("\0")[0]


@broken("keys-of-leases-normalised", "leases", "keys")
class KeysOfLeasesNormalised(_Renaming):
    """Brings keys of leases into Unicode normal form C."""

    def name(self, key: str) -> str:
        return unicodedata.normalize("NFC", key)


@broken("keys-of-leases-as-paths", "leases", "keys")
class KeysOfLeasesAsPaths(_Renaming):
    """Takes slashes in keys of leases for dashes, to make file names of them."""

    def name(self, key: str) -> str:
        return key.replace("/", "-")


@broken("flags-end-at-nul", "flags")
class FlagsEndAtNul(PlainLock):
    """Cuts names of flags at their first NUL."""

    def flag_name(self, key: str) -> str:
        return key.partition("\0")[0]


@broken("owners-cut", "leases")
class OwnersCut(PlainLock):
    """Keeps the first 32 characters of an owner's name."""

    def grant(self, lease: LeaseState, nonce: str, owner: str, ttl: float) -> int:
        return super().grant(lease, nonce, owner[:32], ttl)


@broken("owners-in-ascii", "leases")
class OwnersInAscii(PlainLock):
    """Replaces what is not ASCII in an owner's name."""

    def grant(self, lease: LeaseState, nonce: str, owner: str, ttl: float) -> int:
        return super().grant(lease, nonce, owner.encode("ascii", "replace").decode(), ttl)


@broken("tokens-per-owner", "leases")
class TokensPerOwner(PlainLock):
    """Counts tokens for each owner of a key."""

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, key)
            if self.is_taken(lease):
                return None
            lease.token = space.notes.get((key, owner), 0)
            token = space.notes[key, owner] = self.grant(lease, nonce, owner, ttl)
            return token


@broken("renew-by-owner", "leases")
class RenewByOwner(PlainLock):
    """Renews a former lease for whoever has its owner's name, as long as that owner has the key again."""

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, request.key)
            if self.is_taken(lease) and lease.owner == space.notes.get(request.nonce):
                lease.expires = self.now() + ttl
                return True
        return False

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        with self.room.turn(write=True) as space:
            space.notes[nonce] = owner
        return await super().acquire(key, nonce, owner, ttl)


@broken("floor-set-not-raised", "leases")
class FloorSetNotRaised(PlainLock):
    """Sets the floor, also where a higher one was set before."""

    async def raise_floor(self, key: str, token: int) -> None:
        with self.room.turn(write=True) as space:
            self.lease_at(space, key).floor = token


@broken("floor-of-a-held-key-ignored", "leases")
class FloorOfAHeldKeyIgnored(PlainLock):
    """Raises no floor while the key is held."""

    async def raise_floor(self, key: str, token: int) -> None:
        if await self.holder(key) is None:
            await super().raise_floor(key, token)


@broken("held-means-mine", "leases")
class HeldMeansMine(WrappedLock):
    """Says of a key that it is held only if this handle took it."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.mine: set[str] = set()

    def try_acquire(self, key: str, **named: Any) -> Any:
        lease = self.inner.try_acquire(key, **named)
        if lease is not None:
            self.mine.add(key)
        return lease

    def held(self, key: str) -> bool:
        return bool(self.inner.held(key)) and key in self.mine


@broken("releases-what-it-renewed", "leases")
class ReleasesWhatItRenewed(WrappedLock):
    """Releases only with the lease that the last renewal returned, though one renewed has the same nonce."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.latest: dict[str, Lease] = {}

    def renew(self, lease: Lease, **named: Any) -> Any:
        renewed = self.inner.renew(lease, **named)
        self.latest[renewed.nonce] = renewed
        return renewed

    def release(self, lease: Lease) -> Any:
        latest = self.latest.get(getattr(lease, "nonce", ""), lease)
        return False if latest is not lease else self.inner.release(lease)


class _KeepingAfterErrors(PassingHold):
    def __exit__(self, kind: object, error: object, traceback: object) -> bool | None:
        self.inner.__exit__(kind, error, traceback)
        if kind is not None:
            self.lock.try_acquire(self.inner.lease.key, ttl=self.inner.lease.ttl)
        return None


@broken("failed-body-keeps-the-key", "holds")
class FailedBodyKeepsTheKey(WrappedLock):
    """Does not release the key of a hold whose body raised."""

    def hold(self, key: str, **settings: Any) -> Any:
        return _KeepingAfterErrors(self.inner.hold(key, **settings), self.inner)


@broken("hold-forgets-the-flag-of-before", "holds")
class HoldForgetsTheFlagOfBefore(WrappedLock):
    """Lowers the stop flag at the beginning of a hold, so that a request from just before it is lost."""

    def hold(self, key: str, *, stop_flag: Any = None, **settings: Any) -> Any:
        if isinstance(stop_flag, str) and stop_flag:
            self.inner.clear_flag(stop_flag)
        return self.inner.hold(key, stop_flag=stop_flag, **settings)
