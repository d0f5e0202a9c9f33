"""Leases that are watched: one that nobody wrote for its ttl, on this host's boot clock, has expired.

Whoever wrote one has watched it since; whoever sees one for the first time begins then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdall.spi import Environment

__all__ = ["Watching"]

_MOST = 10_000
_RATE = 1.01
"""How much longer than its ttl a lease is watched: clocks of two hosts may run apart."""


class Watching:
    """Remembers since when leases are as they are.

    Args:
        environment: has the boot clock.

    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._seen: dict[str, tuple[str, float]] = {}

    def wrote(self, key: str, write: str, at: float) -> None:
        """Note a write of one's own.

        Args:
            key: the key.
            write: what tells this write from others.
            at: the boot clock before it was sent.

        """
        if len(self._seen) >= _MOST:
            self._seen.clear()
        self._seen[key] = (write, at)

    def left(self, key: str, write: str, ttl: float) -> float:
        """Return how many seconds a lease must still be watched; 0 or less if it has expired.

        Args:
            key: the key.
            write: what tells the last write on it from others.
            ttl: how long it lasts, in seconds.

        """
        now = self._environment.boot_time()
        before, since = self._seen.get(key, ("", now))
        if before != write:
            self.wrote(key, write, now)
            since = now
        return since + ttl * _RATE - now
