"""What takes entries out of the rows of batches that a reading statement gives."""

from __future__ import annotations

from typing import Any

from holdall.rules import check_start
from holdall.spi import StoredEntries
from holdall.values import Head

__all__ = ["Reader", "TailReader"]


def _head_of(row: tuple[Any, ...]) -> Head:
    first, length, incarnation, _ = row
    return Head(first, length, incarnation.decode())


class Reader:
    """Collects entries from a position on out of rows of batches."""

    def __init__(self, start: int, limit: int | None, max_bytes: int | None) -> None:
        self.start = start
        self.limit = limit
        self.max_bytes = max_bytes
        self.head: Head | None = None
        self.payloads: list[bytes] = []
        self.size = 0

    def take(self, row: tuple[Any, ...]) -> bool:
        """Take a row; return whether more is wanted."""
        if self.head is None:
            self.head = _head_of(row)
            check_start(self.start, self.head)
            return self.limit != 0
        position, _, _, payload = row
        entries = payload.split(b"\n")[max(0, self.start - position) :]
        if self.limit is not None:
            entries = entries[: self.limit - len(self.payloads)]
        return self._keep(entries)

    def _keep(self, entries: list[bytes]) -> bool:
        if self.max_bytes is None:
            self.payloads += entries
        else:
            for entry in entries:
                self.payloads.append(entry)
                self.size += len(entry)
                if self.size >= self.max_bytes:
                    return False
        return self.limit is None or len(self.payloads) < self.limit


class TailReader:
    """Collects the last entries out of rows of batches, the last batch first."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.head: Head | None = None
        self.found: list[list[bytes]] = []
        self.wanted = count

    def take(self, row: tuple[Any, ...]) -> bool:
        """Take a row; return whether more is wanted."""
        if self.head is None:
            self.head = _head_of(row)
            return self.wanted > 0
        first = self.head.first
        position, _, _, payload = row
        entries = payload.split(b"\n")[max(0, first - position) :]
        entries = entries[max(0, len(entries) - self.wanted) :]
        self.found.append(entries)
        self.wanted -= len(entries)
        return self.wanted > 0 and position > first

    def entries(self) -> StoredEntries:
        """Return what was collected."""
        payloads = [entry for entries in reversed(self.found) for entry in entries]
        start = self.head.length - len(payloads) if self.head else 0
        return StoredEntries(self.head, start, payloads)
