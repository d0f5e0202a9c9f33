"""Clients that the caller brings, pools that are too small for all who want a connection, and loops that end."""

from __future__ import annotations

import asyncio
import gc
import time

import pytest

import holdall
from holdall import ConfigError
from tests.adapters.crowds import MANY, counted_in_tasks, counted_in_threads, use, use_suspending

pymongo = pytest.importorskip("pymongo")


pytestmark = [
    pytest.mark.usefixtures("sockets_of_pymongo"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


@pytest.fixture
def url(mongodb_database):
    """A database whose collections are there, with one record."""
    with holdall.open_store(mongodb_database) as store:
        store.put("s", "k", 0)
    return mongodb_database


def test_a_client(url):
    with pymongo.MongoClient(url) as client:
        with holdall.open_store(url, client=client) as store, holdall.open_lock(store) as lock:
            use(store, lock)
        assert client.admin.command("ping")["ok"] == 1


def elsewhere(url):
    """Return a URL whose server is not there, and what a client of the right one is made with."""
    place, _, options = url.partition("?")
    address, _, database = place.removeprefix("mongodb://").rpartition("/")
    host, _, port = address.rpartition(":")
    return f"mongodb://nowhere.invalid/{database}?{options}", {
        "host": host,
        "port": int(port),
        "directConnection": True,
    }


def test_leases_are_renewed_by_what_the_client_was_made_with_and_not_by_the_url(url):
    other, made_with = elsewhere(url)
    with (
        pymongo.MongoClient(**made_with, retryWrites=False) as client,
        holdall.open_lock(other, client=client) as lock,
        lock.hold("k", ttl=1, heartbeat=0.1) as hold,
    ):
        time.sleep(1.5)
        assert not hold.lost


def test_so_are_those_of_a_client_that_suspends(url):
    async def main():
        other, made_with = elsewhere(url)
        async with (
            pymongo.AsyncMongoClient(**made_with, retryWrites=False) as client,
            holdall.open_async_lock(other, client=client) as lock,
            lock.hold("k", ttl=1, heartbeat=0.1) as hold,
        ):
            await asyncio.sleep(1.5)
            assert not hold.lost

    asyncio.run(main())


def test_a_client_that_suspends(url):
    async def main():
        async with pymongo.AsyncMongoClient(url) as client:
            async with (
                holdall.open_async_store(url, client=client) as store,
                holdall.open_async_lock(store) as lock,
            ):
                await use_suspending(store, lock)
            assert (await client.admin.command("ping"))["ok"] == 1

    asyncio.run(main())


def test_what_atlas_puts_into_a_connection_string_is_taken(url):
    with holdall.open_store(f"{url}&w=majority&appName=Cluster0") as store:
        assert store.get("s", "k").value == 0


def test_a_client_of_motor(url):
    motor = pytest.importorskip("motor.motor_asyncio")

    async def main():
        client = motor.AsyncIOMotorClient(url)
        try:
            async with (
                holdall.open_async_store(url, client=client) as store,
                holdall.open_async_lock(store) as lock,
            ):
                await use_suspending(store, lock)
                assert [record.key for record in (await store.scan("s")).items] == ["a", "b", "k", "used"]
                assert [entry.value for entry in await store.read("s", "log")] == [1]
                async for entry in store.follow("s", "log", timeout=0.5):
                    assert entry.value == 1
            assert (await client.admin.command("ping"))["ok"] == 1
        finally:
            client.close()

    asyncio.run(main())


def test_a_client_of_the_wrong_kind_is_named(url):
    async def suspending():
        async with pymongo.AsyncMongoClient(url) as client:
            with pytest.raises(ConfigError, match=r"synchronous handle.*not a AsyncMongoClient"):
                holdall.open_store(url, client=client)
        with pymongo.MongoClient(url) as blocking:
            for client in (blocking, object(), "text"):
                store = holdall.open_async_store(url, client=client)
                with pytest.raises(ConfigError, match="asynchronous handle"):
                    await store.ping()

    asyncio.run(suspending())
    for client in (object(), "text", 1):
        with pytest.raises(ConfigError, match="MongoClient"):
            holdall.open_store(url, client=client)


def test_threads_share_a_pool_of_two(url):
    with holdall.open_store(f"{url}&maxPoolSize=2", timeout=60) as store:
        counted_in_threads(store, 2)
        assert store.get("s", "k").value == MANY * 2


def test_tasks_share_a_pool_of_two(url):
    async def main():
        async with holdall.open_async_store(f"{url}&maxPoolSize=2", timeout=60) as store:
            await counted_in_tasks(store, 1)
            assert (await store.get("s", "k")).value == MANY

    asyncio.run(main())


def test_a_pool_of_the_callers_that_is_used_up_is_told_in_time(url):
    with (
        pymongo.MongoClient(url, maxPoolSize=1, waitQueueTimeoutMS=500) as client,
        holdall.open_store(url, client=client, timeout=2) as store,
    ):
        with client.start_session() as session, session.start_transaction():
            client.get_default_database().other.insert_one({"a": 1}, session=session)
            assert store.get("s", "k").value == 0  # a transaction keeps no connection
        assert store.get("s", "k").value == 0


def test_a_handle_that_another_loop_uses_says_so_and_leaves_nothing_open(url):
    store = holdall.open_async_store(url)

    async def add(store):
        return await store.update("s", "k", lambda value: value + 1)

    assert asyncio.run(add(store)).value == 1
    with pytest.raises(holdall.WrongLoop):
        asyncio.run(add(store))
    del store
    gc.collect()  # a socket that nobody closed would be an error here


def test_fifty_clients_on_one_key(url):
    async def main():
        stores = [holdall.open_async_store(url, timeout=60) for _ in range(MANY)]

        async def add(store):
            for _ in range(4):
                await store.update("s", "k", lambda value: value + 1)
            await store.close()

        await asyncio.gather(*(add(store) for store in stores))

    asyncio.run(main())
    with holdall.open_store(url) as store:
        assert store.get("s", "k").value == MANY * 4
