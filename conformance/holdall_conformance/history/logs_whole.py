"""Histories of a log as if it had never been truncated.

Truncates go, and every head begins at 0. Entries that calls were told are the same then, but for tails that were cut
short: they go, as do refusals because of what a truncate had done, of the position or of the mark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from holdall_conformance.history.calls import Call
from holdall_conformance.history.model import fence_of

__all__ = ["logs_whole"]


def logs_whole(calls: Sequence[Call]) -> Sequence[Call]:
    """Return a history of a log without its truncates; good if the whole is good.

    Args:
        calls: the whole history.

    """
    marks = {fence_of(call.arguments) for call in calls if call.operation == "truncate" and call.outcome != "refused"}
    return [_whole(call) for call in calls if not _is_cut(call, marks)]


def _is_cut(call: Call, marks: set[int | None]) -> bool:
    if call.operation == "truncate" or (call.outcome == "refused" and call.result["error"] == "Truncated"):
        return True
    if call.outcome == "refused":
        return call.result.get("mark", -1) in marks
    if call.operation != "tail" or call.outcome == "unknown" or call.result["head"] is None:
        return False
    return bool(call.result["head"]["first"]) and len(call.result["entries"]) < call.arguments["count"]


def _whole(call: Call) -> Call:
    return replace(call, arguments=_from_zero(call.arguments, {"expect"}), result=_from_zero(call.result, _HEADS))


_HEADS = frozenset({"head", "current"})


def _from_zero(told: Any, names: set[str] | frozenset[str]) -> Any:
    """Return arguments or a result with the heads in it beginning at 0."""
    if not isinstance(told, Mapping):
        return told
    named: dict[str, Any] = cast("Any", told)
    found = {name: _head_from_zero(value) if name in names else value for name, value in named.items()}
    return _head_from_zero(found)


def _head_from_zero(head: Any) -> Any:
    if not isinstance(head, Mapping) or "incarnation" not in head:
        return cast("Any", head)
    return {**cast("Any", head), "first": 0}
