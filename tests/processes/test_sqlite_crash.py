"""SIGKILL at 300 random moments in total: nothing acknowledged is lost, nothing torn, nothing doubled."""

from __future__ import annotations

import functools
import random
import sqlite3
import time
from pathlib import Path

import pytest

import holdall
from holdall_conformance.children import Children
from holdall_conformance.harness import Harness
from holdall_conformance.scenarios.crash import kill_writers
from tests.processes.work import integrity

KILLS_OF_A_KIND = {"records": 32, "logs": 32, "commits": 30, "truncates": 30, "leases": 16}
KILLS_OF_A_CUT = 10
CUTS = ("truncate", "drop")
KILLS = 2 * sum(KILLS_OF_A_KIND.values()) + len(CUTS) * KILLS_OF_A_CUT
ROWS = 4_500
LONGEST_CUT = 0.015


def test_kills_are_three_hundred() -> None:
    assert KILLS == 300


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("kind", KILLS_OF_A_KIND)
def test_killed_writers(tmp_path: Path, kind: str, asynchronous: bool) -> None:
    path = tmp_path / "x.db"
    with Harness(f"sqlite:///{path}", asynchronous=asynchronous) as harness:
        inspect = functools.partial(integrity, path)
        kills = KILLS_OF_A_KIND[kind]
        assert kill_writers(harness, kind, kills, random.Random(), inspect) == kills
    integrity(path)


def rows(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        count: int = connection.execute("SELECT count(*) FROM holdall_batches").fetchone()[0]
    finally:
        connection.close()
    return count


@pytest.mark.parametrize("operation", CUTS)
def test_killed_while_cutting_a_large_log(tmp_path: Path, operation: str) -> None:
    """It takes several transactions: whatever was cut is out of sight after the first, and swept after a kill."""
    path, killed = tmp_path / "x.db", 0
    harness = Harness(f"sqlite:///{path}?durability=relaxed")
    with Children(harness) as children, holdall.open_store(harness.url) as store:
        for _ in range(KILLS_OF_A_CUT):
            child = children.start("tests.processes.work:cut_large_log", operation)
            for entry in range(ROWS):
                store.append("s", "log", [entry])
            assert child.hear() == "ready"
            child.say(ROWS - 10)
            time.sleep(random.uniform(0, LONGEST_CUT))
            child.kill()
            acknowledged, killed = child.heard(), killed + 1
            check_cut(store, operation, done=bool(acknowledged))
            integrity(path)
            store.drop("s", "log")
            store.sweep()
            assert rows(path) == 0
    assert killed == KILLS_OF_A_CUT


def check_cut(store: holdall.Store, operation: str, *, done: bool) -> None:
    head = store.head("s", "log")
    if operation == "drop":
        assert head is None or not done
        if head is None:
            store.append("s", "log", [0])
            assert store.read("s", "log")[0].position == 0
            store.sweep()
            assert len(store.read("s", "log")) == 1
            return
    assert head is not None
    assert head.length == ROWS
    assert head.first == ROWS - 10 if done else head.first in {0, ROWS - 10}
    store.sweep()
    entries = store.read("s", "log", head.first)
    assert [entry.value for entry in entries] == list(range(head.first, ROWS))
