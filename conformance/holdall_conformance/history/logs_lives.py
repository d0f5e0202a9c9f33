"""Histories of a log reduced to some of its lives, from its first append to its drop.

Every call that tells of a life names its incarnation. Those that name another life may go, since the log is absent
where that life was. Then nobody knows any more what a drop or a truncate met, so their outcomes are left open, or, if
one life is left, drops go too. So do refusals that show a mark, which may be that of another life. Appends of unknown
outcome go if they cannot have been in the lives that are left: all positions there that anybody told of are somebody
else's, and none of these is the same batch again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdall_conformance.history.calls import Call

__all__ = ["life_of", "only_lives"]


def only_lives(calls: Sequence[Call], lives: Collection[str]) -> Sequence[Call]:
    """Return a history of a log reduced to some of its lives; good if the whole is good.

    Args:
        calls: the whole history.
        lives: the incarnations to keep, one or more.

    """
    settled = all(_is_covered(calls, life) for life in lives)
    repeated = {call.arguments.get("batch_id") for call in calls if call.outcome != "unknown"} - {None}
    found: list[Call] = []
    for call in calls:
        lost = call.operation == "append" and call.outcome == "unknown"
        if life_of(call) in lives or (lost and not (settled and call.arguments.get("batch_id") not in repeated)):
            found.append(call)
        elif _changes(call) and (call.operation == "truncate" or len(lives) > 1):
            found.append(replace(call, returned=None, outcome="unknown", result=None))
    return found


def _changes(call: Call) -> bool:
    """Tell whether a call may have dropped or truncated a log."""
    return call.operation in {"drop", "truncate"} and call.outcome != "refused" and call.result not in (False, 0)


def _head(call: Call) -> Mapping[str, Any] | None:
    """Return the head that a call was told."""
    if call.outcome == "unknown":
        return None
    if call.outcome == "refused":
        head: Mapping[str, Any] | None = call.result.get("current")
        return head
    match call.operation:
        case "append" | "read" | "tail":
            found = call.result["head"]
        case "head" | "seal":
            found = call.result
        case _:
            found = None
    return found  # type: ignore[no-any-return]


def life_of(call: Call) -> str | None:
    """Return the incarnation that a call was told, or None.

    Args:
        call: a call on a log.

    """
    head = _head(call)
    return None if head is None else str(head["incarnation"])


def _is_covered(calls: Sequence[Call], life: str) -> bool:
    """Tell whether known appends fill a life as far as anybody told of it."""
    longest, covered = 0, set[int]()
    for call in calls:
        head = _head(call)
        if head is None or head["incarnation"] != life:
            continue
        longest = max(longest, head["length"])
        if call.operation == "append" and call.outcome == "returned":
            covered.update(range(call.result["start"], call.result["start"] + call.result["count"]))
    return covered.issuperset(range(longest))
