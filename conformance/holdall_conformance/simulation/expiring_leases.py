"""A lease that a holder's call revives: the model of a lease, and on top of it what a compare-and-set cannot prevent.

A renewal that was let in while the lease was live may take effect when it has expired, if nobody took it meanwhile. Who
looked in between saw a free key. That is allowed to a renewal or release under way while the lease ended, and to
nothing else; nobody else can have been granted the key.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from holdall_conformance.history.calls import Call
from holdall_conformance.history.leases import LeaseModel, LeaseState
from holdall_conformance.history.model import Flaw, Move

__all__ = ["ExpiringLeaseModel", "ExpiringLeaseState"]

_REVIVING = frozenset({"renew", "release"})


class ExpiringLeaseState(NamedTuple):
    """What is stored under a key.

    Attributes:
        lease: the lease, as far as anybody can see it.
        ghost: the lease that ended by itself, as long as nobody has written since.

    """

    lease: LeaseState = LeaseState()
    ghost: Any = None


class ExpiringLeaseModel:
    """A key that nobody has had."""

    start = ExpiringLeaseState()

    def __init__(self) -> None:
        self._plain = LeaseModel()

    def moves(self, calls: Sequence[Call]) -> Sequence[Move]:
        """Return the moves of calls on one key."""
        return [_reviving(move) for move in self._plain.moves(calls)]

    def identity(self, state: ExpiringLeaseState) -> Hashable | None:
        """Return None: what a lease shows says too little."""
        return self._plain.identity(state.lease)

    def flaw(self, calls: Sequence[Call]) -> Flaw | None:
        """Return two leases with one token."""
        return self._plain.flaw(calls)

    def describe(self, state: ExpiringLeaseState) -> str:
        """Return who has the key, in words."""
        return self._plain.describe(state.lease)


def _reviving(move: Move) -> Move:
    call = move.call
    end = math.inf if call.returned is None else call.returned

    def step(state: ExpiringLeaseState) -> Sequence[ExpiringLeaseState]:
        return [
            before if after == before.lease else ExpiringLeaseState(after)
            for before in _befores(state, call, end)
            for after in move.step(before.lease)
        ]

    return Move(call, step, move.constant, move.pin)


def _befores(state: ExpiringLeaseState, call: Call, end: float) -> Sequence[ExpiringLeaseState]:
    """Return the states that one may have become by the passing of time when a call takes effect."""
    lease, ghost = state
    if ghost is not None:
        under_way = call.invoked <= ghost.gone_by and end >= ghost.lasts_until
        revived = under_way and call.operation in _REVIVING and call.outcome != "refused"
        return [state, ExpiringLeaseState(lease._replace(held=ghost))] if revived else [state]
    if lease.held is not None and end >= lease.held.lasts_until:
        return [state, ExpiringLeaseState(lease._replace(held=None), lease.held)]
    return [state]
