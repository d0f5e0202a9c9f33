"""The native lock of the memory adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdall.spi import LeaseRequest
from holdall.values import Holder
from holdall_adapters.memory.port import Lease

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.memory.port import Space

__all__ = ["MemoryLock"]


class MemoryLock:
    """Leases and flags in dictionaries, judged by the boot clock under the mutex of the space."""

    def __init__(self, space: Space, environment: Environment) -> None:
        self._space = space
        self._now = environment.boot_time

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        """Take a free or expired key."""
        with self._space.mutex:
            lease = self._space.leases.setdefault(key, Lease())
            now = self._now()
            if lease.nonce is not None and lease.expires > now:
                return None
            lease.nonce, lease.owner, lease.expires = nonce, owner, now + ttl
            lease.token = max(lease.token, lease.floor) + 1
            return lease.token

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        """Extend a lease that is live."""
        with self._space.mutex:
            lease = self._current(request)
            if lease is None:
                return False
            lease.expires = self._now() + ttl
            return True

    async def release(self, request: LeaseRequest) -> bool:
        """Free a key."""
        with self._space.mutex:
            lease = self._current(request)
            if lease is None:
                return False
            lease.nonce = None
            return True

    def _current(self, request: LeaseRequest) -> Lease | None:
        lease = self._space.leases.get(request.key)
        if lease is None or lease.nonce != request.nonce or lease.token != request.token:
            return None
        return lease if lease.expires > self._now() else None

    async def holder(self, key: str) -> Holder | None:
        """Return who has the key."""
        with self._space.mutex:
            lease, now = self._space.leases.get(key), self._now()
            if lease is None or lease.nonce is None or lease.expires <= now:
                return None
            return Holder(lease.owner, lease.token, lease.expires - now)

    async def raise_floor(self, key: str, token: int) -> None:
        """Make the next token higher."""
        with self._space.mutex:
            lease = self._space.leases.setdefault(key, Lease())
            lease.floor = max(lease.floor, token)

    async def set_flag(self, key: str, ttl: float) -> None:
        """Raise a flag."""
        with self._space.mutex:
            self._space.flags[key] = self._now() + ttl

    async def flag(self, key: str) -> bool:
        """Return whether a flag is raised."""
        with self._space.mutex:
            return self._space.flags.get(key, 0.0) > self._now()

    async def clear_flag(self, key: str) -> None:
        """Lower a flag."""
        with self._space.mutex:
            self._space.flags.pop(key, None)
