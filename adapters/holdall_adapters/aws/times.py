"""The time by which records, leases and flags expire: the server's, as far as its replies tell of it.

What expires is stored with the latest that the server's time may be now, plus its ttl, and has expired once the
earliest that it may be is past that: never early, and late by no more than the width of the bounds of both. Where
replies have no Date, the wall clock stands in for records and flags, as it was when the handle was opened; leases are
watched then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.aws.server_clock import ServerClock

__all__ = ["KEPT", "Times"]

KEPT = 3600.0
"""Seconds for which graves, and what may be an orphan, are kept: longer than any request is under way."""
_WIDEST = 1.6


class Times:
    """Tells the time, to write and to judge by.

    Args:
        environment: has the clocks.
        server: the estimate of the server's.

    Attributes:
        observes: whether there is no such estimate, so that leases are judged by watching them.

    """

    def __init__(self, environment: Environment, server: ServerClock) -> None:
        self._environment = environment
        self._server = server
        self._offset = environment.wall_time() - environment.boot_time()
        self._past = 0.0
        self.observes = False

    def is_vague(self) -> bool:
        """Tell whether the bounds are so wide that the next reply should narrow them first."""
        return not self.observes and self._server.latest() - self._server.earliest() > _WIDEST

    def settle(self) -> None:
        """Note, after the first reply, whether the server tells its time."""
        self.observes = not self._server.known

    def past(self) -> float:
        """Return a time that has come; to be asked for before the request whose reply is judged by it."""
        now = self._environment.boot_time() + self._offset if self.observes else self._server.earliest()
        if self._past > self.now():  # the server's clock was set back, and its bounds began anew
            self._past = now
        self._past = max(self._past, now)
        return self._past

    def now(self) -> float:
        """Return a time that has hardly passed yet, to write down."""
        return self._environment.boot_time() + self._offset if self.observes else self._server.latest()

    def left(self, expires: float) -> float:
        """Return about how many seconds are left of what is alive, at least a moment."""
        return max(0.001, expires - self.now())
