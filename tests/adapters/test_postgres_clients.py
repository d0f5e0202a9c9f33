"""Connections and pools that the caller lends, and pools that are too small for all who want one at once."""

from __future__ import annotations

import asyncio
import threading
import types

import pytest

import holdall
from holdall import ConfigError, Unavailable
from holdall_adapters.postgres.connections.lent import LentPool
from holdall_adapters.postgres.connections.pools import MOST_CONNECTIONS
from tests.adapters.crowds import MANY, ROUNDS, counted_in_tasks, counted_in_threads, use, use_suspending
from tests.adapters.handles import KINDS

psycopg = pytest.importorskip("psycopg")
psycopg_pool = pytest.importorskip("psycopg_pool")

WRITERS = 3 * MOST_CONNECTIONS


@pytest.fixture
def url(postgres_database):
    """A database whose tables are there, with one record."""
    with holdall.open_store(postgres_database) as store:
        store.put("s", "k", 0)
    return postgres_database


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_connection(url, autocommit):
    with psycopg.connect(url, autocommit=autocommit) as connection:
        with holdall.open_store(url, client=connection) as store, holdall.open_lock(store) as lock:
            use(store, lock)
        assert not connection.closed
        assert connection.autocommit is autocommit
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        assert connection.execute("SELECT count(*) FROM holdall_records WHERE key = 'used'").fetchone() == (1,)


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_connection_that_suspends(url, autocommit):
    async def main():
        async with await psycopg.AsyncConnection.connect(url, autocommit=autocommit) as connection:
            async with (
                holdall.open_async_store(url, client=connection) as store,
                holdall.open_async_lock(store) as lock,
            ):
                await use_suspending(store, lock)
            assert not connection.closed
            assert connection.autocommit is autocommit
            assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

    asyncio.run(main())


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_pool(url, autocommit):
    with psycopg_pool.ConnectionPool(url, min_size=1, max_size=2, kwargs={"autocommit": autocommit}) as pool:
        with holdall.open_store(url, client=pool) as store, holdall.open_lock(store) as lock:
            use(store, lock)
        assert not pool.closed
        with pool.connection() as connection:
            assert connection.autocommit is autocommit


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_pool_that_suspends(url, autocommit):
    async def main():
        options = {"min_size": 1, "max_size": 2, "kwargs": {"autocommit": autocommit}, "open": False}
        async with psycopg_pool.AsyncConnectionPool(url, **options) as pool:
            store = holdall.open_async_store(url, client=pool)
            async with store, holdall.open_async_lock(store) as lock:
                await use_suspending(store, lock)
            assert not pool.closed
            async with pool.connection() as connection:
                assert connection.autocommit is autocommit

    asyncio.run(main())


def test_nothing_is_written_inside_of_an_open_transaction(url):
    with psycopg.connect(url) as connection, holdall.open_store(url, client=connection) as store:
        connection.execute("SELECT 1")
        for call in (
            lambda: store.get("s", "k"),
            lambda: store.put("s", "inside", 1),
            lambda: store.append("s", "inside", [1]),
            lambda: store.commit([holdall.Put("s", "inside", 1), holdall.Put("s", "other", 1)]),
        ):
            with pytest.raises(ConfigError, match="transaction of yours"):
                call()
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        connection.commit()
        assert store.get("s", "inside") is None
        assert store.head("s", "inside") is None
        store.put("s", "inside", 1)
    with psycopg.connect(url) as connection:
        connection.execute("SELECT 1")
        with pytest.raises(ConfigError, match="transaction of yours"):
            holdall.open_store(url, client=connection)


def test_nothing_is_written_inside_of_an_open_transaction_that_suspends(url):
    async def main():
        async with (
            await psycopg.AsyncConnection.connect(url) as connection,
            holdall.open_async_store(url, client=connection) as store,
        ):
            await store.ping()
            async with connection.transaction():
                for call in (lambda: store.get("s", "k"), lambda: store.put("s", "inside", 1)):
                    with pytest.raises(ConfigError, match="transaction of yours"):
                        await call()
            assert await store.get("s", "inside") is None

    asyncio.run(main())


def test_a_client_of_the_wrong_kind_is_named(url):
    async def suspending():
        options = {"min_size": 0, "max_size": 1, "open": False}
        connection = await psycopg.AsyncConnection.connect(url)
        async with connection, psycopg_pool.AsyncConnectionPool(url, **options) as pool:
            for client in (connection, pool):
                with pytest.raises(ConfigError, match=r"synchronous handle.*Async"):
                    holdall.open_store(url, client=client)
        with psycopg.connect(url) as blocking, psycopg_pool.ConnectionPool(url, **options) as pool:
            for client in (blocking, pool, object(), "text"):
                store = holdall.open_async_store(url, client=client)
                with pytest.raises(ConfigError, match="asynchronous handle"):
                    await store.ping()

    asyncio.run(suspending())
    for client in (object(), "text", 1):
        with pytest.raises(ConfigError, match=r"psycopg\.Connection or a psycopg_pool\.ConnectionPool"):
            holdall.open_store(url, client=client)


def test_threads_share_a_pool_that_is_smaller_than_they_are_many(url):
    with holdall.open_store(url) as store:
        counted_in_threads(store)
        assert store.get("s", "k").value == MANY * ROUNDS


def test_threads_share_a_pool_of_two_of_the_callers(url):
    with (
        psycopg_pool.ConnectionPool(url, min_size=0, max_size=2, open=True) as pool,
        holdall.open_store(url, client=pool, timeout=30) as store,
    ):
        counted_in_threads(store)
        assert store.get("s", "k").value == MANY * ROUNDS
        assert pool.get_stats()["pool_size"] <= 2


def test_tasks_share_a_pool_that_is_smaller_than_they_are_many(url):
    async def main():
        async with holdall.open_async_store(url) as store:
            await counted_in_tasks(store)
            assert (await store.get("s", "k")).value == MANY * ROUNDS

    asyncio.run(main())


def test_tasks_share_a_pool_of_two_of_the_callers(url):
    async def main():
        async with (
            psycopg_pool.AsyncConnectionPool(url, min_size=0, max_size=2, open=False) as pool,
            holdall.open_async_store(url, client=pool, timeout=30) as store,
        ):
            await counted_in_tasks(store)
            assert (await store.get("s", "k")).value == MANY * ROUNDS

    asyncio.run(main())


@pytest.fixture
def locked(url):
    """A row that somebody else has locked, so that whoever writes it waits, and keeps a connection."""
    with psycopg.connect(url) as connection:
        connection.execute("SELECT FROM holdall_records WHERE key = 'k' FOR UPDATE")
        yield url
        connection.rollback()


@pytest.mark.parametrize("kind", KINDS)
def test_who_gets_no_connection_is_told_in_time(locked, kind):
    """All connections of the pool wait for a row; whoever comes then waits as long as the timeout says."""

    async def suspending():
        async with holdall.open_async_store(locked, timeout=2) as store:
            await store.get("s", "k")
            writers = [asyncio.create_task(store.put("s", "k", 1)) for _ in range(WRITERS)]
            await asyncio.sleep(0.5)
            outcomes = await asyncio.gather(*(store.get("s", "other") for _ in range(MANY)), return_exceptions=True)
            return outcomes + await asyncio.gather(*writers, return_exceptions=True)

    def blocking():
        outcomes = []

        def note(call):
            try:
                outcomes.append(call())
            except holdall.HoldallError as error:
                outcomes.append(error)

        with holdall.open_store(locked, timeout=2) as store:
            writers = [threading.Thread(target=note, args=[lambda: store.put("s", "k", 1)]) for _ in range(WRITERS)]
            readers = [threading.Thread(target=note, args=[lambda: store.get("s", "other")]) for _ in range(MANY)]
            for thread in writers:
                thread.start()
            threading.Event().wait(0.5)
            for thread in readers:
                thread.start()
            for thread in writers + readers:
                thread.join(60)
                assert not thread.is_alive()
        return outcomes

    outcomes = asyncio.run(suspending()) if kind == "async" else blocking()
    assert len(outcomes) >= MANY
    for outcome in outcomes:
        assert outcome is None or isinstance(outcome, str | holdall.HoldallError), outcome
    refused = [outcome for outcome in outcomes if isinstance(outcome, Unavailable)]
    assert refused
    assert {error.message for error in refused} <= {
        f"all {MOST_CONNECTIONS} connections of the pool were busy until the time was up",
        "no connection to the server could be made in time",  # on a busy machine
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_pool_of_the_callers_that_is_used_up_is_told_in_time(url, kind):
    async def suspending():
        async with (
            psycopg_pool.AsyncConnectionPool(url, min_size=0, max_size=1, open=False) as pool,
            holdall.open_async_store(url, client=pool, timeout=1) as store,
        ):
            await store.get("s", "k")
            async with pool.connection():
                with pytest.raises(Unavailable, match="no connection"):
                    await store.get("s", "k")
            assert (await store.get("s", "k")).value == 0

    if kind == "async":
        asyncio.run(suspending())
        return
    with (
        psycopg_pool.ConnectionPool(url, min_size=0, max_size=1, open=True) as pool,
        holdall.open_store(url, client=pool, timeout=1) as store,
    ):
        with pool.connection(), pytest.raises(Unavailable, match="no connection"):
            store.get("s", "k")
        assert store.get("s", "k").value == 0


@pytest.mark.parametrize("rows", ["dict_row", "namedtuple_row", "scalar_row"])
@pytest.mark.parametrize("cursor", ["Cursor", "ClientCursor", "RawCursor"])
def test_the_rows_and_cursors_of_a_connection_that_is_lent_do_not_matter(url, rows, cursor):
    factory = getattr(psycopg.rows, rows)
    with psycopg.connect(url, row_factory=factory, cursor_factory=getattr(psycopg, cursor)) as connection:
        with holdall.open_store(url, client=connection) as store, holdall.open_lock(store) as lock:
            use(store, lock)
        assert connection.row_factory is factory


@pytest.mark.parametrize("cursor", ["AsyncCursor", "AsyncClientCursor", "AsyncRawCursor"])
def test_nor_do_those_of_one_that_suspends(url, cursor):
    async def main():
        kind = getattr(psycopg, cursor)
        row_factory = psycopg.rows.dict_row
        async with (
            await psycopg.AsyncConnection.connect(url, row_factory=row_factory, cursor_factory=kind) as connection,
            holdall.open_async_store(url, client=connection) as store,
            holdall.open_async_lock(store) as lock,
        ):
            await use_suspending(store, lock)

    asyncio.run(main())


def test_a_cancel_at_the_very_end_of_the_switch_to_autocommit_is_undone():
    """As where a task is cancelled while the switch is done, but not yet told."""

    class Cancelled:
        closed, autocommit = False, False
        pgconn = types.SimpleNamespace(transaction_status=0)

        async def set_autocommit(self, value):
            self.autocommit = value
            if value:
                raise asyncio.CancelledError

    class Pool:
        given = Cancelled()

        async def getconn(self, timeout):
            return self.given

        async def putconn(self, connection):
            assert connection is self.given

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(LentPool(Pool(), lambda: 0.0).take(1.0))
    assert Pool.given.autocommit is False
