"""Comparing two reports."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdall_conformance.reports.compare import Comparison, compare
from tests.unit.kit.reports_sample import HOSTILE, both_sides, green, mixed, report, result

OUTCOMES = {"passed": {}, "failed": {"reason": "broke"}, "absent": {"reason": "needs x"}, None: None}


def one(outcome, **settings):
    results = [result("always.here"), *([] if outcome is None else [result("a.b", outcome, **OUTCOMES[outcome])])]
    return report(results, **settings)


def kinds(found: Comparison):
    names = ("now_failing", "now_passing", "newly_absent", "no_longer_absent", "new", "vanished")
    return {name for name in names if getattr(found, name)}


@pytest.mark.parametrize(
    "before, after, kind, worse",
    [
        ("passed", "passed", None, False),
        ("passed", "failed", "now_failing", True),
        ("passed", "absent", "newly_absent", True),
        ("passed", None, "vanished", True),
        ("failed", "passed", "now_passing", False),
        ("failed", "failed", None, False),
        ("failed", "absent", "newly_absent", False),
        ("failed", None, "vanished", False),
        ("absent", "passed", "no_longer_absent", False),
        ("absent", "failed", "now_failing", True),
        ("absent", "absent", None, False),
        ("absent", None, "vanished", False),
        (None, "passed", "new", False),
        (None, "failed", "now_failing", True),
        (None, "absent", "new", False),
        (None, None, None, False),
    ],
)
def test_each_change_of_a_clause_is_named_and_judged(before, after, kind, worse):
    found = compare(one(before), one(after, seed=2))
    assert kinds(found) == ({kind} if kind else set())
    assert found.worse is worse
    assert found.to_text().splitlines()[-1].startswith("worse:") is worse
    if kind:
        (change,) = getattr(found, kind)
        assert (change.id, change.side, change.before, change.after) == ("a.b", "sync", before, after)


def test_the_sides_are_compared_each_with_itself():
    old = report(both_sides(result("a.b")))
    new = report([result("a.b"), result("a.b", "failed", side="async", reason="broke")])
    (change,) = compare(old, new).now_failing
    assert change.side == "async"


def test_a_change_is_told_with_its_reason():
    text = compare(one("passed"), one("failed")).to_text()
    assert "now failing (1):\n  a.b (sync), passed before: broke\n" in text
    assert text.endswith("\nworse: 1 now failing\n")
    text = compare(one("passed"), one(None)).to_text()
    assert "gone (1):\n  a.b (sync), passed before\n" in text
    assert text.endswith("\nworse: 1 passed before and absent or gone now\n")


def test_both_kinds_of_worse_are_counted():
    old = report([result("a.a"), result("a.b"), result("a.c")])
    new = report([result("a.a", "failed"), result("a.b", "absent", reason="needs x")])
    verdict = "worse: 1 now failing and 2 passed before and absent or gone now"
    assert compare(old, new).verdict == verdict


def test_equal_findings_of_two_runs_change_nothing():
    found = compare(green(), replace(green(), started="2026-12-01T00:00:00+00:00"))
    assert found.to_text() == "nothing changed\n\nnot worse\n"


def test_a_report_compared_with_itself_says_so():
    found = compare(mixed(), mixed())
    assert "both are the same report" in found.to_text()
    assert not found.worse


def test_a_comparison_of_different_subjects_says_so():
    found = compare(green(), replace(green(), subject="sqlite:///x.db", adapter="sqlite"))
    assert found.differences == (
        "subject: postgresql://app@db.example/test, now sqlite:///x.db",
        "adapter: postgres, now sqlite",
    )


def test_differing_level_sides_seed_versions_and_environment_are_said():
    old = report(both_sides(result()))
    new = report(
        [result()],
        level="base",
        complete=False,
        seed=5,
        effort=2.0,
        versions={"holdall": "0.2.0", "Python": "3.11.2", "psycopg": "3.2.3"},
        environment={**old.environment, "container": "yes"},
        absent_operations=("truncate",),
    )
    assert compare(old, new).differences == (
        "level: full, now base",
        "sides: sync and async, now sync",
        "seed: 20261130, now 5",
        "effort: 1, now 2",
        "absent operations: none, now truncate",
        "version of holdall: 0.1.0, now 0.2.0",
        "version of holdall-postgres: 0.1.0, now not there",
        "container: no, now yes",
        "the new run left out clauses of its level",
    )


def test_changed_capabilities_are_told_with_their_units():
    new = report(capabilities={**report().capabilities, "atomic_commit": True, "max_value_bytes": 1024, "more": 1})
    assert compare(report(), new).capabilities == (
        "atomic_commit: no, now yes",
        "max_value_bytes: 16 MiB, now 1 KiB",
        "more: not there, now 1",
    )
    assert not compare(report(), new).worse


def test_much_slower_groups_are_named_and_not_judged():
    old = report([result("slow.a", seconds=2.0), result("quick.a", seconds=0.1), result("same.a", seconds=5.0)])
    new = report([result("slow.a", seconds=4.5), result("quick.a", seconds=0.9), result("same.a", seconds=9.9)])
    found = compare(old, new)
    assert found.slower == ("slow took 4.50 s, before 2.00 s",)
    assert "slower: slow took" in found.to_text()
    assert not found.worse


def test_new_clauses_make_no_group_slower_and_more_effort_is_no_slowness():
    old = report([result("a.b", seconds=1.0), result("a.c", "absent", reason="needs x", seconds=0.0)])
    new = report([result("a.b", seconds=1.0), result("a.c", seconds=60.0), result("a.d", seconds=60.0)])
    assert compare(old, new).slower == ()
    assert compare(old, report([result("a.b", seconds=60.0)], effort=10.0)).slower == ()


def test_hostile_text_cannot_reach_the_terminal():
    new = report([result("a.b", "failed", reason=HOSTILE)], subject=HOSTILE, capabilities={HOSTILE: HOSTILE})
    text = compare(one("passed"), new).to_text()
    assert all(each.isprintable() or each == "\n" for each in text)


def test_lines_stay_within_eighty_columns():
    new = replace(mixed(), capabilities={}, subject="sqlite:///" + "long/" * 6)
    assert max(map(len, compare(green(), new).to_text().splitlines())) <= 80
