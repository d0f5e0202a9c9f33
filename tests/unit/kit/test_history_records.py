"""The checker on hand-made histories of a record."""

from __future__ import annotations

import pytest

from holdall import ABSENT
from holdall_conformance.history.checker import check_all, check_beginning
from tests.unit.kit.history_calls import (
    RECORD,
    conflict,
    delete,
    fenced,
    get,
    lost,
    lost_put,
    put,
    seal,
    touch,
)

BEGUN = put("a", 1, 2, 1, "v1")

GOOD = {
    "nothing was ever there": [get("a", 1, 2), delete("b", 3, 4, False), get("a", 5, 6)],
    "what was written is read": [BEGUN, get("b", 3, 4, 1, "v1")],
    "a read during a write sees the old": [BEGUN, put("a", 3, 6, 2, "v2"), get("b", 4, 5, 1, "v1")],
    "a read during a write sees the new": [BEGUN, put("a", 3, 6, 2, "v2"), get("b", 4, 5, 2, "v2")],
    "old, then new, during one write": [
        BEGUN,
        put("a", 3, 10, 2, "v2"),
        get("b", 4, 5, 1, "v1"),
        get("c", 6, 7, 2, "v2"),
    ],
    "the loser of a race is told who won": [
        BEGUN,
        put("a", 3, 5, 2, "v2", expect="v1"),
        put("b", 4, 6, 3, conflict("v2"), expect="v1"),
        get("b", 7, 8, 2, "v2"),
    ],
    "the loser is told of a version that was overwritten since": [
        BEGUN,
        put("a", 3, 5, 2, "v2", expect="v1"),
        put("a", 6, 7, 3, "v3"),
        put("b", 4, 8, 4, conflict("v2"), expect="v1"),
    ],
    "two creators, one conflict": [
        put("a", 1, 4, 1, "v1", expect=ABSENT),
        put("b", 2, 3, 2, conflict("v1"), expect=ABSENT),
    ],
    "a conflict on what is absent": [put("a", 1, 2, 1, conflict(None), expect="other")],
    "a write of unknown outcome is seen later": [
        BEGUN,
        lost_put("b", 3, 2),
        get("a", 4, 5, 1, "v1"),
        get("a", 8, 9, 2, "v2"),
    ],
    "a write of unknown outcome is never seen": [BEGUN, lost_put("b", 3, 2), get("a", 8, 9, 1, "v1")],
    "a write of unknown outcome shows in a conflict": [
        BEGUN,
        lost_put("b", 3, 2),
        put("a", 4, 5, 3, conflict("v2"), expect="v1"),
        get("a", 6, 7, 2, "v2"),
    ],
    "a conditional write of unknown outcome took effect before the version went": [
        BEGUN,
        lost_put("b", 3, 2, expect="v1"),
        get("a", 4, 5, 2, "v2"),
        put("a", 6, 7, 3, "v3", expect="v2"),
    ],
    "a delete of unknown outcome": [BEGUN, lost("b", 3, "delete", **RECORD), get("a", 4, 5, 1, "v1"), get("a", 6, 7)],
    "two deletes at once, one of them found it": [BEGUN, delete("a", 3, 5, True), delete("b", 4, 6, False)],
    "two deletes with a write between them": [
        BEGUN,
        delete("a", 3, 8, True),
        delete("b", 3, 8, True),
        put("c", 4, 7, 2, "v2"),
    ],
    "a delete of the expected version": [BEGUN, delete("a", 3, 4, True, expect="v1"), get("b", 5, 6)],
    "a delete that conflicts": [BEGUN, delete("a", 3, 4, conflict("v1"), expect="v0")],
    "it expired": [put("a", 1, 2, 1, "v1", ttl=1), get("b", 3, 4, 1, "v1"), get("b", 5, 6), delete("b", 7, 8, False)],
    "it was touched and expired": [BEGUN, touch("a", 3, 4, True, ttl=1), get("b", 5, 6)],
    "a touch for ever comes after all": [
        put("a", 1, 2, 1, "v1", ttl=1),
        touch("a", 3, 4, True, ttl=None),
        get("b", 5, 6, 1, "v1"),
    ],
    "a stale writer is shut out": [
        put("a", 1, 2, 1, "v1", fence=1),
        seal("b", 3, 4, 2, "v1"),
        put("a", 5, 6, 2, fenced(2), fence=1),
        get("b", 7, 8, 1, "v1"),
    ],
    "a stale writer gets in before the seal": [
        put("a", 1, 2, 1, "v1", fence=1),
        seal("b", 3, 8, 2, "v2"),
        put("a", 4, 9, 2, "v2", fence=1),
    ],
    "an unfenced write keeps the mark": [
        seal("a", 1, 2, 5, None),
        put("b", 3, 4, 1, "v1"),
        put("c", 5, 6, 2, fenced(5), fence=4),
    ],
    "the mark outlives the record": [
        put("a", 1, 2, 1, "v1", fence=7),
        delete("a", 3, 4, True, fence=7),
        put("b", 5, 6, 1, fenced(7), fence=6),
        put("b", 7, 8, 1, "v2", fence=8),
    ],
    "a fenced write of unknown outcome raised the mark": [
        BEGUN,
        lost_put("b", 3, 2, fence=9),
        put("a", 4, 5, 3, "v3"),
        put("a", 6, 7, 4, fenced(9), fence=8),
        get("c", 8, 9, 3, "v3"),
    ],
}

BAD = {
    "a stale read": [BEGUN, put("a", 3, 4, 2, "v2"), get("b", 5, 6, 1, "v1")],
    "new, then old": [BEGUN, put("a", 3, 10, 2, "v2"), get("b", 4, 5, 2, "v2"), get("c", 6, 7, 1, "v1")],
    "a read of what was not yet written": [get("b", 1, 2, 1, "v1"), put("a", 3, 4, 1, "v1")],
    "a read of what nobody wrote": [BEGUN, get("b", 3, 4, 9, "v9")],
    "a value under another's version": [BEGUN, get("b", 3, 4, 2, "v1")],
    "an int that comes back as a float": [BEGUN, get("b", 3, 4, 1.0, "v1")],
    "two winners of one version": [
        BEGUN,
        put("a", 3, 5, 2, "v2", expect="v1"),
        put("b", 4, 6, 3, "v3", expect="v1"),
    ],
    "two creators": [put("a", 1, 4, 1, "v1", expect=ABSENT), put("b", 2, 3, 2, "v2", expect=ABSENT)],
    "a lost update": [
        BEGUN,
        put("a", 3, 5, 2, "v2", expect="v1"),
        put("b", 4, 6, 3, "v3", expect="v1"),
        get("a", 7, 8, 3, "v3"),
    ],
    "a false conflict": [BEGUN, put("a", 3, 4, 2, conflict("v1"), expect="v1")],
    "a conflict with nobody": [BEGUN, put("a", 3, 4, 2, conflict("v9"), expect="v1")],
    "a conflict that tells an old version": [
        BEGUN,
        put("a", 3, 4, 2, "v2"),
        put("b", 5, 6, 3, conflict("v1"), expect="v0"),
    ],
    "a conflict of a write without expectation": [BEGUN, put("a", 3, 4, 2, conflict("v1"))],
    "a write that returned is never seen": [put("a", 1, 2, 1, "v1"), get("b", 3, 4), get("b", 5, 6)],
    "a write of unknown outcome is seen, then not": [
        BEGUN,
        lost_put("b", 3, 2),
        get("a", 4, 5, 2, "v2"),
        get("a", 6, 7, 1, "v1"),
    ],
    "a write of unknown outcome is seen before it began": [BEGUN, get("a", 3, 4, 2, "v2"), lost_put("b", 5, 2)],
    "a write of unknown outcome took effect twice": [
        BEGUN,
        lost_put("b", 3, 2),
        get("a", 4, 5, 2, "v2"),
        put("a", 6, 7, 3, "v3"),
        get("a", 8, 9, 2, "v4"),
    ],
    "a write of unknown outcome against its expectation": [
        BEGUN,
        put("a", 3, 4, 2, "v2"),
        lost_put("b", 5, 3, expect="v1"),
        get("a", 6, 7, 3, "v3"),
    ],
    "one delete of unknown outcome for two": [
        BEGUN,
        lost("b", 3, "delete", **RECORD),
        get("a", 4, 5),
        put("a", 6, 7, 2, "v2"),
        get("a", 8, 9),
    ],
    "a delete finds it twice": [BEGUN, delete("a", 3, 5, True), delete("b", 4, 6, True)],
    "a delete misses it": [BEGUN, delete("a", 3, 4, False)],
    "it is there again after its delete": [BEGUN, delete("a", 3, 4, True), get("b", 5, 6, 1, "v1")],
    "one version for two puts": [BEGUN, put("a", 3, 4, 2, "v1")],
    "it is there again after its expiry": [put("a", 1, 2, 1, "v1", ttl=1), get("b", 3, 4), get("b", 5, 6, 1, "v1")],
    "it expired without a ttl": [put("a", 1, 2, 1, "v1", ttl=1), put("a", 3, 4, 2, "v2"), get("b", 5, 6)],
    "a touch of nothing": [touch("a", 1, 2, True, ttl=1)],
    "a fenced write below the mark": [
        put("a", 1, 2, 1, "v1", fence=1),
        seal("b", 3, 4, 2, "v1"),
        put("a", 5, 6, 2, "v2", fence=1),
    ],
    "a seal that misses the last write": [put("a", 1, 2, 1, "v1"), put("a", 3, 4, 2, "v2"), seal("b", 5, 6, 2, "v1")],
    "a seal below the mark": [seal("a", 1, 2, 5, None), seal("b", 3, 4, 4, None)],
    "fenced off by a mark that is not above": [BEGUN, put("a", 3, 4, 2, fenced(3), fence=3)],
    "fenced off by a mark that nobody raised": [BEGUN, put("a", 3, 4, 2, fenced(9), fence=3)],
    "a refused write raised the mark": [
        BEGUN,
        put("b", 3, 4, 2, conflict("v1"), expect="v0", fence=9),
        put("a", 5, 6, 3, fenced(9), fence=8),
    ],
    "the mark was forgotten with the record": [
        put("a", 1, 2, 1, "v1", fence=7),
        delete("a", 3, 4, True, fence=7),
        put("b", 5, 6, 1, "v2", fence=6),
    ],
}


@pytest.mark.parametrize("history", GOOD.values(), ids=GOOD)
def test_a_good_history_is_explained(history):
    (verdict,) = check_all(history).values()
    assert verdict.explained is True
    assert {id(call) for call in history if call.outcome != "unknown"} <= {id(call) for call in verdict.order}


@pytest.mark.parametrize("history", BAD.values(), ids=BAD)
def test_a_bad_history_is_refused(history):
    (verdict,) = check_all(history).values()
    assert verdict.explained is False
    assert not verdict.linearizable


def test_records_are_judged_one_by_one():
    other = [call.from_json(call.to_json().replace('"record"', '"other"')) for call in BAD["a stale read"]]
    verdicts = check_all([*GOOD["what was written is read"], *other])
    assert {subject.key: verdict.explained for subject, verdict in verdicts.items()} == {"record": True, "other": False}


def test_a_search_without_end_accuses_nobody():
    (verdict,) = check_all(BAD["two winners of one version"], work=1).values()
    assert verdict.undecided
    assert verdict.linearizable


def test_of_a_search_without_end_the_beginning_is_judged():
    puts = [put("a", 2 * n, 2 * n + 1, n, f"v{n}") for n in range(64)]
    (hard,) = check_all(puts, work=20).values()
    assert hard.undecided
    beginning = check_beginning(hard, work=20)
    assert beginning.explained is True
    assert 8 <= len(beginning.calls) < 20

    (good,) = check_all(puts).values()
    assert check_beginning(good) is good


def test_what_no_model_knows_is_an_error():
    with pytest.raises(ValueError, match="update"):
        check_all([lost("a", 1, "update", scope="s", key="k")])
