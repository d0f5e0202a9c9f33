"""Followers are woken by a notice, as long as they are there and no pooler lies between."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

import holdall
from holdall_adapters.postgres import listening
from holdall_adapters.postgres.log_statements import name_of_log
from tests.adapters.followers import NEVER, Follower, hear_everything
from tests.adapters.handles import KINDS

psycopg = pytest.importorskip("psycopg")


def wait_for(connection, query, *arguments):
    """Wait until a query finds something."""
    for _ in range(2_000):
        if connection.execute(query, arguments).fetchone()[0]:
            return
        threading.Event().wait(0.01)
    pytest.fail(f"nothing came of {query}")


LISTENING = "SELECT count(*) FROM holdall_followers"
WAITING = """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%%FROM %%logs%%'
    AND state = 'idle' AND pid <> pg_backend_pid()"""


@pytest.fixture
def watched(postgres_database):
    """A database with its tables, a store on it, and a connection that looks on."""
    with (
        holdall.open_store(postgres_database) as store,
        psycopg.connect(postgres_database, autocommit=True) as connection,
    ):
        yield postgres_database, store, connection


@pytest.mark.parametrize("kind", KINDS)
def test_a_follower_is_woken_by_a_notice_alone(watched, monkeypatch, kind):
    url, store, connection = watched
    monkeypatch.setattr(listening, "_LOOK", NEVER)
    follower = Follower(kind, url, "log", 6)
    wait_for(connection, LISTENING)
    for number in range(3):
        store.append("s", "log", [number, -number])
    assert follower.join() == [0, 0, 1, -1, 2, -2]


@pytest.mark.parametrize("kind", KINDS)
def test_commits_and_restores_wake_too(watched, monkeypatch, kind):
    url, store, connection = watched
    monkeypatch.setattr(listening, "_LOOK", NEVER)
    follower = Follower(kind, url, "log", 2, begin=5)
    wait_for(connection, LISTENING)
    store.restore_log("s", "log", 5, ["restored"])
    store.commit([holdall.Append("s", "log", ["committed"]), holdall.Put("s", "k", 1)])
    assert follower.join() == ["restored", "committed"]


@pytest.mark.parametrize("kind", KINDS)
def test_many_followers_of_many_logs_hear_everything(watched, kind):
    url, store, _ = watched
    count = 2 * listening._MOST
    hear_everything(kind, url, store, count)


def test_nobody_is_told_while_nobody_follows(watched, monkeypatch):
    url, store, connection = watched
    monkeypatch.setattr(listening, "_LOOK", NEVER)
    channel = f"holdall_{name_of_log('s', 'log').hex()}"
    connection.execute(f'LISTEN "{channel}"')
    connection.execute("LISTEN finished")

    def told():
        """Return what was told until now: notices come in the order of the commits."""
        connection.execute("NOTIFY finished")
        names = []
        for notice in connection.notifies(timeout=30):
            names.append(notice.channel)
            if notice.channel == "finished":
                break
        return names

    store.append("s", "log", [0])
    store.append("s", "other", [0])
    assert told() == ["finished"]
    follower = Follower("sync", url, "log", 2)
    wait_for(connection, LISTENING)
    store.append("s", "other", [1])
    store.append("s", "log", [1])
    assert follower.join() == [0, 1]
    assert told() == [channel, "finished"]
    connection.execute("UPDATE holdall_followers SET until = clock_timestamp()")  # it is gone for half a minute
    store.append("s", "log", [2])
    assert told() == ["finished"]


def test_followers_that_are_gone_are_forgotten(watched):
    url, store, connection = watched
    store.append("s", "log", [0])
    assert [entry.value for entry in store.follow("s", "log", timeout=0.1)] == [0]
    connection.execute("UPDATE holdall_followers SET until = clock_timestamp()")
    with holdall.open_store(url) as other:
        assert list(other.follow("s", "empty", timeout=0.1)) == []
    assert connection.execute(LISTENING).fetchone() == (1,)


@pytest.mark.parametrize("kind", KINDS)
def test_through_a_pooler_followers_look_by_themselves(pgbouncer_url, watched, kind):
    url, store, connection = watched
    pooled = f"{pgbouncer_url.rpartition('/')[0]}/{url.rpartition('/')[2]}"

    async def capabilities():
        async with holdall.open_async_store(pooled) as found:
            await found.ping()
            return found.capabilities

    if kind == "async":
        assert not asyncio.run(capabilities()).native_follow
    else:
        with holdall.open_store(pooled) as found:
            assert not found.capabilities.native_follow
    follower = Follower(kind, pooled, "log", 3)
    for number in range(3):
        store.append("s", "log", [number])
    assert follower.join() == [0, 1, 2]
    assert connection.execute(LISTENING).fetchone() == (0,)


def test_a_follower_goes_on_when_its_connection_is_ended(watched):
    url, store, connection = watched
    follower = Follower("sync", url, "log", 2)
    wait_for(connection, LISTENING)
    store.append("s", "log", [1])
    for _ in range(3):
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        threading.Event().wait(0.1)
    store.append("s", "log", [2])
    assert follower.join() == [1, 2]


@pytest.mark.parametrize("length", [31, 32, 40])
def test_the_longest_prefix_does_not_break_appends_that_somebody_follows(postgres_database, length):
    """A channel has the prefix in its name, and Postgres takes no more than 63 bytes of it."""
    url = f"{postgres_database}?prefix={'p' * (length - 1)}_"
    found = []
    with holdall.open_store(url) as store, holdall.open_store(url) as other:
        store.append("s", "log", [0])

        def follow():
            for entry in other.follow("s", "log", timeout=20):
                found.append(entry.value)
                if entry.value == 2:
                    return

        thread = threading.Thread(target=follow)
        thread.start()
        while not found:
            time.sleep(0.01)
        time.sleep(0.2)
        for number in (1, 2):
            store.append("s", "log", [number])
        thread.join(30)
    assert found == [0, 1, 2]
