"""Ambiguity: requests and replies that are lost, on the way between a backend and its server."""

from __future__ import annotations

from holdall_conformance.harness import Harness
from holdall_conformance.proxy_faults import REFUSE, cut_reply, cut_request, delay_reply, drop_reply, duplicate_reply
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.ambiguity_trials import Trials, check, usable
from holdall_conformance.scenarios.ambiguity_writes import COMMITS, FEW, LEASES, LOGS, RECORDS

_LOST = (drop_reply(), cut_request(0))
_MORE = (cut_reply(1), cut_reply(7), cut_request(1), cut_request(40), duplicate_reply())
_LATE = 0.02
_OUTAGE = 3
"""Requests of a write at each of which the server goes away: most have no more."""


def _trials(harness: Harness) -> Trials:
    """Return what is tried where replies are lost: at level full at more places and in more ways."""
    if harness.level == "full":
        return Trials((*_LOST, *_MORE), harness.scaled(10))
    return Trials(_LOST, harness.scaled(5))


@scenario("ambiguity.records-are-written-once")
def records_are_written_once(harness: Harness) -> None:
    """A write of a record whose request or reply is lost is applied once or raises OutcomeUnknown, and never lies."""
    check(_trials(harness).problems(harness, usable(harness, RECORDS)))


@scenario("ambiguity.logs-are-written-once")
def logs_are_written_once(harness: Harness) -> None:
    """An append, truncate, drop or restore whose request or reply is lost is applied once or raises OutcomeUnknown."""
    check(_trials(harness).problems(harness, usable(harness, LOGS)))


@scenario("ambiguity.leases-tell-the-truth")
def leases_tell_the_truth(harness: Harness) -> None:
    """Whoever takes, renews or releases a lease over lost replies is not refused because of its own first try."""
    check(_trials(harness).problems(harness, usable(harness, LEASES)))


@scenario("ambiguity.commits-are-whole", "atomic_commit")
def commits_are_whole(harness: Harness) -> None:
    """A commit or transaction whose request or reply is lost is applied whole and once, or not at all."""
    check(_trials(harness).problems(harness, usable(harness, COMMITS)))


@scenario("ambiguity.late-replies-change-nothing")
def late_replies_change_nothing(harness: Harness) -> None:
    """Where every reply is late, every write returns what it returns otherwise, and is applied once."""
    commits = COMMITS if harness.capabilities.atomic_commit else ()
    kinds = usable(harness, (*RECORDS, *LOGS, *LEASES, *commits))
    trials = Trials((delay_reply(_LATE),), 1, then=delay_reply(_LATE), settled=True)
    check(trials.problems(harness, kinds))


@scenario("ambiguity.outages-tell-the-truth", waits=True)
def outages_tell_the_truth(harness: Harness) -> None:
    """When the server is gone from a lost reply on, a write raises what is true, and the handle recovers later."""
    kinds = usable(harness, (*RECORDS, *LOGS, *LEASES) if harness.level == "full" else FEW)
    trials = Trials((drop_reply(),), harness.scaled(_OUTAGE), timeout=0.5, then=REFUSE)
    check(trials.problems_side_by_side(harness, kinds))
