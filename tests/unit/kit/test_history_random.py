"""The checker on random histories: those of a real store are explained, altered ones only if some order does it."""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from holdall import ABSENT, ANY, open_store
from holdall_conformance.history.calls import READS, Call, Recorder
from holdall_conformance.history.checker import MODELS, WORK, check, check_all, until
from holdall_conformance.history.logs_lives import life_of, only_lives
from holdall_conformance.history.logs_whole import logs_whole
from holdall_conformance.history.logs_without import logs_without
from holdall_conformance.history.minimise import is_idle, minimise
from holdall_conformance.history.records_without import records_without
from holdall_conformance.history.search import Search
from holdall_conformance.history.text import describe
from tests.unit.kit.history_spec import explains

FENCES = st.sampled_from([None, None, None, 1, 2, 3])
EXPECT = st.sampled_from(["any", "any", "current", "former", "absent"])
KINDS = pytest.mark.parametrize("kind", ["record", "log"])

RECORD_OPERATIONS = st.one_of(
    st.tuples(st.just("get")),
    st.tuples(st.just("put"), EXPECT, FENCES, st.sampled_from([None, None, None, 1_000])),
    st.tuples(st.just("delete"), EXPECT, FENCES),
    st.tuples(st.just("touch"), st.sampled_from([None, 1_000]), FENCES),
    st.tuples(st.just("seal"), st.integers(1, 3)),
)
LOG_OPERATIONS = st.one_of(
    st.tuples(st.just("append"), EXPECT, FENCES, st.sampled_from([None, None, "b1", "b2"]), st.integers(1, 2)),
    st.tuples(st.just("append"), EXPECT, st.none(), st.none(), st.integers(1, 2)),
    st.tuples(st.just("read"), st.integers(0, 2), st.sampled_from([None, 1])),
    st.tuples(st.just("tail"), st.integers(1, 3)),
    st.tuples(st.just("head")),
    st.tuples(st.just("truncate"), st.integers(0, 3), EXPECT, FENCES),
    st.tuples(st.just("drop"), EXPECT, FENCES),
    st.tuples(st.just("seal"), st.integers(1, 3)),
)


OPERATIONS = {"record": RECORD_OPERATIONS, "log": LOG_OPERATIONS}


@pytest.fixture(scope="module")
def store():
    with open_store("memory://histories") as opened:
        yield opened


class Author:
    """Carries operations out on a real store, one after the other."""

    def __init__(self, store, kind):
        self.store, self.kind = store, kind
        self.place = {"scope": os.urandom(8).hex(), "key": "k"}
        self.former = [ABSENT]
        self.calls = []

    def current(self):
        if self.kind == "log":
            return self.store.head(**self.place) or ABSENT
        record = self.store.get(**self.place)
        return ABSENT if record is None else record.version

    def expect(self, name):
        return {"any": ANY, "absent": ABSENT, "current": self.former[-1], "former": self.former[0]}[name]

    def arguments(self, operation, number):
        match operation:
            case ("put", expect, fence, ttl):
                return {"value": number % 3, "expect": self.expect(expect), "fence": fence, "ttl": ttl}
            case ("delete" | "drop", expect, fence):
                return {"expect": self.expect(expect), "fence": fence}
            case ("touch", ttl, fence):
                return {"ttl": ttl, "fence": fence}
            case ("append", expect, fence, batch_id, count):
                entries = [number % 3 if batch_id else number] * count
                return {"entries": entries, "expect": self.expect(expect), "fence": fence, "batch_id": batch_id}
            case ("read", start, limit):
                return {"start": start, "limit": limit}
            case ("tail", count):
                return {"count": count}
            case ("truncate", before, expect, fence):
                return {"before": before, "expect": self.expect(expect), "fence": fence}
            case ("seal", fence):
                return {"fence": fence} if self.kind == "record" else {"fence": fence, "log": True}
            case _:
                return {}

    def carry_out(self, operation):
        arguments = {**self.place, **self.arguments(operation, len(self.calls))}
        recorder = Recorder(lambda: 0)
        with recorder.call(f"c{len(self.calls)}", operation[0], **arguments) as running:
            running.returns(getattr(self.store, operation[0])(**arguments))
        self.calls += recorder.calls
        self.former.append(self.current())

    def imagine(self, operation):
        """Begin an operation that gets nowhere."""
        arguments = {**self.place, **self.arguments(operation, len(self.calls))}
        self.calls.append(Call(f"c{len(self.calls)}", operation[0], arguments, 0, None, "unknown"))


def spread(draw, calls):
    """Return the calls, each with an interval around its moment; some never return."""
    found = []
    for moment, call in enumerate(calls):
        begin = moment - draw(st.sampled_from([0, 0.4, 1.2, 2.5]))
        end = moment + draw(st.sampled_from([0, 0.3, 1.1, 2.4]))
        if call.outcome == "unknown" or (call.operation not in READS and draw(st.integers(0, 5)) == 0):
            found.append(replace(call, invoked=begin, returned=None, outcome="unknown", result=None))
        else:
            found.append(replace(call, invoked=begin, returned=end))
    return found


def good_history(draw, store, kind, most):
    author = Author(store, kind)
    for operation in draw(st.lists(OPERATIONS[kind], min_size=2, max_size=most)):
        if operation[0] not in READS and draw(st.integers(0, 7)) == 0:
            author.imagine(operation)
        else:
            author.carry_out(operation)
    return sorted(spread(draw, author.calls), key=lambda call: call.invoked)


def altered(draw, calls):
    """Return the calls, some of them with another result, or at another time."""
    for _ in range(draw(st.integers(1, 3))):
        calls = altered_once(draw, calls)
    return calls


def altered_once(draw, calls):
    number = draw(st.integers(0, len(calls) - 1))
    call = calls[number]
    if call.outcome != "returned" or draw(st.integers(0, 3)) == 0:
        begin = draw(st.integers(0, len(calls)))
        changed = replace(call, invoked=begin, returned=None if call.returned is None else begin + 0.5)
    else:
        same = [other for other in calls if (other.operation, other.outcome) == (call.operation, "returned")]
        results = [other.result for other in same]
        if isinstance(call.result, bool):
            results = [not call.result]
        elif isinstance(call.result, int):
            results = [call.result + 1]
        elif call.operation in {"get", "head"}:
            results.append(None)
        changed = replace(call, result=draw(st.sampled_from(results)))
    return sorted([*calls[:number], changed, *calls[number + 1 :]], key=lambda call: call.invoked)


@KINDS
@given(data=st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_history_of_a_real_store_is_explained(store, kind, data):
    history = good_history(data.draw, store, kind, 25)
    for verdict in check_all(history).values():
        assert verdict.explained is True


@KINDS
@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_an_altered_history_is_refused_unless_some_order_explains_it(store, kind, data):
    history = altered(data.draw, good_history(data.draw, store, kind, 6))
    expected = explains(history)
    verdict = check(MODELS[kind], history, kind=kind)
    event(f"{kind} good: {expected}, plain to see: {verdict.flaw is not None}")
    assert verdict.explained is expected
    if verdict.flaw is None:
        assert Search(MODELS[kind], history, pinned=False).run(WORK).explained is expected


@KINDS
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_left_of_a_bad_history_is_bad_and_part_of_it(store, kind, data):
    history = altered(data.draw, good_history(data.draw, store, kind, 12))
    verdict = check(MODELS[kind], history, kind=kind)
    assume(verdict.explained is False)
    small = minimise(verdict)
    assert small.explained is False
    assert len(small.calls) <= len(history)
    assert {call.client for call in small.calls} <= {call.client for call in history}
    if len(small.calls) <= 6 and small.flaw is None:
        assert not explains(small.calls)
    assert describe(small).count("\n") == len(small.calls)


def rests(draw, kind, calls):
    """Return what each way of leaving calls out makes of a history."""
    numbers = draw(st.lists(st.integers(0, len(calls) - 1), unique=True))
    yield until(calls, draw(st.floats(-3, len(calls) + 3)))
    yield [call for number, call in enumerate(calls) if number not in numbers or not is_idle(call)]
    if kind == "record":
        yield records_without(calls, numbers)
        return
    yield logs_without(calls, numbers)
    yield logs_whole(calls)
    lives = list(dict.fromkeys(life for call in calls if (life := life_of(call)) is not None))
    if lives:
        yield only_lives(calls, draw(st.lists(st.sampled_from(lives), min_size=1, unique=True)))


@KINDS
@given(data=st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_way_of_leaving_calls_out_makes_a_good_history_bad(store, kind, data):
    history = good_history(data.draw, store, kind, 14)
    for rest in rests(data.draw, kind, history):
        assert check(MODELS[kind], rest, kind=kind).explained is True


def busy_history(store, kind, chance):
    """Return 8 clients' 100 calls each on one object of a real store; every call overlaps with those of others."""
    author = Author(store, kind)
    for _ in range(800):
        author.carry_out(chance.choice(BUSY[kind]))
    clients, found = [0.0] * 8, []
    for moment, call in enumerate(author.calls):
        number = min(range(8), key=lambda number: clients[number] + chance.random())
        begin = max(clients[number], moment - 8 * chance.random())
        clients[number] = moment + chance.random() if begin <= moment else begin
        found.append(replace(call, client=f"c{number}", invoked=min(begin, moment), returned=clients[number]))
    return sorted(found, key=lambda call: call.invoked)


BUSY = {
    "record": [("get",), ("put", "any", None, None), ("put", "current", None, None), ("delete", "any", None)],
    "log": [("append", "any", None, None, 2), ("append", "former", None, None, 1), ("tail", 3), ("head",)],
}


@KINDS
@pytest.mark.parametrize("seed", range(2))
def test_long_histories_take_little_work_good_or_bad_and_with_lost_calls(store, kind, seed):
    chance = Random(seed)
    history = busy_history(store, kind, chance)
    assert len(history) == 800
    lost = [call for call in chance.sample(history, 40) if call.operation not in READS and call.outcome == "returned"]
    open_ended = [
        replace(call, returned=None, outcome="unknown", result=None) if call in lost else call for call in history
    ]
    for calls in (history, open_ended):
        verdict = check(MODELS[kind], calls, kind=kind)
        assert verdict.explained is True
        assert verdict.work < 3_000
    looks = [call for call in history if call.operation in {"get", "head"} and call.result is not None]
    wrong = replace(looks[-1], result=looks[len(looks) // 2].result)
    verdict = check(MODELS[kind], [wrong if call is looks[-1] else call for call in history], kind=kind)
    assert verdict.explained is False
    assert verdict.work < 3_000
