"""The head of a derived log as a value: what it holds, how it grows, and what leaves its tail for chunks.

A head is one line of JSON and, behind it, the entries of the tail, a line each. Entries before `base` lie in chunks.
What a chunk holds is decided by the committed tail alone, so whoever spills the same tail writes the same chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import orjson

from holdall.errors import Corrupt
from holdall.values import Appended, Head

_RECENT_WRITES = 64
CHUNK_BYTES = 64 * 1024
"""How many bytes of entries make a chunk."""
CHUNK_BATCHES = 256
"""How many batches make one, however small they are."""


class Batch(NamedTuple):
    """A batch in the tail; `number` counts the batches of the log from 1, `first` is the log's first position then."""

    write_id: str
    number: int
    start: int
    first: int
    batch_id: str | None
    digest: str | None
    payloads: Sequence[bytes]

    @property
    def end(self) -> int:
        """The position behind its last entry."""
        return self.start + len(self.payloads)

    def result(self, incarnation: str) -> Appended:
        """Return what the append that made it returned."""
        return Appended(self.start, len(self.payloads), Head(self.first, self.end, incarnation))


@dataclass(frozen=True, slots=True)
class LogState:
    """Everything in a head.

    Attributes:
        incarnation: id of the log, or None where only the mark is kept.
        first: the first position kept.
        length: the next position.
        mark: the highest fencing token seen.
        batches: how many batches the log has had.
        tail: the batches that are not in chunks.
        recent: ids of the last writes that left the tail.

    """

    incarnation: str | None = None
    first: int = 0
    length: int = 0
    mark: int = 0
    batches: int = 0
    tail: tuple[Batch, ...] = ()
    recent: tuple[str, ...] = ()

    def head(self) -> Head | None:
        """Return the head of the log, or None if there is none."""
        return None if self.incarnation is None else Head(self.first, self.length, self.incarnation)

    @property
    def base(self) -> int:
        """The first position of the tail."""
        return self.tail[0].start if self.tail else self.length

    def grown(self, write_id: str, payloads: Sequence[bytes], batch_id: str | None, digest: str | None) -> LogState:
        """Return the state with one more batch; a log that was not there begins with the write's id as incarnation."""
        number = self.batches + 1
        batch = Batch(write_id, number, self.length, self.first, batch_id, digest, payloads)
        return replace(
            self,
            incarnation=self.incarnation or write_id,
            length=self.length + len(payloads),
            batches=number,
            tail=(*self.tail, batch),
        )

    def spilled(self) -> tuple[LogState, tuple[Batch, ...]]:
        """Return the state without the batches that make the next chunk, and these; none if the tail is short."""
        total = 0
        for count, batch in enumerate(self.tail, 1):
            total += sum(map(len, batch.payloads))
            if total >= CHUNK_BYTES or count >= CHUNK_BATCHES:
                return self.without(count), self.tail[:count]
        return self, ()

    def without(self, count: int) -> LogState:
        """Return the state without the first batches of its tail; their writes stay known for a while.

        Args:
            count: how many batches.

        """
        recent = (*self.recent, *(batch.write_id for batch in self.tail[:count]))
        return replace(self, tail=self.tail[count:], recent=recent[-_RECENT_WRITES:])

    def find_batch(self, batch_id: str) -> Batch | None:
        """Return the batch of an id if it is in the tail."""
        return next((batch for batch in self.tail if batch.batch_id == batch_id), None)

    def encode(self, nonce: str) -> bytes:
        """Return the bytes to store.

        Args:
            nonce: id of the write, so that no two heads are alike.

        """
        tail = [[*batch[:6], len(batch.payloads)] for batch in self.tail]
        fields = [self.incarnation, self.first, self.length, self.mark, self.batches, tail, self.recent, nonce]
        return b"\n".join([orjson.dumps(fields), *(line for batch in self.tail for line in batch.payloads)])


def decode_state(stored: bytes) -> tuple[LogState, str]:
    """Return the state in a head, and the nonce of its write.

    Args:
        stored: what `LogState.encode` returned.

    Raises:
        Corrupt: it is something else.

    """
    header, _, rest = stored.partition(b"\n")
    lines = rest.split(b"\n") if rest else []
    try:
        incarnation, first, length, mark, batches, tail, recent, nonce = orjson.loads(header)
        state = LogState(incarnation, first, length, mark, batches, tuple(_batches(tail, lines)), tuple(recent))
    except (ValueError, TypeError) as error:
        message = "the head of a log cannot be read"
        raise Corrupt(message) from error
    return state, nonce


def _batches(tail: list[Any], lines: list[bytes]) -> list[Batch]:
    batches: list[Batch] = []
    taken = 0
    for write_id, number, start, first, batch_id, digest, count in tail:
        batches.append(Batch(write_id, number, start, first, batch_id, digest, lines[taken : taken + count]))
        taken += count
    if taken != len(lines):
        message = "a head has other entries than its tail names"
        raise ValueError(message)
    return batches


def encode_chunk(scope: str, key: str, batches: Sequence[Batch]) -> bytes:
    """Return the bytes of a chunk.

    Args:
        scope: scope of the log, for whoever finds the chunk without its head.
        key: key of the log.
        batches: the batches that make it.

    """
    header = orjson.dumps([scope, key, batches[0].start])
    return b"\n".join([header, *(line for batch in batches for line in batch.payloads)])


def decode_chunk(stored: bytes) -> tuple[str, str, int, list[bytes]]:
    """Return the scope and key of a chunk's log, its first position, and its entries.

    Args:
        stored: what `encode_chunk` returned.

    Raises:
        Corrupt: it is something else.

    """
    header, *lines = stored.split(b"\n")
    try:
        scope, key, start = orjson.loads(header)
    except (ValueError, TypeError) as error:
        message = "a chunk of a log cannot be read"
        raise Corrupt(message) from error
    return scope, key, start, lines


class Remembered(NamedTuple):
    """What is remembered of a batch that has left the tail."""

    scope: str
    key: str
    number: int
    start: int
    entries: int
    first: int
    digest: str

    @classmethod
    def of(cls, scope: str, key: str, batch: Batch) -> Remembered:
        """Return what to remember of a batch."""
        return cls(scope, key, batch.number, batch.start, len(batch.payloads), batch.first, batch.digest or "")

    def encode(self) -> bytes:
        """Return the bytes to store."""
        return orjson.dumps(list(self))


def decode_remembered(stored: bytes) -> Remembered:
    """Return what was remembered.

    Args:
        stored: what `Remembered.encode` returned.

    Raises:
        Corrupt: it is something else.

    """
    try:
        return Remembered(*orjson.loads(stored))
    except (ValueError, TypeError) as error:
        message = "what was remembered of a batch cannot be read"
        raise Corrupt(message) from error
