"""Pieces of pipelines: a write is one update whose pipeline decides, on the document as it is, whether it applies.

Values of the caller's go in as literals: in a pipeline a string that begins with a dollar sign names a field.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "MISSING",
    "NOW",
    "dated",
    "either",
    "grave",
    "is_missing",
    "later",
    "literal",
    "live",
    "marked",
    "milliseconds_left",
    "raised",
    "unless_refused",
]

MISSING = "missing"
NOW = {"$toLong": "$$NOW"}
"""Dates are compared as numbers: not every server compares a stored date with its clock."""
_LONGEST = 10**14


def literal(value: Any) -> dict[str, Any]:
    """Return a value as it is.

    Args:
        value: what a caller passed.

    """
    return {"$literal": value}


def is_missing(field: str) -> dict[str, Any]:
    """Return whether a document has no such field.

    Args:
        field: its path, with the dollar sign.

    """
    return {"$eq": [{"$type": field}, MISSING]}


def either(condition: Any, then: Any, otherwise: Any) -> dict[str, Any]:
    """Return one of two things.

    Args:
        condition: what decides.
        then: if it holds.
        otherwise: if not.

    """
    return {"$cond": [condition, then, otherwise]}


def live() -> dict[str, Any]:
    """Return whether a document is a record that has not expired."""
    payload = {"$not": [is_missing("$p")]}
    return {"$and": [payload, {"$or": [is_missing("$x"), {"$gt": [{"$toLong": "$x"}, NOW]}]}]}


def milliseconds_left() -> dict[str, Any]:
    """Return how long a document lives, null for one that does not expire."""
    return either(is_missing("$x"), None, {"$subtract": [{"$toLong": "$x"}, NOW]})


def later(ttl: float) -> dict[str, Any]:
    """Return the moment at which something expires.

    Args:
        ttl: seconds from now.

    """
    return {"$add": ["$$NOW", min(_LONGEST, -int(-ttl * 1000 // 1))]}


def marked(fence: int | None) -> list[Any]:
    """Return the conditions that a fence makes.

    Args:
        fence: the token of the write, or None.

    """
    return [] if fence is None else [{"$lte": [{"$ifNull": ["$m", 0]}, fence]}]


def raised(fence: int | None) -> Any:
    """Return the mark after a write.

    Args:
        fence: the token of the write, or None.

    """
    mark = {"$ifNull": ["$m", 0]}
    return mark if fence is None else {"$max": [mark, fence]}


def unless_refused(conditions: Sequence[Any], document: Any) -> list[dict[str, Any]]:
    """Return the pipeline that replaces a document if all conditions hold, and else leaves it.

    Args:
        conditions: what must hold.
        document: what takes its place.

    """
    return [{"$replaceWith": either({"$and": list(conditions)}, document, "$$ROOT") if conditions else document}]


def dated(document: dict[str, Any], ttl: float | None) -> dict[str, Any]:
    """Return a document with an expiry, if there is one.

    Args:
        document: the rest.
        ttl: seconds from now, or None.

    """
    return document if ttl is None else {**document, "x": later(ttl)}


def grave(write_id: str, fence: int | None) -> dict[str, Any]:
    """Return what is left of a record that is deleted: its mark, and the ids of the writes that led to it.

    Args:
        write_id: the id of the delete.
        fence: the token of the write, or None.

    """
    kept = {"_id": "$_id", "s": "$s", "k": "$k", "pv": "$v", "g": "$$NOW"}
    return {**kept, "v": literal(write_id), "m": raised(fence)}
