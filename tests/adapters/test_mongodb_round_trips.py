"""How many commands each operation takes, as the driver tells of them: the table in docs/adapters/mongodb.md."""

from __future__ import annotations

import uuid

import pytest

from holdall import ABSENT, Append, BatchMismatch, Conflict, Fenced, LeaseLost, Put
from tests.adapters.handles import KINDS, opened

pymongo = pytest.importorskip("pymongo")
monitoring = pytest.importorskip("pymongo.monitoring")

ENDS = {"commitTransaction", "abortTransaction"}


class Commands(monitoring.CommandListener):
    """Notes the names of the commands that a client sends."""

    def __init__(self):
        self.names = []

    def started(self, event):
        self.names.append(event.command_name)

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass


class Counted:
    """Handles, and how many commands their calls take."""

    def __init__(self, handles, commands):
        self.handles, self.commands = handles, commands
        self.store, self.lock = handles.store, handles.lock
        self.scope = uuid.uuid4().hex

    def __call__(self, call):
        """Return how many commands a call takes, and what it returns."""
        self.commands.names.clear()
        result = self.handles.run(call())
        return len(self.commands.names), result

    def refused(self, kind, call):
        """Return how many commands a call takes that raises."""
        self.commands.names.clear()
        with pytest.raises(kind):
            self.handles.run(call())
        return len(self.commands.names)


@pytest.fixture(params=KINDS)
def counted(request, mongodb_database):
    commands = Commands()
    if request.param == "sync":
        with (
            pymongo.MongoClient(mongodb_database, event_listeners=[commands]) as client,
            opened("sync", mongodb_database, client=client) as handles,
        ):
            yield Counted(handles, commands)
        return
    client = pymongo.AsyncMongoClient(mongodb_database, event_listeners=[commands])
    with opened("async", mongodb_database, client=client) as handles:
        yield Counted(handles, commands)
        handles.run(client.close())


def test_records(counted):
    store, scope = counted.store, counted.scope
    count, version = counted(lambda: store.put(scope, "k", 1))
    assert count == 1
    assert counted(lambda: store.get(scope, "k"))[0] == 1
    count, version = counted(lambda: store.put(scope, "k", 2, expect=version))
    assert count == 1
    assert counted(lambda: store.put(scope, "k", 2, expect=version, ttl=9, fence=3))[0] == 1
    assert counted(lambda: store.put(scope, "new", 1, expect=ABSENT))[0] == 1
    assert counted(lambda: store.touch(scope, "k", 60))[0] == 1
    assert counted(lambda: store.update(scope, "k", lambda value: value + 1))[0] == 2
    assert counted(lambda: store.delete(scope, "new")) == (1, True)


def test_many_records(counted):
    store, scope = counted.store, counted.scope
    assert counted(lambda: store.put_many(scope, {f"k{n}": n for n in range(500)}))[0] <= 2
    assert counted(lambda: store.get_many(scope, [f"k{n}" for n in range(500)]))[0] == 1
    assert counted(lambda: store.scan(scope, limit=100))[0] == 1
    assert counted(lambda: store.keys(scope, "k1"))[0] == 1


def test_refused_records_take_one_more(counted):
    store, scope = counted.store, counted.scope
    counted(lambda: store.put(scope, "refused", 1, fence=5))
    assert counted.refused(Conflict, lambda: store.put(scope, "refused", 2, expect="other")) == 2
    assert counted.refused(Conflict, lambda: store.put(scope, "refused", 2, expect=ABSENT)) == 2
    assert counted.refused(Fenced, lambda: store.put(scope, "refused", 2, fence=4)) == 2
    assert counted.refused(Conflict, lambda: store.delete(scope, "refused", expect="other")) == 2
    assert counted(lambda: store.delete(scope, "nothing")) == (2, False)


@pytest.mark.parametrize("size", [1, 1_000])
def test_appends(counted, size):
    store, scope, batch = counted.store, counted.scope, list(range(size))
    count, appended = counted(lambda: store.append(scope, "log", batch, expect=ABSENT))
    assert count == 2
    assert counted(lambda: store.append(scope, "log", batch))[0] == 2
    count, appended = counted(lambda: store.append(scope, "log", batch, expect=2 * size))
    assert count == 2
    assert counted(lambda: store.append(scope, "log", batch, expect=appended.head, fence=7))[0] == 2
    assert counted(lambda: store.append(scope, "log", batch, batch_id="b"))[0] == 2
    assert counted(lambda: store.append(scope, "log", batch, batch_id="b"))[0] == 2


def test_refused_appends(counted):
    store, scope = counted.store, counted.scope
    counted(lambda: store.append(scope, "log", [1], fence=5, batch_id="b"))
    assert counted.refused(Conflict, lambda: store.append(scope, "log", [2], expect=7)) == 2
    assert counted.refused(Fenced, lambda: store.append(scope, "log", [2], fence=4)) == 2
    assert counted.refused(BatchMismatch, lambda: store.append(scope, "log", [2], batch_id="b")) == 2


def test_logs(counted):
    store, scope = counted.store, counted.scope
    counted(lambda: store.append(scope, "log", list(range(100))))
    assert counted(lambda: store.head(scope, "log"))[0] == 1
    assert counted(lambda: store.read(scope, "log", 5, 3))[0] == 1
    assert counted(lambda: store.tail(scope, "log", 3))[0] == 1
    assert counted(lambda: store.logs(scope))[0] == 1
    assert counted(lambda: store.truncate(scope, "log", 0))[0] <= 3
    assert counted(lambda: store.drop(scope, "log")) == (3, True)


def test_leases(counted):
    lock, key = counted.lock, counted.scope
    count, lease = counted(lambda: lock.try_acquire(key, ttl=60))
    assert count == 2
    assert counted(lambda: lock.try_acquire(key, ttl=60)) == (2, None)
    count, lease = counted(lambda: lock.renew(lease))
    assert count == 1
    assert counted(lambda: lock.held(key)) == (1, True)
    assert counted(lambda: lock.holder(key))[0] == 1
    assert counted(lambda: lock.release(lease)) == (1, True)
    assert counted.refused(LeaseLost, lambda: lock.renew(lease)) == 2


def test_a_commit_takes_what_its_operations_take_and_its_end(counted):
    store, scope = counted.store, counted.scope
    puts = [Put(scope, "a", 1), Put(scope, "b", 1)]
    assert counted(lambda: store.commit([puts[0]]))[0] == 1
    assert counted(lambda: store.commit(puts))[0] == 3
    assert ENDS.intersection(counted.commands.names) == {"commitTransaction"}
    counted(lambda: store.append(scope, "log", [0]))
    assert counted(lambda: store.commit([*puts, Append(scope, "log", [1])]))[0] <= 7


@pytest.mark.parametrize("length", [10, 20_000])
def test_an_append_costs_the_same_on_a_long_log(counted, mongodb_database, length):
    """The same commands, on a head that stays as small."""
    store, scope = counted.store, counted.scope
    for _ in range(0, length, 1_000):
        counted(lambda: store.append(scope, "log", list(range(min(length, 1_000)))))
    counts = [counted(lambda: store.append(scope, "log", [1]))[0] for _ in range(20)]
    assert sorted(counts)[:19] == [2] * 19  # one of them may find the head full and move it
    with pymongo.MongoClient(mongodb_database) as client:
        (head,) = client.get_default_database().holdall_logs.find()
    assert head["n"] == length + 20
    assert head["tb"] < 64 * 1024
