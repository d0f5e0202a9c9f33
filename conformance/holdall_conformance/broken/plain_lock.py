"""The lock of a plain backend, in steps that a broken one can replace one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdall import Holder
from holdall.spi import LeaseRequest
from holdall_conformance.broken.state import LeaseState, Space

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_conformance.broken.rooms import Room

__all__ = ["PlainLock"]


class PlainLock:
    """A `LockDriver` that does everything right.

    Args:
        room: where the state lives.
        environment: clock, sleep and ids.

    """

    def __init__(self, room: Room, environment: Environment) -> None:
        self.room = room
        self.environment = environment

    def now(self) -> float:
        """Return the time by which expiry is judged."""
        return self.environment.boot_time()

    def lease_at(self, space: Space, key: str) -> LeaseState:
        """Return the state of a key, which is kept from now on."""
        return space.leases.setdefault(key, LeaseState())

    def is_taken(self, lease: LeaseState) -> bool:
        """Tell whether somebody has the key."""
        return lease.nonce is not None and lease.expires > self.now()

    def is_current(self, lease: LeaseState, request: LeaseRequest) -> bool:
        """Tell whether a lease is the live one of its key."""
        return self.is_taken(lease) and (lease.nonce, lease.token) == (request.nonce, request.token)

    def next_token(self, lease: LeaseState) -> int:
        """Return the token of the next holder."""
        return max(lease.token, lease.floor) + 1

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        """Take a free or expired key."""
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, key)
            if self.is_taken(lease):
                return None
            return self.grant(lease, nonce, owner, ttl)

    def grant(self, lease: LeaseState, nonce: str, owner: str, ttl: float) -> int:
        """Give a key to a new holder, and return the token."""
        lease.token = self.next_token(lease)
        lease.nonce, lease.owner, lease.expires = nonce, owner, self.now() + ttl
        return lease.token

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        """Extend a lease that is live."""
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, request.key)
            if not self.is_current(lease, request):
                return False
            lease.expires = self.now() + ttl
            return True

    async def release(self, request: LeaseRequest) -> bool:
        """Free a key."""
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, request.key)
            if not self.is_current(lease, request):
                return False
            self.free(space, request.key, lease)
            return True

    def free(self, space: Space, key: str, lease: LeaseState) -> None:  # noqa: ARG002 - a broken one deletes the key
        """Let a key go."""
        lease.nonce = None

    async def holder(self, key: str) -> Holder | None:
        """Return who has the key."""
        with self.room.turn() as space:
            lease = space.leases.get(key)
            if lease is None or not self.is_taken(lease):
                return None
            return Holder(lease.owner, lease.token, lease.expires - self.now())

    async def raise_floor(self, key: str, token: int) -> None:
        """Make the next token higher."""
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, key)
            lease.floor = max(lease.floor, token)

    def flag_name(self, key: str) -> str:
        """Return under what a flag is kept."""
        return key

    async def set_flag(self, key: str, ttl: float) -> None:
        """Raise a flag."""
        with self.room.turn(write=True) as space:
            space.flags[self.flag_name(key)] = self.now() + ttl

    async def flag(self, key: str) -> bool:
        """Return whether a flag is raised."""
        with self.room.turn() as space:
            return space.flags.get(self.flag_name(key), 0.0) > self.now()

    async def clear_flag(self, key: str) -> None:
        """Lower a flag."""
        with self.room.turn(write=True) as space:
            space.flags.pop(self.flag_name(key), None)
