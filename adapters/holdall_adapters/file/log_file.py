"""The file of a log: a line about it, then for each batch a line an entry and one that commits them.

What is behind the last whole commit does not exist: an append under way, or one that a crash cut short, which ends in
the midst of a line or has zeros where the disk never got the data. A truncate or seal is a commit of no entries. Every
commit holds the whole state of the log, so its end is all that has to be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from holdall.errors import Corrupt
from holdall.values import Head
from holdall_adapters.file.files import OpenFile
from holdall_adapters.file.lines import checksum, read_line, seal, unseal

__all__ = [
    "COMMIT",
    "Batch",
    "Loaded",
    "LogState",
    "commits",
    "entry_lines",
    "header_line",
    "load",
    "read_header",
    "sealed_batch",
]

COMMIT = b'\n{"commit":'
_BLOCK = 2**20
_LONGEST_COMMIT = 16_384
_STAMP = 11
_IN_HEADER = ("incarnation", "first", "length", "mark", "batches", "forgotten", "start")


class LogState(NamedTuple):
    """What there is to know of a log, and where in its file.

    Attributes:
        file_id: random id of the file; it changes when the log is written anew.
        incarnation: id of the log, None if there is only a mark.
        first: the first position that is kept.
        length: the position that the next entry will have.
        mark: the highest fencing token seen, 0 for none.
        batches: how many batches were appended, ever.
        forgotten: batches up to this one, if all their entries are forgotten, have lost their ids.
        start: the position of the first entry in the file.
        begin: where the entries begin in the file, in bytes.
        end: where the last commit ends.
        stamp: the last bytes of that commit.

    """

    file_id: str
    incarnation: str | None
    first: int
    length: int
    mark: int
    batches: int
    forgotten: int
    start: int
    begin: int
    end: int
    stamp: bytes

    def head(self) -> Head | None:
        """Return the head, or None if there is only a mark."""
        return None if self.incarnation is None else Head(self.first, self.length, self.incarnation)


class Batch(NamedTuple):
    """What a commit says of its batch, beside its entries."""

    batch_id: str | None = None
    digest: str | None = None


class Loaded(NamedTuple):
    """The state of a log; `size` of its file; whether no crash can have left what is behind its last commit."""

    state: LogState
    size: int
    damaged: bool


def header_line(scope: str, key: str, state: LogState, remembered: bytes = b"") -> bytes:
    """Return the beginning of a log's file.

    Args:
        scope: its scope.
        key: its key.
        state: its state; the offsets in it do not matter.
        remembered: lines about batches whose entries are forgotten.

    """
    fields = {name: getattr(state, name) for name in _IN_HEADER}
    about = {"log": state.file_id, "scope": scope, "key": key}
    return seal({**about, **fields, "remembered": len(remembered)}) + remembered


def entry_lines(start: int, payloads: Sequence[bytes]) -> bytes:
    """Return the lines of entries.

    Args:
        start: the position of the first.
        payloads: the codec's bytes of each; they hold no newline.

    """
    return b"".join(b'{"p":%d,"v":%b}\n' % (position, payload) for position, payload in enumerate(payloads, start))


def sealed_batch(state: LogState, entries: bytes, count: int, batch: Batch) -> tuple[bytes, LogState]:
    """Return what is written for a batch, or for a change of the state alone, and the state after it.

    Args:
        state: the state to write; its length is that before the batch.
        entries: the lines of the entries.
        count: how many there are.
        batch: what the commit says of them.

    """
    fields: dict[str, Any] = {
        "commit": count,
        "start": state.length,
        "bytes": len(entries),
        "first": state.first,
        "mark": state.mark,
        "batch": state.batches + (count > 0),
        "forgotten": state.forgotten,
    }
    if batch.batch_id is not None:
        fields |= {"id": batch.batch_id, "digest": batch.digest}
    data = entries + seal(fields, checksum(entries))
    return data, _advanced(state, fields, state.end + len(data), data)


def _advanced(state: LogState, fields: dict[str, Any], end: int, data: bytes) -> LogState:
    """Return the state that a commit holds; `data` ends with it."""
    return state._replace(
        first=fields["first"],
        length=fields["start"] + fields["commit"],
        mark=fields["mark"],
        batches=fields["batch"],
        forgotten=fields["forgotten"],
        end=end,
        stamp=data[-_STAMP:],
    )


def load(file: OpenFile, scope: str, key: str, known: LogState | None) -> Loaded:
    """Return the state of a log.

    Args:
        file: its file.
        scope: the scope that belongs to its place.
        key: the key that belongs to its place.
        known: the state when it was loaded before, if it was: only what was added since is read.

    Raises:
        Corrupt: the file is damaged.

    """
    size = file.size()
    state = known if known is not None and _is_same(file, size, known) else read_header(file, scope, key)
    if size == state.end:
        return Loaded(state, size, damaged=False)
    if size - state.end > _BLOCK:
        state = _load_last(file, state, size)
    state, damaged = _load_rest(file, state, size)
    return Loaded(state, size, damaged)


def _is_same(file: OpenFile, size: int, known: LogState) -> bool:
    beginning = b'{"log":"%b"' % known.file_id.encode()
    if size < known.end or file.read(0, len(beginning)) != beginning:
        return False
    return file.read(known.end - _STAMP, _STAMP) == known.stamp


def read_header(file: OpenFile, scope: str, key: str) -> LogState:
    """Return the state that the first line of a log's file holds: that at the time when the file was made.

    Args:
        file: the file.
        scope: the scope that belongs to its place.
        key: the key that belongs to its place.

    Raises:
        Corrupt: the line is damaged, or speaks of another log.

    """
    line, _ = file.first_line()
    fields = read_line(line, "the file of the log")
    if not isinstance(fields.get("log"), str) or fields.get("scope") != scope or fields.get("key") != key:
        message = "the file of the log is that of something else: it was copied or renamed by hand"
        raise Corrupt(message)
    begin = len(line) + 1 + fields["remembered"]
    if begin > file.size():
        message = "the file of the log is cut off in its first lines: restore it from a backup"
        raise Corrupt(message)
    held = {name: fields[name] for name in _IN_HEADER}
    return LogState(**held, file_id=fields["log"], begin=begin, end=begin, stamp=file.read(begin - _STAMP, _STAMP))


def _load_last(file: OpenFile, state: LogState, size: int) -> LogState:
    """Return the state of the last whole commit, found from the end of the file backwards."""
    end = size
    while end > state.end:
        start = max(state.end, end - _BLOCK) - 1
        data = file.read(start, end - start + _LONGEST_COMMIT)
        at = data.rfind(COMMIT, 0, end - start)
        while at >= 0:
            line, newline, _ = data[at + 1 :].partition(b"\n")
            found = _commit_at(file, state, start + at + 1, line) if newline else None
            if found is not None:
                return found
            at = data.rfind(COMMIT, 0, at)
        end = start + 1
    return state


def _commit_at(file: OpenFile, state: LogState, offset: int, line: bytes) -> LogState | None:
    """Return the state that the commit on a line holds, or None if it or its entries are not whole."""
    size = _size_of(line)
    if size is None or size > offset - state.end:
        return None
    entries = file.read(offset - size, size)
    fields = unseal(line, checksum(entries))
    return None if fields is None else _advanced(state, fields, offset + len(line) + 1, line + b"\n")


def _load_rest(file: OpenFile, state: LogState, size: int) -> tuple[LogState, bool]:
    """Return the state of the last of the whole commits that follow, and whether what is behind it is no torn end."""
    data = file.read(state.end - 1, size - state.end + 1)
    at = 0  # the newline before a batch
    while True:
        found = data.find(COMMIT, at)
        line_end = data.find(b"\n", found + 1)
        if found < 0 or line_end < 0:
            return state, False
        fields = unseal(data[found + 1 : line_end], checksum(data[at + 1 : found + 1]))
        if fields is None or fields["bytes"] != found - at or fields["start"] != state.length:
            return state, b"\0" not in data[at:] or _holds_commit(data[at:])
        end = line_end + 1
        state = _advanced(state, fields, state.end + line_end - at, data[end - _STAMP : end])
        at = line_end


def _holds_commit(data: bytes) -> bool:
    """Return whether there is a whole commit in what should be nothing; it begins with a newline."""
    at = data.find(COMMIT)
    while at >= 0:
        line = data[at + 1 :].partition(b"\n")[0]
        size = _size_of(line)
        if size is not None and size <= at and unseal(line, checksum(data[at + 1 - size : at + 1])) is not None:
            return True
        at = data.find(COMMIT, at + 1)
    return False


def _size_of(line: bytes) -> int | None:
    """Return how many bytes of entries a commit speaks of, or None if it is none."""
    try:
        size = orjson.loads(line)["bytes"]
    except (ValueError, KeyError, TypeError):
        return None
    return size if isinstance(size, int) and size >= 0 else None


def commits(file: OpenFile, start: int, end: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Iterate over the commits in a part of a log's file, each with where its line begins.

    Args:
        file: the file.
        start: where the part begins: behind a commit, or at the first batch.
        end: where it ends, behind a commit.

    Raises:
        Corrupt: a batch in it is damaged.

    """
    at, total = start, 0
    while at < end:
        data = file.read(at - 1, min(_BLOCK, end - at + 1))
        done = 0  # up to here, a newline or the byte before the block, all is taken in
        found, line_end = _next_commit(data, done)
        while line_end >= 0:
            fields = unseal(data[found + 1 : line_end], checksum(data[done + 1 : found + 1], total))
            if fields is None:
                raise _batch_damaged(at + found)
            yield at + found, fields
            done, total = line_end, 0
            found, line_end = _next_commit(data, done)
        taken = found if found >= 0 else max(done, len(data) - len(COMMIT))
        if taken == 0:
            raise _batch_damaged(at)
        total = checksum(data[done + 1 : taken + 1], total)
        at += taken


def _next_commit(data: bytes, start: int) -> tuple[int, int]:
    """Return where the newline before the next commit is and where its line ends; -1 for what is not there."""
    found = data.find(COMMIT, start)
    return found, data.find(b"\n", found + 1) if found >= 0 else -1


def _batch_damaged(offset: int) -> Corrupt:
    return Corrupt(f"a batch of the log is damaged near byte {offset:,}: restore its file from a backup")
