"""The keys of the derived layout: a kind byte, then names as `holdall.keys` encodes them.

::

    m NAME                                    format and clock of the storage
    r SCOPE KEY                               a record
    l SCOPE KEY                               the head of a log, with its tail
    c INCARNATION END                         a chunk of a log: the entries before position END
    b INCARNATION BATCH_ID                    the first result of a batch that has left the tail
    k KEY                                     a lease
    f KEY                                     a flag

A chunk is named by its end, so that a forward scan from position P finds the chunk that holds P first.
"""

from __future__ import annotations

from holdall.keys import encode_text, split_text

META, RECORD, LOG, CHUNK, BATCH, LEASE, FLAG = b"m", b"r", b"l", b"c", b"b", b"k", b"f"
_INCARNATION_BYTES = 16
_POSITION_BYTES = 8
_BEHIND_ALL_KEYS = b"\xff"


def named(kind: bytes, scope: str, key: str) -> bytes:
    """Return the key of a record or log head.

    Args:
        kind: `RECORD` or `LOG`.
        scope: its scope.
        key: its key, or the prefix of keys.

    """
    return kind + encode_text(scope) + key.encode()


def scope_prefix(kind: bytes, prefix: str) -> bytes:
    """Return what all keys in scopes with a prefix begin with.

    Args:
        kind: `RECORD` or `LOG`.
        prefix: the prefix of scopes.

    """
    return kind + prefix.encode().replace(b"\x00", b"\x00\xff")


def behind_scope(kind: bytes, scope: str) -> bytes:
    """Return a key behind all keys of a scope.

    Args:
        kind: `RECORD` or `LOG`.
        scope: the scope.

    """
    return kind + encode_text(scope) + _BEHIND_ALL_KEYS


def split_named(encoded: bytes) -> tuple[str, str]:
    """Return the scope and key of the key of a record or log head.

    Args:
        encoded: what `named` returned.

    """
    scope, rest = split_text(encoded[1:])
    return scope, rest.decode()


def part_prefix(kind: bytes, incarnation: str) -> bytes:
    """Return what all chunks or batches of a log begin with.

    Args:
        kind: `CHUNK` or `BATCH`.
        incarnation: the log's incarnation, which no other log ever has.

    """
    return kind + bytes.fromhex(incarnation)


def chunk_key(incarnation: str, end: int) -> bytes:
    """Return the key of a chunk.

    Args:
        incarnation: its log's incarnation.
        end: the position behind its last entry.

    """
    return part_prefix(CHUNK, incarnation) + end.to_bytes(_POSITION_BYTES)


def batch_key(incarnation: str, batch_id: str) -> bytes:
    """Return the key of what is remembered of a batch.

    Args:
        incarnation: its log's incarnation.
        batch_id: its id.

    """
    return part_prefix(BATCH, incarnation) + batch_id.encode()


def split_part(encoded: bytes) -> tuple[str, bytes]:
    """Return the incarnation and the rest of the key of a chunk or batch.

    Args:
        encoded: such a key.

    """
    return encoded[1 : 1 + _INCARNATION_BYTES].hex(), encoded[1 + _INCARNATION_BYTES :]


def chunk_end(encoded: bytes) -> int:
    """Return the position behind the last entry of a chunk.

    Args:
        encoded: the chunk's key.

    """
    return int.from_bytes(split_part(encoded)[1])
