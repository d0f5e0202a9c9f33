"""Reading entries out of a log's file: where a position is, found by bisection, and the lines from there on."""

from __future__ import annotations

from collections.abc import Iterator

from holdall.errors import Corrupt
from holdall_adapters.file.files import OpenFile
from holdall_adapters.file.lines import checksum, unseal
from holdall_adapters.file.log_file import COMMIT, LogState

__all__ = ["batch_start", "offset_of", "position_at", "read_entries"]

_ENTRY = b'\n{"p":'
_NEAR = 16_384
_BLOCK = 4_096
_PART = 262_144


def offset_of(file: OpenFile, state: LogState, position: int) -> int:
    """Return where the line of a position begins.

    Args:
        file: the log's file.
        state: its state.
        position: a position in the file.

    Raises:
        Corrupt: it is not there.

    """
    low, high = state.begin, state.end
    while high - low > _NEAR:
        middle = (low + high) // 2
        found = _next_entry(file, middle, high)
        if found is None or found[1] > position:
            high = middle
        else:
            low = found[0]
    return _find(file, low, state.end, position)


def _next_entry(file: OpenFile, start: int, end: int) -> tuple[int, int] | None:
    """Return where the first line of an entry behind an offset begins, and its position."""
    at, size = start - 1, _BLOCK
    while at < end:
        data = file.read(at, min(size, end - at))
        found = data.find(_ENTRY)
        comma = data.find(b",", found) if found >= 0 else -1
        if comma >= 0:
            return at + found + 1, _number(data[found + len(_ENTRY) : comma], at)
        if at + len(data) >= end:
            return None
        at += max(0, found if found >= 0 else len(data) - len(_ENTRY))
        size *= 2
    return None


def _number(digits: bytes, offset: int) -> int:
    if not digits.isdigit():
        raise _damaged(offset)
    return int(digits)


def _damaged(offset: int) -> Corrupt:
    return Corrupt(f"the file of the log is damaged near byte {offset:,}: restore it from a backup")


def _find(file: OpenFile, start: int, end: int, position: int) -> int:
    wanted = b'\n{"p":%d,' % position
    at = start - 1
    while at < end:
        data = file.read(at, min(_PART, end - at))
        found = data.find(wanted)
        if found >= 0:
            return at + found + 1
        if at + len(data) >= end or len(data) <= len(wanted):
            break
        at += len(data) - len(wanted)
    raise _damaged(start)


def position_at(file: OpenFile, state: LogState, offset: int) -> int:
    """Return the position of the first entry at or behind an offset; the log's length if there is none."""
    found = _next_entry(file, offset, state.end) if offset < state.end else None
    return state.length if found is None else found[1]


def batch_start(file: OpenFile, state: LogState, offset: int) -> int:
    """Return where the batch begins that has an entry at an offset."""
    end, size = offset, _BLOCK
    while end > state.begin:
        start = max(state.begin, end - size) - 1
        data = file.read(start, min(state.end, end + _NEAR) - start)
        at = data.rfind(COMMIT, 0, end - start)
        if at >= 0:
            return start + data.index(b"\n", at + 1) + 1
        end, size = start + 1, _PART
    return state.begin


def read_entries(file: OpenFile, state: LogState, start: int, count: int, max_bytes: int | None) -> list[bytes]:
    """Return the payloads of entries, out of batches that are checked as a whole.

    Args:
        file: the log's file.
        state: its state.
        start: the position of the first.
        count: how many; there are so many.
        max_bytes: the bytes after which to stop, if fewer entries will do.

    Raises:
        Corrupt: an entry, or its batch, is damaged.

    """
    payloads: list[bytes] = []
    if not count:
        return payloads
    room = state.end if max_bytes is None else max_bytes
    offset = state.begin if start == state.start else offset_of(file, state, start)
    total = _checksum_of(file, batch_start(file, state, offset), offset)
    for line_offset, line in _lines(file, offset, state.end):
        if line.startswith(COMMIT[1:]):
            if unseal(line, total) is None:
                raise _damaged(line_offset)
            if len(payloads) == count or room <= 0:
                return payloads
            total = 0
        elif len(payloads) == count or room <= 0:
            _check_rest(file, line_offset, state.end, total)
            return payloads
        else:
            payloads.append(_payload(line, start + len(payloads), line_offset))
            room -= len(line)
            total = checksum(b"\n", checksum(line, total))
    raise _damaged(state.end)


def _payload(line: bytes, position: int, offset: int) -> bytes:
    beginning = b'{"p":%d,"v":' % position
    if not line.startswith(beginning) or not line.endswith(b"}"):
        raise _damaged(offset)
    return line[len(beginning) : -1]


def _checksum_of(file: OpenFile, start: int, end: int) -> int:
    total = 0
    for at in range(start, end, _PART):
        total = checksum(file.read(at, min(_PART, end - at)), total)
    return total


def _check_rest(file: OpenFile, start: int, end: int, total: int) -> None:
    """Check the batch that goes on at a line, behind what has a checksum already."""
    at = start
    while at < end:
        data = file.read(at, min(_PART, end - at))
        found = data.find(COMMIT)
        if found >= 0:
            line = file.read(at + found + 1, _NEAR).partition(b"\n")[0]
            if unseal(line, checksum(data[: found + 1], total)) is None:
                raise _damaged(at)
            return
        taken = len(data) - len(COMMIT)
        if taken <= 0:
            break
        total = checksum(data[:taken], total)
        at += taken
    raise _damaged(start)


def _lines(file: OpenFile, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Iterate over whole lines in a part of a file, each with where it begins."""
    size = _PART
    while start < end:
        lines = file.read(start, min(size, end - start)).split(b"\n")
        if len(lines) == 1 and size >= end - start:
            raise _damaged(start)
        size = _PART if len(lines) > 1 else 2 * size
        for line in lines[:-1]:
            yield start, line
            start += len(line) + 1
