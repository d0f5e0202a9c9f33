"""Checked by mypy and pyright, never run: what users write has the types they expect."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, assert_type

import holdall
from holdall import ABSENT, Append, Appended, Check, Delete, Entries, Entry, Head, Holder, Lease, Page, Put, Record


def synchronous(store: holdall.Store, lock: holdall.Lock) -> None:
    assert_type(store.get("s", "k"), Record | None)
    assert_type(store.get_many("s", ["k"]), list[Record | None])
    assert_type(store.put("s", "k", {"a": [1]}, expect=ABSENT, ttl=1.5, fence=3), str)
    assert_type(store.update("s", "k", lambda value: value), Record)
    assert_type(store.touch("s", "k", None), bool)
    assert_type(store.delete("s", "k", expect="version"), bool)
    assert_type(store.put_many("s", {"k": 1}), int)
    assert_type(store.scan("s", "p", after=None, limit=5), Page[Record])
    assert_type(store.keys("s").items[0], str)
    assert_type(store.append("s", "l", [1, "two"], expect=3, batch_id="b"), Appended)
    assert_type(store.read("s", "l"), Entries)
    assert_type(store.read("s", "l")[0], Entry)
    assert_type(store.head("s", "l"), Head | None)
    assert_type(store.truncate("s", "l", 5), int)
    assert_type(store.follow("s", "l", timeout=1), Iterator[Entry])
    assert_type(store.iter_records("s"), Iterator[Record])
    assert_type(
        store.commit([Put("s", "k", 1), Delete("s", "j"), Append("s", "l", [1]), Check("s", "c", ABSENT)]), list[Any]
    )
    assert_type(store.transaction(count), int)
    with lock.hold("k", ttl=5) as hold:
        assert_type(hold.lease, Lease)
        assert_type(hold.remaining, float)
        store.append("s", "l", [1], fence=hold.lease)
    assert_type(lock.try_acquire("k"), Lease | None)
    assert_type(lock.acquire("k", timeout=None), Lease)
    assert_type(lock.holder("k"), Holder | None)


def count(tx: holdall.Transaction) -> int:
    record = tx.get("s", "k")
    tx.put("s", "k", 1)
    return 0 if record is None else 1


async def asynchronous(store: holdall.AsyncStore, lock: holdall.AsyncLock) -> None:
    assert_type(await store.get("s", "k"), Record | None)
    assert_type(await store.put("s", "k", 1), str)
    assert_type(store.follow("s", "l"), AsyncIterator[Entry])
    assert_type(await store.transaction(count_async), int)
    async with lock.hold("k") as hold:
        assert_type(hold.lease, Lease)
    async with holdall.open_async_store("memory://") as opened:
        assert_type(opened.capabilities.atomic_commit, bool)


async def count_async(tx: holdall.AsyncTransaction) -> int:
    record = await tx.get("s", "k")
    tx.delete("s", "k")
    return 0 if record is None else 1


def opened() -> None:
    assert_type(holdall.open_store("default"), holdall.Store)
    assert_type(holdall.open_lock(holdall.open_store("default")), holdall.Lock)
