"""A database that somebody else keeps locked."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import holdall
from holdall import ABSENT, Append, Put, StoreTimeout
from holdall.clock import boot_time
from holdall_conformance.harness import Harness
from tests.processes.work import integrity, waited

TIMEOUT = 0.2
FAR_TOO_LONG = 5.0

WRITES: dict[str, Callable[[Any], Any]] = {
    "put": lambda store: store.put("s", "k", "new"),
    "put-absent": lambda store: store.put("s", "new", "new", expect=ABSENT),
    "update": lambda store: store.update("s", "k", lambda _: "new"),
    "touch": lambda store: store.touch("s", "k", 60),
    "delete": lambda store: store.delete("s", "k"),
    "put_many": lambda store: store.put_many("s", {"k": "new"}),
    "delete_many": lambda store: store.delete_many("s", ["k"]),
    "clear": lambda store: store.clear("s"),
    "append": lambda store: store.append("s", "log", ["new"]),
    "append-first": lambda store: store.append("s", "new", ["new"], expect=ABSENT),
    "truncate": lambda store: store.truncate("s", "log", 1),
    "drop": lambda store: store.drop("s", "log"),
    "seal": lambda store: store.seal("s", "k", 9),
    "seal-log": lambda store: store.seal("s", "log", 9, log=True),
    "commit": lambda store: store.commit([Put("s", "k", "new"), Append("s", "log", ["new"])]),
    "sweep": lambda store: store.sweep(),
}


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep the write lock of a database."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")
    finally:
        connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database that holds a record and a log."""
    made = tmp_path / "x.db"
    with holdall.open_store(f"sqlite:///{made}") as store:
        store.put("s", "k", "old")
        store.append("s", "log", ["old"])
    return made


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_write_that_waits_too_long_raises_store_timeout_and_writes_nothing(path: Path, asynchronous: bool) -> None:
    with Harness(f"sqlite:///{path}", asynchronous=asynchronous) as harness:
        store = harness.open_store(timeout=TIMEOUT)
        with locked(path):
            for name, write in WRITES.items():
                started = boot_time()
                with pytest.raises(StoreTimeout):
                    write(store)
                assert 0.9 * TIMEOUT <= waited(started) < FAR_TOO_LONG, name
        check_old(store)
        store.put("s", "k", "new")
    integrity(path)


def check_old(store: Any) -> None:
    record = store.get("s", "k")
    assert (record.value, record.expires_in) == ("old", None)
    assert [entry.value for entry in store.read("s", "log")] == ["old"]
    assert list(store.keys("s").items) == ["k"]
    assert list(store.logs("s").items) == ["log"]
    store.put("s", "k", "old", fence=1)  # no seal has got in


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_lock_waits_no_longer_than_its_timeout(path: Path, asynchronous: bool) -> None:
    with Harness(f"sqlite:///{path}", asynchronous=asynchronous) as harness:
        lock = harness.open_lock(timeout=TIMEOUT)
        lease = lock.acquire("held", ttl=60, timeout=0)
        brief = lock.acquire("brief", ttl=0.4, timeout=0)
        with locked(path):
            for call in (
                lambda: lock.try_acquire("free"),
                lambda: lock.renew(lease),
                lambda: lock.release(lease),
                lambda: lock.set_flag("flag"),
                lambda: lock.raise_floor("free", 5),
            ):
                started = boot_time()
                with pytest.raises(StoreTimeout):
                    call()
                assert 0.9 * TIMEOUT <= waited(started) < FAR_TOO_LONG
            started = boot_time()
            with pytest.raises(StoreTimeout):
                lock.renew(brief)  # waits for a quarter of its ttl
            assert 0.9 * brief.ttl / 4 <= waited(started) < FAR_TOO_LONG
        assert lock.renew(lease).token == lease.token
        assert not lock.held("free")
        assert not lock.flag("flag")


def test_readers_are_not_held_up_by_a_writer(path: Path) -> None:
    with holdall.open_store(f"sqlite:///{path}", timeout=TIMEOUT) as store, locked(path):
        check_reads(store)
        with holdall.open_store(f"sqlite:///{path}", timeout=TIMEOUT) as another:  # opening writes nothing either
            check_reads(another)
        with holdall.open_lock(f"sqlite:///{path}", timeout=TIMEOUT) as lock:
            assert not lock.held("free")
            assert not lock.flag("flag")


def check_reads(store: Any) -> None:
    assert store.get("s", "k").value == "old"
    assert [entry.value for entry in store.read("s", "log")] == ["old"]
    assert store.head("s", "log").length == 1
    assert store.scan("s").items[0].key == "k"
    assert list(store.scopes().items) == ["s"]
    assert [record.value for record in store.get_many("s", ["k"])] == ["old"]


def test_cancelled_wait_leaves_the_handle_usable(path: Path) -> None:
    async def wait_and_give_up() -> None:
        async with holdall.open_async_store(f"sqlite:///{path}", timeout=TIMEOUT) as store:
            with locked(path):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(store.put("s", "k", "cancelled"), TIMEOUT / 4)
                await asyncio.sleep(2 * TIMEOUT)  # the wait in the thread ends by itself
            await store.append("s", "log", ["new"])
            record = await store.get("s", "k")
            assert record is not None
            assert record.value == "old"

    asyncio.run(wait_and_give_up())
