"""The time of a server, as the Date headers of its replies and this host's boot clock tell.

A Date has whole seconds, and was written between the moment at which the request was sent and that at which the reply
was there. So every reply bounds the server's time from both sides, and many replies narrow the bounds. No wall clock of
a client has a part in it.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdall.spi import Environment

__all__ = ["ServerClock"]

_DRIFT = 200e-6
"""Seconds by which two clocks may part in a second."""
_STEP = 1.0


class ServerClock:
    """Bounds of a server's time.

    Args:
        environment: has the boot clock.

    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._low: float = 0.0
        self._high: float = 0.0
        self._at: float = 0.0
        self.known = False

    def saw(self, date: str, sent: float, received: float) -> None:
        """Take in the Date of a reply; what is no date is passed over.

        Args:
            date: the header.
            sent: the boot clock before the request.
            received: the boot clock after the reply.

        """
        try:
            seconds = parsedate_to_datetime(date).timestamp()
        except (ValueError, TypeError):
            return
        low, high = seconds - received, seconds + _STEP - sent
        if self.known:
            age = _DRIFT * max(0.0, received - self._at)
            narrowed = max(low, self._low - age), min(high, self._high + age)
            if narrowed[0] <= narrowed[1]:  # otherwise one of the clocks was set: begin anew
                low, high = narrowed
        self._low, self._high, self._at, self.known = low, high, received, True

    def earliest(self) -> float:
        """Return what the server's time is at least, in seconds since 1970."""
        now = self._environment.boot_time()
        return now + self._low - self._age(now)

    def latest(self) -> float:
        """Return what the server's time is at most, in seconds since 1970."""
        now = self._environment.boot_time()
        return now + self._high + self._age(now)

    def about(self) -> float | None:
        """Return what the server's time is about, in seconds since 1970; None as long as it has not told it."""
        return (self.earliest() + self.latest()) / 2 if self.known else None

    def _age(self, now: float) -> float:
        return _DRIFT * max(0.0, now - self._at)
