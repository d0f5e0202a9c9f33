"""The pipelines of records: each decides, on the document as it is, whether it applies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdall.spi import ABSENT, ANY, DeleteRequest, PutRequest
from holdall_adapters.mongodb.expressions import (
    either,
    grave,
    is_missing,
    later,
    literal,
    live,
    marked,
    raised,
    unless_refused,
)

if TYPE_CHECKING:
    from holdall.values import Expect

__all__ = ["bury", "delete", "put", "seal", "seal_nothing", "touch"]


_KEPT: dict[str, Any] = {"_id": "$_id", "s": "$s", "k": "$k"}
_IS_THERE = {"$or": [{"$not": [is_missing("$p")]}, {"$gt": ["$g", None]}]}
"""Whether a document holds something already, if only what is left of a record."""


def put(request: PutRequest) -> list[dict[str, Any]]:
    """Return the pipeline of a put.

    Args:
        request: what is asked for.

    """
    written = {"p": literal(request.payload), "v": literal(request.version), "pv": "$v", "m": raised(request.fence)}
    document = {**_KEPT, **written}
    if request.ttl is not None:
        document["x"] = later(request.ttl)
    return unless_refused([*marked(request.fence), *_expected(request.expect, request.version)], document)


def _expected(expect: Expect, write_id: str) -> list[Any]:
    if expect is ANY:
        return []
    if expect is ABSENT:
        mine = literal(write_id)
        return [{"$not": [live()]}, {"$ne": ["$v", mine]}, {"$ne": ["$pv", mine]}]
    return [live(), {"$eq": ["$v", literal(expect)]}]


def delete(request: DeleteRequest, write_id: str) -> list[dict[str, Any]]:
    """Return the pipeline of a delete of something.

    Args:
        request: what is asked for.
        write_id: the id of the write.

    """
    conditions = [live(), *marked(request.fence)]
    if isinstance(request.expect, str):
        conditions.append({"$eq": ["$v", literal(request.expect)]})
    return unless_refused(conditions, grave(write_id, request.fence))


def touch(ttl: float | None, fence: int | None, nonce: str) -> list[dict[str, Any]]:
    """Return the pipeline of a touch.

    Args:
        ttl: seconds from now, or None for no expiry.
        fence: the token of the write, or None.
        nonce: anything new: a touch that changed nothing would look like one that was refused.

    """
    document = {**_KEPT, "p": "$p", "v": "$v", "pv": "$pv", "m": raised(fence), "y": literal(nonce)}
    if ttl is not None:
        document["x"] = later(ttl)
    return unless_refused([live(), *marked(fence)], document)


def seal(fence: int) -> list[dict[str, Any]]:
    """Return the pipeline that raises the mark of a record, and notes whether it is there.

    Args:
        fence: the token.

    """
    sealed = {"$mergeObjects": ["$$ROOT", {"m": fence, "live": live()}]}
    return unless_refused(marked(fence), _buried(sealed))


def seal_nothing(fence: int, nonce: str) -> list[dict[str, Any]]:
    """Return the pipeline that raises the mark of a record that is not there.

    Args:
        fence: the token.
        nonce: anything new, as for a touch.

    """
    sealed = {"$mergeObjects": ["$$ROOT", {"m": fence, "y": literal(nonce)}]}
    return unless_refused([{"$not": [live()]}, *marked(fence)], _buried(sealed))


def bury(nonce: str) -> list[dict[str, Any]]:
    """Return the pipeline that writes a record without changing it, so that transactions stand in each other's way.

    Args:
        nonce: anything new, as for a touch.

    """
    return unless_refused([], _buried({"$mergeObjects": ["$$ROOT", {"y": literal(nonce)}]}))


def _buried(document: Any) -> Any:
    """Return a document that is a grave if it was nothing before."""
    return either(_IS_THERE, document, {"$mergeObjects": [document, {"g": "$$NOW"}]})
