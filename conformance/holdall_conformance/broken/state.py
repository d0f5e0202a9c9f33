"""What a plain backend keeps: records, logs, leases and flags, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from holdall import Appended, Head

__all__ = ["LeaseState", "Log", "Record", "Remembered", "Space"]


@dataclass(slots=True)
class Record:
    """A record; without a payload it only keeps a mark."""

    payload: bytes | None = None
    version: str = ""
    expires: float | None = None
    mark: int = 0


@dataclass(slots=True)
class Remembered:
    """What a batch id stands for."""

    number: int
    digest: str
    result: Appended


@dataclass(slots=True)
class Log:
    """A log; without an incarnation it only keeps a mark."""

    incarnation: str | None = None
    first: int = 0
    payloads: list[bytes] = field(default_factory=list[bytes])
    mark: int = 0
    batches: int = 0
    remembered: dict[str, Remembered] = field(default_factory=dict[str, Remembered])

    def head(self) -> Head | None:
        """Return its head, or None if there is no log."""
        return None if self.incarnation is None else Head(self.first, self.first + len(self.payloads), self.incarnation)


@dataclass(slots=True)
class LeaseState:
    """The state of a key of the lock; free without a nonce."""

    nonce: str | None = None
    owner: str = ""
    token: int = 0
    expires: float = 0.0
    floor: int = 0


@dataclass(slots=True)
class Space:
    """Everything that one storage holds, by scope and key, and what a broken backend keeps beside it."""

    records: dict[str, dict[str, Record]] = field(default_factory=dict[str, dict[str, Record]])
    logs: dict[str, dict[str, Log]] = field(default_factory=dict[str, dict[str, Log]])
    leases: dict[str, LeaseState] = field(default_factory=dict[str, LeaseState])
    flags: dict[str, float] = field(default_factory=dict[str, float])
    notes: dict[Any, Any] = field(default_factory=dict[Any, Any])
