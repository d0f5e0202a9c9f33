"""Bad histories are shrunk to what matters, and told so that people understand them."""

from __future__ import annotations

import random
from dataclasses import replace

from holdall import ABSENT, Conflict, Head, open_store
from holdall_conformance.history.calls import Recorder
from holdall_conformance.history.checker import check_all
from holdall_conformance.history.minimise import minimise
from holdall_conformance.history.text import describe, reason
from tests.unit.kit.history_calls import append, drop, get, lost_put, put, read


def judged(history):
    (verdict,) = check_all(history).values()
    assert verdict.explained is False
    return minimise(verdict)


def busy_record(turns):
    """Return the history of clients that take turns at compare-and-set on a real store."""
    recorder, chance = Recorder(), random.Random(turns)
    with open_store("memory://history-text") as store:
        scope, known = f"s{turns}", dict.fromkeys("abc", ABSENT)
        for number in range(turns):
            client = chance.choice("abc")
            if chance.random() < 0.5:
                with recorder.call(client, "get", scope=scope, key="k") as call:
                    record = call.returns(store.get(scope, "k"))
                known[client] = ABSENT if record is None else record.version
                continue
            expect = known[client]
            with recorder.call(client, "put", scope=scope, key="k", value=number, expect=expect) as call:
                known[client] = call.returns(store.put(scope, "k", number, expect=expect))
    return recorder.calls


def test_a_lost_update_among_hundreds_of_calls_is_three_calls():
    calls = busy_record(300)
    refused = [call for call in calls[150:] if call.outcome == "refused"]
    loser = next(call for call in refused if isinstance(call.arguments["expect"], str))
    assert loser.result["error"] == Conflict.__name__
    wrong = replace(loser, outcome="returned", result="0" * 32)
    small = judged([wrong if call is loser else call for call in calls])
    writers = [call for call in small.calls if call.operation == "put" and call.outcome == "returned"]
    assert len(small.calls) <= 4
    assert len([call for call in writers if call.arguments["expect"] == loser.arguments["expect"]]) == 2


def test_a_stale_read_of_a_log_among_hundreds_of_calls_is_a_few():
    recorder = Recorder()
    with open_store("memory://history-text") as store:
        for number in range(200):
            with recorder.call("a", "append", scope="s", key="k", entries=[number]) as call:
                call.returns(store.append("s", "k", [number]))
            with recorder.call("b", "head", scope="s", key="k") as call:
                call.returns(store.head("s", "k"))
    calls = recorder.calls
    late = calls[301]
    assert late.operation == "head"
    small = judged([replace(late, result=calls[299].result) if call is late else call for call in calls])
    assert [call.operation for call in small.calls] == ["append", "append", "head"]
    assert [call.arguments["entries"] for call in small.calls[:2]] == [[0], [150]]
    assert small.calls[2].result["length"] == 1


def test_the_lives_of_a_log_that_do_not_matter_are_left_out():
    history = []
    for number in range(10):
        begin = 10 * number
        history.append(append("a", begin + 1, begin + 2, "xy", (0, f"i{number}")))
        history.append(read("b", begin + 3, begin + 4, "xy" if number != 6 else "yx", f"i{number}"))
        history.append(drop("a", begin + 5, begin + 6, True))
    assert [call.operation for call in judged(history).calls] == ["append", "read"]


def test_a_stale_read_in_words():
    versions = ["5f2c8a1e00", "77aa01bb22"]
    history = [
        put("a", 10, 20, "old", versions[0]),
        put("b", 30, 50, "new", versions[1], expect=versions[0]),
        get("c", 60, 70, "old", versions[0]),
    ]
    assert describe(judged(history)) == (
        "1..2 | a | put(value=old) returned v1            | <>\n"
        "3..4 | b | put(value=new, expect=v1) returned v2 |   <>\n"
        "5..6 | c | get() returned old at version v1      |     <>\n"
        "No order explains this, the best explains 2 of 3 calls: after put by b (3..4) the record is at version v2 with"
        ' value "new", but get by c (5..6) returned old at version v1.'
    )


def test_open_outcomes_and_refusals_in_words():
    history = [
        lost_put("a", 1, 1),
        put("b", 2, 6, 2, {"error": "Conflict", "current": "v0000009"}, expect=ABSENT),
        get("b", 7, 8),
    ]
    text = describe(judged(history))
    assert "1..  | a | put(value=1) has an open outcome" in text
    assert "put(value=2, expect=ABSENT) was refused: Conflict current v1" in text
    assert "get by b (4..5) returned None" in text


def test_a_contradiction_that_is_plain_to_see_is_its_own_reason():
    history = [append("a", 1, 3, "x", (0, "i")), append("b", 2, 4, "y", (0, "i")), read("c", 5, 6, "y", "i")]
    small = judged(history)
    assert [call.client for call in small.calls] == ["a", "b"]
    assert reason(small) == "No order explains this: append by a and append by b were both told position 0."


def test_long_values_and_long_histories_stay_readable():
    history = [put("a", 1, 2, "x" * 500, "v1"), put("a", 3, 4, "y" * 500, "v2"), get("b", 5, 6, "x" * 500, "v1")]
    assert max(map(len, describe(judged(history)).splitlines()[:-1])) < 160
    head = Head(0, 1, "i")
    history = [append("a", n, n + 0.5, "x", (n, "i"), expect=None if n == 0 else n) for n in range(40)]
    wrong = append("b", 50, 51, "z", {"error": "Conflict", "current": head}, expect=7)
    (verdict,) = check_all([*history, wrong]).values()
    assert len(describe(verdict).splitlines()) == 42


def test_a_good_verdict_is_left_alone():
    (verdict,) = check_all([put("a", 1, 2, 1, "v1"), get("b", 3, 4, 1, "v1")]).values()
    assert minimise(verdict) is verdict
