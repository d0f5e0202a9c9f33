"""The model of a record: a register with compare-and-set, a fencing mark, and an expiry that may come at any moment.

A version is the id of one write, so it names its write. A put of unknown outcome has a version that nobody was told;
the first call that meets a version which no recorded put returned shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from holdall_conformance.history.calls import Call
from holdall_conformance.history.model import UNKNOWN, Flaw, Move, fence_of, frozen
from holdall_conformance.history.plain import ABSENT_MARK

__all__ = ["RecordModel", "RecordState", "versions_in"]


class RecordState(NamedTuple):
    """What is stored under a key.

    Attributes:
        version: the version; None if the record is absent; a number if it is that of a put of unknown outcome which
            nobody has seen yet.
        value: the frozen value.
        mark: the highest fencing token seen.
        mortal: whether it may expire.
        shown: versions that puts of unknown outcome turned out to have.

    """

    version: str | int | None = None
    value: str | None = None
    mark: int = 0
    mortal: bool = False
    shown: frozenset[str] = frozenset()

    def raised(self, fence: int | None) -> RecordState:
        """Return the state after a write with a fence."""
        return self if fence is None or fence <= self.mark else self._replace(mark=fence)

    def gone(self) -> RecordState:
        """Return the state without the record."""
        return self._replace(version=None, value=None, mortal=False)


_Effect = Callable[[RecordState], RecordState | None]


class RecordModel:
    """A record that is absent at first."""

    start = RecordState()

    def moves(self, calls: Sequence[Call]) -> Sequence[Move]:
        """Return the moves of calls on one record."""
        strangers = _strangers(calls)
        return [_move(call, number, strangers) for number, call in enumerate(calls)]

    def identity(self, state: RecordState) -> Hashable | None:
        """Return the version; a version that was left never comes back."""
        return state.version if isinstance(state.version, str) else None

    def flaw(self, calls: Sequence[Call]) -> Flaw | None:
        """Return two puts with one version, or a read of a version with a value that was not put under it."""
        writers: dict[str, Call] = {}
        for call in calls:
            if call.operation == "put" and call.outcome == "returned":
                other = writers.setdefault(call.result, call)
                if other is not call:
                    why = f"two puts, by {other.client} and by {call.client}, returned the same version {call.result}"
                    return Flaw([other, call], why)
        return next((flaw for call in calls if (flaw := _misread(call, writers)) is not None), None)

    def describe(self, state: RecordState) -> str:
        """Return what is stored, in words."""
        mark = f", with the mark {state.mark}" if state.mark else ""
        match state.version:
            case None:
                return f"is absent{mark}"
            case str():
                return f"is at version {state.version} with value {state.value}{mark}"
            case _:
                return f"has the value {state.value} of a put that never returned{mark}"


def _misread(call: Call, writers: Mapping[str, Call]) -> Flaw | None:
    if call.operation != "get" or call.outcome != "returned" or call.result is None:
        return None
    writer = writers.get(call.result["version"])
    if writer is None or frozen(writer.arguments["value"]) == frozen(call.result["value"]):
        return None
    why = (
        f"put by {writer.client} wrote {frozen(writer.arguments['value'])} as version {writer.result}, "
        f"and get by {call.client} read {frozen(call.result['value'])} under that version"
    )
    return Flaw([writer, call], why)


def versions_in(call: Call) -> Iterable[str]:
    """Return every version that a call names: as expected, as read, as current, as sealed.

    Args:
        call: a call on a record.

    """
    found = [call.arguments.get("expect")]
    if call.outcome == "refused":
        found.append(call.result.get("current"))
    elif call.operation == "get" and call.result is not None:
        found.append(call.result["version"])
    elif call.operation == "seal":
        found.append(call.result)
    return [version for version in found if isinstance(version, str)]


def _strangers(calls: Sequence[Call]) -> frozenset[str]:
    """Return the versions that are named, but that no put returned."""
    returned = {call.result for call in calls if call.operation == "put" and call.outcome == "returned"}
    return frozenset(version for call in calls for version in versions_in(call) if version not in returned)


def _move(call: Call, number: int, strangers: frozenset[str]) -> Move:
    effect = _effect(call, number, strangers)

    def step(state: RecordState) -> Sequence[RecordState]:
        befores = (state, state.gone()) if state.mortal else (state,)
        return [after for before in befores if (after := effect(before)) is not None]

    constant = call.outcome == "refused" or call.operation in {"get", "seal"} or call.result is False
    return Move(call, step, constant and call.outcome != "unknown", _pin(call))


def _pin(call: Call) -> str | None:
    """Return the version that must be current for a call to have its outcome."""
    if call.outcome == "unknown":
        return None
    if call.outcome == "refused":
        current = call.result.get("current")
        return current if isinstance(current, str) else None
    return next(iter(reversed(list(versions_in(call)))), None)


def _effect(call: Call, number: int, strangers: frozenset[str]) -> _Effect:
    def seen(state: RecordState, version: str | None) -> RecordState | None:
        """Return the state in which a version is current, or None if it cannot be."""
        if state.version == version:
            return state
        if not isinstance(state.version, int) or version not in strangers or version in state.shown:
            return None
        return state._replace(version=version, shown=state.shown | {version})

    if call.outcome == "refused":
        return _refusal(call, seen)
    kind = _EFFECTS.get(call.operation)
    if kind is None:
        message = f"the model of a record knows no operation {call.operation!r}"
        raise ValueError(message)
    result = UNKNOWN if call.outcome == "unknown" else call.result
    return kind(call.arguments, result, number, seen)


_Seen = Callable[[RecordState, str | None], RecordState | None]


def _expected(state: RecordState, expect: Any, seen: _Seen) -> RecordState | None:
    if expect is None:
        return state
    return seen(state, None if expect == ABSENT_MARK else expect)


def _admitted(state: RecordState, arguments: Mapping[str, Any], seen: _Seen) -> RecordState | None:
    """Return the state with the raised mark if fence and expectation let a write in."""
    fence = fence_of(arguments)
    if fence is not None and fence < state.mark:
        return None
    found = _expected(state, arguments.get("expect"), seen)
    return None if found is None else found.raised(fence)


def _refusal(call: Call, seen: _Seen) -> _Effect:
    fence, told = fence_of(call.arguments), call.result
    if told["error"] == "Fenced":
        return lambda state: state if fence is not None and fence < state.mark == told["mark"] else None
    if told["error"] != "Conflict":
        message = f"the model of a record knows no refusal {told['error']!r}"
        raise ValueError(message)
    expect, current = call.arguments.get("expect"), told["current"]
    wanted = None if expect == ABSENT_MARK else expect
    impossible = expect is None or wanted == current

    def effect(state: RecordState) -> RecordState | None:
        if impossible or (fence is not None and fence < state.mark):
            return None
        return seen(state, current)

    return effect


def _get(_: Mapping[str, Any], result: Any, __: int, seen: _Seen) -> _Effect:
    if result is None:
        return lambda state: seen(state, None)
    value = frozen(result["value"])
    return lambda state: seen(state, result["version"]) if state.value == value else None


def _put(arguments: Mapping[str, Any], result: Any, number: int, seen: _Seen) -> _Effect:
    version = number if result is UNKNOWN else result
    value, mortal = frozen(arguments["value"]), arguments.get("ttl") is not None

    def effect(state: RecordState) -> RecordState | None:
        found = _admitted(state, arguments, seen)
        return None if found is None else found._replace(version=version, value=value, mortal=mortal)

    return effect


def _delete(arguments: Mapping[str, Any], result: Any, _: int, seen: _Seen) -> _Effect:
    def effect(state: RecordState) -> RecordState | None:
        found = _admitted(state, arguments, seen)
        if found is None or (result is not UNKNOWN and result != (found.version is not None)):
            return None
        return found.gone()

    return effect


def _touch(arguments: Mapping[str, Any], result: Any, _: int, seen: _Seen) -> _Effect:
    mortal = arguments.get("ttl") is not None

    def effect(state: RecordState) -> RecordState | None:
        found = _admitted(state, arguments, seen)
        if found is None or (result is not UNKNOWN and result != (found.version is not None)):
            return None
        return found if found.version is None else found._replace(mortal=mortal)

    return effect


def _seal(arguments: Mapping[str, Any], result: Any, _: int, seen: _Seen) -> _Effect:
    def effect(state: RecordState) -> RecordState | None:
        found = _admitted(state, arguments, seen)
        return found if found is None or result is UNKNOWN else seen(found, result)

    return effect


_EFFECTS: Mapping[str, Callable[[Mapping[str, Any], Any, int, _Seen], _Effect]] = {
    "get": _get,
    "put": _put,
    "delete": _delete,
    "touch": _touch,
    "seal": _seal,
}
