"""What goes into and comes out of stores and locks, as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from holdall import (
    ABSENT,
    ANY,
    Appended,
    Conflict,
    Entries,
    Fenced,
    Head,
    HoldallError,
    Holder,
    Lease,
    Record,
    Truncated,
)

__all__ = ["ABSENT_MARK", "plain", "plain_error"]

ABSENT_MARK = {"expect": "absent"}
"""How `ABSENT` looks; `ANY` is None."""


def plain(value: Any) -> Any:
    """Return a value as plain JSON.

    Args:
        value: JSON, or what a store or a lock takes or returns.

    Returns:
        The same with a `Record`, `Head`, `Appended`, `Entries`, `Lease` or `Holder` as a dict of its attributes,
        `ANY` as None, `ABSENT` as `ABSENT_MARK`, and tuples as lists.

    """
    match value:
        case Record():
            return {"value": plain(value.value), "version": value.version}
        case Head() | Holder():
            return value._asdict()
        case Appended():
            return {"start": value.start, "count": value.count, "head": plain(value.head)}
        case Entries():
            entries = [[position, plain(item)] for position, item in value]
            return {"entries": entries, "head": plain(value.head)}
        case Lease():
            return {"token": value.token, "nonce": value.nonce, "owner": value.owner, "ttl": value.ttl}
        case _:
            return _plain_json(value)


def _plain_json(value: Any) -> Any:
    if value is ANY:
        return None
    if value is ABSENT:
        return dict(ABSENT_MARK)
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in cast("Any", value).items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("Any", value)]
    return value


def plain_error(error: HoldallError) -> dict[str, Any]:
    """Return what a refusal says.

    Args:
        error: the error that refused a call.

    """
    told: dict[str, Any] = {"error": type(error).__name__}
    match error:
        case Conflict():
            told["current"] = plain(error.current)
        case Fenced():
            told["mark"] = error.mark
        case Truncated():
            told["first"] = error.first
        case _:
            pass
    return told
