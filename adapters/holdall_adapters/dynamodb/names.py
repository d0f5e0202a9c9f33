"""The keys of items. Every name is raw UTF-8, and stands alone or last in its key: nothing is escaped or collides."""

from __future__ import annotations

import zlib
from typing import Any

__all__ = [
    "LAST",
    "LAYOUT",
    "B",
    "Key",
    "N",
    "S",
    "at_length",
    "batch_marker",
    "catalogue",
    "catalogue_partition",
    "chunk",
    "chunks",
    "flag",
    "lease",
    "log",
    "logs",
    "markers",
    "orphan",
    "orphans",
    "part",
    "record",
    "records",
    "same_key",
    "shard_of",
]

Key = dict[str, dict[str, bytes]]
LAST = b"\xff"
"""Greater than every name, since UTF-8 has no such byte."""
_ONE = b"\x00"
"""The sort key of what is alone in its partition; the empty one is refused."""
_PLACES = 8


def B(value: bytes) -> dict[str, bytes]:  # noqa: N802 - as DynamoDB calls it
    """Return bytes as DynamoDB takes them."""
    return {"B": value}


def N(value: float) -> dict[str, str]:  # noqa: N802 - as DynamoDB calls it
    """Return a number as DynamoDB takes it, to the microsecond."""
    return {"N": str(value) if isinstance(value, int) else f"{value:.6f}"}


def S(value: str) -> dict[str, str]:  # noqa: N802 - as DynamoDB calls it
    """Return text as DynamoDB takes it."""
    return {"S": value}


def _key(partition: bytes, sort: bytes) -> Key:
    return {"pk": {"B": partition}, "sk": {"B": sort}}


def same_key(item: dict[str, Any]) -> Key:
    """Return the key of an item."""
    return {"pk": item["pk"], "sk": item["sk"]}


def shard_of(name: str, shards: int) -> int:
    """Return the shard of a key within its scope, or of a scope within a catalogue.

    Args:
        name: the key or scope.
        shards: how many there are.

    """
    return zlib.crc32(name.encode()) % shards


def records(scope: str, shard: int) -> bytes:
    """Return the partition of some records of a scope."""
    return b"r" + bytes([shard]) + scope.encode()


def record(scope: str, key: str, shards: int) -> Key:
    """Return the key of a record."""
    return _key(records(scope, shard_of(key, shards)), key.encode())


def logs(scope: str, shard: int) -> bytes:
    """Return the partition of some heads of logs of a scope."""
    return b"l" + bytes([shard]) + scope.encode()


def log(scope: str, key: str, shards: int) -> Key:
    """Return the key of the head of a log."""
    return _key(logs(scope, shard_of(key, shards)), key.encode())


def chunks(incarnation: str) -> bytes:
    """Return the partition of the chunks of a log."""
    return b"c" + bytes.fromhex(incarnation)


def at_length(length: int) -> bytes:
    """Return the sort key of the chunk that ends before a position."""
    return length.to_bytes(_PLACES, "big")


def chunk(incarnation: str, end: int) -> Key:
    """Return the key of a chunk."""
    return _key(chunks(incarnation), at_length(end))


def markers(incarnation: str) -> bytes:
    """Return the partition of the markers of batches of a log."""
    return b"b" + bytes.fromhex(incarnation)


def batch_marker(incarnation: str, hashed: bytes) -> Key:
    """Return the key of the marker of a batch."""
    return _key(markers(incarnation), hashed)


def part(write_id: str, number: int) -> Key:
    """Return the key of a part of what is too large for one item."""
    return _key(b"p" + bytes.fromhex(write_id), bytes([number]))


def orphans(digit: str) -> bytes:
    """Return a partition of the index of what has parts."""
    return b"q" + digit.encode()


def orphan(write_id: str) -> Key:
    """Return the key of the entry of a write in the index of what has parts."""
    return _key(orphans(write_id[0]), write_id.encode())


def catalogue_partition(kind: bytes, shard: int) -> bytes:
    """Return a partition of a catalogue: `s` of scopes with records, `t` of scopes with logs."""
    return kind + bytes([shard])


def catalogue(kind: bytes, scope: str, shards: int) -> Key:
    """Return the key of the entry of a scope in a catalogue."""
    return _key(catalogue_partition(kind, shard_of(scope, shards)), scope.encode())


def lease(key: str) -> Key:
    """Return the key of a lease."""
    return _key(b"k" + key.encode(), _ONE)


def flag(key: str) -> Key:
    """Return the key of a flag."""
    return _key(b"f" + key.encode(), _ONE)


LAYOUT = _key(b"m", b"m")
