"""Random operations of several clients at once, each call recorded, the whole explained by some order or not."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from holdall import Store
from holdall.clock import boot_time
from holdall_conformance.children import Children, soon
from holdall_conformance.harness import Harness
from holdall_conformance.history.calls import Call, Recorder
from holdall_conformance.history.checker import check_all, check_beginning
from holdall_conformance.history.minimise import minimise
from holdall_conformance.history.text import describe
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.concurrency import handles_for, together
from holdall_conformance.scenarios.histories_work import work

_CLIENTS, _TIMES, _ROUNDS, _SECONDS = 4, 80, 1, 0.3
_PROCESSES, _PROCESS_TIMES = 4, 60
_CHILD = "holdall_conformance.scenarios.histories_work:call_in_child"


def judge(calls: Sequence[Call], seed: str) -> None:
    """Fail unless some order explains all calls, showing the smallest part that none explains.

    Of a history that is too hard, as much is judged as can be decided.

    Args:
        calls: the history.
        seed: what it grew from.

    """
    assert any(call.outcome == "returned" for call in calls), "no call returned"
    for subject, found in check_all(calls).items():
        verdict = check_beginning(found)
        if not verdict.linearizable:
            story = describe(minimise(verdict))
            message = f"no order of the calls on the {subject.kind} {subject.key!r} explains them\n{story}\nseed {seed}"
            raise AssertionError(message)


def _rounds(harness: Harness) -> Iterator[int]:
    """Number the rounds: at least a few, and as many more as a fast backend does in a short time."""
    end = boot_time() + harness.effort * _SECONDS
    for turn in itertools.count():
        if turn >= harness.scaled(_ROUNDS) and boot_time() >= end:
            return
        yield turn


def _in_threads(harness: Harness, workload: str, keys: Sequence[str] = ("k",)) -> None:
    for turn in _rounds(harness):
        scope, recorder, seed = harness.new_scope(), Recorder(), f"{harness.seed} {turn}"
        stores = handles_for(harness, _CLIENTS)

        def run(store: Store, number: int, scope: str = scope, recorder: Recorder = recorder, seed: str = seed) -> None:
            work(store, recorder, workload, (scope, keys), seed=f"{seed} c{number}", times=_TIMES)

        together(stores, run)
        judge(recorder.calls, seed)


def _in_processes(harness: Harness, workload: str) -> None:
    scope, times, seed = harness.new_scope(), harness.scaled(_PROCESS_TIMES), harness.seed
    with Children(harness) as children:
        started = children.start_many(harness.racers(_PROCESSES), _CHILD, workload, scope, seed, times)
        for child in started:
            assert child.hear() == "ready"
        moment = soon()
        for child in started:
            child.say(moment)
        lines: Iterable[str] = [line for child in started for line in child.hear()]
        for child in started:
            child.finish()
    judge([Call.from_json(line) for line in lines], seed)


@scenario("concurrency.history-record")
def history_record(harness: Harness) -> None:
    """Random gets, puts and deletes of one record at once, with expectations: one order explains all results."""
    _in_threads(harness, "record")


@scenario("concurrency.history-records", level="full")
def history_records(harness: Harness) -> None:
    """Random gets, puts and deletes of several records at once: for each record one order explains all results."""
    _in_threads(harness, "record", ("k", "K", "k2"))


@scenario("concurrency.history-record-fenced", level="full")
def history_record_fenced(harness: Harness) -> None:
    """Random fenced writes and seals of one record under rising tokens: one order explains who was let in."""
    _in_threads(harness, "fenced-record")


@scenario("concurrency.history-log")
def history_log(harness: Harness) -> None:
    """Random appends, batches, repetitions and reads of one log at once: one order explains all results."""
    _in_threads(harness, "log")


@scenario("concurrency.history-log-lives", level="full")
def history_log_lives(harness: Harness) -> None:
    """Random appends and reads of one log that is truncated and dropped meanwhile: one order explains all results."""
    _in_threads(harness, "log-and-lives")


@scenario("concurrency.history-log-fenced", level="full")
def history_log_fenced(harness: Harness) -> None:
    """Random fenced appends and seals of one log under rising tokens: one order explains who was let in."""
    _in_threads(harness, "fenced-log")


@scenario("concurrency.history-record-processes", "cross_process", level="full")
def history_record_processes(harness: Harness) -> None:
    """Random operations of several processes on one record: one order explains all results."""
    _in_processes(harness, "fenced-record")


@scenario("concurrency.history-log-processes", "cross_process", level="full")
def history_log_processes(harness: Harness) -> None:
    """Random operations of several processes on one log, truncates and drops too: one order explains all results."""
    _in_processes(harness, "log-and-lives")
