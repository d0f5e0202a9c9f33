"""The file of a record: one line of JSON about it, and its value on the next.

A record that was deleted, but has seen a fencing token, is a file whose `version` is null: only its mark is left.
"""

from __future__ import annotations

from typing import NamedTuple

from holdall.errors import Corrupt
from holdall_adapters.file.files import Content, OpenFile
from holdall_adapters.file.lines import checksum, read_line, seal

__all__ = ["RecordState", "Stored", "read_record", "read_state", "record_content"]


class RecordState(NamedTuple):
    """What the first line of a record's file says, the value aside.

    Attributes:
        version: id of the write that made it, None if there is only a mark.
        expires: when it expires, on the anchored clock in seconds, or None.
        mark: the highest fencing token it has seen, 0 for none.

    """

    version: str | None = None
    expires: float | None = None
    mark: int = 0

    def is_live(self, now: float) -> bool:
        """Return whether there is a record that has not expired.

        Args:
            now: the anchored time in seconds.

        """
        return self.version is not None and (self.expires is None or self.expires > now)


class Stored(NamedTuple):
    """A record's state and payload; the payload is empty where there is only a mark."""

    state: RecordState
    payload: bytes


def record_content(scope: str, key: str, state: RecordState, payload: bytes) -> Content:
    """Return what is in the file of a record, in pieces: a payload may be large, and is not copied.

    Args:
        scope: its scope.
        key: its key.
        state: its version, expiry and mark.
        payload: the codec's bytes of its value.

    """
    fields = {"record": 1, "scope": scope, "key": key, **state._asdict()}
    line = seal({**fields, "bytes": len(payload), "sum": checksum(payload)})
    return (line,) if state.version is None else (line, payload, b"\n")


def read_state(file: OpenFile, scope: str, key: str) -> RecordState:
    """Return what the first line of a record's file says.

    Args:
        file: the file.
        scope: the scope that belongs to its place.
        key: the key that belongs to its place.

    Raises:
        Corrupt: the line is damaged, or speaks of another record.

    """
    return _state(file.first_line()[0], scope, key)[0]


def read_record(file: OpenFile, scope: str, key: str) -> Stored:
    """Return what the file of a record holds.

    Args:
        file: the file.
        scope: the scope that belongs to its place.
        key: the key that belongs to its place.

    Raises:
        Corrupt: the file is damaged, or is that of another record.

    """
    size = file.size()
    line, rest = file.first_line()
    state, length, total = _state(line, scope, key)
    begin = len(line) + 1
    if begin + length + (state.version is not None) == size:
        payload = rest[:length] if begin + len(rest) == size else file.read(begin, length)
        if checksum(payload) == total:
            return Stored(state, payload)
    message = "the file of the record is damaged behind its first line: restore it from a backup, or delete it"
    raise Corrupt(message)


def _state(line: bytes, scope: str, key: str) -> tuple[RecordState, int, int]:
    fields = read_line(line, "the file of the record", "restore it from a backup, or remove it if you can do without")
    if fields.get("record") != 1 or fields.get("scope") != scope or fields.get("key") != key:
        message = "the file of the record is that of something else: it was copied or renamed by hand"
        raise Corrupt(message)
    return RecordState(fields["version"], fields["expires"], fields["mark"]), fields["bytes"], fields["sum"]
