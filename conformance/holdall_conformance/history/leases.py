"""The model of a lease: at most one holder at a time, under tokens that rise; when a lease ends, only clocks know.

So a lease may end at any moment, unless whoever recorded the call that granted or renewed it says more. Two arguments
of `acquire` and `renew` say it, on the clock of the history: `lasts_until`, before which the lease cannot have expired,
and `gone_by`, after which nobody can have it. They bound the intervals of calls, which is all that is known of the
moments at which these took effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from holdall_conformance.history.calls import Call
from holdall_conformance.history.model import UNKNOWN, Flaw, Move

__all__ = ["LeaseModel", "LeaseState"]


class _Held(NamedTuple):
    """A lease: its token, 0 as long as nobody has seen it, the bounds of its end, and the least its token can be."""

    token: int
    lasts_until: float
    gone_by: float
    least: int = 0


class LeaseState(NamedTuple):
    """What is stored under a key.

    Attributes:
        highest: no token up to this one can be given any more.
        held: the lease that somebody has, or None.

    """

    highest: int = 0
    held: _Held | None = None


_Effect = Callable[[LeaseState], Sequence[LeaseState]]


class LeaseModel:
    """A key that nobody has had."""

    start = LeaseState()

    def moves(self, calls: Sequence[Call]) -> Sequence[Move]:
        """Return the moves of calls on one key."""
        return [_move(call) for call in calls]

    def identity(self, state: LeaseState) -> Hashable | None:
        """Return None: what a lease shows says too little."""
        del state
        return None

    def flaw(self, calls: Sequence[Call]) -> Flaw | None:
        """Return two leases with one token."""
        owners: dict[int, Call] = {}
        for call in calls:
            if call.operation in _ACQUIRE and call.outcome == "returned" and call.result is not None:
                token = call.result["token"]
                other = owners.setdefault(token, call)
                if other is not call:
                    return Flaw([other, call], f"{other.client} and {call.client} both acquired under token {token}")
        return None

    def describe(self, state: LeaseState) -> str:
        """Return who has the key, in words."""
        if state.held is None:
            return f"is free, with tokens up to {state.highest} given"
        return f"is held under token {state.held.token or 'of a call that never returned'}"


def _move(call: Call) -> Move:
    kind = _EFFECTS.get(call.operation)
    if kind is None or (call.outcome == "refused" and call.operation != "renew"):
        message = f"the model of a lease knows no operation {call.operation!r} with this outcome"
        raise ValueError(message)
    effect = kind(call.arguments, UNKNOWN if call.outcome == "unknown" else call.result)
    end = math.inf if call.returned is None else call.returned

    def step(state: LeaseState) -> Sequence[LeaseState]:
        return [after for before in _befores(state, call.invoked, end) for after in effect(before)]

    constant = call.operation in {"holder", "held"} or not call.result or call.outcome == "refused"
    return Move(call, step, constant and call.outcome != "unknown")


def _befores(state: LeaseState, begin: float, end: float) -> Sequence[LeaseState]:
    """Return the states that may have become of one by the passing of time when a call takes effect."""
    if state.held is None:
        return [state]
    befores = [state] if begin <= state.held.gone_by else []
    return [*befores, state._replace(held=None)] if end >= state.held.lasts_until else befores


def _granted(arguments: Mapping[str, Any], token: int) -> _Held:
    return _Held(token, arguments.get("lasts_until", -math.inf), arguments.get("gone_by", math.inf))


def _token(arguments: Mapping[str, Any]) -> int:
    lease: Any = arguments["lease"]
    return int(lease if isinstance(lease, int) else lease["token"])


def _has(state: LeaseState, token: int) -> bool:
    return state.held is not None and state.held.token == token


def _acquire(arguments: Mapping[str, Any], result: Any) -> _Effect:
    def effect(state: LeaseState) -> Sequence[LeaseState]:
        if result is None or state.held is not None:
            return [state] if result is None and state.held is not None else []
        if result is UNKNOWN:
            least = state.highest + 1
            return [LeaseState(least, _granted(arguments, 0)._replace(least=least))]
        token = result["token"]
        return [LeaseState(token, _granted(arguments, token))] if token > state.highest else []

    return effect


def _renew(arguments: Mapping[str, Any], result: Any) -> _Effect:
    token = _token(arguments)
    refused = isinstance(result, Mapping) and "error" in result

    def effect(state: LeaseState) -> Sequence[LeaseState]:
        if refused or not _has(state, token):
            return [state] if refused and not _has(state, token) else []
        return [state._replace(held=_granted(arguments, token))]

    return effect


def _release(arguments: Mapping[str, Any], result: Any) -> _Effect:
    token = _token(arguments)

    def effect(state: LeaseState) -> Sequence[LeaseState]:
        has = _has(state, token)
        if result is not UNKNOWN and result != has:
            return []
        return [state._replace(held=None)] if has else [state]

    return effect


def _holder(_: Mapping[str, Any], result: Any) -> _Effect:
    token: int | None = None if result is None else int(result["token"])

    def effect(state: LeaseState) -> Sequence[LeaseState]:
        if token is None or state.held is None:
            return [state] if token is None and state.held is None else []
        if state.held.token == token:
            return [state]
        unseen = state.held.token == 0 and token >= state.held.least
        return [LeaseState(max(state.highest, token), state.held._replace(token=token))] if unseen else []

    return effect


def _held(_: Mapping[str, Any], result: Any) -> _Effect:
    return lambda state: [state] if result == (state.held is not None) else []


def _raise_floor(arguments: Mapping[str, Any], _: Any) -> _Effect:
    return lambda state: [state._replace(highest=max(state.highest, arguments["token"]))]


_ACQUIRE = frozenset({"acquire", "try_acquire"})
_EFFECTS: Mapping[str, Callable[[Mapping[str, Any], Any], _Effect]] = {
    "acquire": _acquire,
    "try_acquire": _acquire,
    "renew": _renew,
    "release": _release,
    "holder": _holder,
    "held": _held,
    "raise_floor": _raise_floor,
}
