"""How tests get their servers."""

from __future__ import annotations

import contextlib
import sys
import types

import psycopg
import pytest

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
