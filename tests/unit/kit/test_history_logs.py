"""The checker on hand-made histories of a log."""

from __future__ import annotations

import pytest

from holdall import ABSENT, Head
from holdall_conformance.history.checker import check_all
from tests.unit.kit.history_calls import (
    LOG,
    append,
    conflict,
    drop,
    fenced,
    head,
    lost,
    lost_append,
    read,
    refused_read,
    seal_log,
    tail,
    truncate,
)

BEGUN = append("a", 1, 2, "xy", (0, "i"))

GOOD = {
    "there is nothing": [read("a", 1, 2, ""), head("a", 3, 4, None), drop("a", 5, 6, False), truncate("a", 7, 8, 3, 0)],
    "what was appended is read": [BEGUN, read("b", 3, 4, "xy", "i"), read("b", 5, 6, "y", "i", start=1)],
    "a read behind the end": [BEGUN, read("b", 3, 4, "", "i", start=5, length=2)],
    "a read of a part": [BEGUN, read("b", 3, 4, "x", "i", limit=1, length=2)],
    "a tail": [BEGUN, tail("b", 3, 4, 1, "y", Head(0, 2, "i")), tail("b", 5, 6, 9, "xy", Head(0, 2, "i"))],
    "two appends at once": [
        append("a", 1, 4, "ab", (1, "i")),
        append("b", 2, 3, "c", (0, "i")),
        read("b", 5, 6, "cab", "i"),
    ],
    "a read during an append": [BEGUN, append("a", 3, 6, "z", (2, "i")), read("b", 4, 5, "xy", "i")],
    "the loser of a race is told the head": [
        BEGUN,
        append("a", 3, 5, "a", (2, "i"), expect=2),
        append("b", 4, 6, "b", conflict(Head(0, 3, "i")), expect=2),
    ],
    "an expected head": [BEGUN, append("a", 3, 4, "z", (2, "i"), expect=Head(0, 2, "i"))],
    "created once": [
        append("a", 1, 4, "x", (0, "i"), expect=ABSENT),
        append("b", 2, 3, "y", conflict(Head(0, 1, "i")), expect=0),
    ],
    "an append of unknown outcome is seen later": [
        BEGUN,
        lost_append("b", 3, "z"),
        read("a", 4, 5, "xy", "i"),
        append("a", 6, 7, "w", (3, "i")),
        read("a", 8, 9, "xyzw", "i"),
    ],
    "an append of unknown outcome is never seen": [BEGUN, lost_append("b", 3, "z"), append("a", 6, 7, "w", (2, "i"))],
    "an append of unknown outcome made the log": [lost_append("b", 1, "z"), append("a", 2, 3, "w", (1, "i"))],
    "a batch again": [
        append("a", 1, 2, "xy", (0, "i"), batch_id="b"),
        append("a", 3, 4, "z", (2, "i")),
        append("b", 5, 6, "xy", (0, "i"), batch_id="b"),
        read("b", 7, 8, "xyz", "i"),
    ],
    "a batch of unknown outcome again": [
        BEGUN,
        lost_append("a", 3, "z", batch_id="b"),
        append("c", 4, 5, "w", (3, "i")),
        append("a", 6, 7, "z", (2, "i"), batch_id="b"),
        read("b", 8, 9, "xyzw", "i"),
    ],
    "a batch id for other entries": [
        append("a", 1, 2, "x", (0, "i"), batch_id="b"),
        append("a", 3, 4, "y", {"error": "BatchMismatch"}, batch_id="b"),
    ],
    "a batch again against expectation and fence": [
        append("a", 1, 2, "x", (0, "i"), batch_id="b", expect=ABSENT, fence=1),
        seal_log("c", 3, 4, 2, (0, 1, "i")),
        append("a", 5, 6, "x", (0, "i"), batch_id="b", expect=ABSENT, fence=1),
    ],
    "a drop forgets batch ids": [
        append("a", 1, 2, "x", (0, "i"), batch_id="b"),
        drop("a", 3, 4, True),
        append("a", 5, 6, "y", (0, "j"), batch_id="b"),
    ],
    "truncated": [
        BEGUN,
        truncate("a", 3, 4, 1, 1),
        read("b", 5, 6, "y", "i", start=1, first=1),
        refused_read("b", 7, 8, 0, {"error": "Truncated", "first": 1}),
        append("a", 9, 10, "z", (2, "i", 1)),
        truncate("a", 11, 12, 9, 2),
        head("a", 13, 14, (3, 3, "i")),
    ],
    "dropped and grown again": [
        BEGUN,
        drop("a", 3, 4, True),
        read("b", 5, 6, ""),
        append("a", 7, 8, "xy", (0, "j")),
        head("b", 9, 10, (0, 2, "j")),
    ],
    "an append finds the log before or after its drop": [
        BEGUN,
        drop("a", 3, 6, True),
        append("b", 4, 5, "z", (2, "i")),
        head("c", 7, 8, None),
    ],
    "a drop of unknown outcome": [
        BEGUN,
        lost("b", 3, "drop", **LOG),
        read("a", 4, 5, "xy", "i"),
        head("a", 6, 7, None),
    ],
    "a stale writer is shut out": [
        append("a", 1, 2, "x", (0, "i"), fence=1),
        seal_log("b", 3, 4, 2, (0, 1, "i")),
        append("a", 5, 6, "y", fenced(2), fence=1),
        read("b", 7, 8, "x", "i"),
    ],
}

BAD = {
    "a stale read": [BEGUN, append("a", 3, 4, "z", (2, "i")), read("b", 5, 6, "xy", "i")],
    "a stale head": [BEGUN, append("a", 3, 4, "z", (2, "i")), head("b", 5, 6, (0, 2, "i"))],
    "long, then short": [
        BEGUN,
        append("a", 3, 10, "z", (2, "i")),
        read("b", 4, 5, "xyz", "i"),
        read("c", 6, 7, "xy", "i"),
    ],
    "two appends in one place": [BEGUN, append("a", 3, 5, "a", (2, "i")), append("b", 4, 6, "b", (2, "i"))],
    "the last writer wins": [
        BEGUN,
        append("a", 3, 5, "a", (2, "i")),
        append("b", 4, 6, "b", (2, "i")),
        read("c", 7, 8, "xyb", "i"),
    ],
    "two winners of one length": [
        BEGUN,
        append("a", 3, 5, "a", (2, "i"), expect=2),
        append("b", 4, 6, "b", (3, "i"), expect=2),
    ],
    "two creators": [
        append("a", 1, 4, "x", (0, "i"), expect=ABSENT),
        append("b", 2, 3, "y", (1, "i"), expect=ABSENT),
    ],
    "a false conflict": [BEGUN, append("a", 3, 4, "z", conflict(Head(0, 2, "i")), expect=2)],
    "an append that returned is never seen": [BEGUN, append("a", 3, 4, "z", (2, "i")), head("b", 5, 6, (0, 2, "i"))],
    "a gap in positions": [BEGUN, append("a", 3, 4, "z", (3, "i")), head("b", 5, 6, (0, 4, "i"))],
    "a gap in a read": [
        BEGUN,
        append("a", 3, 4, "z", (2, "i")),
        read("b", 5, 6, "x", "i", length=3),
    ],
    "a torn batch": [BEGUN, append("a", 3, 8, "abc", (2, "i")), read("b", 4, 5, "xya", "i")],
    "a read of a prefix of a batch that never came": [BEGUN, lost_append("a", 3, "abc"), read("b", 4, 5, "xya", "i")],
    "entries from nowhere": [BEGUN, read("b", 3, 4, "xyq", "i")],
    "entries in another order": [BEGUN, read("b", 3, 4, "yx", "i")],
    "entries that change": [lost_append("a", 1, "x"), read("b", 2, 3, "x", "i"), read("b", 4, 5, "y", "i")],
    "a batch twice": [
        append("a", 1, 2, "x", (0, "i"), batch_id="b"),
        append("a", 3, 4, "x", (1, "i"), batch_id="b"),
    ],
    "a batch of unknown outcome twice": [
        BEGUN,
        lost_append("a", 3, "z", batch_id="b"),
        append("a", 4, 5, "z", (2, "i"), batch_id="b"),
        read("b", 6, 7, "xyzz", "i"),
    ],
    "a batch id for other entries is not refused": [
        append("a", 1, 2, "x", (0, "i"), batch_id="b"),
        append("a", 3, 4, "y", (1, "i"), batch_id="b"),
    ],
    "an append of unknown outcome is seen, then not": [
        BEGUN,
        lost_append("b", 3, "z"),
        read("a", 4, 5, "xyz", "i"),
        read("a", 6, 7, "xy", "i"),
    ],
    "a log that went back": [BEGUN, head("b", 3, 4, (0, 2, "i")), head("b", 5, 6, (0, 1, "i"))],
    "a first position that went back": [
        BEGUN,
        truncate("a", 3, 4, 1, 1),
        head("b", 5, 6, (0, 2, "i")),
    ],
    "forgotten entries are read": [BEGUN, truncate("a", 3, 4, 1, 1), read("b", 5, 6, "xy", "i", first=1)],
    "refused as forgotten what is kept": [
        BEGUN,
        read("b", 3, 4, "xy", "i"),
        refused_read("a", 5, 6, 0, {"error": "Truncated", "first": 1}),
    ],
    "grown again with the same incarnation": [BEGUN, drop("a", 3, 4, True), append("a", 5, 6, "xy", (0, "i"))],
    "still there after its drop": [BEGUN, drop("a", 3, 4, True), read("b", 5, 6, "xy", "i")],
    "dropped twice": [BEGUN, drop("a", 3, 5, True), drop("b", 4, 6, True)],
    "a stale writer after the seal": [
        append("a", 1, 2, "x", (0, "i"), fence=1),
        seal_log("b", 3, 4, 2, (0, 1, "i")),
        append("a", 5, 6, "y", (1, "i"), fence=1),
    ],
    "a seal that misses the last append": [
        append("a", 1, 2, "x", (0, "i"), fence=1),
        append("a", 3, 4, "y", (1, "i"), fence=1),
        seal_log("b", 5, 6, 2, (0, 1, "i")),
    ],
    "a truncate that tells too much": [BEGUN, truncate("a", 3, 4, 1, 2)],
    "a tail that stops early": [BEGUN, tail("b", 3, 4, 2, "y", Head(0, 2, "i"))],
}


@pytest.mark.parametrize("history", GOOD.values(), ids=GOOD)
def test_a_good_history_is_explained(history):
    (verdict,) = check_all(history).values()
    assert verdict.explained is True


@pytest.mark.parametrize("history", BAD.values(), ids=BAD)
def test_a_bad_history_is_refused(history):
    (verdict,) = check_all(history).values()
    assert verdict.explained is False


def test_a_batch_id_may_be_forgotten_only_after_a_thousand_batches():
    def again(batches):
        entries = [append("a", 2 * n + 3, 2 * n + 4, "y", (n + 1, "i", 1)) for n in range(batches)]
        begun = [append("a", 1, 1.5, "x", (0, "i"), batch_id="b"), truncate("a", 1.6, 2, 1, 1)]
        end = 2 * batches + 3
        late = append("a", end, end + 1, "x", (batches + 1, "i", 1), batch_id="b")
        (verdict,) = check_all([*begun, *entries, late]).values()
        return verdict.explained

    assert again(998) is False
    assert again(1_000) is True
