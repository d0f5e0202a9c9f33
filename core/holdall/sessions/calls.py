"""Calls of tools as an audit follows them: each from the turn that asked for it to its result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from holdall.sessions.blocks import ToolCall, call_of
from holdall.sessions.errors import InvalidLog
from holdall.sessions.shapes import is_list, is_map

__all__ = [
    "Call",
    "CallState",
    "Turn",
    "check_call",
    "check_name",
    "is_same_call",
    "may_return",
    "read_call",
    "same_json",
]

CallState = Literal["pending", "requested", "decided", "answered", "interrupted"]
_LEGACY = re.compile(r"call_[1-9][0-9]*")
_LEGACY_PROVIDERS = frozenset({"fake", "gemini"})
_IDENTITY = ("id", "name", "signature", "provider_call_id")


@dataclass(slots=True)
class Turn:
    """A message of a model that calls tools.

    Attributes:
        position: the position of its entry.
        stop_reason: why the model stopped.
        provider: through whom it came.
        calls: its calls.
        has_asked: whether anybody was asked for an approval.
        last_direct: the place of the last call that was answered without one.
        last_settled: the place of the last call that was answered after one.
        last_requested: the place of the last call that somebody was asked about.

    """

    position: int
    stop_reason: str | None
    provider: Any
    calls: list[Call] = field(default_factory=list["Call"])
    has_asked: bool = False
    last_direct: int = -1
    last_settled: int = -1
    last_requested: int = -1


@dataclass(slots=True)
class Call:
    """A call of a tool.

    Attributes:
        source: what the model wrote.
        turn: the turn that it stands in.
        place: its place among the calls of that turn.
        state: what became of it.
        is_ambiguous: whether its id was asked about before, so that no decision can be told to be about this call.
        request: what somebody was asked about.
        request_at: the position of that entry.
        decision: the first decision.
        result_at: the position of its result.

    """

    source: ToolCall
    turn: Turn
    place: int
    state: CallState = "pending"
    is_ambiguous: bool = False
    request: ToolCall | None = None
    request_at: int = -1
    decision: Mapping[str, Any] | None = None
    result_at: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody was asked about it and it has no result yet."""
        return self.state in {"requested", "decided"}


def check_name(value: Any, what: str, position: int, *, missing: bool = True) -> None:
    """Refuse what names nothing.

    Args:
        value: the name.
        what: what it names, the beginning of the reason.
        position: the position of the entry.
        missing: whether it must be there.

    Raises:
        InvalidLog: it is no string, or a blank one.

    """
    if value is None:
        if missing:
            raise InvalidLog(f"{what}_missing", position)
        return
    if not isinstance(value, str):
        raise InvalidLog(f"{what}_not_string", position)
    if not value.strip():
        raise InvalidLog(f"{what}_blank", position)


def check_call(call: ToolCall, position: int) -> None:
    """Refuse a call whose names are none.

    Args:
        call: the call.
        position: the position of its entry.

    Raises:
        InvalidLog: so they are.

    """
    check_name(call.id, "call_id", position)
    check_name(call.name, "call_name", position)
    check_name(call.signature, "call_signature", position, missing=False)
    check_name(call.provider_call_id, "provider_call_id", position, missing=False)


def read_call(told: Any, position: int, no_map: str) -> ToolCall:
    """Return the call that an entry tells beside messages.

    Args:
        told: the map.
        position: the position of the entry.
        no_map: the reason if it is no map.

    Raises:
        InvalidLog: it is no call.

    """
    if not is_map(told):
        raise InvalidLog(no_map, position)
    if told.get("type") != "tool_call":
        raise InvalidLog("call_type_invalid", position)
    call = call_of(told)
    check_call(call, position)
    return call


def same_json(one: Any, other: Any) -> bool:
    """Tell whether two values are the same JSON: 1 is 1.0, and neither is true.

    Args:
        one: a value.
        other: another one.

    """
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_map(one) and is_map(other):
        return one.keys() == other.keys() and all(same_json(one[name], other[name]) for name in one)
    if is_list(one) and is_list(other):
        return len(one) == len(other) and all(map(same_json, one, other))
    return bool(one == other)


def is_same_call(one: ToolCall, other: ToolCall) -> bool:
    """Tell whether two calls have the same names, whatever their arguments.

    Args:
        one: a call.
        other: another one.

    """
    return all(same_json(getattr(one, name), getattr(other, name)) for name in _IDENTITY)


def may_return(before: Call, call: ToolCall, provider: Any) -> bool:
    """Tell whether a call may have the id of one before, as those of providers that number their calls anew each turn.

    Args:
        before: the last call of that id.
        call: the call.
        provider: through whom it came.

    """
    is_over = before.state in {"answered", "interrupted"}
    providers = {before.turn.provider, provider} if isinstance(provider, str) else set[Any]()
    is_numbered = bool(providers) and providers <= _LEGACY_PROVIDERS and _LEGACY.fullmatch(call.id) is not None
    return is_over and is_numbered and before.source.provider_call_id is None and call.provider_call_id is None
