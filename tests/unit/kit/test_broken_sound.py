"""Backends that are unusual but sound pass: what catches the broken ones is their defect and nothing else."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from holdall_conformance.broken.registry import all_broken, caught
from holdall_conformance.results import Report
from holdall_conformance.runner import Plan, run
from holdall_conformance.scenario import all_scenarios
from holdall_conformance.sources import FactorySource

SOUND = "holdall_conformance.broken.sound"


@pytest.fixture(autouse=True)
def quiet():
    """Clauses make things fail on purpose; what is logged of it is not of interest."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def tried(folder: Path, store: str | None, lock: str | None, side: str = "sync", only: tuple[str, ...] = ()) -> Report:
    target = f"{SOUND}:{store}" if store else None
    source = FactorySource(target, f"{SOUND}:{lock}" if lock else None, str(folder))
    return run(Plan(source=source, level="base", sides=(side,), only=only, effort=0.25))


def failures(report: Report) -> list[str]:
    return [f"{result.id}: {result.reason}" for result in report.failures]


@pytest.mark.parametrize("name", ["Wrapped", "Jittery", "ShortPages"])
def test_every_clause_holds(name, tmp_path):
    report = tried(tmp_path, f"{name}.open_store", f"{name}.open_lock")
    assert failures(report) == []
    assert report.conforms


UNUSUAL = {
    "Slow": ("leases", "holds", "flags", "follow", "expiry", "batches", "transactions"),
    "Reordering": ("records", "values", "expiry", "paging", "limits"),
    "TrailingPage": ("records", "keys", "paging", "expiry", "logs"),
    "OneCounter": ("leases", "holds", "fencing", "expiry", "errors", "handles"),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_every_clause_holds_that_what_is_unusual_concerns(name, tmp_path):
    report = tried(tmp_path, f"{name}.open_store", f"{name}.open_lock", only=UNUSUAL[name])
    assert failures(report) == []
    assert {result.group for result in report.results} == set(UNUSUAL[name])


def test_every_clause_holds_without_a_synchronous_side(tmp_path):
    report = tried(tmp_path, "AsyncOnly.open_async_store", "AsyncOnly.open_async_lock", "async")
    assert failures(report) == []
    assert report.conforms


def test_records_without_logs_or_lock_conform_and_what_is_absent_is_named(tmp_path):
    report = tried(tmp_path, "RecordsOnly.open_store", None)
    assert failures(report) == []
    assert report.conforms
    assert {"append", "commit", "lock"} <= set(report.absent_operations)
    assert {result.id: result.outcome for result in report.results}["records.round-trip"] == "passed"


def test_a_lock_without_a_store_conforms_and_that_is_named(tmp_path):
    report = tried(tmp_path, None, "LockOnly.open_lock")
    assert failures(report) == []
    assert report.conforms
    assert "store" in report.absent_operations
    assert {result.id: result.outcome for result in report.results}["leases.one-winner"] == "passed"


@pytest.mark.parametrize("name,room", [("PlainFile", "FileRoom"), ("Plain", "MemoryRoom")])
def test_what_catches_broken_ones_holds_on_the_same_parts_without_the_defect(name, room, tmp_path):
    on_it = [broken for broken in all_broken() if any(kind.__name__ == room for kind in broken.design.room.__mro__)]
    base = {scenario.id for scenario in all_scenarios() if scenario.level == "base"}
    catching = {clause for broken in on_it for clause, _ in caught().get(broken.id, [])}
    chosen = tuple(sorted(catching - base if name == "Plain" else catching))
    sides = {broken.side for broken in on_it}
    for side in sorted(sides):
        opening = "open_async_" if side == "async" else "open_"
        report = tried(tmp_path, f"{name}.{opening}store", f"{name}.{opening}lock", side, chosen)
        assert failures(report) == []
