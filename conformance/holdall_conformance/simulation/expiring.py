"""A record whose expiry the clock bounds: the model of a record, and on top of it when it must and may be gone.

Whoever recorded a call that set a ttl says two moments with it: `lasts_until`, before which the record cannot have
expired, and `gone_by`, after which it must have. In between any call may find it gone.

A compare-and-set cannot be conditional on time too. So a write that was let in while the record was live may take
effect when it has expired, if nobody wrote meanwhile, and revives it: that is allowed to a write under way while the
record expired, and to nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from holdall_conformance.history.calls import READS, Call
from holdall_conformance.history.model import Flaw, Move
from holdall_conformance.history.records import RecordModel, RecordState

__all__ = ["ExpiringRecordModel", "ExpiringState"]


class ExpiringState(NamedTuple):
    """What is stored under a key.

    Attributes:
        record: the record, as far as anybody can see it.
        lasts_until: it cannot have expired before this moment.
        gone_by: it must have expired at this moment.
        ghost: the record that expired, as long as nobody has written since.

    """

    record: RecordState = RecordState()
    lasts_until: float = math.inf
    gone_by: float = math.inf
    ghost: RecordState | None = None


class ExpiringRecordModel:
    """A record that is absent at first."""

    start = ExpiringState()

    def __init__(self) -> None:
        self._plain = RecordModel()

    def moves(self, calls: Sequence[Call]) -> Sequence[Move]:
        """Return the moves of calls on one record."""
        return [_timed(move) for move in self._plain.moves(calls)]

    def identity(self, state: ExpiringState) -> Hashable | None:
        """Return the version; that of a ghost counts, since it may come back."""
        return self._plain.identity(state.record if state.ghost is None else state.ghost)

    def flaw(self, calls: Sequence[Call]) -> Flaw | None:
        """Return what the model of a record finds."""
        return self._plain.flaw(calls)

    def describe(self, state: ExpiringState) -> str:
        """Return what is stored, in words."""
        return self._plain.describe(state.record)


def _timed(move: Move) -> Move:
    call = move.call
    end = math.inf if call.returned is None else call.returned

    def step(state: ExpiringState) -> Sequence[ExpiringState]:
        return [
            _after(before, after, call) for before in _befores(state, call, end) for after in move.step(before.record)
        ]

    return Move(call, step, move.constant, move.pin)


def _befores(state: ExpiringState, call: Call, end: float) -> Sequence[ExpiringState]:
    """Return the states that one may have become by the passing of time when a call takes effect."""
    if state.ghost is not None:
        under_way = call.invoked <= state.gone_by and end >= state.lasts_until
        revived = under_way and call.operation not in READS and call.outcome != "refused"
        return [state, state._replace(record=state.ghost, ghost=None)] if revived else [state]
    if state.record.version is None or state.lasts_until == math.inf:
        return [state]
    befores = [state] if call.invoked <= state.gone_by else []
    if end >= state.lasts_until:
        befores.append(state._replace(record=state.record.gone(), ghost=state.record))
    return befores


def _after(before: ExpiringState, record: RecordState, call: Call) -> ExpiringState:
    """Return the state after a call that made a record of the one before."""
    record = record._replace(mortal=False)
    writes = call.operation == "put" or (call.operation == "touch" and record.version is not None)
    if writes and call.outcome != "refused":
        lasts_until, gone_by = call.arguments.get("lasts_until"), call.arguments.get("gone_by")
        return ExpiringState(
            record, math.inf if lasts_until is None else lasts_until, math.inf if gone_by is None else gone_by
        )
    return before if record == before.record else before._replace(record=record, ghost=None)
