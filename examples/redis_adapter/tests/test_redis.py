"""What only Redis has: two keys that change together, servers that are refused, answers that do not come."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time

import pytest
import redis.exceptions
from hypothesis import given, settings
from hypothesis import strategies as st

import holdall
from holdall.drive import drive
from holdall.spi import ABSENT, ANY, Mismatch
from holdall_redis.backend import RedisBackend
from holdall_redis.errors import no_answer, refused
from holdall_redis.link import BlockingLink, SuspendingLink

ALLOWED = "+@all -config"
KEYS = st.lists(st.sampled_from([b"\x00", b"a", b"b", b"\xff", b"\xfe", b"(", b"[", b"a" * 70]), min_size=1, max_size=4)
KEY = KEYS.map(b"".join)


def address(server) -> dict[str, object]:
    return {"host": "127.0.0.1", "port": server.port, "db": 0}


@contextlib.contextmanager
def backend_on(server, prefix, timeout=5):
    backend = RedisBackend(BlockingLink(address(server), timeout), prefix)
    try:
        yield backend
    finally:
        drive(backend.close())


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.booleans(), KEY), min_size=5, max_size=30), KEY, KEY, st.integers(1, 9))
def test_it_is_an_ordered_dictionary(server, steps, prefix, after, limit):
    with server.client() as client:
        client.flushdb()
    with backend_on(server, "model") as backend:
        model: dict[bytes, bytes] = {}
        for number, (writing, key) in enumerate(steps):
            if writing:
                model[key] = drive(backend.put(key, b"\r\n\x00\xff%d" % number, ANY))
            else:
                drive(backend.delete(key, ANY))
                model.pop(key, None)
        for start in (prefix, prefix[:1], b""):
            for behind in (after, None):
                wanted = sorted(key for key in model if key.startswith(start) and (behind is None or key > behind))
                found = drive(backend.scan(start, behind, limit))
                assert [(each.key, each.payload) for each in found] == [(key, model[key]) for key in wanted[:limit]]
        assert all(drive(backend.get(key)).payload == payload for key, payload in model.items())


def test_conditions_hold_and_refusals_change_nothing(server):
    with backend_on(server, "conditions") as backend:
        tag = drive(backend.put(b"k", b"1", ABSENT))
        for attempt in (
            backend.put(b"k", b"2", ABSENT),
            backend.put(b"k", b"2", b"other"),
            backend.put(b"new", b"2", b"other"),
            backend.delete(b"k", b"other"),
            backend.delete(b"new", b"other"),
        ):
            with pytest.raises(Mismatch):
                drive(attempt)
        assert [each.payload for each in drive(backend.scan(b"", None, 9))] == [b"1"]
        drive(backend.delete(b"k", tag))
        with server.client() as client:
            assert client.keys("{conditions}*") == []


def test_a_page_of_many_thousand_items(server):
    with backend_on(server, "many") as backend:
        for number in range(9000):
            drive(backend.put(b"%05d" % number, b"v", ANY))
        assert len(drive(backend.scan(b"", None, 10_000))) == 9000


def test_prefixes_and_databases_are_apart(server):
    urls = [server.url + "?prefix=one", server.url + "?prefix=two", server.url[:-1] + "1?prefix=one"]
    with contextlib.ExitStack() as stack:
        stores = [stack.enter_context(holdall.open_store(url)) for url in urls]
        for number, store in enumerate(stores):
            store.put("s", "k", number)
        assert [store.get("s", "k").value for store in stores] == [0, 1, 2]


def test_a_value_that_somebody_has_taken_away_is_damage(server):
    with backend_on(server, "damaged") as backend, server.client() as client:
        drive(backend.put(b"k", b"1", ANY))
        client.delete("{damaged}:values")
        with pytest.raises(holdall.Corrupt):
            drive(backend.scan(b"", None, 9))


@pytest.mark.parametrize("taken", ["keys", "values"])
def test_keys_of_somebody_elses_are_left_alone(server, taken):
    with backend_on(server, "taken") as backend, server.client() as client:
        client.delete("{taken}:keys", "{taken}:values")
        client.set("{taken}:" + taken, "mine")
        with pytest.raises(holdall.ConfigError, match="prefix"):
            drive(backend.put(b"k", b"1", ANY))
        assert client.keys("{taken}*") == [b"{taken}:" + taken.encode()]


def test_what_is_acknowledged_survives_the_kill_of_the_server(serve):
    server = serve("--appendonly", "yes", "--appendfsync", "always")
    with holdall.open_store(server.url) as store:
        store.put("s", "k", 1)
        server.kill()
        with pytest.raises(holdall.Unavailable):
            store.put("s", "k", 2)
        server.start()
        assert store.get("s", "k").value == 1


def test_a_server_that_does_not_sync_must_be_asked_for(serve):
    server = serve("--appendonly", "yes", "--appendfsync", "everysec")
    with pytest.raises(holdall.ConfigError, match="appendfsync"):
        holdall.open_store(server.url)
    with holdall.open_store(server.url + "?durability=relaxed") as store:
        store.put("s", "k", 1)
    with server.client() as client:
        client.config_set("appendfsync", "always")
        holdall.open_store(server.url).close()
        client.config_set("no-appendfsync-on-rewrite", "yes")
        with pytest.raises(holdall.ConfigError, match="rewrite"):
            holdall.open_store(server.url)
        client.config_set("no-appendfsync-on-rewrite", "no")
        client.execute_command("ACL", "SETUSER", "app", "on", ">p@ss:/", "~*", *ALLOWED.split())
    url = server.url.replace("//", "//app:p%40ss%3A%2F@")
    with pytest.raises(holdall.ConfigError, match="does not say"):
        holdall.open_store(url)
    holdall.open_store(url + "?durability=relaxed").close()
    with pytest.raises(holdall.ConfigError, match="password"):
        holdall.open_store(server.url.replace("//", "//app:wrong@"))


@pytest.mark.parametrize(
    "settings,message",
    [
        (("--maxmemory-policy", "allkeys-lru"), "noeviction"),
        (("--cluster-enabled", "yes"), "Cluster"),
        (("--appendonly", "no"), "appendonly"),
        (("--replicaof", "127.0.0.1", "1"), "replica"),
    ],
)
def test_servers_that_could_not_keep_a_promise_are_refused(serve, settings, message):
    server = serve(*settings)
    with pytest.raises(holdall.ConfigError, match=message):
        holdall.open_store(server.url + "?durability=relaxed")


def test_a_full_server_and_a_replica_say_so_and_nothing_is_written(serve):
    server = serve("--maxmemory", "4mb")
    with backend_on(server, "p") as backend, server.client() as client:
        drive(backend.put(b"k", b"1", ANY))
        with pytest.raises(holdall.Unavailable, match="maxmemory"):  # noqa: PT012 - one of them, whichever
            for number in range(9):
                drive(backend.put(b"k%d" % number, b"x" * 2**20, ANY))
        assert client.zcard("{p}:keys") == client.hlen("{p}:values")
        drive(backend.delete(b"k0", ANY))
        client.config_set("maxmemory", 0)
        client.replicaof("127.0.0.1", 1)
        with pytest.raises(holdall.Unavailable, match="replica"):
            drive(backend.put(b"k", b"2", ANY))
        client.replicaof("NO", "ONE")
        assert drive(backend.get(b"k")).payload == b"1"


def test_a_write_without_an_answer_is_open_and_is_not_sent_again():
    received: list[bytes] = []

    def serve_once(listening):
        connection, _ = listening.accept()
        with connection:
            while not any(b"EVAL" in each for each in received):
                received.append(connection.recv(65536))
                if b"EVAL" not in received[-1]:
                    connection.sendall(b"+OK\r\n" * received[-1].count(b"*"))
        listening.close()

    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=serve_once, args=(listening,))
    thread.start()
    link = BlockingLink({"host": "127.0.0.1", "port": listening.getsockname()[1], "db": 0}, 5)
    with pytest.raises(holdall.OutcomeUnknown) as caught:
        drive(RedisBackend(link, "p").put(b"k", b"1", ABSENT))
    thread.join()
    assert isinstance(caught.value.__cause__, redis.exceptions.ConnectionError)
    assert sum(each.count(b"EVAL") for each in received) == 1


def test_a_server_that_stands_still_is_waited_for_no_longer_than_the_timeout(server):
    async def attempt(link, error, *command: bytes | str, writing: bool) -> None:
        await link.request("PING")
        with server.client() as client:
            client.execute_command("CLIENT", "PAUSE", 2000)
            began = time.monotonic()
            with pytest.raises(error):
                await link.request(*command, writing=writing)
            assert time.monotonic() - began < 1.5
            with pytest.raises(holdall.StoreTimeout):
                await link.request(*command, writing=writing)  # on a new connection, which is not greeted
            client.execute_command("CLIENT", "UNPAUSE")
        await link.request("PING")

    async def attempts(kind) -> None:
        link = kind(address(server), 0.3)
        await attempt(link, holdall.StoreTimeout, "GET", "k", writing=False)
        await attempt(link, holdall.OutcomeUnknown, "SET", "k", "1", writing=True)
        await link.close()

    drive(attempts(BlockingLink))
    asyncio.run(attempts(SuspendingLink))


def test_a_cancelled_read_leaves_its_answer_to_nobody(server):
    async def main() -> None:
        link = SuspendingLink(address(server), 5)
        backend = RedisBackend(link, "cancelled")
        await backend.put(b"a", b"of a", ANY)
        await backend.put(b"b", b"of b", ANY)
        for _ in range(50):
            task = asyncio.ensure_future(backend.get(b"a"))
            await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            assert (await backend.get(b"b")).payload == b"of b"
        await backend.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    "url", ["redis://", "redis://host/db", "redis://host:port", "redis://h?prefix=", "redis://h?prefix=%7Ba"]
)
def test_wrong_urls_are_errors_of_configuration(url):
    with pytest.raises(holdall.ConfigError):
        holdall.open_store(url)


def test_wrong_servers_and_clients_are_errors_too(server):
    with pytest.raises(holdall.ConfigError, match="database"):
        holdall.open_store(server.url + "99")
    with server.client() as client, pytest.raises(holdall.ConfigError, match="client"):
        holdall.open_store(server.url, client=client)


def test_what_the_table_does_not_know_leaves_a_write_open():
    error = redis.exceptions.ResponseError("ERR something new")
    assert type(refused(error, writing=True)) is holdall.OutcomeUnknown
    assert type(refused(error, writing=False)) is holdall.Unavailable
    lost = redis.exceptions.ConnectionError("gone")
    assert type(no_answer(lost, writing=True)) is holdall.OutcomeUnknown
    assert type(no_answer(lost, writing=False)) is holdall.Unavailable
