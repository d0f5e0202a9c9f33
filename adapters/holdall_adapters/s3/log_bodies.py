"""Logs as objects: the head with the last batches, and immutable segments of those before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from holdall.values import Head
from holdall_adapters.s3.cells import ENDED, LASTING, Kind, whole

__all__ = [
    "LOG",
    "Batch",
    "LogState",
    "Marker",
    "Reference",
    "Segment",
    "index_body",
    "index_of",
    "marker_body",
    "marker_of",
    "owner_of",
    "segment_body",
    "segment_of",
]


class Batch(NamedTuple):
    """A batch.

    Attributes:
        write_id: the id of its append.
        entries: how many it has.
        first: the first position that the log kept then.
        hashed: its batch id, hashed, or None.
        digest: the digest of its entries, or None.
        payload: its entries, each with the end of its line.

    """

    write_id: str
    entries: int
    first: int
    hashed: str | None
    digest: str | None
    payload: bytes


class Reference(NamedTuple):
    """A segment, or an index of segments, as the head names it.

    Attributes:
        end: the position behind its last entry.
        nonce: what tells it from others that end there.
        last: the number of its last batch.
        size: its bytes, about.

    """

    end: int
    nonce: str
    last: int
    size: int


class LogState(NamedTuple):
    """The head of a log.

    Attributes:
        scope: its scope.
        key: its key.
        incarnation: that of the log; None if there is none.
        length: how many entries it has had.
        first: the first position that it keeps.
        base: where its tail begins.
        batches: how many batches it has had.
        mark: the highest token seen, 0 for none.
        tail: the batches in it.
        fresh: batches with ids that left the tail with the last segment, and have no markers yet, and where they began.
        segments: the segments, in order.
        indexes: indexes of older segments, in order.

    """

    scope: str
    key: str
    incarnation: str | None = None
    length: int = 0
    first: int = 0
    base: int = 0
    batches: int = 0
    mark: int = 0
    tail: tuple[Batch, ...] = ()
    fresh: tuple[tuple[int, Batch], ...] = ()
    segments: tuple[Reference, ...] = ()
    indexes: tuple[Reference, ...] = ()

    @property
    def head(self) -> Head | None:
        """The head, or None if there is no log."""
        return None if self.incarnation is None else Head(self.first, self.length, self.incarnation)

    @property
    def size(self) -> int:
        """The bytes of the tail, about."""
        return sum(OVERHEAD + len(batch.payload) for batch in self.tail)

    def placed(self) -> Iterable[tuple[int, Batch]]:
        """Return the batches of the tail with their positions."""
        position = self.base
        for batch in self.tail:
            yield position, batch
            position += batch.entries


OVERHEAD = 128
"""Bytes that a batch counts beside its entries: many small ones fill a head too."""


def _told(batch: Batch) -> list[Any]:
    return [batch.write_id, batch.entries, batch.first, batch.hashed, batch.digest, len(batch.payload)]


def _batches(told: Iterable[Sequence[Any]], payload: bytes) -> tuple[Batch, ...]:
    batches: list[Batch] = []
    start = 0
    for write_id, entries, first, hashed, digest, size in told:
        batches.append(Batch(write_id, entries, first, hashed, digest, payload[start : start + size]))
        start += size
    if start != len(payload):
        raise ValueError(start)
    return tuple(batches)


def _header(state: LogState) -> tuple[dict[str, Any], int]:
    header: dict[str, Any] = {"s": state.scope, "k": state.key, "i": state.incarnation, "m": state.mark}
    if state.incarnation is None:
        return header, ENDED
    header |= {"l": state.length, "f": state.first, "b": state.base, "q": state.batches}
    header["tail"] = [_told(batch) for batch in state.tail]
    header["fresh"] = [[position, _told(batch._replace(payload=b""))] for position, batch in state.fresh]
    return header | {"sg": list(map(list, state.segments)), "ix": list(map(list, state.indexes))}, LASTING


def _state(header: Mapping[str, Any], payload: bytes) -> LogState:
    if header["i"] is None:
        return LogState(header["s"], header["k"], mark=header["m"])
    return LogState(
        scope=header["s"],
        key=header["k"],
        incarnation=header["i"],
        length=header["l"],
        first=header["f"],
        base=header["b"],
        batches=header["q"],
        mark=header["m"],
        tail=_batches(header["tail"], payload),
        fresh=tuple((position, _batches([told], b"")[0]) for position, told in header["fresh"]),
        segments=tuple(Reference(*each) for each in header["sg"]),
        indexes=tuple(Reference(*each) for each in header["ix"]),
    )


def _payload(state: LogState) -> bytes:
    return b"".join(batch.payload for batch in state.tail)


LOG: Kind[LogState] = Kind(header=_header, payload=_payload, state=_state)


class Segment(NamedTuple):
    """A segment: the position of its first entry, and its batches."""

    start: int
    batches: tuple[Batch, ...]

    def placed(self) -> Iterable[tuple[int, Batch]]:
        """Return its batches with their positions."""
        position = self.start
        for batch in self.batches:
            yield position, batch
            position += batch.entries


def segment_body(state: LogState, start: int, batches: Sequence[Batch]) -> bytes:
    """Return a segment as the body of an object.

    Args:
        state: the log that it is of.
        start: the position of its first entry.
        batches: its batches.

    """
    header = {
        "s": state.scope,
        "k": state.key,
        "i": state.incarnation,
        "a": start,
        "t": [_told(each) for each in batches],
    }
    return b"".join((orjson.dumps(header), b"\n", *(batch.payload for batch in batches)))


def segment_of(name: str, body: bytes) -> Segment:
    """Return the segment that an object holds.

    Args:
        name: its name.
        body: its body.

    Raises:
        Corrupt: it is none.

    """
    with whole(name):
        line, _, payload = body.partition(b"\n")
        header = orjson.loads(line)
        return Segment(header["a"], _batches(header["t"], payload))


def index_body(state: LogState, references: Sequence[Reference]) -> bytes:
    """Return an index as the body of an object.

    Args:
        state: the log that it is of.
        references: the segments.

    """
    return orjson.dumps({"s": state.scope, "k": state.key, "i": state.incarnation, "sg": list(map(list, references))})


def index_of(name: str, body: bytes) -> list[Reference]:
    """Return the segments that an index names.

    Args:
        name: the name of the object.
        body: its body.

    Raises:
        Corrupt: it is none.

    """
    with whole(name):
        return [Reference(*each) for each in orjson.loads(body)["sg"]]


class Marker(NamedTuple):
    """Where the batch of an id begins, how many entries it has, the first position then, and the digest or None."""

    position: int
    entries: int
    first: int
    digest: str | None


def marker_body(state: LogState, position: int, batch: Batch) -> bytes:
    """Return a marker as the body of an object.

    Args:
        state: the log that it is of.
        position: where the batch begins.
        batch: the batch.

    """
    marker: dict[str, Any] = {"s": state.scope, "k": state.key, "i": state.incarnation}
    return orjson.dumps(marker | {"a": position, "n": batch.entries, "f": batch.first, "d": batch.digest})


def marker_of(name: str, body: bytes) -> Marker:
    """Return the marker that an object holds.

    Args:
        name: its name.
        body: its body.

    Raises:
        Corrupt: it is none.

    """
    with whole(name):
        marker = orjson.loads(body)
        return Marker(marker["a"], marker["n"], marker["f"], marker["d"])


def owner_of(name: str, body: bytes) -> tuple[str, str]:
    """Return the scope and key of the log that a segment, index or marker belongs to.

    Args:
        name: the name of the object.
        body: its body.

    Raises:
        Corrupt: it is none of them.

    """
    with whole(name):
        header = orjson.loads(body.partition(b"\n")[0])
        return str(header["s"]), str(header["k"])
