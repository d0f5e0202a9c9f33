"""What a proxy may do to a connection, and the moments at which a plan decides it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "BLACK_HOLE",
    "PASS",
    "REFUSE",
    "Fault",
    "Moment",
    "Plan",
    "cut_reply",
    "cut_request",
    "delay_reply",
    "drop_reply",
    "duplicate_reply",
    "hang",
]

Kind = Literal[
    "pass", "refuse", "black hole", "cut request", "cut reply", "drop reply", "hang", "delay reply", "duplicate reply"
]


@dataclass(frozen=True, slots=True)
class Fault:
    """What becomes of a request and its reply, or of a new connection.

    Attributes:
        kind: what.
        after: bytes that pass before a cut.
        seconds: how long a reply is held back.

    """

    kind: Kind
    after: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        """Return a few words, such as "cut reply after 1 bytes"."""
        if self.kind.startswith("cut"):
            return f"{self.kind} after {self.after} bytes"
        return f"{self.kind} by {self.seconds:g} s" if self.kind == "delay reply" else self.kind


@dataclass(frozen=True, slots=True)
class Moment:
    """When a plan is asked: a new connection, or the beginning of a request.

    A request begins with the first bytes from the client after bytes from the server, or with the first of all.

    Attributes:
        connection: the how manieth connection of the proxy, from 1.
        request: how many requests of all connections have begun, this one included.
        of_connection: the how manieth request of its connection, from 1; 0 for a new connection.

    """

    connection: int
    request: int
    of_connection: int


Plan = Callable[[Moment], Fault]
"""Chooses what happens; it is called by the thread of the proxy, must be quick and must not raise."""

PASS = Fault("pass")
"""Nothing."""
REFUSE = Fault("refuse")
"""A new connection is reset; of one that exists, the request is lost and the connection is reset."""
BLACK_HOLE = Fault("black hole")
"""Whatever the client sends is taken, the server gets none of it, and nothing comes back."""


def drop_reply() -> Fault:
    """Close the connection in place of the reply: the server has done its work, and the client does not hear of it."""
    return Fault("drop reply")


def hang() -> Fault:
    """Keep the reply and everything after it, with the connection open."""
    return Fault("hang")


def cut_reply(after: int) -> Fault:
    """Close the connection within the reply.

    Args:
        after: bytes of the reply that pass; a shorter one passes whole.

    """
    return Fault("cut reply", after=after)


def cut_request(after: int) -> Fault:
    """Close the connection within the request.

    Args:
        after: bytes of the request that pass; a shorter one passes whole.

    """
    return Fault("cut request", after=after)


def delay_reply(seconds: float) -> Fault:
    """Hold the reply back.

    Args:
        seconds: how long.

    """
    return Fault("delay reply", seconds=seconds)


def duplicate_reply() -> Fault:
    """Send every piece of the reply twice."""
    return Fault("duplicate reply")
