"""SIGKILL at 300 random moments in total: nothing acknowledged is lost, nothing torn, nothing doubled."""

from __future__ import annotations

import contextlib
import functools
import json
import random
import time
from pathlib import Path

import pytest

import holdall
from holdall import StoreTimeout
from holdall_conformance.children import Children
from holdall_conformance.harness import Harness
from holdall_conformance.scenarios.crash import kill_writers
from tests.processes.work import KILLED_MANY, url_in

KILLS_OF_A_KIND = {"records": 40, "logs": 44, "truncates": 40, "leases": 16}
KILLS_OF_MANY = 20
DURABILITIES = ("full", "relaxed")


def test_kills_are_three_hundred() -> None:
    assert 2 * sum(KILLS_OF_A_KIND.values()) + KILLS_OF_MANY == 300


def check_files(folder: Path) -> None:
    """Demand that every file reads as lines of JSON, and that nobody can look into them; others write meanwhile."""
    for tree in ("records", "logs", "leases", "flags"):
        for path in (folder / tree).rglob("*"):
            with contextlib.suppress(FileNotFoundError):
                assert path.stat().st_mode & 0o077 == 0
                if path.is_file():
                    *lines, rest = path.read_bytes().split(b"\n")
                    assert not rest or tree == "logs"
                    for line in lines:
                        json.loads(line)


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("kind", KILLS_OF_A_KIND)
def test_killed_writers(tmp_path: Path, kind: str, durability: str) -> None:
    """In relaxed mode the writers are faster, so that other moments are met; a kill takes nothing from it either."""
    folder = tmp_path / "store"
    asynchronous = durability == "relaxed"
    with Harness(f"{url_in('file', folder)}?durability={durability}", asynchronous=asynchronous) as harness:
        inspect = functools.partial(check_files, folder)
        kills = KILLS_OF_A_KIND[kind]
        assert kill_writers(harness, kind, kills, random.Random(), inspect) == kills
        assert list((folder / "tmp").iterdir()) == []


def test_killed_while_many_records_are_written(tmp_path: Path) -> None:
    """Each record is there whole or not at all, and what a finished call wrote is all there."""
    harness = Harness(url_in("file", tmp_path / "store"))
    chance, killed = random.Random(), 0
    with Children(harness) as children, harness:
        for trial in range(KILLS_OF_MANY):
            child = children.start("tests.processes.work:put_many_again_and_again", f"s{trial}")
            rounds = [child.hear()]
            time.sleep(chance.uniform(0, 0.1))
            child.kill()
            killed += 1
            rounds += child.heard()
            found = {record.key: record.value for record in harness.store.iter_records(f"s{trial}")}
            assert len(found) == KILLED_MANY
            assert {value["round"] for value in found.values()} <= {rounds[-1], rounds[-1] + 1}
            assert all(value["filling"] == "x" * 500 for value in found.values())
        harness.store.sweep()
        assert list((tmp_path / "store" / "tmp").iterdir()) == []
    assert killed == KILLS_OF_MANY


def test_a_stopped_writer_holds_up_its_own_keys_and_no_others(tmp_path: Path) -> None:
    """SIGSTOP in the midst of an append: whoever wants the same log gets a clear error in time, and then goes on."""
    harness = Harness(url_in("file", tmp_path / "store"))
    with Children(harness) as children, holdall.open_store(harness.url, timeout=0.2) as store:
        child = children.start("tests.processes.work:wait_in_guard", "s", "log")
        assert child.hear() == "in the guard"
        child.stop()
        with pytest.raises(StoreTimeout):
            store.append("s", "log", [2])
        assert len(store.read("s", "log")) in {1, 2}
        store.append("s", "another log", [2])
        store.put("s", "log", 2)
        child.resume()
        child.say("go on")
        assert child.hear() == "done"
        child.finish()
        assert store.append("s", "log", [3]).start == 2


def test_sweeps_take_nothing_that_is_under_way(tmp_path: Path) -> None:
    """Drafts that have no lock yet, flags that are raised again, folders that get a file: while two processes sweep."""
    url = url_in("file", tmp_path / "store") + "?durability=relaxed"
    with Children(Harness(url)) as children, holdall.open_store(url) as store, holdall.open_lock(store) as lock:
        sweepers = children.start_many(2, "tests.processes.work:sweep_until_told")
        for sweeper in sweepers:
            assert sweeper.hear() == "ready"
        for number in range(150):
            scope, key = f"s{number % 3}", "k" * (1 + number % 2 * 100)
            store.put(scope, key, number, ttl=0.01)
            lock.set_flag("flag", ttl=0.01)
            time.sleep(0.01)
            store.put(scope, key, number)
            lock.set_flag("flag", ttl=60)
            store.append(scope, key, [number], batch_id="b")
            time.sleep(0.001)
            record = store.get(scope, key)
            assert record is not None
            assert record.value == number
            assert lock.flag("flag")
            assert store.delete(scope, key)
            assert store.drop(scope, key)
        for sweeper in sweepers:
            sweeper.say("enough")
            assert sweeper.hear() > 10
            sweeper.finish()


def test_a_handle_whose_folder_was_swept_away_goes_on(tmp_path: Path) -> None:
    """It has folders open that are gone, at each depth of the way."""
    names, url = ["short", "k" * 81, "k" * 240], url_in("file", tmp_path / "store")
    with holdall.open_store(url) as one, holdall.open_store(url) as other:
        for scope in names:
            for before in names:
                for after in names:
                    one.put(scope, before, 1)
                    one.append(scope, before, [1])
                    one.delete(scope, before)
                    one.drop(scope, before)
                    other.sweep()
                    assert one.get(scope, after) is None
                    one.put_many(scope, {after: 2})
                    assert one.append(scope, after, [2], batch_id="b").start == 0
                    assert other.get(scope, after) is not None
                    assert one.delete(scope, after)
                    assert one.drop(scope, after)
