"""The model of a log: a list that grows by whole batches, may be truncated, and may be dropped and grow again.

An incarnation is the id of one life of a log. One that an append of unknown outcome began is nobody's until a call
shows it. An identity is a head: within one incarnation neither its first position nor its length goes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from holdall_conformance.history.calls import Call
from holdall_conformance.history.log_state import Batch, LogState
from holdall_conformance.history.logs_flaws import find_flaw
from holdall_conformance.history.model import UNKNOWN, Flaw, Move, fence_of, frozen
from holdall_conformance.history.plain import ABSENT_MARK

__all__ = ["LogModel", "head_in"]

_CONSTANT = frozenset({"read", "tail", "head", "seal", "append"})
"""What changes nothing (or, a seal and an append with a batch id, nothing twice)."""

_Effect = Callable[[LogState], Sequence[LogState]]


class LogModel:
    """A log that is absent at first."""

    start = LogState()

    def moves(self, calls: Sequence[Call]) -> Sequence[Move]:
        """Return the moves of calls on one log."""
        ids = Counter(call.arguments.get("batch_id") for call in calls)
        return [_move(call, number, ids) for number, call in enumerate(calls)]

    def identity(self, state: LogState) -> Hashable | None:
        """Return the head."""
        named = isinstance(state.incarnation, str)
        return (state.first, len(state.entries), state.incarnation) if named else None

    def flaw(self, calls: Sequence[Call]) -> Flaw | None:
        """Return a read with a gap, two appends in one place, or two views of one position that differ."""
        return find_flaw(calls)

    def describe(self, state: LogState) -> str:
        """Return what is stored, in words."""
        mark = f", with the mark {state.mark}" if state.mark else ""
        if state.incarnation is None:
            return f"is absent{mark}"
        return f"has the positions {state.first} to {len(state.entries)}{mark}"


def head_in(call: Call) -> Mapping[str, Any] | None:
    """Return the head that a call was told, or None: the one before an append, otherwise the current one.

    Args:
        call: a call on a log.

    """
    if call.outcome == "unknown":
        return None
    if call.outcome == "refused":
        head: Mapping[str, Any] | None = call.result.get("current")
        return head
    match call.operation:
        case "head" | "seal":
            return call.result  # type: ignore[no-any-return]
        case "read" | "tail":
            return call.result["head"]  # type: ignore[no-any-return]
        case "append" if call.result["start"]:
            return {**call.result["head"], "length": call.result["start"]}
        case _:
            return None


def _move(call: Call, number: int, ids: Mapping[Any, int]) -> Move:
    if call.outcome == "refused":
        effect = _refusal(call)
    elif call.operation in _EFFECTS:
        result = UNKNOWN if call.outcome == "unknown" else call.result
        effect = _EFFECTS[call.operation](call.arguments, result, number)
    else:
        message = f"the model of a log knows no operation {call.operation!r}"
        raise ValueError(message)
    constant = call.outcome == "refused" or call.operation in _CONSTANT or not call.result
    head, batch_id = head_in(call), call.arguments.get("batch_id")
    pinned = head is not None and (batch_id is None or ids[batch_id] == 1 or call.outcome == "refused")
    pin = (head["first"], head["length"], head["incarnation"]) if head is not None and pinned else None
    return Move(call, effect, constant and call.outcome != "unknown", pin)


def _expected(state: LogState, expect: Any) -> LogState | None:
    if expect is None:
        return state
    if expect in (0, ABSENT_MARK):
        return state if state.incarnation is None else None
    if isinstance(expect, int):
        return state if state.incarnation is not None and len(state.entries) == expect else None
    return state.seen(expect)


def _is_fenced(state: LogState, arguments: Mapping[str, Any]) -> bool:
    fence = fence_of(arguments)
    return fence is not None and fence < state.mark


def _admitted(state: LogState, arguments: Mapping[str, Any]) -> LogState | None:
    """Return the state with the raised mark if fence and expectation let a write in."""
    if _is_fenced(state, arguments):
        return None
    found = _expected(state, arguments.get("expect"))
    return None if found is None else found.raised(fence_of(arguments))


def _refusal(call: Call) -> _Effect:
    told, arguments = call.result, call.arguments
    values = [frozen(entry) for entry in arguments.get("entries", [])]

    def effect(state: LogState) -> Sequence[LogState]:
        batch, sure = state.batch(arguments.get("batch_id"))
        if told["error"] == "BatchMismatch":
            return [state] if batch is not None and state.entries_of(batch) != tuple(values) else []
        if batch is not None and sure:
            return []
        match told["error"]:
            case "Fenced":
                return [state] if _is_fenced(state, arguments) and state.mark == told["mark"] else []
            case "Truncated":
                known = state.incarnation is not None and arguments.get("start", 0) < state.first == told["first"]
                return [state] if known else []
            case "Conflict":
                return [] if _is_fenced(state, arguments) else _conflict(state, arguments.get("expect"), told)
            case other:
                message = f"the model of a log knows no refusal {other!r}"
                raise ValueError(message)

    return effect


def _conflict(state: LogState, expect: Any, told: Mapping[str, Any]) -> Sequence[LogState]:
    found = state.seen(told["current"])
    return [] if found is None or _expected(found, expect) is not None else [found]


def _append(arguments: Mapping[str, Any], result: Any, number: int) -> _Effect:
    values, batch_id = tuple(frozen(entry) for entry in arguments["entries"]), arguments.get("batch_id")

    def effect(state: LogState) -> Sequence[LogState]:
        batch, sure = state.batch(batch_id)
        again = batch is not None and state.entries_of(batch) == values
        afters = [_told(state, batch, result)] if again else []
        if batch is None or not sure:
            afters.append(grow(state))
        return [after for after in afters if after is not None]

    def grow(state: LogState) -> LogState | None:
        found = _admitted(state, arguments)
        if found is None:
            return None
        batch = Batch(len(found.entries), len(values), found.first)
        batches = found.batches if batch_id is None else (*found.batches, (batch_id, batch))
        incarnation = number if found.incarnation is None else found.incarnation
        return _told(
            found._replace(incarnation=incarnation, entries=found.entries + values, batches=batches), batch, result
        )

    return effect


def _told(state: LogState, batch: Batch | None, result: Any) -> LogState | None:
    """Return the state in which an append that made a batch was told a result, or None if it cannot be."""
    if result is UNKNOWN or batch is None:
        return state
    head = result["head"]
    told = (result["start"], result["count"], head["first"], head["length"])
    if told != (batch.start, batch.size, batch.first, batch.start + batch.size):
        return None
    return state.named(head["incarnation"])


def _read(arguments: Mapping[str, Any], result: Any, _: int) -> _Effect:
    start, limit = arguments.get("start", 0), arguments.get("limit")
    values = _values(result)

    def effect(state: LogState) -> Sequence[LogState]:
        found = state.seen(result["head"])
        if found is None or start < found.first:
            return []
        end = None if limit is None else start + limit
        return [found] if _fits(result, start, values, found.entries[start:end]) else []

    return effect


def _tail(arguments: Mapping[str, Any], result: Any, _: int) -> _Effect:
    values = _values(result)

    def effect(state: LogState) -> Sequence[LogState]:
        found = state.seen(result["head"])
        if found is None:
            return []
        start = max(found.first, len(found.entries) - arguments["count"])
        return [found] if _fits(result, start, values, found.entries[start:]) else []

    return effect


def _values(result: Any) -> tuple[str, ...]:
    return tuple(frozen(value) for _, value in result["entries"])


def _fits(result: Any, start: int, values: tuple[str, ...], there: tuple[str, ...]) -> bool:
    positions = [position for position, _ in result["entries"]]
    return values == there and positions == list(range(start, start + len(values)))


def _head(_: Mapping[str, Any], result: Any, __: int) -> _Effect:
    def effect(state: LogState) -> Sequence[LogState]:
        found = state.seen(result)
        return [] if found is None else [found]

    return effect


def _seal(arguments: Mapping[str, Any], result: Any, _: int) -> _Effect:
    def effect(state: LogState) -> Sequence[LogState]:
        found = _admitted(state, arguments)
        if found is not None and result is not UNKNOWN:
            found = found.seen(result)
        return [] if found is None else [found]

    return effect


def _truncate(arguments: Mapping[str, Any], result: Any, _: int) -> _Effect:
    def effect(state: LogState) -> Sequence[LogState]:
        found = _admitted(state, arguments)
        if found is None:
            return []
        first = max(found.first, min(arguments["before"], len(found.entries)))
        fits = result is UNKNOWN or result == first - found.first
        return [found._replace(first=first)] if fits else []

    return effect


def _drop(arguments: Mapping[str, Any], result: Any, _: int) -> _Effect:
    def effect(state: LogState) -> Sequence[LogState]:
        found = _admitted(state, arguments)
        if found is None or (result is not UNKNOWN and result != (found.incarnation is not None)):
            return []
        return [found.dropped()]

    return effect


_EFFECTS: Mapping[str, Callable[[Mapping[str, Any], Any, int], _Effect]] = {
    "append": _append,
    "read": _read,
    "tail": _tail,
    "head": _head,
    "seal": _seal,
    "truncate": _truncate,
    "drop": _drop,
}
