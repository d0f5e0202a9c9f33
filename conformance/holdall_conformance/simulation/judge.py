"""Judges a run: is its history linearizable within what the clock allows, and had nobody a lease that another had?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from holdall_conformance.history.checker import MODELS, Subject, check, subject_of
from holdall_conformance.simulation.expiring import ExpiringRecordModel
from holdall_conformance.simulation.expiring_leases import ExpiringLeaseModel

if TYPE_CHECKING:
    from holdall_conformance.history.calls import Call
    from holdall_conformance.history.checker import Verdict
    from holdall_conformance.history.model import Model
    from holdall_conformance.simulation.play import Hold, Play

__all__ = ["Failure", "judge"]

_WORK = 20_000
_MODELS: dict[str, Model] = {**MODELS, "record": ExpiringRecordModel(), "lease": ExpiringLeaseModel()}
_NO_CLOCK = frozenset({"client", "estimated"})
_GRANTS = frozenset({"acquire", "renew", "release", "raise_floor"})


class Failure(NamedTuple):
    """What is wrong with a run.

    Attributes:
        kind: a word for it; a failing run is shrunk to one that fails in the same way.
        text: what is wrong, in a sentence or a few lines.
        verdict: of a history that no order explains.

    """

    kind: str
    text: str
    verdict: Verdict | None = None


def judge(play: Play) -> Failure | None:
    """Return what is wrong with a run that came to its end, or None.

    Args:
        play: the run.

    """
    return _shared(play.holds) or _unexplained(play)


def _unexplained(play: Play) -> Failure | None:
    calls: Iterable[Call] = play.calls
    if play.subject.capabilities.expiry_clock in _NO_CLOCK:
        calls = filter(_is_certain, calls)
    subjects: dict[Subject, list[Call]] = {}
    for call in calls:
        subjects.setdefault(subject_of(call), []).append(call)
    for subject, found in subjects.items():
        verdict = check(_MODELS[subject.kind], found, kind=subject.kind, work=_WORK)
        if not verdict.linearizable:
            text = f"no order of the calls on {subject.kind} {subject.key!r} explains what they returned"
            return Failure(subject.kind, text, verdict)
    return None


def _is_certain(call: Call) -> bool:
    """Tell whether a call on a lease says something where each client judges by itself when a lease has expired.

    One that has not watched it for long enough takes for held what others know to be free; only grants count.
    """
    if "scope" in call.arguments:
        return True
    denied = call.outcome == "refused" or call.result is False
    return call.operation in _GRANTS and not denied and (call.operation != "acquire" or call.result is not None)


def _shared(holds: Sequence[Hold]) -> Failure | None:
    """Return two clients that had a key at one moment, each by its own deadline."""
    for number, later in enumerate(holds):
        for earlier in holds[:number]:
            apart = later.nonce == earlier.nonce or later.key != earlier.key
            if not apart and max(earlier.since, later.since) < min(earlier.until, later.until):
                text = (
                    f"{earlier.client} with token {earlier.token} and {later.client} with token {later.token} "
                    f"both had the lease of {later.key!r} at {max(earlier.since, later.since):.3f}"
                )
                return Failure("exclusion", text)
    return None
