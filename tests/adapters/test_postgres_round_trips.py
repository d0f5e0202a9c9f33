"""How many round trips each operation takes, as a proxy counts them: the table in docs/adapters/postgres.md."""

from __future__ import annotations

import json
import threading
import uuid

import pytest

import holdall
from holdall import ABSENT, Append, BatchMismatch, Check, Conflict, Delete, Fenced, LeaseLost, Put
from holdall_adapters.postgres.connections import connecting
from holdall_conformance.proxy import Proxy
from tests.adapters.handles import KINDS, opened

psycopg = pytest.importorskip("psycopg")


class Counted:
    """Handles behind a proxy that counts."""

    def __init__(self, handles, proxy):
        self.handles, self.proxy = handles, proxy
        self.store, self.lock = handles.store, handles.lock
        self.scope = uuid.uuid4().hex

    def __call__(self, call):
        """Return how many round trips a call takes, and what it returns."""
        before = self.proxy.requests
        result = self.handles.run(call())
        return self.proxy.requests - before, result

    def refused(self, kind, call):
        """Return how many round trips a call takes that raises."""
        before = self.proxy.requests
        with pytest.raises(kind):
            self.handles.run(call())
        return self.proxy.requests - before


@pytest.fixture(params=["postgres_url", "pgbouncer_url"])
def server(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(params=KINDS)
def counted(request, server, monkeypatch):
    """Handles whose connections let the server keep no statements, as through a pooler."""
    monkeypatch.setattr(connecting, "_PREPARE_AFTER", None)
    with Proxy.before(server) as proxy, opened(request.param, proxy.url(server)) as handles:
        yield Counted(handles, proxy)


@pytest.fixture(params=KINDS)
def direct(request, postgres_url):
    with Proxy.before(postgres_url) as proxy, opened(request.param, proxy.url(postgres_url)) as handles:
        yield Counted(handles, proxy)


def test_records(counted):
    store, scope = counted.store, counted.scope
    count, version = counted(lambda: store.put(scope, "k", 1))
    assert count == 1
    assert counted(lambda: store.get(scope, "k"))[0] == 1
    count, version = counted(lambda: store.put(scope, "k", 2, expect=version))
    assert count == 1
    assert counted(lambda: store.put(scope, "k", 2, expect=version, ttl=9, fence=3))[0] == 1
    assert counted(lambda: store.put(scope, "k", 3, fence=3))[0] == 1
    assert counted(lambda: store.put(scope, "k", 3, ttl=60))[0] == 1
    assert counted(lambda: store.put(scope, "new", 1, expect=ABSENT))[0] == 1
    assert counted(lambda: store.touch(scope, "k", 60))[0] == 1
    assert counted(lambda: store.touch(scope, "k", 60, fence=3))[0] == 1
    assert counted(lambda: store.update(scope, "k", lambda value: value + 1))[0] == 2
    assert counted(lambda: store.delete(scope, "new")) == (1, True)
    assert counted(lambda: store.seal(scope, "k", 4))[0] == 1
    assert counted(lambda: store.delete(scope, "k", fence=4)) == (1, True)


def test_many_records(counted):
    store, scope = counted.store, counted.scope
    assert counted(lambda: store.put_many(scope, {f"k{n}": n for n in range(1_000)}))[0] == 1
    assert counted(lambda: store.get_many(scope, [f"k{n}" for n in range(1_000)]))[0] == 1
    assert counted(lambda: store.scan(scope, limit=100))[0] == 1
    assert counted(lambda: store.keys(scope, "k1"))[0] == 1
    assert counted(lambda: store.scopes())[0] == 1
    assert counted(lambda: store.delete_many(scope, [f"k{n}" for n in range(1_000)])) == (1, 1_000)


def test_refused_records_take_one_more(counted):
    store, scope = counted.store, counted.scope
    counted(lambda: store.put(scope, "refused", 1, fence=5))
    assert counted.refused(Conflict, lambda: store.put(scope, "refused", 2, expect="other")) == 2
    assert counted.refused(Conflict, lambda: store.put(scope, "refused", 2, expect=ABSENT)) == 2
    assert counted.refused(Fenced, lambda: store.put(scope, "refused", 2, fence=4)) == 2
    assert counted.refused(Conflict, lambda: store.delete(scope, "refused", expect="other")) == 2
    assert counted.refused(Fenced, lambda: store.seal(scope, "refused", 4)) == 2
    assert counted(lambda: store.delete(scope, "nothing")) == (2, False)
    assert counted(lambda: store.touch(scope, "nothing", 5)) == (1, False)


@pytest.mark.parametrize("size", [1, 1_000])
def test_appends(counted, size):
    store, scope, batch = counted.store, counted.scope, list(range(size))
    count, appended = counted(lambda: store.append(scope, "log", batch, expect=ABSENT))
    assert count == 1
    assert counted(lambda: store.append(scope, "log", batch))[0] == 1
    assert counted(lambda: store.append(scope, "log", batch, expect=2 * size))[0] == 1
    count, appended = counted(lambda: store.append(scope, "log", batch, batch_id="b"))
    assert count == 1
    assert counted(lambda: store.append(scope, "log", batch, expect=appended.head))[0] == 1
    assert counted(lambda: store.append(scope, "log", batch, fence=7))[0] == 1
    assert counted(lambda: store.append(scope, "log", batch, fence=7, batch_id="c", expect=6 * size))[0] == 1


def test_logs(counted):
    store, scope = counted.store, counted.scope
    counted(lambda: store.append(scope, "read", list(range(100))))
    assert counted(lambda: store.head(scope, "read"))[0] == 1
    assert counted(lambda: store.read(scope, "read", 5, 3))[0] == 1
    assert counted(lambda: store.tail(scope, "read", 3))[0] == 1
    assert counted(lambda: store.logs(scope))[0] == 1
    assert counted(lambda: store.log_scopes())[0] == 1
    assert counted(lambda: store.seal(scope, "read", 3, log=True))[0] == 1
    assert counted(lambda: store.truncate(scope, "read", 10))[0] == 3  # the head, the rows, their batch ids
    assert counted(lambda: store.drop(scope, "read"))[0] == 3


def test_refused_appends_take_one_or_two_more(counted):
    store, scope = counted.store, counted.scope
    counted(lambda: store.append(scope, "refused", [1], fence=5, batch_id="b"))
    assert counted.refused(Conflict, lambda: store.append(scope, "refused", [1], expect=9)) == 2
    assert counted.refused(Conflict, lambda: store.append(scope, "refused", [1], expect=ABSENT)) == 2
    assert counted.refused(Fenced, lambda: store.append(scope, "refused", [1], fence=4)) == 2
    assert counted(lambda: store.append(scope, "refused", [1], batch_id="b"))[0] == 3
    assert counted.refused(BatchMismatch, lambda: store.append(scope, "refused", [2], batch_id="b")) == 3
    assert counted(lambda: store.drop(scope, "none")) == (2, False)


def test_leases(counted):
    lock, key = counted.lock, counted.scope
    count, lease = counted(lambda: lock.try_acquire(key, ttl=60))
    assert count == 1
    assert counted(lambda: lock.try_acquire(key)) == (1, None)
    count, renewed = counted(lambda: lock.renew(lease))
    assert count == 1
    assert counted(lambda: lock.held(key)) == (1, True)
    assert counted(lambda: lock.holder(key))[0] == 1
    assert counted(lambda: lock.release(renewed)) == (1, True)
    assert counted(lambda: lock.release(renewed)) == (1, False)
    assert counted.refused(LeaseLost, lambda: lock.renew(renewed)) == 1
    for call in (
        lambda: lock.set_flag(key),
        lambda: lock.flag(key),
        lambda: lock.clear_flag(key),
        lambda: lock.raise_floor(key, 9),
    ):
        assert counted(call)[0] == 1


@pytest.mark.parametrize("size", [2, 40])
def test_a_commit_takes_two_whatever_is_in_it(counted, size):
    store, scope = counted.store, counted.scope
    version = counted(lambda: store.put(scope, "seen", 1))[1]
    counts = []
    for turn in range(5):
        counted(lambda turn=turn: store.put_many(scope, {f"gone{turn}-{n}": 1 for n in range(size)}))
        operations = [
            Check(scope, "seen", version),
            *(Put(scope, f"new{turn}-{n}", n, expect=ABSENT) for n in range(size)),
            *(Delete(scope, f"gone{turn}-{n}") for n in range(size)),
            *(Append(scope, f"log{n}", [n]) for n in range(size)),
        ]
        counts.append(counted(lambda operations=operations: store.commit(operations))[0])
    assert min(counts) == 2  # what goes out in pieces, the server answering between them, counts as more


def test_a_commit_of_one_takes_one(counted):
    assert counted(lambda: counted.store.commit([Put(counted.scope, "one", 1)]))[0] == 1


def test_a_statement_that_the_server_begins_to_keep_takes_one_more_once(direct):
    """At most once for a statement and connection; never through a pooler, as the other tests show."""
    store = direct.store
    counts = [direct(lambda: store.get("s", "kept"))[0] for _ in range(6)]
    assert counts == [1, 1, 2, 1, 1, 1]


def plan_of(connection, statement, parameters):
    prefix = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "
    found = connection.execute(prefix + statement, parameters).fetchone()[0]
    return (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]


def nodes(plan):
    yield plan
    for inner in plan.get("Plans", []):
        yield from nodes(inner)


def pages_of(plan):
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


@pytest.fixture
def long_and_short(postgres_database):
    """A database with a log of a million entries and one of ten, and a connection to it."""
    with holdall.open_store(postgres_database) as store, psycopg.connect(postgres_database) as connection:
        connection.autocommit = True
        for key, length in (("long", 1_000_000), ("short", 10)):
            store.append("s", key, [0])
            connection.execute(
                """WITH grown AS (UPDATE holdall_logs SET length = %(length)s WHERE key = %(key)s RETURNING id)
                INSERT INTO holdall_entries (id, position, payload)
                    SELECT id, number, number::text FROM grown, generate_series(1, %(length)s - 1) AS number""",
                {"length": length, "key": key.encode()},
            )
        connection.execute("VACUUM ANALYZE")
        assert store.head("s", "long").length == 1_000_000
        yield store, connection


@pytest.mark.parametrize("size", [1, 1_000])
def test_an_append_costs_the_same_on_a_long_log(long_and_short, monkeypatch, size):
    store, connection = long_and_short
    execute, seen = connecting.Blocking.execute, []

    async def noted(self, connection, statement, parameters):
        seen.append((statement, parameters))
        return await execute(self, connection, statement, parameters)

    monkeypatch.setattr(connecting.Blocking, "execute", noted)
    pages = {}
    for key in ("short", "long"):
        seen.clear()
        store.append("s", key, list(range(size)))
        (written,) = seen
        plan = plan_of(connection, written[0], {**written[1], "write_id": "0" * 32})
        scanned = [node["Relation Name"] for node in nodes(plan) if node["Node Type"] == "Seq Scan"]
        assert "holdall_entries" not in scanned
        assert "holdall_batches" not in scanned
        pages[key] = pages_of(plan)
    # An index of a million entries is two levels deeper than one of ten: each entry written passes through them.
    assert pages["long"] <= pages["short"] + 3 * size + 20


@pytest.mark.parametrize("call", [("tail", 10), ("read", 999_000, 10), ("head",)])
def test_reading_the_end_of_a_long_log_touches_few_pages(long_and_short, monkeypatch, call):
    store, connection = long_and_short
    execute, seen = connecting.Blocking.execute, []

    async def noted(self, connection, statement, parameters):
        seen.append((statement, parameters))
        return await execute(self, connection, statement, parameters)

    monkeypatch.setattr(connecting.Blocking, "execute", noted)
    name, *arguments = call
    getattr(store, name)("s", "long", *arguments)
    ((statement, parameters),) = seen
    assert pages_of(plan_of(connection, statement, parameters)) < 40


@pytest.mark.parametrize("kind", KINDS)
def test_no_operation_reads_a_whole_table_however_small_it_was_when_the_server_planned(postgres_database, kind):
    with holdall.open_store(postgres_database):
        pass  # makes the tables
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        while connection.execute("SELECT sum(seq_scan) FROM pg_stat_user_tables").fetchone()[0] == 0:
            threading.Event().wait(0.05)  # told when a connection ends, a little later
        connection.execute("SELECT pg_stat_reset()")
    with opened(kind, postgres_database) as handles:
        run, store, lock = handles.run, handles.store, handles.lock
        for number in range(10):
            version = run(store.put("s", f"k{number}", 1))
            run(store.put("s", f"k{number}", 2, expect=version, ttl=60))
            run(store.touch("s", f"k{number}", 60))
            run(store.get("s", f"k{number}"))
            run(store.get_many("s", ["k1", "k2"]))
            run(store.put_many("s", {"a": 1, "b": 2}))
            run(store.delete_many("s", ["a", "b"]))
            run(store.scan("s"))
            run(store.keys("s", "k"))
            run(store.scopes())
            run(store.delete("s", f"k{number}"))
            head = run(store.append("s", "log", [1, 2], batch_id=f"b{number}")).head
            run(store.append("s", "log", [3], expect=head))
            run(store.append("s", "log", [1, 2], batch_id=f"b{number}"))
            run(store.read("s", "log", run(store.head("s", "log")).first))
            run(store.tail("s", "log", 2))
            run(store.truncate("s", "log", 2 * number))
            run(store.logs("s"))
            run(store.log_scopes())
            run(store.commit([Put("s", "x", 1), Append("s", "other", [1])]))
            run(store.drop("s", "other"))
            lease = run(lock.try_acquire("l"))
            run(lock.renew(lease))
            run(lock.holder("l"))
            run(lock.release(lease))
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        scanned = "SELECT relname FROM pg_stat_user_tables WHERE seq_scan > 0"
        used = "SELECT sum(idx_scan) FROM pg_stat_user_tables"
        while connection.execute(used).fetchone()[0] < 100:
            threading.Event().wait(0.05)
        assert connection.execute(scanned).fetchall() == []


def test_a_sweep_of_tables_that_were_empty_when_they_were_analyzed(postgres_database):
    """The plan must not join everything with everything because it believes that there is nothing."""
    with (
        holdall.open_store(postgres_database, timeout=20) as store,
        psycopg.connect(postgres_database, autocommit=True) as connection,
    ):
        for table in ("records", "logs", "entries", "batches"):
            connection.execute(f"ALTER TABLE holdall_{table} SET (autovacuum_enabled = off)")
        connection.execute("VACUUM ANALYZE")
        for _ in range(3):
            store.sweep()
        connection.execute("""INSERT INTO holdall_logs (scope, key, incarnation, first, length, batches)
            SELECT 's', number::text::bytea, 'i', 2, 4, 2000 FROM generate_series(1, 20000) AS number""")
        connection.execute("""INSERT INTO holdall_entries SELECT l.id, position, '1' FROM holdall_logs l,
            generate_series(2, 3) AS position""")
        connection.execute("""INSERT INTO holdall_batches SELECT l.id, 'b', 0, 2, 0, 1, 'd' FROM holdall_logs l
            WHERE l.id % 2 = 0""")
        store.sweep()
        assert connection.execute("SELECT count(*) FROM holdall_batches").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM holdall_entries").fetchone() == (40_000,)
        assert store.drop("s", "7")
        assert store.truncate("s", "8", 3) == 1
