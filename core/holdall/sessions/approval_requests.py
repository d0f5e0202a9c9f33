"""Whether a request for an approval is about the very call that a model made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdall.sessions.blocks import ToolCall
from holdall.sessions.calls import Call, is_same_call, read_call, same_json
from holdall.sessions.errors import InvalidLog

__all__ = ["check_request"]

_TOO_LATE = {
    "answered": "request_already_answered",
    "interrupted": "request_stale",
    "requested": "duplicate_request",
    "decided": "duplicate_request",
}


def check_request(call: Call, request: ToolCall, entry: Mapping[str, Any], position: int) -> None:
    """Refuse a request that does not fit its call.

    Args:
        call: the call.
        request: what somebody is asked about.
        entry: the entry of the request.
        position: its position.

    Raises:
        InvalidLog: it does not fit.

    """
    if call.state in _TOO_LATE:
        raise InvalidLog(_TOO_LATE[call.state], position)
    if call.turn.stop_reason != "tool_use":
        raise InvalidLog("request_wrong_stop_reason", position)
    if _has_answered_namesake(call):
        raise InvalidLog("request_ambiguous_same_name", position)
    _check_provenance(call.source, request, entry, position)
    if call.place < call.turn.last_requested:
        raise InvalidLog("requests_out_of_order", position)


def _has_answered_namesake(call: Call) -> bool:
    """Tell whether a later call of the same tool was answered, where a provider pairs results by names and order."""
    if call.turn.provider != "gemini" or call.source.provider_call_id is not None:
        return False
    return any(
        other.state == "answered" and other.source.name == call.source.name and other.source.provider_call_id is None
        for other in call.turn.calls[call.place + 1 :]
    )


def _check_provenance(source: ToolCall, request: ToolCall, entry: Mapping[str, Any], position: int) -> None:
    if "prepared_from" in entry:
        if entry["prepared_from"] != "assistant":
            raise InvalidLog("provenance_marker_invalid", position)
        _check_prepared(source, request, position)
    elif entry.get("source_call") is not None or "source_call" in entry:
        told = read_call(entry["source_call"], position, "source_call_not_object")
        if not same_json(told.to_map(), source.to_map()):
            raise InvalidLog("source_call_mismatch", position)
        if not same_json(told.to_map(), request.to_map()):
            _check_prepared(source, request, position)
    elif not same_json(request.to_map(), source.to_map()):
        raise InvalidLog("request_call_mismatch", position)


def _check_prepared(source: ToolCall, request: ToolCall, position: int) -> None:
    """Refuse a request with other arguments that no host can have made of what the model wrote."""
    if not source.is_usable:
        raise InvalidLog("source_not_normalizable", position)
    if not is_same_call(source, request):
        raise InvalidLog("prepared_identity_mismatch", position)
