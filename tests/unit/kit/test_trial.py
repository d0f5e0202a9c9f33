"""One clause tried: how it ends, and what is told of it."""

from __future__ import annotations

import threading
import time

import pytest

from holdall_conformance.absence import Absent
from holdall_conformance.explain import detail_of, hint_for, reason_of
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import Scenario, all_scenarios
from holdall_conformance.trial import try_scenario


def trial(run, *needs, **settings):
    """The result of a made-up clause on memory."""
    scenario = Scenario("records.made-up", needs, run)
    return try_scenario(scenario, lambda: Harness("memory://trial", seed="7/sync/made-up"), **settings)


def passes(harness):
    """Something holds."""
    assert harness.store.get(harness.new_scope(), "k") is None


def test_one_that_holds():
    result = trial(passes)
    assert (result.outcome, result.proves, result.side) == ("passed", "Something holds.", "sync")
    assert result.reason == result.detail == result.hint == ""
    assert result.seconds > 0


def test_one_that_fails_tells_line_values_seed_and_hint():
    def fails(harness):
        """Something does not hold."""
        found = {"a": [1, 2]}
        expected = 3
        assert found == expected

    result = trial(fails)
    assert result.outcome == "failed"
    assert "assert" in result.reason or "== 3" in result.reason
    assert "seed of the clause: 7/sync/made-up" in result.detail
    assert result.hint == hint_for("records") != ""


def test_errors_name_their_type():
    def raises(harness):
        """Something."""
        raise KeyError("gone")

    result = trial(raises)
    assert (result.outcome, result.reason) == ("failed", "KeyError: 'gone'")


def test_a_missing_error_is_a_failure():
    def expects(harness):
        """Something."""
        with pytest.raises(ValueError):
            pass

    assert trial(expects).outcome == "failed"


def test_what_is_absent_is_told():
    def lacks(harness):
        """Something."""
        raise Absent("the backend has no logs")

    assert (trial(lacks).outcome, trial(lacks).reason) == ("absent", "the backend has no logs")
    declared = trial(passes, "persistent", "!atomic_commit")
    assert declared.outcome == "absent"
    assert declared.reason == "the backend declares no persistent, atomic_commit, and this is for those without"


def test_one_that_hangs_ends_and_shows_where_it_stands():
    ended = threading.Event()

    def hangs(harness):
        """Something."""
        ended.wait(30)

    began = time.monotonic()
    result = trial(hangs, patience=0.2)
    ended.set()
    assert time.monotonic() - began < 10
    assert (result.outcome, result.reason) == ("failed", "hangs: it did not end within 0.2 s")
    assert "ended.wait(30)" in result.detail


def test_handles_are_closed_whatever_happens():
    stores = []

    def opens(harness):
        """Something."""
        stores.append(harness.open_store())
        raise RuntimeError

    assert trial(opens).outcome == "failed"
    with pytest.raises(Exception, match="closed"):
        stores[0].get("s", "k")


def test_a_failure_within_the_kit_shows_the_names_of_its_line():
    scenario = next(each for each in all_scenarios() if each.id == "versions.never-reused")

    class Reuses(Harness):
        def open_store(self, **settings):
            store = super().open_store(**settings)

            class Wrapped:
                def __getattr__(self, name):
                    return getattr(store, name)

                def put(self, *arguments, **named):
                    store.put(*arguments, **named)
                    return "same"

            return Wrapped()

    result = try_scenario(scenario, lambda: Reuses("memory://trial"))
    assert result.outcome == "failed"
    assert "in: " in result.detail
    assert " = " in result.detail


def test_texts_are_bounded():
    error = AssertionError("x" * 5_000)
    assert len(reason_of(error)) < 400
    assert "x" * 5_000 in detail_of(error)


def test_every_group_has_a_hint():
    assert [group for group in sorted({each.group for each in all_scenarios()}) if not hint_for(group)] == []
