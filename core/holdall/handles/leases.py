"""The operations of a lock: checks in front of a `LockDriver`, and waiting for a key."""

from __future__ import annotations

import math
import os
import socket
from typing import TYPE_CHECKING, Any

from holdall.clock import boot_time
from holdall.environment import new_id
from holdall.errors import InvalidArgument, LeaseLost, LockTimeout
from holdall.handles.arguments import MAX_NUMBER, check_seconds, check_size, check_token, check_ttl
from holdall.handles.composite import Backoff
from holdall.keys import check_name
from holdall.spi import LeaseRequest
from holdall.values import Holder, Lease

if TYPE_CHECKING:
    from holdall.capabilities import Capabilities
    from holdall.spi import Environment, LockDriver

OPERATIONS = (
    "try_acquire",
    "renew",
    "release",
    "held",
    "holder",
    "set_flag",
    "flag",
    "clear_flag",
    "raise_floor",
)
"""The names of the operations, as the handles offer them."""

_MAX_OWNER_BYTES = 512
_MARGIN_SHARE = 0.1


def default_owner() -> str:
    """Return the label of this process: host and process id."""
    return f"{socket.gethostname()}:{os.getpid()}"


class LockOperations:
    """Every operation of a lock that is one call of the driver."""

    def __init__(self, driver: LockDriver, capabilities: Capabilities, timeout: float) -> None:
        self._driver = driver
        self._capabilities = capabilities
        self._timeout = timeout

    async def try_acquire(self, key: str, *, ttl: float = 60, owner: str | None = None) -> Lease | None:
        """As `Lock.try_acquire`."""
        key, ttl = self._key(key), self._ttl(ttl)
        owner = default_owner() if owner is None else check_name("owner", owner, _MAX_OWNER_BYTES)
        nonce, sent = new_id(), boot_time()
        token = await self._driver.acquire(key, nonce, owner, ttl)
        if token is None:
            return None
        lease = Lease(key, owner, token, ttl, nonce, self.deadline(sent, ttl))
        return lease if boot_time() < lease.deadline else await self._revived(lease)

    async def _revived(self, lease: Lease) -> Lease | None:
        """Renew a lease that was granted so late that its own deadline has passed; None if it is lost already."""
        try:
            return await self.renew(lease)
        except LeaseLost:
            return None

    async def renew(self, lease: Lease, *, ttl: float | None = None) -> Lease:
        """As `Lock.renew`."""
        renewed = self._ttl(check_lease(lease).ttl if ttl is None else ttl)
        sent = boot_time()
        if self._is_over(lease) or not await self._driver.renew(self._request(lease), renewed):
            message = f"the lease of {lease.key!r} with token {lease.token} is lost: it expired or was released"
            raise LeaseLost(message)
        return Lease(lease.key, lease.owner, lease.token, renewed, lease.nonce, self.deadline(sent, renewed))

    async def release(self, lease: Lease) -> bool:
        """As `Lock.release`."""
        return not self._is_over(check_lease(lease)) and await self._driver.release(self._request(lease))

    def _is_over(self, lease: Lease) -> bool:
        """Return whether a lease has expired by its own deadline, where the store has no clock to say so."""
        return self._capabilities.expiry_clock in {"client", "estimated"} and boot_time() >= lease.deadline

    async def held(self, key: str) -> bool:
        """As `Lock.held`."""
        return await self._driver.holder(self._key(key)) is not None

    async def holder(self, key: str) -> Holder | None:
        """As `Lock.holder`."""
        return await self._driver.holder(self._key(key))

    async def set_flag(self, key: str, *, ttl: float = 300) -> None:
        """As `Lock.set_flag`."""
        await self._driver.set_flag(self._key(key), self._ttl(ttl))

    async def flag(self, key: str) -> bool:
        """As `Lock.flag`."""
        return await self._driver.flag(self._key(key))

    async def clear_flag(self, key: str) -> None:
        """As `Lock.clear_flag`."""
        await self._driver.clear_flag(self._key(key))

    async def raise_floor(self, key: str, token: int) -> None:
        """As `Lock.raise_floor`."""
        floor = check_token(token, "token")
        check_size("token", floor, MAX_NUMBER - 1)
        await self._driver.raise_floor(self._key(key), floor)

    def deadline(self, sent: float, ttl: float) -> float:
        """Return when the holder must stop, by the boot clock read before the request was sent."""
        return sent + ttl - min(self._capabilities.expiry_margin, ttl * _MARGIN_SHARE)

    def _key(self, key: Any) -> str:
        return check_name("key", key, self._capabilities.max_key_bytes)

    def _ttl(self, ttl: Any) -> float:
        return check_ttl(ttl, self._capabilities.min_ttl)

    def _request(self, lease: Lease) -> LeaseRequest:
        return LeaseRequest(lease.key, lease.nonce, lease.token, min(lease.ttl / 4, self._timeout))


def check_lease(lease: Any) -> Lease:
    """Return a lease.

    Args:
        lease: what the caller passed.

    Raises:
        InvalidArgument: it is no `Lease`.

    """
    if not isinstance(lease, Lease):
        message = f"lease must be the Lease that try_acquire, acquire or renew returned, not {type(lease).__name__}"
        raise InvalidArgument(message)
    check_name("key of a Lease", lease.key, MAX_NUMBER)
    check_token(lease.token, "token of a Lease")
    check_name("nonce of a Lease", lease.nonce, _MAX_OWNER_BYTES)
    check_ttl(lease.ttl, 0)
    return lease


async def acquire(
    lock: Any, environment: Environment, key: str, ttl: float, timeout: float | None, owner: str | None
) -> Lease:
    """As `Lock.acquire`: tries at once, then with growing jittered waits, and last when the time is up."""
    patience = check_seconds(timeout, "timeout")
    deadline, backoff = boot_time() + patience, Backoff(environment)
    while True:
        lease: Lease | None = await lock.try_acquire(key, ttl=ttl, owner=owner)
        if lease is not None:
            return lease
        left = deadline - boot_time()
        if left <= 0:
            raise _timed_out(key, patience, await lock.holder(key))
        await backoff.wait(left)


def _timed_out(key: str, patience: float, holder: Holder | None) -> LockTimeout:
    tried = f"could not be had in {patience:g} s" if patience else "could not be had at once (timeout=0)"
    if holder is None:
        return LockTimeout(f"{key!r} {tried}; it has just become free")
    seconds = math.ceil(holder.expires_in)
    return LockTimeout(
        f"{key!r} {tried}: {holder.owner!r} holds it with token {holder.token}, "
        f"for about {seconds} s more unless it renews",
        holder,
    )
