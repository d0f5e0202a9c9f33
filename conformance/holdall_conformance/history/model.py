"""What a model tells the checker: what each call of a history does to a state, if its outcome is to be explained."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from holdall_conformance.history.calls import Call

__all__ = ["UNKNOWN", "Flaw", "Model", "Move", "fence_of", "frozen"]


class _Unknown:
    """The result of a call that did not return: it fits everything."""


UNKNOWN: Final = _Unknown()


@dataclass(frozen=True, slots=True)
class Move:
    """A call as the search sees it.

    Attributes:
        call: the call.
        step: takes a state and returns the states that the call may lead to; none if it cannot take effect there with
            the outcome that it had. Of a call whose outcome is unknown: the states in which it has taken effect.
        constant: whether the call, wherever it leaves the state as it is, does so at every later place too: it is then
            safe to place it at once.
        pin: the identity that the state must have for it, where that is known; no state has an identity again that it
            left.

    """

    call: Call
    step: Callable[[Any], Sequence[Any]]
    constant: bool
    pin: Hashable | None = None


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong whatever the order.

    Attributes:
        calls: the calls that contradict each other.
        why: one sentence.

    """

    calls: Sequence[Call]
    why: str


class Model(Protocol):
    """One kind of object: a record, a log, a lease."""

    @property
    def start(self) -> Hashable:
        """The state before the first call."""
        ...

    def moves(self, calls: Sequence[Call]) -> Sequence[Move]:
        """Return the moves of the calls of one object, in their order."""
        ...

    def identity(self, state: Any) -> Hashable | None:
        """Return what a pin names, or None where it cannot be named."""
        ...

    def flaw(self, calls: Sequence[Call]) -> Flaw | None:
        """Return a contradiction that no order can solve, if one is plain to see."""
        ...

    def describe(self, state: Any) -> str:
        """Return a state in words, after "the record" or the like."""
        ...


def frozen(value: Any) -> str:
    """Return a JSON value as text that tells apart whatever differs: types, signs of zero, the order of keys.

    Args:
        value: the value.

    """
    return json.dumps(value)


def fence_of(arguments: Mapping[str, Any]) -> int | None:
    """Return the token of a write, or None if it is not fenced.

    Args:
        arguments: its arguments; the fence is a token or a lease.

    """
    fence = arguments.get("fence")
    return int(cast("Mapping[str, Any]", fence)["token"]) if isinstance(fence, Mapping) else fence
