"""The recorder of calls: what it makes of every way in which a call may end."""

from __future__ import annotations

import itertools
import threading

import pytest

from holdall import (
    ABSENT,
    ANY,
    BatchMismatch,
    Conflict,
    Fenced,
    Head,
    LeaseLost,
    OutcomeUnknown,
    StoreTimeout,
    Truncated,
    Unavailable,
    open_lock,
    open_store,
)
from holdall_conformance.history.calls import Call, Recorder
from holdall_conformance.history.checker import check_all


@pytest.fixture
def recorder():
    return Recorder(itertools.count(1).__next__)


def test_a_call_that_returned(recorder):
    with recorder.call("a", "put", scope="s", key="k", value=1, expect=ANY) as call:
        assert call.returns("v1") == "v1"
    arguments = {"scope": "s", "key": "k", "value": 1, "expect": None}
    assert recorder.calls == [Call("a", "put", arguments, 1, 2, "returned", "v1")]


@pytest.mark.parametrize(
    "error, told",
    [
        (Conflict("-", "v1"), {"error": "Conflict", "current": "v1"}),
        (
            Conflict("-", Head(0, 2, "i")),
            {"error": "Conflict", "current": {"first": 0, "length": 2, "incarnation": "i"}},
        ),
        (Fenced("-", 7), {"error": "Fenced", "mark": 7}),
        (Truncated("-", 3), {"error": "Truncated", "first": 3}),
        (BatchMismatch("-"), {"error": "BatchMismatch"}),
        (LeaseLost("-"), {"error": "LeaseLost"}),
    ],
    ids=lambda case: type(case).__name__,
)
def test_a_refusal_is_recorded_and_ends_the_block(recorder, error, told):
    with recorder.call("a", "put", scope="s", key="k", value=1, expect=ABSENT):
        raise error
    (call,) = recorder.calls
    assert (call.outcome, call.result, call.returned) == ("refused", told, 2)


@pytest.mark.parametrize("error", [OutcomeUnknown("-"), StoreTimeout("-")], ids=lambda error: type(error).__name__)
def test_a_write_whose_outcome_is_open(recorder, error):
    with recorder.call("a", "delete", scope="s", key="k"):
        raise error
    assert recorder.calls == [Call("a", "delete", {"scope": "s", "key": "k"}, 1, None, "unknown")]


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit, RuntimeError])
def test_any_other_exception_goes_on_and_leaves_the_outcome_open(recorder, error):
    with pytest.raises(error), recorder.call("a", "delete", scope="s", key="k"):
        raise error
    assert [call.outcome for call in recorder.calls] == ["unknown"]


def test_what_was_not_applied_was_no_call(recorder):
    with recorder.call("a", "delete", scope="s", key="k"):
        raise Unavailable("-")
    assert recorder.calls == []


def test_a_read_that_did_not_return_tells_nothing(recorder):
    with recorder.call("a", "get", scope="s", key="k"):
        raise StoreTimeout("-")
    assert recorder.calls == []


def test_calls_under_way_are_of_unknown_outcome(recorder):
    with (
        recorder.call("a", "delete", scope="s", key="k") as running,
        recorder.call("b", "get", scope="s", key="k"),
    ):
        assert [(call.client, call.outcome) for call in recorder.calls] == [("a", "unknown")]
        running.returns(True)


def test_a_coroutine_that_is_thrown_away_leaves_the_outcome_open(recorder):
    async def work():
        with recorder.call("a", "delete", scope="s", key="k"):
            await Forever()

    class Forever:
        def __await__(self):
            yield

    running = work()
    running.send(None)
    running.close()
    assert [call.outcome for call in recorder.calls] == ["unknown"]


def test_calls_survive_a_line_of_json():
    recorder = Recorder()
    with open_store("memory://history-json") as store, open_lock("memory://history-json") as lock:
        for operation, function, arguments in [
            ("acquire", lock.try_acquire, {"key": "k"}),
            ("put", store.put, {"scope": "s", "key": "k", "value": {"a": [1, 1.0, None]}, "expect": ABSENT}),
            ("get", store.get, {"scope": "s", "key": "k"}),
            ("append", store.append, {"scope": "s", "key": "k", "entries": [1, "é"], "expect": 0}),
            ("read", store.read, {"scope": "s", "key": "k"}),
            ("append", store.append, {"scope": "s", "key": "k", "entries": [1], "expect": Head(0, 2, "other")}),
        ]:
            with recorder.call("a", operation, **arguments) as call:
                call.returns(function(**arguments))
    calls = recorder.calls
    again = [Call.from_json(call.to_json()) for call in calls]
    assert again == calls
    assert len(again) == 6
    assert all("\n" not in call.to_json() for call in calls)
    assert all(verdict.explained for verdict in check_all(again).values())


def test_threads_lose_no_call():
    recorder = Recorder()

    def work(name):
        for number in range(200):
            with recorder.call(name, "put", scope="s", key="k", value=number) as call:
                call.returns(f"{name}-{number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    calls = recorder.calls
    assert len(calls) == 800
    assert [call.invoked for call in calls] == sorted(call.invoked for call in calls)
