"""Whether a history of concurrent calls is linearizable: whether some order of them explains every outcome.

The order must respect real time: a call that ended before another began comes first. Calls on different objects need no
common order (linearizability is local), so every record, log and lease is judged for itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdall_conformance.history.calls import READS, Call
from holdall_conformance.history.leases import LeaseModel
from holdall_conformance.history.logs import LogModel
from holdall_conformance.history.model import Flaw, Model
from holdall_conformance.history.records import RecordModel
from holdall_conformance.history.search import Search

__all__ = ["MODELS", "WORK", "Subject", "Verdict", "check", "check_all", "check_beginning", "subject_of", "until"]

WORK = 50_000
"""How many nodes a search visits before it is given up: a few seconds."""

MODELS: dict[str, Model] = {"record": RecordModel(), "log": LogModel(), "lease": LeaseModel()}

_KINDS = {
    **dict.fromkeys(["get", "put", "delete", "touch"], "record"),
    **dict.fromkeys(["append", "read", "tail", "head", "truncate", "drop"], "log"),
    **dict.fromkeys(["acquire", "try_acquire", "renew", "release", "holder", "held", "raise_floor"], "lease"),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What a call works on.

    Attributes:
        kind: "record", "log" or "lease".
        scope: its scope; "" for a lease.
        key: its key.

    """

    kind: str
    scope: str
    key: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found out about the calls on one object.

    Attributes:
        kind: "record", "log", "lease"; "" for the verdict on no calls at all.
        calls: the calls that were judged, by their beginning.
        explained: whether some order explains them all; None if the search was given up, which accuses nobody.
        order: such an order; otherwise the longest that was found, for as many calls as it holds.
        blocked: the calls that could have come next by real time, of which none fits.
        state: the state after `order`.
        flaw: a contradiction that needed no search.
        work: how many nodes the search visited.

    """

    kind: str
    calls: Sequence[Call]
    explained: bool | None
    order: Sequence[Call] = ()
    blocked: Sequence[Call] = ()
    state: Hashable = None
    flaw: Flaw | None = None
    work: int = 0

    @property
    def linearizable(self) -> bool:
        """Whether nothing speaks against the calls; a verdict that is undecided does not."""
        return self.explained is not False

    @property
    def undecided(self) -> bool:
        """Whether the search was given up."""
        return self.explained is None


def check(model: Model, calls: Iterable[Call], *, kind: str = "", work: int = WORK, pinned: bool = True) -> Verdict:
    """Judge the calls on one object.

    Args:
        model: the model of the object.
        calls: the calls, in any order.
        kind: what the object is called in texts.
        work: how many nodes to visit before giving up.
        pinned: as for `Search`.

    """
    history = sorted(calls, key=lambda call: call.invoked)
    flaw = model.flaw(history)
    if flaw is not None:
        return Verdict(kind, history, explained=False, flaw=flaw)
    found = Search(model, history, pinned=pinned).run(work)
    return Verdict(kind, history, found.explained, found.order, found.blocked, found.state, None, found.work)


def check_beginning(verdict: Verdict, *, work: int = WORK) -> Verdict:
    """Judge as much of a history as can be decided, from its beginning: half of it, or half of that, and so on.

    Every beginning of a good history is good, with the calls that are under way at its end of unknown outcome.

    Args:
        verdict: a verdict that is undecided; any other is returned as it is.
        work: how many nodes to visit for each beginning before giving up.

    """
    share = 1.0
    while verdict.undecided:
        share /= 2
        moments = sorted(call.invoked for call in verdict.calls)
        calls = until(verdict.calls, moments[int(len(moments) * share)])
        found = check(MODELS[verdict.kind], calls, kind=verdict.kind, work=work)
        if not found.undecided or len(calls) <= 1:
            return found
    return verdict


def until(calls: Iterable[Call], moment: float) -> list[Call]:
    """Return a history as it was at a moment.

    Args:
        calls: the whole history.
        moment: the last moment that counts.

    """
    found: list[Call] = []
    for call in calls:
        if call.returned is not None and call.returned <= moment:
            found.append(call)
        elif call.invoked <= moment and call.operation not in READS:
            found.append(replace(call, returned=None, outcome="unknown", result=None))
    return found


def check_all(calls: Iterable[Call], *, work: int = WORK) -> dict[Subject, Verdict]:
    """Judge a history object by object.

    Args:
        calls: the calls, on any records, logs and leases.
        work: how many nodes to visit for each object before giving up.

    """
    subjects: dict[Subject, list[Call]] = {}
    for call in calls:
        subjects.setdefault(subject_of(call), []).append(call)
    return {
        subject: check(MODELS[subject.kind], found, kind=subject.kind, work=work) for subject, found in subjects.items()
    }


def subject_of(call: Call) -> Subject:
    """Return what a call works on.

    Args:
        call: the call; `scope` and `key` are among its arguments.

    Raises:
        ValueError: no model knows the operation.

    """
    kind = _kind(call.operation, call.arguments)
    return Subject(kind, str(call.arguments.get("scope", "")), str(call.arguments["key"]))


def _kind(operation: str, arguments: Any) -> str:
    if operation == "seal":
        return "log" if arguments.get("log") else "record"
    if operation not in _KINDS:
        message = f"no model knows the operation {operation!r}"
        raise ValueError(message)
    return _KINDS[operation]
