"""Ambiguity: requests and replies that are lost, on the way between a backend and its server."""

from __future__ import annotations

from holdall_conformance.harness import Harness
from holdall_conformance.proxy_faults import REFUSE, cut_reply, cut_request, drop_reply
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.ambiguity_trials import Trials, usable
from holdall_conformance.scenarios.ambiguity_writes import COMMITS, LEASES, LOGS, RECORDS

_LOST = (drop_reply(), cut_request(0))
_CUT = (cut_reply(1), cut_reply(7), cut_request(1), cut_request(40))
_TIMEOUT = 1.0
_LIMIT = 10.0
"""Seconds in which an operation ends that has a timeout of 1 s; some drivers take no less than 2 s to connect."""


def _trials(harness: Harness) -> Trials:
    """Return what is tried where replies are lost: at level full at more places and in more ways."""
    if harness.level == "full":
        return Trials((*_LOST, *_CUT), harness.scaled(10))
    return Trials(_LOST, harness.scaled(5))


@scenario("ambiguity.records-are-written-once")
def records_are_written_once(harness: Harness) -> None:
    """A write of a record whose request or reply is lost is applied once or raises OutcomeUnknown, and never lies."""
    assert _trials(harness).problems(harness, usable(harness, RECORDS)) == []


@scenario("ambiguity.logs-are-written-once")
def logs_are_written_once(harness: Harness) -> None:
    """An append, truncate, drop or restore whose request or reply is lost is applied once or raises OutcomeUnknown."""
    assert _trials(harness).problems(harness, usable(harness, LOGS)) == []


@scenario("ambiguity.leases-tell-the-truth")
def leases_tell_the_truth(harness: Harness) -> None:
    """Whoever takes, renews or releases a lease over lost replies is not refused because of its own first try."""
    assert _trials(harness).problems(harness, usable(harness, LEASES)) == []


@scenario("ambiguity.commits-are-whole", "atomic_commit")
def commits_are_whole(harness: Harness) -> None:
    """A commit or transaction whose request or reply is lost is applied whole and once, or not at all."""
    assert _trials(harness).problems(harness, usable(harness, COMMITS)) == []


@scenario("ambiguity.outages-tell-the-truth", waits=True)
def outages_tell_the_truth(harness: Harness) -> None:
    """When the server is gone from a lost reply on, a write says in time whether it was applied, or OutcomeUnknown."""
    kinds = usable(harness, (*RECORDS, *LOGS, *LEASES))
    trials = Trials((drop_reply(),), harness.scaled(3), _TIMEOUT, _LIMIT, then=REFUSE)
    assert trials.problems_side_by_side(harness, kinds) == []
