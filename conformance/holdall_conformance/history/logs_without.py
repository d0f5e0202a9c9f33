"""Histories of a log without some of its appends.

Whoever came after an append tells of it: by positions, lengths and entries. So an append may go if all that is told
afterwards, in its incarnation, is told as it would be without it: later positions and lengths move down, its entries go
from reads. Its repetitions under one batch id go with it, and refusals that show the mark it raised. A call that does
not tell which incarnation it met no longer insists on a length.

The first append of an incarnation stays, since it made the log, and nothing goes from a log that was truncated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdall_conformance.history.calls import Call
from holdall_conformance.history.model import fence_of
from holdall_conformance.history.plain import ABSENT_MARK

__all__ = ["logs_without"]

_Span = tuple[int, int]
_Head = dict[str, Any]


def logs_without(calls: Sequence[Call], numbers: Sequence[int]) -> Sequence[Call]:
    """Return a history without some appends, told as if they had not been; good if the whole is good.

    Args:
        calls: the whole history.
        numbers: which calls to leave out; those that may not go alone stay.

    """
    if any(call.operation == "truncate" and call.result != 0 for call in calls):
        return calls
    chosen = [calls[number] for number in numbers]
    appends = [call for call in chosen if call.operation == "append" and call.outcome == "returned"]
    for append in sorted(appends, key=lambda call: -call.result["start"]):  # so the next is still told as it was
        if _may_go(append, calls):
            calls = _without(calls, append)
    return calls


def _may_go(append: Call, calls: Sequence[Call]) -> bool:
    if append.result["start"] == 0:
        return False
    same = [call for call in calls if _is_repeated(call, append)]
    return append in calls and all(call.outcome != "unknown" for call in same)


def _is_repeated(call: Call, append: Call) -> bool:
    """Tell whether a call repeats an append, or may do so."""
    batch_id = append.arguments.get("batch_id")
    if batch_id is None or call.arguments.get("batch_id") != batch_id:
        return False
    told = call.outcome == "returned"
    return not told or bool(call.result["head"]["incarnation"] == append.result["head"]["incarnation"])


def _without(calls: Sequence[Call], append: Call) -> Sequence[Call]:
    start, incarnation = append.result["start"], append.result["head"]["incarnation"]
    shift = _Shift(incarnation, (start, start + append.result["count"]))
    fence, found = fence_of(append.arguments), list[Call]()
    for call in calls:
        shows = call.outcome == "refused" and fence is not None and call.result.get("mark") == fence
        told = None if call == append or shows or _is_repeated(call, append) else shift.told(call)
        found += [] if told is None else [told]
    return found


class _Shift:
    """Tells calls as if a span of one incarnation had not been."""

    def __init__(self, incarnation: str, span: _Span) -> None:
        self._incarnation = incarnation
        self._begin, self._end = span

    def told(self, call: Call) -> Call | None:
        """Return a call, told anew; None if there is nothing left to tell."""
        if call.outcome == "refused":
            return self._refusal(call)
        match call.operation:
            case "append" if call.outcome == "returned":
                return self._append(call)
            case "head" | "seal":
                return replace(call, result=self._head(call.result), arguments=self._expecting(call))
            case "read":
                return self._read(call)
            case "tail":
                return self._tail(call)
            case _:
                return replace(call, arguments=self._expecting(call))

    def _place(self, position: int) -> int:
        """Return where a position is then; what lies within the span becomes its beginning."""
        return position - self._overlap(0, position)

    def _overlap(self, begin: int, end: int) -> int:
        return max(0, min(end, self._end) - max(begin, self._begin))

    def _head(self, head: Mapping[str, Any] | None) -> _Head | None:
        if head is None:
            return None
        here = head["incarnation"] == self._incarnation and not self._begin < head["length"] < self._end
        return {**head, "length": self._place(head["length"]) if here else head["length"]}

    def _concerns(self, head: Mapping[str, Any] | None) -> bool:
        return head is not None and head["incarnation"] == self._incarnation

    def _expecting(self, call: Call, *, here: bool | None = None) -> Mapping[str, Any]:
        """Return the arguments with the expectation told anew.

        Args:
            call: the call.
            here: whether it met the incarnation of the span; None if that is open.

        """
        expect: Any = call.arguments.get("expect")
        if isinstance(expect, Mapping):
            return {**call.arguments, "expect": self._expected(call.arguments["expect"])}
        if not isinstance(expect, int) or expect == 0 or here is False:
            return call.arguments
        return {**call.arguments, "expect": self._place(expect) if here else None}

    def _expected(self, expect: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return expect if expect == ABSENT_MARK else self._head(expect)

    def _refusal(self, call: Call) -> Call | None:
        current = call.result.get("current")
        here = self._concerns(current)
        if "current" not in call.result:
            return replace(call, arguments=self._expecting(call, here=False))
        told, expecting = self._head(current), self._expecting(call, here=here)
        expect = expecting.get("expect")
        if told is not None and expect in (told, told["length"]):
            return None
        return replace(call, arguments=expecting, result={**call.result, "current": told})

    def _append(self, call: Call) -> Call:
        head = call.result["head"]
        if not self._concerns(head):
            return replace(call, arguments=self._expecting(call, here=False))
        result = {**call.result, "start": self._place(call.result["start"]), "head": self._head(head)}
        return replace(call, arguments=self._expecting(call, here=True), result=result)

    def _entries(self, call: Call) -> list[Any]:
        entries = call.result["entries"]
        return [[self._place(place), value] for place, value in entries if not self._begin <= place < self._end]

    def _read(self, call: Call) -> Call:
        if not self._concerns(call.result["head"]):
            return call
        start, limit = call.arguments.get("start", 0), call.arguments.get("limit")
        arguments = {**call.arguments, "start": self._place(start)}
        if limit is not None:
            arguments["limit"] = limit - self._overlap(start, start + limit)
        result = {"entries": self._entries(call), "head": self._head(call.result["head"])}
        return replace(call, arguments=arguments, result=result)

    def _tail(self, call: Call) -> Call | None:
        head, count = call.result["head"], call.arguments["count"]
        if not self._concerns(head):
            return call
        left = count - self._overlap(head["length"] - count, head["length"])
        result = {"entries": self._entries(call), "head": self._head(head)}
        return None if left <= 0 else replace(call, arguments={**call.arguments, "count": left}, result=result)
