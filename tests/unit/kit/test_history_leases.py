"""The checker on hand-made histories of a lease."""

from __future__ import annotations

import pytest

from holdall import Holder, Lease
from holdall_conformance.history.checker import check_all
from tests.unit.kit.history_calls import LEASE, lease, lost

LOST = {"error": "LeaseLost"}


def token(number):
    return Lease("lease", "somebody", number, 60, f"n{number}", 0)


def held_from(begin, end, number=1, **bounds):
    return lease("acquire", "a", begin, end, token(number), **bounds)


SURE = {"lasts_until": 100, "gone_by": 110}

GOOD = {
    "taken, held, released": [
        lease("holder", "b", 0, 0.5, None),
        held_from(1, 2, **SURE),
        lease("acquire", "b", 3, 4, None),
        lease("holder", "b", 5, 6, Holder("somebody", 1, 50.0)),
        lease("held", "b", 5, 6, True),
        lease("release", "a", 7, 8, True, lease=token(1)),
        lease("acquire", "b", 9, 10, token(2)),
    ],
    "it may have expired where nothing is said": [held_from(1, 2), lease("acquire", "b", 3, 4, token(2))],
    "expired after its bound": [held_from(1, 2, **SURE), lease("acquire", "b", 99, 101, token(2))],
    "renewed past its first bound": [
        held_from(1, 2, **SURE),
        lease("renew", "a", 50, 51, token(1), lease=token(1), lasts_until=150, gone_by=160),
        lease("acquire", "b", 120, 121, None),
        lease("renew", "a", 155, 156, LOST, lease=token(1)),
        lease("acquire", "b", 157, 158, token(2)),
    ],
    "two at once, one gets it": [held_from(1, 4, **SURE), lease("acquire", "b", 2, 3, None)],
    "tokens may be left out": [held_from(1, 2, 7), lease("acquire", "b", 3, 4, token(12))],
    "an acquire of unknown outcome has it": [
        lost("a", 1, "acquire", **LEASE, **SURE),
        lease("acquire", "b", 2, 3, None),
        lease("holder", "b", 4, 5, Holder("somebody", 1, 50.0)),
        lease("acquire", "b", 101, 102, token(2)),
    ],
    "an acquire of unknown outcome never had it": [lost("a", 1, "acquire", **LEASE, **SURE), held_from(2, 3, **SURE)],
    "a release of unknown outcome": [
        held_from(1, 2, **SURE),
        lost("a", 3, "release", **LEASE, lease=token(1)),
        lease("acquire", "b", 4, 5, None),
        lease("acquire", "b", 6, 7, token(2)),
    ],
    "a floor": [lease("raise_floor", "a", 1, 2, None, token=9), held_from(3, 4, 10)],
    "a floor above a grant that nobody was told of": [
        lost("a", 1, "acquire", **LEASE, **SURE),
        lease("raise_floor", "b", 2, 3, None, token=9),
        lease("holder", "b", 4, 5, Holder("somebody", 1, 50.0)),
        lease("acquire", "b", 120, 121, token(10)),
    ],
    "a stale release has no effect": [
        held_from(1, 2),
        lease("acquire", "b", 3, 4, token(2), **SURE),
        lease("release", "a", 5, 6, False, lease=token(1)),
        lease("held", "c", 7, 8, True),
    ],
}

BAD = {
    "two holders": [held_from(1, 2, **SURE), lease("acquire", "b", 3, 4, token(2))],
    "one token twice": [held_from(1, 2), lease("acquire", "b", 3, 4, token(1))],
    "a token that falls": [held_from(1, 2, 5), lease("acquire", "b", 3, 4, token(4))],
    "a token at the floor": [lease("raise_floor", "a", 1, 2, None, token=9), held_from(3, 4, 9)],
    "a token given again after a grant that nobody was told of": [
        held_from(1, 2, 3, lasts_until=1, gone_by=3),
        lost("a", 4, "acquire", **LEASE, **SURE),
        lease("holder", "b", 5, 6, Holder("somebody", 3, 50.0)),
    ],
    "held by nobody": [held_from(1, 2, **SURE), lease("holder", "b", 3, 4, None)],
    "held for ever": [held_from(1, 2, **SURE), lease("acquire", "b", 111, 112, None)],
    "renewed after it was taken": [
        held_from(1, 2),
        lease("acquire", "b", 3, 4, token(2), **SURE),
        lease("renew", "a", 5, 6, token(1), lease=token(1)),
    ],
    "renewed after its release": [
        held_from(1, 2, **SURE),
        lease("release", "a", 3, 4, True, lease=token(1)),
        lease("renew", "a", 5, 6, token(1), lease=token(1)),
    ],
    "lost without a reason": [held_from(1, 2, **SURE), lease("renew", "a", 3, 4, LOST, lease=token(1))],
    "released by the former holder": [
        held_from(1, 2),
        lease("acquire", "b", 3, 4, token(2), **SURE),
        lease("release", "a", 5, 6, True, lease=token(1)),
    ],
    "refused while it was free": [
        held_from(1, 2, **SURE),
        lease("release", "a", 3, 4, True, lease=token(1)),
        lease("acquire", "b", 5, 6, None),
    ],
    "another is told to be the holder": [held_from(1, 2, **SURE), lease("holder", "b", 3, 4, Holder("x", 2, 50.0))],
}


@pytest.mark.parametrize("history", GOOD.values(), ids=GOOD)
def test_a_good_history_is_explained(history):
    (verdict,) = check_all(history).values()
    assert verdict.explained is True


@pytest.mark.parametrize("history", BAD.values(), ids=BAD)
def test_a_bad_history_is_refused(history):
    (verdict,) = check_all(history).values()
    assert verdict.explained is False
