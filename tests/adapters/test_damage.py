"""Damage behind the back of the store: a clear `Corrupt`, never a raw error, a free lease or renumbered entries."""

from __future__ import annotations

import sqlite3

import pytest

import holdall
from holdall import Corrupt
from holdall_adapters.memory.port import space_named


@pytest.fixture
def database(tmp_path):
    with holdall.open_store(f"sqlite:///{tmp_path}/x.db") as store, holdall.open_lock(store) as lock:
        by_hand = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
        yield store, lock, by_hand
        by_hand.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE holdall_leases SET token = 'garbage'",
        "UPDATE holdall_leases SET token = -5",
        "UPDATE holdall_leases SET floor = 'x'",
        "UPDATE holdall_leases SET expires = 'soon'",
        "UPDATE holdall_leases SET owner = X'ff'",
        "UPDATE holdall_records SET expires = 'soon'",
        "UPDATE holdall_records SET mark = 'x'",
        "UPDATE holdall_records SET version = X'fffe'",
        "UPDATE holdall_records SET version = NULL",
        "UPDATE holdall_logs SET first = 'x'",
        "UPDATE holdall_batches SET digest = NULL",
    ],
)
def test_the_tables_refuse_what_is_not_of_their_kind(database, change):
    store, lock, by_hand = database
    lock.try_acquire("k")
    store.put("s", "k", 1, ttl=60)
    store.append("s", "log", [1], batch_id="b")
    with pytest.raises(sqlite3.IntegrityError):
        by_hand.execute(change)


def test_a_value_that_is_no_json_names_its_key_and_spares_the_others(database):
    store, _, by_hand = database
    store.put_many("s", {"a": 1, "b": 2})
    by_hand.execute("UPDATE holdall_records SET payload = '{torn' WHERE key = 'a'")
    for read in (lambda: store.get("s", "a"), lambda: store.scan("s"), lambda: list(store.iter_records("s"))):
        with pytest.raises(Corrupt) as caught:
            read()
        assert (caught.value.scope, caught.value.key) == ("s", "a")
    assert store.get("s", "b").value == 2


def test_entries_that_are_no_json_name_their_position(database):
    store, _, by_hand = database
    store.append("s", "log", [1, 2, 3])
    by_hand.execute("UPDATE holdall_batches SET payload = '1' || char(10) || '{torn' || char(10) || '3'")
    with pytest.raises(Corrupt, match="position 1"):
        store.read("s", "log")
    assert store.read("s", "log", 2)[0].value == 3


@pytest.mark.parametrize("missing", [0, 2, 4])
def test_missing_batches_are_no_renumbering(database, missing):
    store, _, by_hand = database
    for number in range(6):
        store.append("s", "log", [number, number])
    by_hand.execute("DELETE FROM holdall_batches WHERE id & 255 = ?", (2 * missing,))
    with pytest.raises(Corrupt, match="missing"):
        store.read("s", "log")
    with pytest.raises(Corrupt, match="missing"):
        store.tail("s", "log", 12)
    assert [entry.value for entry in store.tail("s", "log", 2)] == [5, 5]


@pytest.mark.parametrize("kind", [b"r", b"l", b"k", b"c", b"b", b"f"])
@pytest.mark.parametrize("garbage", [b"", b"garbage", b"[]", b"null", b'["n","o","x",1,"z","b",0,"w"]', b"\x00" * 60])
def test_garbage_under_a_derived_key_is_corrupt(kind, garbage, tmp_path):
    name = f"damage-{tmp_path.name}"
    with holdall.open_store(f"memory://{name}?derived=true") as store, holdall.open_lock(store) as lock:
        store.put("s", "k", 1)
        lock.try_acquire("k")
        lock.set_flag("k")
        for number in range(10):
            store.append("s", "log", ["x" * 20_000], batch_id=str(number))
        items = space_named(name).items
        for key in [key for key in items if key[:1] == kind]:
            items[key] = garbage
        reads = {
            b"r": lambda: store.get("s", "k"),
            b"l": lambda: store.head("s", "log"),
            b"k": lambda: lock.try_acquire("k"),
            b"c": lambda: store.read("s", "log"),
            b"b": lambda: store.append("s", "log", ["x" * 20_000], batch_id="0"),
            b"f": lambda: lock.flag("k"),
        }
        with pytest.raises(Corrupt):
            reads[kind]()
