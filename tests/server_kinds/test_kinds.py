"""How tests get their servers."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import types
import uuid

import psycopg
import pytest

from holdall_conformance.children import Children
from holdall_conformance.harness import Harness
from tests import servers
from tests.server_kinds import common, docker


@contextlib.contextmanager
def unobtainable(reason):
    raise servers.Unobtainable(reason)
    yield


def test_the_first_way_that_works_is_taken(monkeypatch):
    monkeypatch.setenv("HOLDALL_TEST_X_URL", "x://y")
    ways = (lambda: unobtainable("one"), lambda: common.named_by("HOLDALL_TEST_X_URL"), lambda: unobtainable("two"))
    with common.first_of(*ways) as url:
        assert url == "x://y"


def test_where_no_way_works_every_reason_is_named():
    with (
        pytest.raises(servers.Unobtainable, match="one; no HOLDALL_TEST_X_URL; two"),
        common.first_of(
            lambda: unobtainable("one"), lambda: common.named_by("HOLDALL_TEST_X_URL"), lambda: unobtainable("two")
        ),
    ):
        pass


def test_an_error_of_the_test_is_not_taken_for_a_missing_server():
    given = common.first_of(lambda: contextlib.nullcontext(1), lambda: contextlib.nullcontext(2))
    assert given.__enter__() == 1
    error = servers.Unobtainable("from within")
    assert given.__exit__(type(error), error, None) is False


def test_a_container_that_cannot_be_made_is_a_server_that_cannot_be_had(monkeypatch):
    def refuse(*arguments):
        raise RuntimeError("no daemon")

    package = types.ModuleType("testcontainers")
    package.__spec__ = types.SimpleNamespace()
    module = types.ModuleType("testcontainers.postgres")
    module.PostgresContainer = refuse
    monkeypatch.setitem(sys.modules, "testcontainers", package)
    monkeypatch.setitem(sys.modules, "testcontainers.postgres", module)
    with (
        pytest.raises(servers.Unobtainable, match="no Docker"),
        docker.container("postgres", "PostgresContainer", "image"),
    ):
        pass


def test_a_container_is_given_while_it_runs(monkeypatch):
    events = []

    @contextlib.contextmanager
    def contain(image):
        events.append(f"start {image}")
        yield "running"
        events.append("stop")

    package = types.ModuleType("testcontainers")
    package.__spec__ = types.SimpleNamespace()
    module = types.ModuleType("testcontainers.postgres")
    module.PostgresContainer = contain
    monkeypatch.setitem(sys.modules, "testcontainers", package)
    monkeypatch.setitem(sys.modules, "testcontainers.postgres", module)
    with docker.container("postgres", "PostgresContainer", "image") as started:
        assert started == "running"
        assert events == ["start image"]
    assert events == ["start image", "stop"]


def test_a_server_that_does_not_come_up_says_why(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    program = common.Program(["sh", "-c", "echo cannot bind"], home, "TERM")
    with pytest.raises(servers.Unobtainable, match="cannot bind"):
        program.wait_until(lambda: False)


def test_a_local_server_keeps_its_data_over_a_restart(local_postgres):
    with psycopg.connect(local_postgres.url) as connection:
        connection.execute("CREATE TABLE kept (n int)")
    local_postgres.restart()
    with psycopg.connect(local_postgres.url) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)


def use_shared(parent, harness, run, hold):
    """In a child process: use the shared server of a run, and say whether it was started here."""
    os.environ["PYTEST_XDIST_TESTRUNUID"] = run
    begun = []

    @contextlib.contextmanager
    def start():
        begun.append(True)
        yield f"url of {os.getpid()}"
        parent.say("stopped")

    with contextlib.ExitStack() as started:
        with servers.shared("kind", start, started) as url:
            parent.say((url, bool(begun)))
            parent.hear()
        parent.say("released")
    parent.say("ended")


def test_workers_share_a_server_that_its_starter_stops_after_the_last(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with Children(Harness("memory://")) as children:
        target, run = "tests.server_kinds.test_kinds:use_shared", uuid.uuid4().hex
        first = children.start(target, run, None)
        url, is_mine = first.hear()
        second = children.start(target, run, None)
        assert (is_mine, second.hear()) == (True, [url, False])
        first.say("go on")
        assert first.hear() == "released"
        told = tmp_path / f"holdall-servers-{run}" / "kind.url"
        while told.exists():
            time.sleep(0.01)
        third = children.start(target, run, None)  # comes too late for the first
        assert third.hear()[1] is True
        second.say("go on")
        assert [second.hear(), second.hear()] == ["released", "ended"]
        assert [first.hear(), first.hear()] == ["stopped", "ended"]
        third.say("go on")
        assert [third.hear() for _ in range(3)] == ["released", "stopped", "ended"]
        for child in (first, second, third):
            child.finish()
