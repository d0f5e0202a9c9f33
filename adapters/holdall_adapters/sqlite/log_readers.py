"""What takes entries out of the rows of batches that a reading statement gives."""

from __future__ import annotations

from typing import Any

from holdall.errors import Corrupt
from holdall.rules import check_start
from holdall.spi import StoredEntries
from holdall.values import Head

__all__ = ["Reader", "TailReader"]


def _head_of(row: tuple[Any, ...]) -> Head:
    first, length, incarnation, _ = row
    return Head(first, length, incarnation.decode())


def _torn(position: int) -> Corrupt:
    return Corrupt(f"entries of the log are missing at position {position}: restore the database from a backup")


class Reader:
    """Collects entries from a position on out of rows of batches."""

    def __init__(self, start: int, limit: int | None, max_bytes: int | None) -> None:
        self.start = start
        self.limit = limit
        self.max_bytes = max_bytes
        self.head: Head | None = None
        self.payloads: list[bytes] = []
        self.size = 0
        self._next: int | None = None
        self._enough = False

    def take(self, row: tuple[Any, ...]) -> bool:
        """Take a row; return whether more is wanted."""
        if self.head is None:
            self.head = _head_of(row)
            check_start(self.start, self.head)
            self._enough = self.limit == 0
            return not self._enough
        position, _, _, payload = row
        entries = payload.split(b"\n")
        expected = min(position, self.start) if self._next is None else self._next
        if position != expected:
            raise _torn(expected)
        self._next = position + len(entries)
        self._keep(entries[max(0, self.start - position) :])
        return not self._enough

    def _keep(self, entries: list[bytes]) -> None:
        if self.limit is not None:
            entries = entries[: self.limit - len(self.payloads)]
        if self.max_bytes is None:
            self.payloads += entries
        else:
            for entry in entries:
                self.payloads.append(entry)
                self.size += len(entry)
                if self.size >= self.max_bytes:
                    self._enough = True
                    return
        self._enough = self.limit is not None and len(self.payloads) >= self.limit

    def entries(self) -> StoredEntries:
        """Return what was collected.

        Raises:
            Corrupt: the log is longer than its rows.

        """
        end = self.start + len(self.payloads)
        if self.head is not None and not self._enough and end < self.head.length:
            raise _torn(end)
        return StoredEntries(self.head, self.start, self.payloads)


class TailReader:
    """Collects the last entries out of rows of batches, the last batch first."""

    def __init__(self, count: int) -> None:
        self.head: Head | None = None
        self.wanted = count
        self._found: list[list[bytes]] = []
        self._before = 0

    def take(self, row: tuple[Any, ...]) -> bool:
        """Take a row; return whether more is wanted."""
        if self.head is None:
            self.head = _head_of(row)
            self.wanted = min(self.wanted, self.head.length - self.head.first)
            self._before = self.head.length
            return self.wanted > 0
        position, _, _, payload = row
        entries = payload.split(b"\n")
        if position + len(entries) != self._before:
            raise _torn(position + len(entries))
        self._before = position
        self._found.append(entries[max(0, len(entries) - self.wanted) :])
        self.wanted -= len(self._found[-1])
        return self.wanted > 0

    def entries(self) -> StoredEntries:
        """Return what was collected.

        Raises:
            Corrupt: the log is longer than its rows.

        """
        payloads = [entry for entries in reversed(self._found) for entry in entries]
        if self.head is None:
            return StoredEntries(None, 0, payloads)
        if self.wanted > 0:
            raise _torn(self._before - 1)
        return StoredEntries(self.head, self.head.length - len(payloads), payloads)
