"""Opening databases that are empty, old, new, or of the wrong kind."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading

import pytest

import holdall
from holdall import ABSENT, ConfigError
from holdall_adapters.postgres.store import PostgresStore
from tests import servers
from tests.adapters.handles import KINDS, opened
from tests.adapters.openers import open_at_once

psycopg = pytest.importorskip("psycopg")


@pytest.mark.parametrize("options", ["", "?schema=own_schema&prefix=own_"])
def test_eight_processes_open_an_empty_database_at_once(postgres_database, options):
    open_at_once(postgres_database + options)


def test_tables_lie_in_the_schema_and_have_the_prefix_that_were_asked_for(postgres_database):
    with (
        holdall.open_store(postgres_database) as plain,
        holdall.open_store(f"{postgres_database}?schema=other&prefix=p_") as other,
        holdall.open_store(f"{postgres_database}?prefix=p_") as prefixed,
    ):
        for store in (plain, other, prefixed):
            assert store.put("s", "k", 1, expect=ABSENT)
            assert store.append("s", "k", [1], expect=ABSENT).start == 0
    with psycopg.connect(postgres_database) as connection:
        rows = connection.execute(
            "SELECT schemaname, tablename FROM pg_tables WHERE tablename ~ 'records$' ORDER BY 1, 2"
        ).fetchall()
    assert rows == [("other", "p_records"), ("public", "holdall_records"), ("public", "p_records")]


@pytest.mark.parametrize("option", ["schema", "prefix"])
@pytest.mark.parametrize(
    "name", ["", "Upper", "1st", "a-b", 'a"b', "a b", "a.b", "a%22%3B--", "ä", "a" * 41, "a%00", "a%0A"]
)
def test_what_is_no_plain_identifier_is_refused(option, name):
    with pytest.raises(ConfigError, match=option):
        holdall.open_store(f"postgresql://127.0.0.1:1/none?{option}={name}")


def test_a_reserved_word_is_a_good_schema(postgres_database):
    with holdall.open_store(f"{postgres_database}?schema=user&prefix=select_") as store:
        store.put("s", "k", 1)
        assert store.get("s", "k").value == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_of_several_hosts_that_takes_writes_is_found(local_postgres, kind):
    hosts = f"127.0.0.1:{servers.free_port()},127.0.0.1:{local_postgres.port}"
    url = f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write"
    with opened(kind, url) as handles:
        handles.run(handles.store.put("s", "k", 1))
        assert handles.run(handles.store.get("s", "k")).value == 1


@pytest.mark.parametrize("kind", KINDS)
def test_no_tables_are_made_where_that_is_forbidden(postgres_database, kind):
    with pytest.raises(ConfigError, match="create=false"), opened(kind, f"{postgres_database}?create=false"):
        pass
    with psycopg.connect(postgres_database) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)
    with opened(kind, postgres_database) as handles:
        handles.run(handles.store.put("s", "k", 1))
    with opened(kind, f"{postgres_database}?create=false") as handles:
        assert handles.run(handles.store.get("s", "k")).value == 1


@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_a_newer_version_are_refused(postgres_database, kind):
    with opened(kind, postgres_database) as handles:
        handles.run(handles.store.put("s", "k", 1))
    with psycopg.connect(postgres_database) as connection:
        connection.execute("UPDATE holdall_meta SET value = '99' WHERE name = 'schema'")
    for options in ("", "?create=false"):
        with pytest.raises(ConfigError, match=r"version 99.*newer"), opened(kind, postgres_database + options):
            pass


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_database_of_another_encoding_is_refused(postgres_url, postgres_database, kind, encoding):
    name = f"{postgres_database.rpartition('/')[2]}_{encoding.lower()}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
        try:
            with (
                pytest.raises(ConfigError, match=f"encoding {encoding}"),
                opened(kind, f"{postgres_url.rpartition('/')[0]}/{name}"),
            ):
                pass
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_failed_opening_leaves_no_connection(postgres_url, postgres_database):
    for kind in KINDS:
        with pytest.raises(ConfigError), opened(kind, f"{postgres_database}?create=false"):
            pass
    name = postgres_database.rpartition("/")[2]
    with psycopg.connect(postgres_url) as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND application_name = 'holdall'"
        for _ in range(100):
            if connection.execute(query, [name]).fetchone() == (0,):
                return
            connection.rollback()
            threading.Event().wait(0.05)
    pytest.fail("there is still a connection")


def test_a_second_loop_gets_wrong_loop_at_once(postgres_database):
    store = holdall.open_async_store(postgres_database)

    async def use():
        await store.put("s", "k", 1)

    async def use_again():
        with pytest.raises(holdall.WrongLoop):
            await store.put("s", "k", 2)

    async def follow():
        with pytest.raises(holdall.WrongLoop):
            async for _ in store.follow("s", "log", timeout=5):
                pass

    asyncio.run(use())
    for later in (use_again, follow):
        asyncio.run(later())
    with holdall.open_store(postgres_database) as other:
        assert other.get("s", "k").value == 1


def use_after_fork(store, lock, lease, answers):
    """In a forked child: every handle refuses, and leaves the connections of the parent alone."""
    found = []
    for call in (
        lambda: store.get("s", "k"),
        lambda: store.put("s", "k", 2),
        lambda: store.append("s", "log", [2]),
        lambda: lock.renew(lease),
        store.close,
    ):
        try:
            call()
            found.append("")
        except Exception as error:  # noqa: BLE001 - the parent looks
            found.append(type(error).__name__)
    answers.put(found)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_after_a_fork_the_child_is_refused_and_the_parent_goes_on(postgres_database):
    context = multiprocessing.get_context("fork")
    with holdall.open_store(postgres_database) as store, holdall.open_lock(store) as lock:
        store.put("s", "k", 1)
        lease = lock.acquire("l", timeout=0)
        answers = context.SimpleQueue()
        child = context.Process(target=use_after_fork, args=(store, lock, lease, answers))
        child.start()
        assert answers.get() == ["ForkedHandle"] * 4 + [""]
        child.join(30)
        assert child.exitcode == 0
        for number in range(10):
            store.put("s", "k", number)
            assert store.get("s", "k").value == number
        lock.renew(lease)


def test_no_part_of_the_store_hides_a_method_of_another():
    named = [name for part in PostgresStore.__bases__ for name in vars(part) if not name.startswith("__")]
    assert len(named) == len(set(named))
