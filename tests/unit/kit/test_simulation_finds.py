"""The simulation finds what is wrong with broken derivations, and shrinks it to a few steps."""

from __future__ import annotations

import pytest

from holdall_conformance.simulation import (
    WORKLOADS,
    DerivedSubject,
    derived_subject,
    describe,
    failures,
    replay,
    shrink,
    simulate,
    trace,
)
from tests.unit.kit.broken_derivations import BROKEN, DOMAINS, broken

MOST_SEEDS = 20_000
MOST_STEPS = 60
SOUND = derived_subject()


def first_found(name):
    """The first failing run of a seed that is fine with the sound parts."""
    seeds = range(MOST_SEEDS)
    if name in DOMAINS:
        names = [workload.name for workload in WORKLOADS]
        seeds = seeds[names.index(DOMAINS[name]) :: len(names)]
    return next(found for found in failures(BROKEN[name], seeds) if simulate(SOUND, found.seed).failure is None)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_derivation_is_found_and_shrunk(name):
    subject, found = BROKEN[name], first_found(name)
    again = simulate(subject, found.seed)
    assert trace(again) == trace(found)
    assert again.failure.kind == found.failure.kind
    small = shrink(subject, found)
    assert small.steps <= min(MOST_STEPS, found.steps), describe(small)
    assert small.failure.kind == found.failure.kind
    assert small.seed == found.seed
    assert trace(replay(subject, small.choices)) == trace(small)


def test_what_is_found_is_printed_for_people():
    small = shrink(BROKEN["restarts tokens"], first_found("restarts tokens"))
    text = describe(small)
    assert "no order of the calls on lease 'key' explains" in text
    assert f"simulate(subject, {small.seed})" in text
    assert f"replay(subject, {small.choices})" in text
    assert text.count("acquire returned {'token': 1") == 2


def test_shrinking_is_bounded():
    subject, found = BROKEN["two steps"], first_found("two steps")
    assert trace(shrink(subject, found, runs=0)) == trace(found)
    little, much = shrink(subject, found, runs=20), shrink(subject, found)
    assert much.steps < little.steps <= found.steps


def test_the_parts_put_together_by_hand_are_sound():
    assert next(failures(broken(), range(300)), None) is None


def test_a_core_that_raises_what_it_should_not_is_found():
    async def core(backend, capabilities, environment, timeout):
        raise KeyError("broken")

    found = next(failures(DerivedSubject(core=core), range(1)))
    assert found.failure.kind == "KeyError"
