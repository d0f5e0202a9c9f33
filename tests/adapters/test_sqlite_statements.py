"""How many statements each operation takes: the table in docs/design/0003-sqlite.md."""

from __future__ import annotations

import pytest

import holdall
from holdall import ABSENT, Append, Check, Conflict, Delete, Fenced, Put
from holdall_adapters.sqlite.port import Database


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """A store and a lock on one file, and the list of statements they run."""
    statements: list[str] = []
    connect = Database.connect

    def traced(self):
        session = connect(self)
        session.set_trace_callback(statements.append)
        return session

    monkeypatch.setattr(Database, "connect", traced)
    with holdall.open_store(f"sqlite:///{tmp_path / 'x.db'}") as store, holdall.open_lock(store) as lock:
        yield store, lock, statements


def run(statements, call):
    statements.clear()
    result = call()
    return len(statements), result


def test_records(counted):
    store, _, statements = counted
    count, version = run(statements, lambda: store.put("s", "k", 1))
    assert count == 1
    assert run(statements, lambda: store.get("s", "k"))[0] == 1
    count, version = run(statements, lambda: store.put("s", "k", 2, expect=version))
    assert count == 1
    assert run(statements, lambda: store.put("s", "k", 2, expect=version, ttl=9, fence=3))[0] == 1
    assert run(statements, lambda: store.put("s", "k", 3, fence=3))[0] == 1
    assert run(statements, lambda: store.put("s", "new", 1, expect=ABSENT))[0] == 1
    assert run(statements, lambda: store.touch("s", "k", 5))[0] == 1
    assert run(statements, lambda: store.delete("s", "new"))[0] == 1
    assert run(statements, lambda: store.delete("s", "new"))[0] == 2
    assert run(statements, lambda: store.seal("s", "k", 4))[0] == 1
    assert run(statements, lambda: store.get_many("s", [f"k{n}" for n in range(500)]))[0] == 1
    assert run(statements, lambda: store.put_many("s", {f"k{n}": n for n in range(10)}))[0] == 12
    assert run(statements, lambda: store.delete_many("s", [f"k{n}" for n in range(10)]))[0] == 5


def test_refused_records_find_out_why(counted):
    store, _, statements = counted
    store.put("s", "k", 1, fence=5)
    statements.clear()
    with pytest.raises(Conflict):
        store.put("s", "k", 2, expect="other")
    assert len(statements) == 4
    statements.clear()
    with pytest.raises(Fenced):
        store.put("s", "k", 2, fence=4)
    assert len(statements) == 4


def test_listings(counted):
    store, _, statements = counted
    store.put_many("s", {f"k{n:03}": n for n in range(300)})
    store.append("s", "l", [1])
    for call in (
        lambda: store.scan("s", limit=100),
        lambda: store.keys("s", "k1"),
        lambda: store.scopes(),
        lambda: store.logs("s"),
        lambda: store.log_scopes(),
    ):
        assert run(statements, call)[0] == 1


@pytest.mark.parametrize("length", [10, 5_000])
def test_logs_whatever_their_length(counted, length):
    store, _, statements = counted
    for start in range(0, length, 1_000):
        store.append("s", "l", list(range(start, min(length, start + 1_000))))
    assert run(statements, lambda: store.append("s", "l", [1]))[0] == 1
    assert run(statements, lambda: store.append("s", "l", list(range(1_000))))[0] == 1
    count, appended = run(statements, lambda: store.append("s", "l", [1], batch_id="b"))
    assert count == 1
    assert run(statements, lambda: store.append("s", "l", [1], expect=appended.head))[0] == 1
    assert run(statements, lambda: store.append("s", "l", [1], expect=appended.head.length + 1))[0] == 1
    assert run(statements, lambda: store.seal("s", "l", 3, log=True))[0] == 1
    assert run(statements, lambda: store.append("s", "l", [1], fence=3))[0] == 1
    assert run(statements, lambda: store.append("s", "l", [1], fence=4))[0] == 6
    assert run(statements, lambda: store.append("s", "l", [1], batch_id="b"))[0] == 5
    assert run(statements, lambda: store.read("s", "l", 5, 3))[0] == 1
    assert run(statements, lambda: store.tail("s", "l", 3))[0] == 1
    assert run(statements, lambda: store.head("s", "l"))[0] == 1
    assert run(statements, lambda: store.append("s", "other", [1]))[0] == 6


def test_leases(counted):
    _, lock, statements = counted
    count, lease = run(statements, lambda: lock.try_acquire("k"))
    assert count == 1
    assert run(statements, lambda: lock.try_acquire("k")) == (1, None)
    assert run(statements, lambda: lock.renew(lease))[0] == 1
    assert run(statements, lambda: lock.held("k"))[0] == 1
    assert run(statements, lambda: lock.release(lease)) == (1, True)
    for call in (
        lambda: lock.set_flag("f"),
        lambda: lock.flag("f"),
        lambda: lock.clear_flag("f"),
        lambda: lock.raise_floor("k", 9),
    ):
        assert run(statements, call)[0] == 1


def test_commit(counted):
    store, _, statements = counted
    store.put("s", "gone", 1)
    store.append("s", "l", [1])
    version = store.put("s", "seen", 1)
    operations = [Put("s", "k", 1), Delete("s", "gone"), Append("s", "l", [2]), Check("s", "seen", version)]
    assert run(statements, lambda: store.commit(operations))[0] == 2 + 2 + 2 + 2 + 1
