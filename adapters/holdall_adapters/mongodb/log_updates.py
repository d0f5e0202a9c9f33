"""The pipelines of logs. The head of a log is one document; it holds the last batches, and counts all.

Batches that fill the head are moved into chunks, by whoever made it full: first the chunk is inserted, then the head
lets go of what is in it. Both decide on the document as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdall.rules import kept_position
from holdall.spi import ABSENT, ANY, AppendRequest, LogRequest
from holdall.values import Head
from holdall_adapters.mongodb.expressions import is_missing, literal, marked, raised, unless_refused

if TYPE_CHECKING:
    from holdall.values import ExpectHead

__all__ = ["FULL", "OVERFULL", "append", "bury", "drop", "let_go", "restore", "seal", "seal_nothing", "truncate"]

FULL = 32 * 1024
"""Bytes of batches in a head from which on they are moved."""
OVERFULL = 6 * 2**20
"""Bytes above which nothing more goes into a head before it was emptied; a document ends at 16 MB."""

_OVERHEAD = 256
"""Bytes that a batch takes beside its entries: many small ones fill a head too."""

_DROPPED = 64
"""Batches of former lives of a log whose places are remembered."""

_GONE = is_missing("$i")
_FIRST, _LENGTH = {"$ifNull": ["$f", 0]}, {"$ifNull": ["$n", 0]}
_TAIL: dict[str, Any] = {"$ifNull": ["$t", []]}
_BYTES, _BATCHES = {"$ifNull": ["$tb", 0]}, {"$ifNull": ["$c", 0]}
_NAME: dict[str, Any] = {"_id": "$_id", "s": "$s", "k": "$k"}


def append(request: AppendRequest, hashed: str | None, seen: tuple[str | None, int] | None) -> list[dict[str, Any]]:
    """Return the pipeline of an append.

    Args:
        request: the append.
        hashed: its batch id, hashed, or None.
        seen: the incarnation and the base of the log under which no such batch was found in chunks; None where there
            is no batch id.

    """
    payload = b"\n".join(request.payloads)
    count, size = len(request.payloads), len(payload) + _OVERHEAD
    conditions = [*marked(request.fence), *_expected(request.expect), {"$lte": [_BYTES, OVERFULL]}]
    mine = literal(request.write_id)
    conditions += [{"$ne": ["$v", mine]}, {"$ne": ["$pv", mine]}, {"$not": [{"$in": [mine, _of_each("w")]}]}]
    batch: dict[str, Any] = {
        "w": mine,
        "a": _LENGTH,
        "e": {"$add": [_LENGTH, count]},
        "p": literal(payload),
        "f": _FIRST,
        "c": {"$add": [_BATCHES, 1]},
    }
    if hashed is not None and seen is not None:
        incarnation, base = seen
        same = _GONE if incarnation is None else {"$eq": ["$i", literal(incarnation)]}
        conditions += [same, {"$eq": [{"$ifNull": ["$b", 0]}, base]}]
        conditions.append({"$not": [{"$in": [literal(hashed), _of_each("h")]}]})
        batch |= {"h": literal(hashed), "d": literal(request.digest)}
    grown: dict[str, Any] = {
        **_NAME,
        "i": {"$ifNull": ["$i", mine]},
        "f": _FIRST,
        "n": {"$add": [_LENGTH, count]},
        "b": {"$ifNull": ["$b", 0]},
        "c": {"$add": [_BATCHES, 1]},
        "t": {"$concatArrays": [_TAIL, [batch]]},
        "tb": {"$add": [_BYTES, size]},
        "m": raised(request.fence),
        "v": mine,
        "pv": "$v",
        "l": "$l",
    }
    return unless_refused(conditions, grown)


def _of_each(field: str) -> dict[str, Any]:
    """Return a field of each batch in the head; a path into a list is not understood by every server."""
    return {"$map": {"input": _TAIL, "as": "each", "in": f"$$each.{field}"}}


def _expected(expect: ExpectHead) -> list[Any]:
    if expect is ANY:
        return []
    if expect is ABSENT or expect == 0:
        return [_GONE]
    if isinstance(expect, Head):
        first, length = {"$eq": ["$f", expect.first]}, {"$eq": ["$n", expect.length]}
        return [first, length, {"$eq": ["$i", literal(expect.incarnation)]}]
    return [{"$not": [_GONE]}, {"$eq": ["$n", expect]}]


def let_go(incarnation: str, base: int, end: int) -> list[dict[str, Any]]:
    """Return the pipeline by which a head lets go of the batches that a chunk holds.

    Args:
        incarnation: that of the log.
        base: where the chunk begins.
        end: where it ends.

    """
    kept = {"$filter": {"input": "$t", "as": "each", "cond": {"$gt": ["$$each.e", end]}}}
    size = {"$sum": {"$map": {"input": kept, "as": "each", "in": {"$add": [{"$binarySize": "$$each.p"}, _OVERHEAD]}}}}
    conditions = [{"$eq": ["$i", literal(incarnation)]}, {"$eq": ["$b", base]}]
    return unless_refused(conditions, {"$mergeObjects": ["$$ROOT", {"b": end, "t": kept, "tb": size}]})


def truncate(before: int, seen: Head, request: LogRequest, write_id: str) -> list[dict[str, Any]]:
    """Return the pipeline of a truncate.

    Args:
        before: the first position that is not to be forgotten; what lies beyond the end forgets all, so the end must
            still be where it was seen.
        seen: what it was like; where it began, and its life, must still be so.
        request: what is asked for.
        write_id: the id of the write.

    """
    changed = {"f": kept_position(seen, before), "m": raised(request.fence), "v": literal(write_id), "pv": "$v"}
    conditions = [{"$eq": ["$f", seen.first]}, *_same_life(seen, request)]
    if before > seen.length:
        conditions.append({"$eq": ["$n", seen.length]})
    return unless_refused(conditions, {"$mergeObjects": ["$$ROOT", changed]})


def drop(seen: Head, request: LogRequest, write_id: str) -> list[dict[str, Any]]:
    """Return the pipeline of a drop: what is left keeps the mark, and the id of the drop.

    Args:
        seen: what the log was like; its life must still be the same.
        request: what is asked for.
        write_id: the id of the write.

    """
    place = {"w": "$$each.w", "a": "$$each.a", "e": "$$each.e", "f": "$$each.f", "i": "$i"}
    places = {"$map": {"input": _TAIL, "as": "each", "in": place}}
    left = {**_NAME, "m": raised(request.fence), "v": literal(write_id), "pv": "$v", "g": "$$NOW"}
    # For those who appended a moment ago, to this life of the log or to one before, and ask now where.
    left["l"] = {"$slice": [{"$concatArrays": [{"$ifNull": ["$l", []]}, places]}, -_DROPPED]}
    return unless_refused(_same_life(seen, request), left)


def _same_life(seen: Head, request: LogRequest) -> list[Any]:
    same = {"$eq": ["$i", literal(seen.incarnation)]}
    return [same, *marked(request.fence), *_expected(request.expect)]


def seal(fence: int) -> list[dict[str, Any]]:
    """Return the pipeline of a seal.

    Args:
        fence: the token.

    """
    return unless_refused(marked(fence), {"$mergeObjects": [{"g": "$$NOW"}, "$$ROOT", {"m": fence}]})


def seal_nothing(fence: int, nonce: str) -> list[dict[str, Any]]:
    """Return the pipeline that raises the mark of a log that is not there.

    Args:
        fence: the token.
        nonce: anything new: a seal that changed nothing would look like one that was refused.

    """
    sealed = {"m": fence, "y": literal(nonce)}
    return unless_refused([_GONE, *marked(fence)], {"$mergeObjects": [{"g": "$$NOW"}, "$$ROOT", sealed]})


def bury(nonce: str) -> list[dict[str, Any]]:
    """Return the pipeline that writes a head without changing it, so that transactions stand in each other's way.

    Args:
        nonce: anything new, as above.

    """
    return unless_refused([], {"$mergeObjects": [{"g": "$$NOW"}, "$$ROOT", {"y": literal(nonce)}]})


def restore(first: int, payload: bytes, count: int, write_id: str) -> list[dict[str, Any]]:
    """Return the pipeline that makes a log which begins at a position.

    Args:
        first: the position.
        payload: its entries, a line each.
        count: how many there are.
        write_id: the id of the write.

    """
    mine = literal(write_id)
    batch = {"w": mine, "a": first, "e": first + count, "p": literal(payload), "f": first, "c": 1}
    made = {
        **_NAME,
        "i": mine,
        "f": first,
        "n": first + count,
        "b": first,
        "c": 1,
        "t": [batch] if count else [],
        "tb": len(payload) + _OVERHEAD if count else 0,
        "m": raised(None),
        "v": mine,
        "pv": "$v",
        "l": "$l",
    }
    return unless_refused([_GONE, {"$ne": ["$v", mine]}, {"$ne": ["$pv", mine]}], made)
