"""What the demo and its two processes say to each other: JSON lines over pipes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Final, Literal

__all__ = ["CONTINUE", "STAY", "Assignment", "Event", "EventName", "batch_name"]

CONTINUE: Final = "continue"
STAY: Final = "stay"
"""Keep the lease and go on without waiting for further orders: this process is about to be killed."""

EventName = Literal["ready", "holding", "acknowledged", "lost", "finished", "failed", "ended"]


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a process is to do.

    Attributes:
        file: the conversation file.
        entries: how many of its entries count.
        scope: scope of the log.
        log: key of the log.
        lease: key of the lease that guards it.
        ttl: seconds that the lease lasts without a renewal.
        patience: seconds to wait for the lease.
        batch_entries: the most entries of a batch.
        batch_bytes: the most bytes of a batch.
        turn_batches: how many batches to append before the other process has its turn.
        stay_until: where to stop appending once the order is to stay.

    """

    file: str
    entries: int
    scope: str
    log: str
    lease: str
    ttl: float
    patience: float
    batch_entries: int
    batch_bytes: int
    turn_batches: int
    stay_until: int

    def to_line(self) -> str:
        """Return the assignment as a line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> Assignment:
        """Read what `to_line` returned."""
        return cls(**json.loads(line))


@dataclass(frozen=True, slots=True)
class Event:
    """What a process reports.

    Attributes:
        name: "ready"; "holding" the lease and sealed; "acknowledged" by the store, a batch; "lost", the lease;
            "finished", all entries are there; "failed"; "ended", which the demo itself notes when the pipe closes.
        token: the fencing token of its lease.
        start: position of the first entry of the batch; with "holding" the length of the log.
        count: how many entries the batch has.
        digest: the digest of those entries.
        message: why it failed.

    """

    name: EventName
    token: int = 0
    start: int = 0
    count: int = 0
    digest: str = ""
    message: str = ""

    @property
    def end(self) -> int:
        """The position behind the batch."""
        return self.start + self.count

    def to_line(self) -> str:
        """Return the event as a line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> Event:
        """Read what `to_line` returned."""
        return cls(**json.loads(line))


def batch_name(log: str, start: int) -> str:
    """Return the batch id under which the entries from a position on are appended.

    Args:
        log: key of the log.
        start: the position.

    """
    return f"{log}:{start}"
