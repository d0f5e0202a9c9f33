"""Broken between two steps of a lock that should be one."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import copy
from typing import Any

from holdall_conformance.broken.plain_lock import PlainLock
from holdall_conformance.broken.registry import broken


@broken("looks-then-takes", "leases", "concurrency")
class LooksThenTakes(PlainLock):
    """Looks whether a key is free in one step and takes it in another."""

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        with self.room.turn() as space:
            if self.is_taken(self.lease_at(space, key)):
                return None
        await self.environment.sleep(0.0005)
        with self.room.turn(write=True) as space:
            return self.grant(self.lease_at(space, key), nonce, owner, ttl)


@broken("takes-over-twice", "leases")
class TakesOverTwice(PlainLock):
    """Looks whether a lease has expired in one step and takes it over in another."""

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        with self.room.turn() as space:
            lease = space.leases.get(key)
            expired = lease is not None and lease.nonce is not None and not self.is_taken(lease)
        if not expired:
            return await super().acquire(key, nonce, owner, ttl)
        await self.environment.sleep(0.0005)
        with self.room.turn(write=True) as space:
            return self.grant(self.lease_at(space, key), nonce, owner, ttl)


@broken("releases-over-the-next", "leases", "concurrency")
class ReleasesOverTheNext(PlainLock):
    """Looks in one step whether a lease is the current one and frees the key in another, whoever has it then."""

    async def release(self, request: Any) -> bool:
        with self.room.turn() as space:
            if not self.is_current(self.lease_at(space, request.key), request):
                return False
        await self.environment.sleep(0.004)
        with self.room.turn(write=True) as space:
            self.free(space, request.key, self.lease_at(space, request.key))
        return True


@broken("renews-over-the-next", "leases")
class RenewsOverTheNext(PlainLock):
    """Looks in one step whether a lease is the current one and writes it back in another, whoever has the key then."""

    async def renew(self, request: Any, ttl: float) -> bool:
        with self.room.turn() as space:
            lease = copy.copy(self.lease_at(space, request.key))
            if not self.is_current(lease, request):
                return False
        await self.environment.sleep(0.004)
        with self.room.turn(write=True) as space:
            lease.expires = self.now() + ttl
            space.leases[request.key] = lease
        return True
