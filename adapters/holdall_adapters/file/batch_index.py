"""Which batch ids a log remembers, as a hash table in a file of its own, so that a log of any length is asked at once.

The table is made from the log and may be removed at any time. It is changed under the guard of the log, and trusted in
the boot in which it was made alone, since nobody waits until it is on the disk.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from holdall_adapters.file.log_file import LogState, commits

if TYPE_CHECKING:
    from holdall_adapters.file.files import OpenFile

__all__ = ["BatchIndex", "Remembered", "remembered_line"]

_HEADER = struct.Struct("<32s36sQQQ")
_SLOT = struct.Struct("<QQ")
_TABLE = 128
_LEAST = 64
_LONGEST_LINE = 16_384


class Remembered(NamedTuple):
    """A batch that a log remembers by its id; `first` is the first position that was kept then."""

    batch_id: str
    digest: str
    start: int
    end: int
    first: int
    ordinal: int

    def is_kept(self, state: LogState) -> bool:
        """Return whether the id still counts: some entries are kept, or the batch is among the last."""
        return self.end > state.first or self.ordinal > state.forgotten


def remembered_line(batch: Remembered) -> bytes:
    """Return the line that stands at the beginning of a log's file for a batch without entries.

    Args:
        batch: the batch.

    """
    return orjson.dumps({"remembered": batch.batch_id, **batch._asdict()}) + b"\n"


class _Extent(NamedTuple):
    """The header of a table: how far into the log's file it goes, and how full it is."""

    covered: int
    taken: int
    slots: int


class BatchIndex:
    """The batch ids of one log, for as long as its guard is held."""

    def __init__(self, table: OpenFile, log: OpenFile, state: LogState, boot: str) -> None:
        self._table = table
        self._log = log
        self._state = state
        self._owner = (state.file_id.encode(), boot.encode().ljust(36)[:36])

    def find(self, batch_id: str) -> Remembered | None:
        """Return the batch that has an id, or None."""
        extent = self._current()
        wanted = _hash(batch_id)
        at = wanted % extent.slots
        while True:
            found, offset = _SLOT.unpack(self._table.read(_TABLE + at * _SLOT.size, _SLOT.size))
            if not offset:
                return None
            if found == wanted:
                batch = self._batch_at(offset)
                if batch.batch_id == batch_id and batch.is_kept(self._state):
                    return batch
            at = (at + 1) % extent.slots

    def _batch_at(self, offset: int) -> Remembered:
        line = self._log.read(offset, _LONGEST_LINE).partition(b"\n")[0]
        return _batch_of(orjson.loads(line))

    def _current(self) -> _Extent:
        """Return the header of a table that knows the whole log, which is made or gone on with if need be."""
        extent = self._read_header()
        if extent is None:
            return self._build()
        if extent.covered == self._state.end:
            return extent
        return self._add(extent, list(self._batches(extent.covered)))

    def _read_header(self) -> _Extent | None:
        size = self._table.size()
        header = self._table.read(0, _HEADER.size)
        if len(header) != _HEADER.size:
            return None
        file_id, boot, covered, taken, slots = _HEADER.unpack(header)
        fits = size == _TABLE + slots * _SLOT.size and self._state.begin <= covered <= self._state.end
        return _Extent(covered, taken, slots) if fits and (file_id, boot) == self._owner else None

    def _write_header(self, extent: _Extent) -> _Extent:
        self._table.write(0, _HEADER.pack(*self._owner, *extent))
        return extent

    def _batches(self, start: int) -> Iterator[tuple[int, int]]:
        """Iterate over hash and offset of the ids behind an offset."""
        for offset, fields in commits(self._log, start, self._state.end):
            if "id" in fields:
                yield _hash(fields["id"]), offset

    def _add(self, extent: _Extent, batches: list[tuple[int, int]]) -> _Extent:
        if 2 * (extent.taken + len(batches)) > extent.slots:
            return self._build()
        for hashed, offset in batches:
            at = hashed % extent.slots
            while _SLOT.unpack(self._table.read(_TABLE + at * _SLOT.size, _SLOT.size))[1]:
                at = (at + 1) % extent.slots
            self._table.write(_TABLE + at * _SLOT.size, _SLOT.pack(hashed, offset))
        return self._write_header(_Extent(self._state.end, extent.taken + len(batches), extent.slots))

    def _build(self) -> _Extent:
        """Make the table from the log, with room for as many ids again."""
        batches = [*self._remembered(), *self._batches(self._state.begin)]
        slots = _LEAST
        while slots < 4 * len(batches):
            slots *= 2
        table = bytearray(slots * _SLOT.size)
        for hashed, offset in batches:
            at = hashed % slots
            while _SLOT.unpack_from(table, at * _SLOT.size)[1]:
                at = (at + 1) % slots
            _SLOT.pack_into(table, at * _SLOT.size, hashed, offset)
        self._table.cut(0)
        self._table.write(_TABLE, bytes(table))
        return self._write_header(_Extent(self._state.end, len(batches), slots))

    def _remembered(self) -> Iterator[tuple[int, int]]:
        for offset, batch in remembered_lines(self._log, self._state):
            yield _hash(batch.batch_id), offset


def remembered_lines(log: OpenFile, state: LogState) -> Iterator[tuple[int, Remembered]]:
    """Iterate over the batches without entries at the beginning of a log's file, each with where its line begins."""
    offset = len(log.first_line()[0]) + 1
    for line in log.read(offset, state.begin - offset).splitlines():
        yield offset, _batch_of(orjson.loads(line))
        offset += len(line) + 1


def _batch_of(fields: dict[str, Any]) -> Remembered:
    if "remembered" in fields:
        return Remembered(**{name: fields[name] for name in Remembered._fields})
    start = fields["start"]
    end = start + fields["commit"]
    return Remembered(fields.get("id", ""), fields.get("digest", ""), start, end, fields["first"], fields["batch"])


def remembered_batches(log: OpenFile, state: LogState, end: int) -> list[Remembered]:
    """Return the batches with an id, up to an offset of a log's file, that the log must go on to remember.

    Args:
        log: the file.
        state: the state of the log.
        end: the offset.

    """
    lines = [batch for _, batch in remembered_lines(log, state)]
    lines += [_batch_of(fields) for _, fields in commits(log, state.begin, end) if "id" in fields]
    return [batch for batch in lines if batch.is_kept(state)]


def _hash(batch_id: str) -> int:
    return int.from_bytes(hashlib.sha256(batch_id.encode()).digest()[:8], "little")
