"""Handles: closing, sharing, what they show, and that they stay where they are."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import holdall
from holdall import ClosedHandle
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import eventually, in_threads, lease_of, value_of, values_of


@scenario("handles.close-twice")
def close_twice(harness: Harness) -> None:
    """Closing a handle twice, or leaving its block after closing it, does nothing; other handles work on."""
    store, lock, scope = harness.open_store(), harness.open_lock(), harness.new_scope()
    store.put(scope, "k", 1)
    for _ in range(3):
        store.close()
        lock.close()
    assert value_of(harness.store, scope, "k") == 1
    with harness.open_store() as again:
        again.close()


def _uses(store: Any, scope: str) -> dict[str, Callable[[], Any]]:
    return {
        "get": lambda: store.get(scope, "k"),
        "get_many": lambda: store.get_many(scope, ["k"]),
        "put": lambda: store.put(scope, "k", 1),
        "update": lambda: store.update(scope, "k", lambda _: 1),
        "touch": lambda: store.touch(scope, "k", 60),
        "delete": lambda: store.delete(scope, "k"),
        "put_many": lambda: store.put_many(scope, {"k": 1}),
        "delete_many": lambda: store.delete_many(scope, ["k"]),
        "clear": lambda: store.clear(scope),
        "scan": lambda: store.scan(scope),
        "keys": lambda: store.keys(scope),
        "scopes": store.scopes,
        "append": lambda: store.append(scope, "k", [1]),
        "read": lambda: store.read(scope, "k"),
        "tail": lambda: store.tail(scope, "k", 1),
        "head": lambda: store.head(scope, "k"),
        "truncate": lambda: store.truncate(scope, "k", 1),
        "drop": lambda: store.drop(scope, "k"),
        "logs": lambda: store.logs(scope),
        "log_scopes": store.log_scopes,
        "follow": lambda: list(store.follow(scope, "k", timeout=0)),
        "restore_log": lambda: store.restore_log(scope, "k", 0, []),
        "seal": lambda: store.seal(scope, "k", 1),
        "commit": lambda: store.commit([holdall.Put(scope, "k", 1)]),
        "transaction": lambda: store.transaction(lambda tx: tx.put(scope, "k", 1)),
        "sweep": store.sweep,
        "iter_records": lambda: list(store.iter_records(scope)),
        "iter_keys": lambda: list(store.iter_keys(scope)),
        "iter_entries": lambda: list(store.iter_entries(scope, "k")),
        "ping": store.ping,
        "describe": store.describe,
    }


@scenario("handles.closed-store-refuses")
def closed_store_refuses(harness: Harness) -> None:
    """Every operation of a closed store raises ClosedHandle at once, and writes nothing."""
    store, scope = harness.open_store(), harness.new_scope()
    store.close()
    for name, use in _uses(store, scope).items():
        with pytest.raises(ClosedHandle) as caught:
            use()
        assert isinstance(caught.value, RuntimeError), name
    assert list(harness.store.keys(scope).items) == list(harness.store.logs(scope).items) == []


@scenario("handles.closed-lock-refuses")
def closed_lock_refuses(harness: Harness) -> None:
    """Every operation of a closed lock raises ClosedHandle at once, and takes nothing."""
    lock, key = harness.open_lock(), harness.new_key()
    lease = lease_of(lock, f"{key}-before")
    lock.close()
    uses: dict[str, Callable[[], Any]] = {
        "try_acquire": lambda: lock.try_acquire(key),
        "acquire": lambda: lock.acquire(key, timeout=0),
        "renew": lambda: lock.renew(lease),
        "release": lambda: lock.release(lease),
        "held": lambda: lock.held(key),
        "holder": lambda: lock.holder(key),
        "set_flag": lambda: lock.set_flag(key),
        "flag": lambda: lock.flag(key),
        "clear_flag": lambda: lock.clear_flag(key),
        "raise_floor": lambda: lock.raise_floor(key, 5),
        "hold": lambda: lock.hold(key).__enter__(),
    }
    for name, use in uses.items():
        with pytest.raises(ClosedHandle):
            use()
        assert harness.lock.held(key) is False, name
    assert harness.lock.renew(lease).token == lease.token


@scenario("handles.lock-shares-the-store")
def lock_shares_the_store(harness: Harness) -> None:
    """A lock that shares a store's connection excludes other handles; it ends with the store, the store not with it."""
    store, key, scope = harness.open_store(), harness.new_key(), harness.new_scope()
    lock = harness.share_lock(store)
    lease = lease_of(lock, key)
    assert harness.lock.try_acquire(key) is None
    store.put(scope, "k", 1, fence=lease)
    lock.close()
    assert value_of(store, scope, "k") == 1
    second = harness.share_lock(store)
    assert second.renew(lease).token == lease.token
    store.close()
    with pytest.raises(ClosedHandle):
        second.held(key)


@scenario("handles.neither-pickled-nor-copied")
def neither_pickled_nor_copied(harness: Harness) -> None:
    """Pickling or copying a handle is a TypeError that says what to do."""
    for handle in (harness.bare(harness.store), harness.bare(harness.lock)):
        for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError) as caught:
                attempt(handle)
            assert "open" in str(caught.value)


@scenario("handles.show-themselves")
def show_themselves(harness: Harness) -> None:
    """The repr of a handle names the adapter's URL, and the handle names its adapter and capabilities."""
    store, lock = harness.store, harness.lock
    assert store.adapter == lock.adapter
    assert store.adapter
    assert store.capabilities == lock.capabilities
    for handle in (store, lock):
        shown = repr(harness.bare(handle))
        assert harness.url is None or harness.url.partition("://")[0] in shown
        assert type(harness.bare(handle)).__name__ in shown
    assert harness.store.capabilities == harness.open_store().capabilities


@scenario("handles.fit-the-protocols")
def fit_the_protocols(harness: Harness) -> None:
    """The handles are instances of the protocols of the contract."""
    store, lock = harness.bare(harness.store), harness.bare(harness.lock)
    store_protocol, lock_protocol = (
        (holdall.AsyncStore, holdall.AsyncLock) if harness.asynchronous else (holdall.Store, holdall.Lock)
    )
    assert isinstance(store, store_protocol)
    assert isinstance(lock, lock_protocol)


@scenario("handles.shared-by-threads", level="full")
def shared_by_threads(harness: Harness) -> None:
    """Eight threads that use one store and one lock at once, for everything, do not disturb each other."""
    store, lock, scope = harness.store, harness.lock, harness.new_scope()

    def work(number: int) -> list[Any]:
        key = f"thread-{number}"
        for step in range(12):
            store.put(scope, key, [number, step])
            assert value_of(store, scope, key) == [number, step]
            store.append(scope, key, [step])
            store.update(scope, "shared", lambda value: (value or 0) + 1)
            store.append(scope, "shared", [number, step])
            lease = lease_of(lock, f"{scope}-{key}")
            assert lock.release(lease) is True
            assert store.scan(scope, key).items[0].value == [number, step]
        return values_of(store.read(scope, key))

    results = in_threads([partial(work, number) for number in range(8)])
    assert results == [list(range(12))] * 8
    assert value_of(store, scope, "shared") == 96
    assert store.tail(scope, "shared", 1)[0].position == 191


@scenario("handles.opened-by-many-at-once", level="full")
def opened_by_many_at_once(harness: Harness) -> None:
    """16 threads that open a store or a lock on the same storage at once all succeed."""
    scope = harness.new_scope()

    def work(number: int) -> Any:
        if number % 4 == 3:
            lock = harness.open_lock()
            return 1 if lease_of(lock, f"{scope}-{number}").token else 0
        store = harness.open_store()
        store.put(scope, f"{number:02}", number)
        return store.append(scope, f"{number:02}", [number]).count

    assert in_threads([partial(work, number) for number in range(16)]) == [1] * 16
    assert [record.value for record in harness.store.iter_records(scope)] == [n for n in range(16) if n % 4 != 3]


@scenario("handles.many-opened-and-closed", level="full")
def many_opened_and_closed(harness: Harness) -> None:
    """Forty handles opened, used and closed one after another leave the data and the others as they are."""
    scope = harness.new_scope()
    for number in range(40):
        with harness.open_store() as store:
            assert store.append(scope, "k", [number]).start == number
    assert values_of(harness.store.read(scope, "k")) == list(range(40))


@scenario("handles.blocks-close")
def blocks_close(harness: Harness) -> None:
    """The end of a block closes its handle, and lets through what the body raised."""
    scope, mine = harness.new_scope(), ArithmeticError("mine")
    uses: dict[str, Callable[[Any], Any]] = {
        "open_store": lambda store: store.get(scope, "k"),
        "open_lock": lambda lock: lock.held(scope),
    }
    for opening, use in uses.items():
        handle: Any = getattr(harness, opening)()
        with handle as entered:
            assert entered is handle or harness.bare(entered) is harness.bare(handle)
            use(entered)
        with pytest.raises(ClosedHandle):
            use(handle)
        with pytest.raises(ArithmeticError) as caught, getattr(harness, opening)():
            raise mine
        assert caught.value is mine


@scenario("handles.closed-give-everything-back", level="full")
def closed_give_everything_back(harness: Harness) -> None:
    """Stores and locks that were opened, used and closed leave no open file, connection or thread behind."""
    scope = harness.new_scope()

    def use(number: int) -> None:
        with harness.open_store() as store, harness.open_lock() as lock:
            store.put(scope, "k", number)
            store.append(scope, "k", [number])
            lock.release(lease_of(lock, scope))

    use(0)
    before = _possessions()
    for number in range(1, 21):
        use(number)
    assert eventually(lambda: all(map(_is_about, _possessions(), before)), 3), f"{before} became {_possessions()}"


def _possessions() -> tuple[int, int]:
    """Return how many files, where the system tells, and how many threads this process has."""
    gc.collect()
    files = Path("/proc/self/fd")
    return len(list(files.iterdir())) if files.is_dir() else 0, threading.active_count()


def _is_about(now: int, before: int) -> bool:
    return now < before + 10


@scenario("handles.persistent", "persistent")
def persistent(harness: Harness) -> None:
    """What was acknowledged is there after every handle was closed and the storage opened again."""
    scope = harness.new_scope()
    with harness.open_store() as store:
        version = store.put(scope, "k", {"a": 2**70}, ttl=600, fence=4)
        appended = store.append(scope, "k", ["a", "b"], batch_id="id", fence=4)
        store.truncate(scope, "k", 1)
    with harness.open_store() as store:
        record = store.get(scope, "k")
        assert record is not None
        assert (record.value, record.version) == ({"a": 2**70}, version)
        assert record.expires_in is not None
        assert values_of(store.read(scope, "k", 1)) == ["b"]
        assert store.append(scope, "k", ["a", "b"], batch_id="id") == appended
        with pytest.raises(holdall.Fenced):
            store.put(scope, "k", 1, fence=3)
        with pytest.raises(holdall.Fenced):
            store.append(scope, "k", [1], fence=3)
