"""The Lock: leases with fencing tokens, and flags, synchronous and asynchronous.

A lease is the right to a key for a while. Its token rises with every new holder of the key, and a store refuses a write
that carries a lower token than it has seen. A lease alone stops nobody: pass it as `fence` to every write it guards.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from holdall.capabilities import Capabilities
from holdall.values import Holder, Lease

__all__ = ["AsyncHold", "AsyncLock", "Hold", "Holder", "Lease", "Lock"]


class Hold(Protocol):
    """A lease that is kept alive in the background until the `with` block ends."""

    @property
    def lease(self) -> Lease:
        """The lease as last renewed; pass it as `fence`."""
        ...

    @property
    def lost(self) -> bool:
        """Whether the lease is lost, for good: stop, whatever you are doing."""
        ...

    @property
    def stop_requested(self) -> bool:
        """Whether the `stop_flag` has been seen raised."""
        ...

    @property
    def remaining(self) -> float:
        """Seconds until the lease is lost unless it is renewed; 0 when it is lost."""
        ...

    def __enter__(self) -> Self:
        """Acquire the lease.

        Raises:
            LockTimeout: it could not be had in time.

        """
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop renewing and release the lease; what the body raised goes on unchanged."""
        ...


class AsyncHold(Protocol):
    """As `Hold`, for `async with`."""

    @property
    def lease(self) -> Lease:
        """The lease as last renewed; pass it as `fence`."""
        ...

    @property
    def lost(self) -> bool:
        """Whether the lease is lost, for good."""
        ...

    @property
    def stop_requested(self) -> bool:
        """Whether the `stop_flag` has been seen raised."""
        ...

    @property
    def remaining(self) -> float:
        """Seconds until the lease is lost unless it is renewed; 0 when it is lost."""
        ...

    async def __aenter__(self) -> Self:
        """Acquire the lease."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop renewing and release the lease."""
        ...


@runtime_checkable
class Lock(Protocol):
    """The synchronous lock; its handles may be shared by threads."""

    @property
    def adapter(self) -> str:
        """The name of the adapter."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What the backend can do."""
        ...

    def try_acquire(self, key: str, *, ttl: float = 60, owner: str | None = None) -> Lease | None:
        """Take a key if it is free, and return the lease, or None.

        Args:
            key: what to take; tokens of different keys do not compare.
            ttl: seconds that the lease lasts.
            owner: a label for people; by default host and process id.

        Raises:
            OutcomeUnknown: the reply was lost and cannot be settled.

        """
        ...

    def acquire(self, key: str, *, ttl: float = 60, timeout: float | None, owner: str | None = None) -> Lease:
        """Take a key, waiting for it.

        Args:
            key: what to take.
            ttl: seconds that the lease lasts.
            timeout: seconds to wait; 0 tries once, None waits for ever.
            owner: a label for people.

        Raises:
            LockTimeout: somebody had it all the time; `holder` says who.

        """
        ...

    def renew(self, lease: Lease, *, ttl: float | None = None) -> Lease:
        """Extend a lease and return it with its new deadline; token and nonce stay.

        Args:
            lease: the lease.
            ttl: seconds from now; by default those it had.

        Raises:
            LeaseLost: it expired, even if nobody took the key, or was released.

        """
        ...

    def release(self, lease: Lease) -> bool:
        """Free a key and return whether the lease was the current one; otherwise nothing happens.

        Args:
            lease: the lease.

        """
        ...

    def held(self, key: str) -> bool:
        """Return whether somebody has the key; it writes nothing.

        Args:
            key: the key.

        """
        ...

    def holder(self, key: str) -> Holder | None:
        """Return who has the key, or None; it writes nothing.

        Args:
            key: the key.

        """
        ...

    def set_flag(self, key: str, *, ttl: float = 300) -> None:
        """Raise a flag, a one-bit request to another process; flags and leases share no keys.

        Args:
            key: its name.
            ttl: seconds until it falls by itself; the last call counts.

        """
        ...

    def flag(self, key: str) -> bool:
        """Return whether a flag is raised.

        Args:
            key: its name.

        """
        ...

    def clear_flag(self, key: str) -> None:
        """Lower a flag; lowering one that is not raised does nothing.

        Args:
            key: its name.

        """
        ...

    def raise_floor(self, key: str, token: int) -> None:
        """Make the next token of a key higher than `token`: after a restore from a backup, whose tokens are old.

        Args:
            key: the key.
            token: a number that no token seen so far exceeds.

        """
        ...

    def hold(
        self,
        key: str,
        *,
        ttl: float = 60,
        heartbeat: float | None = None,
        timeout: float | None = 0,
        stop_flag: str | None = None,
        on_lost: Callable[[Hold], object] | None = None,
    ) -> Hold:
        """Return a context manager that takes a key, renews the lease in the background, and releases it.

        Args:
            key: what to take.
            ttl: seconds that the lease lasts without a renewal.
            heartbeat: seconds between renewals, below `ttl`; by default a third of it.
            timeout: seconds to wait for the key; 0 tries once, None waits for ever.
            stop_flag: a flag to watch; `stop_requested` tells whether it was raised.
            on_lost: called once, in the thread that notices, when the lease is lost.

        """
        ...

    def close(self) -> None:
        """Close the handle; leases that it holds are no longer renewed."""
        ...

    def __enter__(self) -> Self:
        """Return the lock itself."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the handle."""
        ...


@runtime_checkable
class AsyncLock(Protocol):
    """The asynchronous lock: the methods of `Lock`, awaited. Renewals run in a thread, so no busy loop starves them."""

    @property
    def adapter(self) -> str:
        """The name of the adapter."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What the backend can do."""
        ...

    async def try_acquire(self, key: str, *, ttl: float = 60, owner: str | None = None) -> Lease | None:
        """As `Lock.try_acquire`."""
        ...

    async def acquire(self, key: str, *, ttl: float = 60, timeout: float | None, owner: str | None = None) -> Lease:
        """As `Lock.acquire`."""
        ...

    async def renew(self, lease: Lease, *, ttl: float | None = None) -> Lease:
        """As `Lock.renew`."""
        ...

    async def release(self, lease: Lease) -> bool:
        """As `Lock.release`."""
        ...

    async def held(self, key: str) -> bool:
        """As `Lock.held`."""
        ...

    async def holder(self, key: str) -> Holder | None:
        """As `Lock.holder`."""
        ...

    async def set_flag(self, key: str, *, ttl: float = 300) -> None:
        """As `Lock.set_flag`."""
        ...

    async def flag(self, key: str) -> bool:
        """As `Lock.flag`."""
        ...

    async def clear_flag(self, key: str) -> None:
        """As `Lock.clear_flag`."""
        ...

    async def raise_floor(self, key: str, token: int) -> None:
        """As `Lock.raise_floor`."""
        ...

    def hold(
        self,
        key: str,
        *,
        ttl: float = 60,
        heartbeat: float | None = None,
        timeout: float | None = 0,
        stop_flag: str | None = None,
        on_lost: Callable[[AsyncHold], object] | None = None,
    ) -> AsyncHold:
        """As `Lock.hold`; `on_lost` is called in the thread that notices, not in the loop."""
        ...

    async def close(self) -> None:
        """As `Lock.close`."""
        ...

    async def __aenter__(self) -> Self:
        """Return the lock itself, connected."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the handle."""
        ...
