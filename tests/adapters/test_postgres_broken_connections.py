"""Backends that are ended, servers that restart, transactions that are in each other's way: all of it under load."""

from __future__ import annotations

import asyncio
import contextlib
import threading

import pytest

import holdall
from holdall import ABSENT, Append, OutcomeUnknown, Put, StoreTimeout, Unavailable
from tests.adapters.handles import KINDS, opened

psycopg = pytest.importorskip("psycopg")
psycopg_pool = pytest.importorskip("psycopg_pool")

WORKERS = 6
NOTHING_DONE = (Unavailable, StoreTimeout)


class Ledger:
    """What a worker knows: it alone writes its record and its log, so no conflict is true."""

    def __init__(self, number):
        self.scope, self.key = "broken", f"worker{number}"
        self.version, self.head = ABSENT, ABSENT
        self.written, self.acknowledged, self.unknown = 0, 0, 0

    async def work(self, store):
        """Write once in each way; look after an outcome that is not known, as the error says."""
        self.written += 1
        await self._try(store, self._put)
        await self._try(store, self._append)
        await self._try(store, self._commit)

    async def _try(self, store, write):
        try:
            await write(store)
            self.acknowledged += 1
        except OutcomeUnknown:
            self.unknown += 1
            await self._look(store)
        except NOTHING_DONE:
            pass

    async def _put(self, store):
        self.version = await store.put(self.scope, self.key, self.written, expect=self.version)

    async def _append(self, store):
        entries = [self.written] * 2
        self.head = (await store.append(self.scope, self.key, entries, expect=self.head)).head

    async def _commit(self, store):
        put = Put(self.scope, self.key, self.written, expect=self.version)
        append = Append(self.scope, self.key, [-self.written] * 2, expect=self.head)
        self.version, appended = await store.commit([put, append])
        self.head = appended.head

    async def _look(self, store):
        while True:
            with contextlib.suppress(*NOTHING_DONE):
                record = await store.get(self.scope, self.key)
                self.version = ABSENT if record is None else record.version
                self.head = await store.head(self.scope, self.key) or ABSENT
                return

    async def check(self, store):
        """Compare what is stored with what was acknowledged."""
        entries = [entry.value for entry in await store.read(self.scope, self.key)]
        assert entries[::2] == entries[1::2]
        assert len(set(entries)) * 2 == len(entries), "an append was applied twice"
        record = await store.get(self.scope, self.key)
        if self.version is not ABSENT:
            assert record.version == self.version
        if self.head is not ABSENT:
            assert await store.head(self.scope, self.key) == self.head


class Awaitable:
    """A synchronous store whose methods are awaited."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        method = getattr(self._store, name)

        async def call(*arguments, **named):
            return method(*arguments, **named)

        return call


def under_load(kind, url, disturb):
    """Let workers write while something is done to the server, and check what is stored afterwards."""
    over, ledgers, errors = threading.Event(), [Ledger(number) for number in range(WORKERS)], []

    async def loop(ledger, store):
        while not over.is_set():
            await ledger.work(store)

    async def suspending():
        async with holdall.open_async_store(url, timeout=10) as store, asyncio.TaskGroup() as group:
            for ledger in ledgers:
                group.create_task(loop(ledger, store))

    def run(coroutine):
        try:
            asyncio.run(coroutine)
        except BaseException as error:  # noqa: BLE001 - the test shows it
            errors.append(error)

    with holdall.open_store(url, timeout=10) as store:
        work = [suspending()] if kind == "async" else [loop(ledger, Awaitable(store)) for ledger in ledgers]
        threads = [threading.Thread(target=run, args=[coroutine]) for coroutine in work]
        for thread in threads:
            thread.start()
        try:
            disturb()  # in the main thread: a server that it starts ends with the thread that started it
        finally:
            over.set()
            for thread in threads:
                thread.join()
        assert errors == []
        for ledger in ledgers:
            asyncio.run(ledger.check(Awaitable(store)))
    assert sum(ledger.acknowledged for ledger in ledgers) > 0
    return ledgers


@pytest.fixture(autouse=True)
def quiet(caplog):
    """Whatever happens to connections, the driver has nothing to tell the log of the program."""
    yield
    told = [record for when in ("setup", "call") for record in caplog.get_records(when)]
    assert [record.getMessage() for record in told if record.name.startswith("psycopg")] == []


@pytest.mark.parametrize("through", ["postgres", "pgbouncer"])
@pytest.mark.parametrize("kind", KINDS)
def test_backends_are_ended_again_and_again(postgres_url, pgbouncer_url, postgres_database, kind, through):
    name = postgres_database.rpartition("/")[2]
    url = postgres_database if through == "postgres" else f"{pgbouncer_url.rpartition('/')[0]}/{name}"
    ended = []

    def disturb():
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            for _ in range(40):
                threading.Event().wait(0.05)
                rows = connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
                ).fetchall()
                ended.extend(rows)

    under_load(kind, url, disturb)
    assert len(ended) > 20


@pytest.mark.parametrize("kind", KINDS)
def test_the_server_restarts(local_postgres, kind):
    with psycopg.connect(local_postgres.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE restarted_{kind}")

    def disturb():
        for _ in range(2):
            threading.Event().wait(0.5)
            local_postgres.stop()
            threading.Event().wait(0.3)
            local_postgres.start()
        threading.Event().wait(0.5)

    url = f"{local_postgres.url.rpartition('/')[0]}/restarted_{kind}"
    ledgers = under_load(kind, url, disturb)
    assert all(ledger.acknowledged for ledger in ledgers)


def count_in_threads(store, count):
    errors = []

    def work(number):
        try:
            for _ in range(count):
                store.put("serial", "any", number)
                store.append("serial", "log", [number])
                store.update("serial", "counted", lambda value: (value or 0) + 1)
        except Exception as error:  # noqa: BLE001 - the test shows it
            errors.append(error)

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_serialization_failures_are_tried_again(postgres_database):
    """A pool of the caller's that insists on serializable transactions: the server refuses most of what is at once."""
    settings = {"options": "-c default_transaction_isolation=serializable", "autocommit": True}
    with (
        psycopg_pool.ConnectionPool(postgres_database, min_size=0, max_size=8, kwargs=settings, open=True) as pool,
        holdall.open_store(postgres_database, client=pool, timeout=60) as store,
    ):
        assert count_in_threads(store, 20) == []
        assert store.get("serial", "counted").value == 160
        assert len(store.read("serial", "log")) == 160


def test_own_connections_do_not_inherit_another_isolation(postgres_url, postgres_database):
    name = postgres_database.rpartition("/")[2]
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
    with holdall.open_store(postgres_database) as store:
        assert count_in_threads(store, 5) == []
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        assert connection.execute("SHOW transaction_isolation").fetchone() == ("serializable",)


@pytest.mark.parametrize("kind", KINDS)
def test_a_deadlock_is_tried_again(postgres_database, kind):
    """Somebody locks two rows in the other order than a commit does; the commit gives way, and succeeds afterwards."""
    operations = [Put("dead", "a", 2), Put("dead", "b", 2)]
    outcome = []

    def commit():
        if kind == "async":

            async def main():
                async with holdall.open_async_store(postgres_database, timeout=30) as store:
                    return await store.commit(operations)

            outcome.append(asyncio.run(main()))
        else:
            with holdall.open_store(postgres_database, timeout=30) as store:
                outcome.append(store.commit(operations))

    with holdall.open_store(postgres_database) as store:
        store.put_many("dead", {"a": 1, "b": 1})
    lock = "SELECT FROM holdall_records WHERE scope = 'dead' AND key = %s FOR UPDATE"
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    with psycopg.connect(postgres_database) as rival, psycopg.connect(postgres_database, autocommit=True) as watcher:
        rival.execute("SET deadlock_timeout = '20s'")
        rival.execute(lock, [b"b"])
        thread = threading.Thread(target=commit)
        thread.start()
        while watcher.execute(waiting).fetchone() == (0,):
            threading.Event().wait(0.01)
        rival.execute(lock, [b"a"])  # comes back only when the server has ended the commit's transaction
        rival.commit()
        thread.join(60)
    assert len(outcome) == 1
    with holdall.open_store(postgres_database) as store:
        assert [record.value for record in store.get_many("dead", ["a", "b"])] == [2, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_a_lock_that_is_not_free_in_time_leaves_nothing(postgres_database, kind):
    """The server ends the statement before nobody waits for it any more, so that it is not applied later on."""
    with opened(kind, postgres_database, timeout=1.5) as handles:
        run, store = handles.run, handles.store
        run(store.put("s", "k", 1))
        run(store.append("s", "k", [1]))
        with psycopg.connect(postgres_database) as rival:
            rival.execute("SELECT FROM holdall_records, holdall_logs FOR UPDATE")
            for call in (
                lambda: store.put("s", "k", 2),
                lambda: store.append("s", "k", [2]),
                lambda: store.delete("s", "k"),
                lambda: store.commit([Put("s", "a", 2), Put("s", "k", 2)]),
            ):
                with pytest.raises(StoreTimeout, match="nothing was applied"):
                    run(call())
            rival.rollback()
        assert run(store.get("s", "k")).value == 1
        assert run(store.get("s", "a")) is None
        assert run(store.head("s", "k")).length == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_lock_that_is_not_free_in_time_behind_a_pooler_leaves_the_outcome_open(
    pgbouncer_url, postgres_database, kind
):
    pooled = f"{pgbouncer_url.rpartition('/')[0]}/{postgres_database.rpartition('/')[2]}"
    with opened(kind, pooled, timeout=1.5) as handles:
        run, store = handles.run, handles.store
        run(store.put("s", "k", 1))
        with psycopg.connect(postgres_database) as rival:
            rival.execute("SELECT FROM holdall_records FOR UPDATE")
            with pytest.raises(OutcomeUnknown):
                run(store.put("s", "k", 2))
            rival.rollback()
        assert run(store.get("s", "k")).value in (1, 2)
