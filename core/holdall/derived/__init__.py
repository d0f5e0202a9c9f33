"""What holdall derives from the five primitives of a `Backend`: records, logs, leases, flags, expiry and fences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdall.derived.access import Access
from holdall.derived.clock import open_clock
from holdall.derived.leases import DerivedLock
from holdall.derived.store import DerivedStore
from holdall.spi import Backend, Connection, Environment

if TYPE_CHECKING:
    from holdall.capabilities import Capabilities

__all__ = ["derive"]


async def derive(backend: Backend, capabilities: Capabilities, environment: Environment, timeout: float) -> Connection:
    """Return a connection whose store and lock work on the primitives of a backend.

    Args:
        backend: the primitives.
        capabilities: what the adapter declares; a commit of several operations is not among it.
        environment: sleeping, clock, ids and randomness.
        timeout: seconds that bound every operation.

    Raises:
        ConfigError: the backend holds data of a format that this holdall does not know.

    """
    access = Access(backend, environment, timeout)
    clock = await open_clock(access, capabilities.expiry_clock)
    return Connection(
        store=DerivedStore(access, clock),
        lock=DerivedLock(access, clock),
        capabilities=capabilities,
        close=backend.close,
    )
