"""Which batch ids a log remembers, as a hash table in a file of its own, so that a log of any length is asked at once.

The table is made from the log and may be removed at any time. It is changed under the guard of the log, and trusted in
the boot in which it was made alone, since nobody waits until it is on the disk. It consists of pages with a checksum;
one that is damaged has the table made anew.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from holdall.errors import Corrupt
from holdall_adapters.file.lines import checksum, read_line, seal
from holdall_adapters.file.log_file import LogState, commits

if TYPE_CHECKING:
    from holdall_adapters.file.files import OpenFile

__all__ = ["BatchIndex", "Remembered", "remembered_batches", "remembered_line"]

_PAGE = 4_096
_SLOT = struct.Struct("<QQ")
_SLOTS = _PAGE // _SLOT.size - 1
_CHECK = struct.Struct("<QQ")
_HEADER = struct.Struct("<32s36sQQQ")
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
    return seal({"remembered": batch.batch_id, **batch._asdict()})


class _Damaged(Exception):
    """A page of the table is not what was written."""


class _Extent(NamedTuple):
    """The header of a table: how far into the log's file it goes, and how full it is."""

    covered: int
    taken: int
    pages: int


class _Page:
    """A page of a table: slots of a hash and an offset, empty where the offset is 0, and a checksum."""

    def __init__(self, content: bytes | None = None) -> None:
        self.content = bytearray(_PAGE if content is None else content)

    @classmethod
    def read(cls, table: OpenFile, number: int) -> _Page:
        """Read a page; the first is the header."""
        content = table.read(number * _PAGE, _PAGE)
        if len(content) != _PAGE or _CHECK.unpack_from(content, _PAGE - _CHECK.size)[0] != _sum_of(content):
            raise _Damaged
        return cls(content)

    def sealed(self) -> bytes:
        """Return the content with its checksum."""
        _CHECK.pack_into(self.content, _PAGE - _CHECK.size, _sum_of(self.content), 0)
        return bytes(self.content)

    def slot(self, at: int) -> tuple[int, int]:
        """Return hash and offset of a slot."""
        hashed, offset = _SLOT.unpack_from(self.content, at * _SLOT.size)
        return hashed, offset

    def fill(self, at: int, hashed: int, offset: int) -> None:
        """Fill a slot."""
        _SLOT.pack_into(self.content, at * _SLOT.size, hashed, offset)


def _sum_of(content: bytes | bytearray) -> int:
    # Never that of a page of zeros, which is what a hole in a file reads as.
    return checksum(bytes(content[: _PAGE - _CHECK.size])) + 1


class BatchIndex:
    """The batch ids of one log, for as long as its guard is held."""

    def __init__(self, table: OpenFile, log: OpenFile, state: LogState, boot: str) -> None:
        self._table = table
        self._log = log
        self._state = state
        self._owner = (state.file_id.encode(), boot.encode().ljust(36)[:36])

    def find(self, batch_id: str) -> Remembered | None:
        """Return the batch that has an id, or None.

        Args:
            batch_id: the id.

        Raises:
            Corrupt: the log is damaged.

        """
        try:
            return self._find(batch_id, self._current())
        except _Damaged:
            return self._find(batch_id, self._build())

    def _find(self, batch_id: str, extent: _Extent) -> Remembered | None:
        wanted = _hash(batch_id)
        for _, page, at in self._probe(wanted, extent.pages):
            found, offset = page.slot(at)
            if not offset:
                return None
            if found == wanted:
                batch = self._batch_at(offset)
                if batch.batch_id == batch_id and batch.is_kept(self._state):
                    return batch
        raise _Damaged

    def _probe(self, hashed: int, pages: int) -> Iterator[tuple[int, _Page, int]]:
        """Iterate over the slots where a hash may stand: number of the page, the page, and place in it.

        They go round the whole table once, so that the page of the first comes last again, up to that slot.
        """
        number, first = divmod(hashed % (pages * _SLOTS), _SLOTS)
        for step in range(pages + 1):
            current = 1 + (number + step) % pages
            page = _Page.read(self._table, current)
            for at in range(first if step == 0 else 0, first if step == pages else _SLOTS):
                yield current, page, at

    def _batch_at(self, offset: int) -> Remembered:
        line = self._log.read(offset, _LONGEST_LINE).partition(b"\n")[0]
        try:
            return _batch_of(orjson.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            message = f"a batch of the log is damaged near byte {offset:,}: restore its file from a backup"
            raise Corrupt(message) from error

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
        if not size:
            return None
        file_id, boot, covered, taken, pages = _HEADER.unpack_from(_Page.read(self._table, 0).content)
        fits = size == (1 + pages) * _PAGE and self._state.begin <= covered <= self._state.end
        return _Extent(covered, taken, pages) if fits and (file_id, boot) == self._owner else None

    def _write_header(self, extent: _Extent) -> _Extent:
        page = _Page()
        _HEADER.pack_into(page.content, 0, *self._owner, *extent)
        self._table.write(0, page.sealed())
        return extent

    def _batches(self, start: int) -> Iterator[tuple[int, int]]:
        """Iterate over hash and offset of the ids behind an offset."""
        for offset, fields in commits(self._log, start, self._state.end):
            if "id" in fields:
                yield _hash(fields["id"]), offset

    def _add(self, extent: _Extent, batches: list[tuple[int, int]]) -> _Extent:
        if 2 * (extent.taken + len(batches)) > extent.pages * _SLOTS:
            return self._build()
        for hashed, offset in batches:
            for number, page, at in self._probe(hashed, extent.pages):
                if not page.slot(at)[1]:
                    page.fill(at, hashed, offset)
                    self._table.write(number * _PAGE, page.sealed())
                    break
            else:
                raise _Damaged  # half of the slots are free in a table that is whole
        return self._write_header(_Extent(self._state.end, extent.taken + len(batches), extent.pages))

    def _build(self) -> _Extent:
        """Make the table from the log, with room for as many ids again."""
        batches = [*self._remembered(), *self._batches(self._state.begin)]
        pages = [_Page()]
        while len(pages) * _SLOTS < 4 * len(batches):
            pages += [_Page() for _ in pages]
        for hashed, offset in batches:
            at = hashed % (len(pages) * _SLOTS)
            while pages[at // _SLOTS].slot(at % _SLOTS)[1]:
                at = (at + 1) % (len(pages) * _SLOTS)
            pages[at // _SLOTS].fill(at % _SLOTS, hashed, offset)
        self._table.cut(0)
        self._table.write(_PAGE, b"".join(page.sealed() for page in pages))
        return self._write_header(_Extent(self._state.end, len(batches), len(pages)))

    def _remembered(self) -> Iterator[tuple[int, int]]:
        for offset, batch in _remembered_lines(self._log, self._state):
            yield _hash(batch.batch_id), offset


def _remembered_lines(log: OpenFile, state: LogState) -> Iterator[tuple[int, Remembered]]:
    """Iterate over the batches without entries at the beginning of a log's file, each with where its line begins."""
    offset = len(log.first_line()[0]) + 1
    for line in log.read(offset, state.begin - offset).splitlines():
        yield offset, _batch_of(read_line(line, "a remembered batch of the log"))
        offset += len(line) + 1


def remembered_batches(log: OpenFile, state: LogState, end: int) -> list[Remembered]:
    """Return the batches with an id, up to an offset of a log's file, that the log must go on to remember.

    Args:
        log: the file.
        state: the state of the log.
        end: the offset.

    Raises:
        Corrupt: the log is damaged.

    """
    lines = [batch for _, batch in _remembered_lines(log, state)]
    lines += [_batch_of(fields) for _, fields in commits(log, state.begin, end) if "id" in fields]
    return [batch for batch in lines if batch.is_kept(state)]


def _batch_of(fields: dict[str, Any]) -> Remembered:
    if "remembered" in fields:
        return Remembered(**{name: fields[name] for name in Remembered._fields})
    start = fields["start"]
    end = start + fields["commit"]
    return Remembered(fields.get("id", ""), fields.get("digest", ""), start, end, fields["first"], fields["batch"])


def _hash(batch_id: str) -> int:
    return int.from_bytes(hashlib.sha256(batch_id.encode()).digest()[:8], "little")
