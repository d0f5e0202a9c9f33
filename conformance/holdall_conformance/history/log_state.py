"""The state of a log in the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["Batch", "LogState"]

_KEPT_BATCHES = 1_000
"""How many of the last batches keep their ids after a truncate, at least."""


class Batch(NamedTuple):
    """What the append of a batch returned."""

    start: int
    size: int
    first: int


class LogState(NamedTuple):
    """What is stored under a key.

    Attributes:
        incarnation: its id; None if there is no log; a number if it is one that nobody was told.
        first: the first position kept.
        entries: the frozen entries, those that are forgotten too.
        mark: the highest fencing token seen.
        batches: batch ids and what their appends returned.
        gone: the incarnations that were dropped.

    """

    incarnation: str | int | None = None
    first: int = 0
    entries: tuple[str, ...] = ()
    mark: int = 0
    batches: tuple[tuple[str, Batch], ...] = ()
    gone: frozenset[str] = frozenset()

    def raised(self, fence: int | None) -> LogState:
        """Return the state after a write with a fence."""
        return self if fence is None or fence <= self.mark else self._replace(mark=fence)

    def dropped(self) -> LogState:
        """Return the state without the log."""
        gone = self.gone | {self.incarnation} if isinstance(self.incarnation, str) else self.gone
        return LogState(mark=self.mark, gone=gone)

    def seen(self, head: Mapping[str, Any] | None) -> LogState | None:
        """Return the state in which a head is current, or None if it cannot be."""
        if head is None or self.incarnation is None:
            return self if head is None and self.incarnation is None else None
        if (head["first"], head["length"]) != (self.first, len(self.entries)):
            return None
        return self.named(head["incarnation"])

    def named(self, incarnation: str) -> LogState | None:
        """Return the state with an incarnation, or None if it has another."""
        if self.incarnation == incarnation:
            return self
        unnamed = isinstance(self.incarnation, int) and incarnation not in self.gone
        return self._replace(incarnation=incarnation) if unnamed else None

    def batch(self, batch_id: str | None) -> tuple[Batch | None, bool]:
        """Return what is remembered of a batch id, and whether it must be."""
        for known, batch in self.batches:
            if known == batch_id:
                end = batch.start + batch.size
                return batch, end > self.first or len(self.entries) - end < _KEPT_BATCHES
        return None, False

    def entries_of(self, batch: Batch) -> tuple[str, ...]:
        """Return the frozen entries of a batch."""
        return self.entries[batch.start : batch.start + batch.size]
