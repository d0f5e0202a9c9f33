"""Whether a log tells a session that may go on: every call, request, decision and result fits what is before it.

It is strict where `replay` is tolerant: what it does not understand, nobody may be asked to approve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from holdall.sessions.approval_requests import check_request
from holdall.sessions.blocks import ToolCall
from holdall.sessions.calls import Call, Turn, check_call, check_name, may_return, read_call
from holdall.sessions.errors import InvalidLog, InvalidMessage
from holdall.sessions.message import Message
from holdall.sessions.shapes import is_map

__all__ = ["Approval", "Control", "audit"]


class Approval(NamedTuple):
    """A call that somebody was asked about, and the decision, or None."""

    call: ToolCall
    decision: Mapping[str, Any] | None


class Control(NamedTuple):
    """What an audit found.

    Attributes:
        tool_call_ids: the ids of all calls.
        approvals: the open ones, in the order in which they were asked for.
        decisions: by ids of calls, the winning decisions, settled ones too.

    """

    tool_call_ids: frozenset[str]
    approvals: tuple[Approval, ...]
    decisions: Mapping[str, Mapping[str, Any]]


class _Audit:
    """An audit, entry by entry."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._last: dict[str, Call] = {}
        self._unresolved: list[Call] = []
        self._compaction: tuple[int, Mapping[str, Any]] | None = None

    def take(self, position: int, entry: Any) -> None:
        """Take in an entry.

        Raises:
            InvalidLog: it does not fit.

        """
        if not is_map(entry):
            raise InvalidLog("entry_not_object", position)
        kind = entry.get("type")
        if kind == "message":
            self._take_message(position, entry.get("message"))
        elif kind == "approval_request":
            self._take_request(position, entry)
        elif kind == "approval_decision":
            self._take_decision(position, entry)
        elif kind == "compaction":
            self._compaction = (position, entry)

    def _take_message(self, position: int, told: Any) -> None:
        try:
            message = Message.of(told)
        except InvalidMessage as error:
            raise InvalidLog("invalid_message", position, error.message, error.reason) from error
        if message.role == "tool":
            self._take_result(position, message)
            return
        self._close(position)
        if message.role == "assistant":
            self._take_turn(position, message)

    def _close(self, position: int) -> None:
        """Let whatever has no result be interrupted by another message."""
        for call in self._unresolved:
            if call.is_open and not call.is_ambiguous:
                raise InvalidLog("continues_past_open_approval", position)
            call.state = "interrupted"
        self._unresolved = []

    def _take_turn(self, position: int, message: Message) -> None:
        turn, provider_ids = Turn(position, message.stop_reason, message.provider), set[str]()
        for place, source in enumerate(message.tool_calls):
            check_call(source, position)
            if source.provider_call_id is not None:
                if source.provider_call_id in provider_ids:
                    raise InvalidLog("duplicate_provider_call_id", position)
                provider_ids.add(source.provider_call_id)
            before = self._last.get(source.id)
            if before is not None and not may_return(before, source, message.provider):
                raise InvalidLog("duplicate_call_id", position)
            was_asked = before is not None and (before.request is not None or before.is_ambiguous)
            call = Call(source, turn, place, is_ambiguous=was_asked)
            self._last[source.id] = call
            turn.calls.append(call)
        self.calls += turn.calls
        self._unresolved += turn.calls

    def _take_result(self, position: int, message: Message) -> None:
        check_name(message.tool_call_id, "result_id", position)
        call = self._last.get(message.tool_call_id)
        if call is None:
            raise InvalidLog("result_without_call", position)
        check_name(message.tool_name, "result_name", position)
        if message.tool_name != call.source.name:
            raise InvalidLog("result_name_mismatch", position)
        _settle(call, position)
        call.state, call.result_at = "answered", position
        self._unresolved.remove(call)

    def _take_request(self, position: int, entry: Mapping[str, Any]) -> None:
        request = read_call(entry.get("call"), position, "request_call_not_object")
        call = self._last.get(request.id)
        if call is None:
            raise InvalidLog("request_without_call", position)
        check_request(call, request, entry, position)
        call.state, call.request, call.request_at = "requested", request, position
        call.turn.has_asked, call.turn.last_requested = True, call.place

    def _take_decision(self, position: int, entry: Mapping[str, Any]) -> None:
        check_name(entry.get("call_id"), "decision_call_id", position)
        if not isinstance(entry.get("approved"), bool):
            raise InvalidLog("decision_value_invalid", position)
        call = self._last.get(entry["call_id"])
        if call is None or call.request is None:
            raise InvalidLog("decision_without_request", position)
        if call.decision is None:
            call.decision = entry
            call.state = "decided" if call.state == "requested" else call.state

    def end(self) -> Control:
        """Return what was found, after the last entry."""
        for call in self.calls:
            if call.is_open and call.is_ambiguous:
                call.state = "interrupted"
        if self._compaction is not None:
            self._check_compaction(*self._compaction)
        waiting = sorted((call for call in self.calls if call.is_open), key=lambda call: call.request_at)
        approvals = tuple(Approval(call.request, call.decision) for call in waiting if call.request is not None)
        decided = {call.source.id: call.decision for call in self.calls if call.decision is not None}
        return Control(frozenset(call.source.id for call in self.calls), approvals, decided)

    def _check_compaction(self, position: int, entry: Mapping[str, Any]) -> None:
        begin = entry.get("kept_from")
        if isinstance(begin, bool) or not isinstance(begin, int) or begin < 0:
            raise InvalidLog("compaction_boundary_invalid", position)
        for call in self.calls:
            if call.is_open and call.turn.position < begin:
                raise InvalidLog("open_approval_compacted_away", position)
        for call in self.calls:
            if call.result_at is not None and call.turn.position < begin <= call.result_at:
                raise InvalidLog("compaction_splits_call", position)


def _settle(call: Call, position: int) -> None:
    """Refuse a result that does not come when it should."""
    turn = call.turn
    if call.state == "pending":
        if turn.has_asked:
            raise InvalidLog("direct_result_after_approval_phase", position)
        if call.place < turn.last_direct:
            raise InvalidLog("results_out_of_order", position)
        turn.last_direct = call.place
    elif call.state == "decided":
        if call.place < turn.last_settled:
            raise InvalidLog("approval_results_out_of_order", position)
        turn.last_settled = call.place
    else:
        reasons = {"requested": "result_before_decision", "answered": "duplicate_tool_result"}
        raise InvalidLog(reasons.get(call.state, "late_tool_result"), position)


def audit(entries: Sequence[Any]) -> Control:
    """Return the calls and approvals of a log.

    Args:
        entries: the entries of a log from its beginning.

    Raises:
        InvalidLog: an entry does not fit what is before it; `reason` says why in a word, `position` where.

    """
    found = _Audit()
    for position, entry in enumerate(entries):
        found.take(position, entry)
    return found.end()
