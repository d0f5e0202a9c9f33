"""What the simulation judges by: expiry within the bounds of the clock, exclusion of leases, what is left behind."""

from __future__ import annotations

import pytest

from holdall.spi import ABSENT
from holdall_conformance.history.calls import Call
from holdall_conformance.history.checker import check
from holdall_conformance.simulation import StandIn, derived_subject, simulate
from holdall_conformance.simulation.derived_layout import describe_request, leftovers_of
from holdall_conformance.simulation.expiring import ExpiringRecordModel
from holdall_conformance.simulation.expiring_leases import ExpiringLeaseModel
from holdall_conformance.simulation.judge import judge
from holdall_conformance.simulation.play import Hold, Play
from holdall_conformance.simulation.run import WORKLOADS
from holdall_conformance.simulation.world import NO_ANSWER, World

TTL = 10.0


def call(operation, invoked, returned, result=None, **arguments):
    unknown = returned is None
    outcome = "unknown" if unknown else "refused" if isinstance(result, dict) and "error" in result else "returned"
    if arguments.get("ttl") is not None:
        arguments |= {"lasts_until": invoked + TTL, "gone_by": (invoked + 1 if unknown else returned) + TTL}
    return Call("a", operation, {"scope": "s", "key": "k", **arguments}, invoked, returned, outcome, result)


def put(invoked, returned, version, **arguments):
    return call("put", invoked, returned, version, value=version, **arguments)


def get(invoked, returned, version=None):
    return call("get", invoked, returned, None if version is None else {"value": version, "version": version})


MORTAL = put(1, 2, "v1", ttl=TTL)  # expires between 11 and 12

GOOD = {
    "found before it expires": [MORTAL, get(3, 4, "v1")],
    "gone after it has expired": [MORTAL, get(13, 14)],
    "found while it may expire": [MORTAL, get(11.2, 11.4, "v1")],
    "gone while it may expire": [MORTAL, get(11.2, 11.4)],
    "found by a read that began in time": [MORTAL, get(10, 20, "v1")],
    "gone for a read that ends in time": [MORTAL, get(10, 11.5)],
    "a put without ttl lasts": [MORTAL, put(3, 4, "v2"), get(100, 101, "v2")],
    "a touch makes it last": [MORTAL, call("touch", 5, 6, True, ttl=TTL), get(14, 14.5, "v1"), get(17, 18)],
    "a touch without ttl makes it stay": [MORTAL, call("touch", 5, 6, True, ttl=None), get(100, 101, "v1")],
    "what has expired is absent for a put": [MORTAL, call("put", 13, 14, "v2", value="v2", expect=ABSENT)],
    "a write under way revives it": [MORTAL, put(10, 15, "v2", expect="v1"), get(13, 14), get(16, 17, "v2")],
    "a write of unknown outcome revives it": [
        MORTAL,
        put(10, None, "v2", expect="v1"),
        get(13, 14),
        get(16, 17, "v2"),
    ],
    "a touch under way revives it": [
        MORTAL,
        call("touch", 10, 15, True, ttl=None),
        get(13, 14),
        get(16, 17, "v1"),
    ],
}
BAD = {
    "gone before it can have expired": [MORTAL, get(3, 4)],
    "found when it must have expired": [MORTAL, get(13, 14, "v1")],
    "back after it was seen gone": [MORTAL, get(11.1, 11.2), get(11.3, 11.4, "v1")],
    "gone in spite of a touch": [MORTAL, call("touch", 5, 6, True, ttl=TTL), get(13, 14)],
    "gone in spite of a put without ttl": [MORTAL, put(3, 4, "v2"), get(100, 101)],
    "touched when it had expired": [MORTAL, call("touch", 13, 14, True, ttl=TTL)],
    "deleted when it had expired": [MORTAL, call("delete", 13, 14, True)],
    "a write that began too late revives it": [MORTAL, get(12.5, 12.6), put(13, 14, "v2", expect="v1")],
    "a refusal for what must have expired": [
        MORTAL,
        call("put", 13, 14, {"error": "Conflict", "current": "v1"}, value="v2", expect=ABSENT),
    ],
    "a write revives what somebody else replaced": [
        MORTAL,
        put(10, 20, "v2", expect="v1"),
        put(13, 14, "v3"),
        get(21, 22, "v2"),
        get(23, 24, "v3"),
    ],
    "not found by a read that ends long after, but somebody had made it stay": [
        MORTAL,
        put(3, 4, "v2", expect="v1"),
        get(2.5, 20),
    ],
}


@pytest.mark.parametrize("name", GOOD)
def test_what_the_clock_allows_is_explained(name):
    assert check(ExpiringRecordModel(), GOOD[name]).explained is True


@pytest.mark.parametrize("name", BAD)
def test_what_the_clock_forbids_is_not_explained(name):
    assert check(ExpiringRecordModel(), BAD[name]).explained is False


def lease(operation, invoked, returned, result, **arguments):
    told = {"key": "k", "lasts_until": invoked + TTL, "gone_by": returned + TTL} | arguments
    outcome = "refused" if isinstance(result, dict) and "error" in result else "returned"
    return Call("a", operation, told, invoked, returned, outcome, result)


GRANT = lease("acquire", 1, 2, {"token": 1})  # ends between 11 and 12
FREE = lease("holder", 13, 14, None)


def renewed(invoked, returned, result=None):
    return lease("renew", invoked, returned, result or {"token": 1}, lease={"token": 1})


LEASES = {
    "a renewal in time": (True, [GRANT, renewed(5, 6), lease("holder", 13, 14, {"token": 1})]),
    "free in spite of a renewal": (False, [GRANT, renewed(5, 6), FREE]),
    "held when it must have ended": (False, [GRANT, lease("holder", 13, 14, {"token": 1})]),
    "a renewal under way revives it": (True, [GRANT, renewed(10, 15), FREE, lease("holder", 16, 17, {"token": 1})]),
    "a renewal that began too late": (False, [GRANT, renewed(12.5, 15), FREE]),
    "a renewal of what somebody else has got": (
        False,
        [GRANT, renewed(10, 20), lease("acquire", 13, 14, {"token": 2}), lease("holder", 21, 22, {"token": 1})],
    ),
    "a release under way": (True, [GRANT, lease("release", 10, 15, True, lease={"token": 1}), FREE]),
    "a release that began too late": (False, [GRANT, FREE, lease("release", 15, 16, True, lease={"token": 1})]),
    "a refusal after its end": (True, [GRANT, renewed(13, 14, {"error": "LeaseLost"})]),
    "a refusal before its end": (False, [GRANT, renewed(5, 6, {"error": "LeaseLost"})]),
}


@pytest.mark.parametrize("name", LEASES)
def test_only_what_is_under_way_revives_a_lease(name):
    explained, calls = LEASES[name]
    assert check(ExpiringLeaseModel(), calls).explained is explained


def judged(*holds, clock="boot", calls=()):
    play = Play(derived_subject(clock), WORKLOADS[0], World(None), StandIn())
    play.holds.extend(holds)
    play.calls.extend(calls)
    return judge(play)


def test_two_holders_at_one_moment_are_seen():
    failure = judged(Hold("a", "k", "n1", 1, 5.0, 15.0), Hold("b", "k", "n2", 2, 14.9, 20.0))
    assert failure.kind == "exclusion"
    assert "a with token 1 and b with token 2 both had the lease of 'k' at 14.900" in failure.text


def test_holders_one_after_the_other_or_of_different_keys_are_fine():
    assert judged(Hold("a", "k", "n1", 1, 5.0, 15.0), Hold("b", "k", "n2", 2, 15.0, 20.0)) is None
    assert judged(Hold("a", "k", "n1", 1, 5.0, 15.0), Hold("b", "l", "n2", 1, 6.0, 20.0)) is None
    assert judged(Hold("a", "k", "n1", 1, 5.0, 15.0), Hold("a", "k", "n1", 1, 6.0, 20.0)) is None


def lease_call(operation, invoked, returned, result):
    return Call("a", operation, {"key": "k"}, invoked, returned, "returned", result)


def test_where_nobody_has_a_clock_only_grants_are_judged():
    granted = lease_call("acquire", 1, 2, {"token": 1})
    late_watcher = [granted, lease_call("holder", 3, 4, None), lease_call("acquire", 5, 6, None)]
    assert judged(calls=late_watcher, clock="client") is None
    assert judged(calls=late_watcher).kind == "lease"
    token_again = [granted, lease_call("acquire", 5, 6, {"token": 1})]
    assert judged(calls=token_again, clock="client").kind == "lease"


def stored_items():
    """The items of a storage after some run that left marks, logs, chunks and leases."""
    found = {}
    for seed in range(60):
        subject = derived_subject()
        keep = []
        subject.stand_in = lambda keep=keep: keep.append(StandIn()) or keep[0]
        simulate(subject, seed)
        found |= {(seed, key): payload for key, payload in keep[0].items.items()}
    return found


def test_runs_leave_every_kind_of_item_and_nothing_superfluous():
    assert {key[:1] for _, key in stored_items()} >= {b"m", b"r", b"l", b"c", b"k"}


def test_what_a_sweep_should_have_removed_is_named():
    items = {key: payload for (_, key), payload in stored_items().items() if key[:1] in {b"c", b"b"}}
    left = leftovers_of(items)
    assert len(left) == len(items)
    assert all(line.startswith(("chunk ", "batch id ")) for line in left)
    assert leftovers_of({b"fstop": b"[1.0]"}) == ["flag stop = [5 bytes]"]


@pytest.mark.parametrize(
    "what,result,text",
    [
        (("get", b"fstop"), None, "get flag stop -> nothing"),
        (("get", b"fstop"), NO_ANSWER, "get flag stop"),
        (("scan", b"c", None), [1, 2], "scan chunk -> 2 items"),
        (("now",), 5.0, "now -> 5.0"),
        (("now",), NO_ANSWER, "now"),
    ],
)
def test_requests_are_put_into_words(what, result, text):
    assert describe_request(what, result) == text
