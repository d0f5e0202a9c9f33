"""The simulation: a seed is a run, choices make it again, and every fault that it knows befalls somebody."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from holdall_conformance.history.calls import READS
from holdall_conformance.simulation import WORKLOADS, derived_subject, describe, failures, replay, simulate, trace
from holdall_conformance.simulation.choices import trimmed
from holdall_conformance.simulation.network import _READ_FATES, _WRITE_FATES

SOUND = 1_500
ONCE_BAD = [("boot", 873), ("server", 503), ("server", 800), ("client", 3145), ("boot", 16565318592)]
CLOCKS = ["boot", "server", "client"]
PRINTING = """
from holdall_conformance.simulation import derived_subject, simulate, trace
for seed in range(40):
    outcome = simulate(derived_subject("server"), seed)
    print(seed, outcome.choices, *trace(outcome), *outcome.calls, sep="\\n")
"""


@pytest.mark.parametrize("clock,seed", ONCE_BAD)
def test_schedules_that_once_found_a_fault_of_the_derived_parts_find_none(clock, seed):
    assert simulate(derived_subject(clock), seed).failure is None


@pytest.mark.parametrize("clock", CLOCKS)
def test_the_derived_parts_survive_many_schedules(clock):
    found = next(failures(derived_subject(clock), range(SOUND)), None)
    assert found is None, describe(found)


@pytest.mark.parametrize("seed", range(20))
def test_a_seed_makes_the_same_run_again(seed):
    first, second = (simulate(derived_subject(), seed) for _ in range(2))
    assert trace(first) == trace(second)
    assert first.choices == second.choices
    assert first.calls == second.calls


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("seed", range(10))
def test_the_choices_make_the_same_run_again(seed, clock):
    subject = derived_subject(clock)
    first = simulate(subject, seed)
    for choices in (first.choices, trimmed(first.choices)):
        again = replay(subject, choices)
        assert trace(again) == trace(first)
        assert again.calls == first.calls
        assert trimmed(again.choices) == trimmed(first.choices)


def test_seeds_make_different_runs():
    runs = {tuple(trace(simulate(derived_subject(), seed))) for seed in range(0, 100, len(WORKLOADS))}
    assert len(runs) == 100 // len(WORKLOADS)


def test_runs_are_the_same_in_every_process():
    printed = {
        subprocess.run(
            [sys.executable, "-c", PRINTING],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "271828")
    }
    assert len(printed) == 1
    assert len(next(iter(printed))) > 100_000


def test_every_fault_befalls_somebody_and_every_operation_is_made():
    fates, made = set(), set()
    for seed in range(400):
        outcome = simulate(derived_subject(), seed)
        fates |= {event.fate for event in outcome.events}
        made |= {(call.operation, call.outcome) for call in outcome.calls}
    shown = " ".join(fates)
    words = {
        "request lost": "the request is lost",
        "arrives late": "still on its way",
        "client crashes before": "the request is not sent",
        "client crashes, arrives late": "client crashes, the request is still on its way",
    }
    for fate in {*_READ_FATES, *_WRITE_FATES} - {""}:
        assert words.get(fate, fate) in shown
    assert "arrives once more" in fates
    operations = {"get", "put", "delete", "touch", "seal", "append", "read", "tail", "head", "truncate", "drop"}
    operations |= {"acquire", "renew", "release", "raise_floor", "holder"}
    assert {operation for operation, _ in made} == operations
    refusable = {"put", "delete", "seal", "append", "read", "truncate", "drop", "renew"}
    assert {operation for operation, outcome in made if outcome == "refused"} >= refusable
    assert {operation for operation, outcome in made if outcome == "unknown"} == operations - READS


def test_no_choices_at_all_are_the_plainest_run():
    outcome = replay(derived_subject(), [])
    assert (outcome.workload, outcome.failure, outcome.steps) == ("records", None, 0)


def test_choices_that_are_none_count_as_the_plainest():
    subject = derived_subject()
    assert trace(replay(subject, [[99, 99], [99, 99]])) == trace(replay(subject, []))


def test_a_run_is_described_by_its_steps_and_how_to_make_it_again():
    outcome = replace(replay(derived_subject(), [[], [2, 0, 4]]), seed=7)
    text = describe(outcome)
    assert "nothing is wrong" in text
    assert "a: calls put(key='k', value='a1', expect=holdall.ANY)" in text
    assert """put record k = ["a1" version #1] (expect absent)""" in text
    assert "simulate(subject, 7)" in text
    assert "replay(subject, [[], [2, 0, 4]])" in text
