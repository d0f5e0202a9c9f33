"""Every broken backend is caught by a clause of a group that should: the kit is not blind."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path

import pytest

from holdall_conformance.broken.registry import Broken, all_broken, caught
from holdall_conformance.broken.trying import HANGS, catching, is_a_mistake
from holdall_conformance.scenario import all_scenarios

EVERY_GROUP = {scenario.group for scenario in all_scenarios()} - {"ambiguity", "capabilities", "simulation"}


@pytest.fixture(autouse=True)
def quiet():
    """What broken backends complain of is not of interest."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("broken", all_broken(), ids=lambda broken: broken.id)
def test_it_is_caught(broken: Broken, tmp_path: Path):
    result = next(catching(broken, tmp_path), None)
    assert result is not None, f"nothing in {broken.groups} notices: {broken.does}"
    assert not is_a_mistake(result), result.detail
    assert not result.reason.startswith(HANGS) or (result.id, True) in caught().get(broken.id, []), result.detail


def test_there_are_some_for_every_group():
    counts = Counter(group for broken in all_broken() for group in broken.groups)
    assert len(all_broken()) >= 60
    assert {group for group in EVERY_GROUP if not counts[group]} == set()


def test_each_is_known_by_the_clauses_that_caught_it():
    clauses = {scenario.id: scenario.group for scenario in all_scenarios()}
    for broken in all_broken():
        recorded = [clause for clause, _ in caught().get(broken.id, [])]
        assert recorded, f"record {broken.id} with tools/broken_table.py"
        assert {clauses[clause] for clause in recorded} <= set(broken.groups)


def test_each_says_in_one_sentence_what_it_does_wrong():
    for broken in all_broken():
        assert broken.does.endswith("."), broken.id
        assert "\n" not in broken.does, broken.id
    assert len({broken.does for broken in all_broken()}) == len(all_broken())
