"""Opening for the first time, by many at once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import holdall
from holdall_conformance.children import PATIENCE, Children, soon, wait_until
from holdall_conformance.harness import Harness
from tests.processes.work import integrity, open_and_write, url_in

PROCESSES, THREADS, REPEATED = 8, 20, 10


@pytest.mark.parametrize("scheme", ["sqlite", "file"])
def test_first_open_by_processes_and_threads_at_once(tmp_path: Path, scheme: str) -> None:
    with Children(Harness(url_in(scheme, tmp_path / "unused"))) as children:
        openers = children.start_many(PROCESSES, "tests.processes.work:open_again_and_again")
        for opener in openers:
            assert opener.hear() == "ready"
        for repeated in range(REPEATED):
            path, outcomes = tmp_path / f"{repeated}", []
            url, moment = url_in(scheme, path), soon()

            def open_in_thread(
                number: int, url: str = url, moment: float = moment, outcomes: list[str] = outcomes
            ) -> None:
                wait_until(moment)
                outcomes.append(open_and_write(url, f"thread-{number}"))

            threads = [threading.Thread(target=open_in_thread, args=[number]) for number in range(THREADS)]
            for opener in openers:
                opener.say([url, moment])
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE)
            outcomes += [opener.hear() for opener in openers]
            assert outcomes == [""] * (THREADS + PROCESSES)
            with holdall.open_store(url) as store:
                assert len(list(store.iter_keys("s"))) == len(store.read("s", "log")) == THREADS + PROCESSES
            if scheme == "sqlite":
                integrity(path)
        for opener in openers:
            opener.say(None)
            opener.finish()


def test_threads_that_resolve_a_scheme_first_get_one_plugin(tmp_path: Path) -> None:
    with Children(Harness(f"sqlite:///{tmp_path / 'x.db'}")) as children:
        child = children.start("tests.processes.work:resolve_at_once")
        assert child.hear() == [20, 1, 1, []]
        child.finish()
