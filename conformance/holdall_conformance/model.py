"""What a store must do when one client calls it in a row: the contract as a dict, a list and a few numbers.

The model is told the version, or the incarnation, that the store made; all else it knows by itself. A refusal is the
same exception that the store raises.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from holdall import ABSENT, ANY, BatchMismatch, Conflict, Fenced, Head, Truncated

__all__ = ["LogModel", "RecordModel"]


@dataclass
class RecordModel:
    """One record.

    Attributes:
        version: its version, None if it is absent.
        value: its value.
        mortal: whether it expires soon.
        mark: the highest token it has seen.

    """

    version: str | None = None
    value: Any = None
    mortal: bool = False
    mark: int = 0

    def admit(self, expect: Any, fence: int | None) -> None:
        """Let a write in, or refuse it.

        Args:
            expect: `ANY`, `ABSENT` or a version.
            fence: a token, or None.

        Raises:
            Fenced: the token is below the mark.
            Conflict: the record is not as expected.

        """
        if fence is not None and fence < self.mark:
            raise Fenced("stale", mark=self.mark)
        if expect is not ANY and (None if expect is ABSENT else expect) != self.version:
            raise Conflict("not as expected", current=self.version)
        self.mark = max(self.mark, fence or 0)

    def put(self, value: Any, version: str, *, mortal: bool) -> None:
        """Write what was let in."""
        self.value, self.version, self.mortal = value, version, mortal

    def delete(self) -> bool:
        """Delete, and return whether it was there."""
        was_there = self.version is not None
        self.version, self.value, self.mortal = None, None, False
        return was_there


@dataclass
class LogModel:
    """One log.

    Attributes:
        incarnation: that of its head, None if it is absent.
        first: the first kept position.
        entries: all entries since position 0, also those that were forgotten.
        mark: the highest token it has seen.
        batches: by batch id, where the batch began and what it held.

    """

    incarnation: str | None = None
    first: int = 0
    entries: list[Any] = field(default_factory=list[Any])
    mark: int = 0
    batches: dict[str, tuple[int, list[Any]]] = field(default_factory=dict[str, "tuple[int, list[Any]]"])

    @property
    def head(self) -> Head | None:
        """The head, None if the log is absent."""
        return None if self.incarnation is None else Head(self.first, len(self.entries), self.incarnation)

    def admit(self, expect: Any, fence: int | None) -> None:
        """Let a write in, or refuse it.

        Args:
            expect: `ANY`, `ABSENT`, a length or a head.
            fence: a token, or None.

        Raises:
            Fenced: the token is below the mark.
            Conflict: the log is not as expected.

        """
        if fence is not None and fence < self.mark:
            raise Fenced("stale", mark=self.mark)
        if not self._is(expect):
            raise Conflict("not as expected", current=self.head)
        self.mark = max(self.mark, fence or 0)

    def _is(self, expect: Any) -> bool:
        if expect is ANY:
            return True
        if expect is ABSENT or (expect == 0 and not isinstance(expect, Head)):
            return self.incarnation is None
        if isinstance(expect, Head):
            return self.head == expect
        return self.incarnation is not None and len(self.entries) == expect

    def known(self, batch_id: str | None, values: list[Any]) -> tuple[int, int] | None:
        """Return start and count of a batch that was appended before, None if it was not.

        Args:
            batch_id: its id.
            values: what is to be appended.

        Raises:
            BatchMismatch: the id is that of a batch with other entries.

        """
        found = None if batch_id is None else self.batches.get(batch_id)
        if found is None:
            return None
        if found[1] != values:
            raise BatchMismatch("other entries")
        return found[0], len(values)

    def append(self, values: list[Any], incarnation: str, batch_id: str | None) -> int:
        """Append what was let in, and return where it begins."""
        start, self.incarnation = len(self.entries), incarnation
        self.entries.extend(values)
        if batch_id is not None:
            self.batches[batch_id] = (start, values)
        return start

    def read(self, start: int) -> list[tuple[int, Any]]:
        """Return positions and values from a position on.

        Raises:
            Truncated: the position was forgotten.

        """
        if start < self.first:
            raise Truncated("gone", first=self.first)
        return [(position, self.entries[position]) for position in range(start, len(self.entries))]

    def truncate(self, before: int) -> int:
        """Forget entries, and return how many."""
        gone = max(0, min(before, len(self.entries)) - self.first)
        self.first += gone
        return gone

    def drop(self) -> bool:
        """Delete the log, and return whether it was there."""
        was_there = self.incarnation is not None
        self.incarnation, self.first, self.entries, self.batches = None, 0, [], {}
        return was_there
