"""What lies in the collections: documents that do not grow with a log, indexes made once, graves and places."""

from __future__ import annotations

import threading

import bson
import pytest

import holdall
from holdall import HoldallError, OutcomeUnknown, Unavailable
from holdall_adapters.mongodb.log_updates import FULL
from holdall_adapters.mongodb.logs import MongoLogs
from holdall_conformance.children import Children, soon, wait_until
from holdall_conformance.harness import Harness
from tests import servers
from tests.adapters.handles import KINDS, opened

pymongo = pytest.importorskip("pymongo")

LARGE = "x" * 1_000_000


@pytest.fixture
def database(mongodb_database):
    with pymongo.MongoClient(mongodb_database) as client:
        yield client.get_default_database()


@pytest.mark.parametrize("kind", KINDS)
def test_no_document_grows_with_a_log(mongodb_database, database, kind):
    with opened(kind, mongodb_database) as handles:
        for number in range(200):
            handles.run(handles.store.append("s", "log", [[number, "x" * 1_000]], batch_id=f"b{number}"))
        handles.run(handles.store.append("s", "log", [LARGE] * 7))
        entries = handles.run(handles.store.read("s", "log"))
    assert [entry.position for entry in entries] == list(range(207))
    (head,) = database.holdall_logs.find()
    assert len(bson.encode(head)) < 2 * FULL
    sizes = [len(bson.encode(chunk)) for chunk in database.holdall_chunks.find()]
    assert len(sizes) > 3
    assert max(sizes) < 16 * 2**20


def test_a_log_that_is_dropped_again_and_again_does_not_grow(mongodb_database, database):
    with holdall.open_store(mongodb_database) as store:
        for number in range(150):
            store.append("s", "log", [number])
            store.drop("s", "log")
    (grave,) = database.holdall_logs.find()
    assert len(grave["l"]) == 64
    assert "t" not in grave


def test_who_appended_just_before_two_drops_is_told_where(mongodb_database, monkeypatch):
    """Others drop the log, and drop the next one of the name, before the append asks where its batch is."""
    look, others = MongoLogs._with_batch, []

    async def late(self, name, write_id, within):
        if not others:
            others.append(name)
            with holdall.open_store(mongodb_database) as other:
                assert other.drop(*name)
                other.append(*name, ["another"])
                assert other.drop(*name)
        return await look(self, name, write_id, within)

    monkeypatch.setattr(MongoLogs, "_with_batch", late)
    with holdall.open_store(mongodb_database) as store:
        appended = store.append("s", "log", ["mine", "too"])
        assert (appended.start, appended.count, appended.head.length) == (0, 2, 2)
        assert store.head("s", "log") is None


def open_at_once(parent, harness, url):
    """In a child process: open the store when the parent says, and write to it."""
    parent.say("ready")
    wait_until(parent.hear())
    with holdall.open_store(url) as store:
        parent.say(store.put("s", "k", 1))


def test_processes_that_open_at_once_make_every_index_once(mongodb_database, database):
    with Children(Harness(mongodb_database)) as children:
        target = "tests.adapters.test_mongodb_documents:open_at_once"
        found = [children.start(target, mongodb_database) for _ in range(8)]
        assert {child.hear() for child in found} == {"ready"}
        moment = soon()
        for child in found:
            child.say(moment)
        assert len({child.hear() for child in found}) == 8
        for child in found:
            child.finish()
    for name, count in (("records", 3), ("logs", 2), ("chunks", 5), ("leases", 2), ("flags", 2)):
        assert len(database[f"holdall_{name}"].index_information()) == count, name


def test_sweep_removes_what_nobody_can_read_and_keeps_marks(mongodb_database, database):
    with holdall.open_store(mongodb_database) as store:
        store.put("s", "plain", 1)
        store.put("s", "marked", 1, fence=7)
        store.append("s", "log", [1])
        store.append("s", "marked", [1], fence=7)
        for key in ("plain", "marked"):
            store.delete("s", key, fence=None)
        for key in ("log", "marked"):
            store.drop("s", key)
        for collection in (database.holdall_records, database.holdall_logs):
            old = {"$set": {"g": bson.datetime_ms.DatetimeMS(0)}}
            assert collection.update_many({}, old).modified_count == 2
        store.sweep()
        assert [each["k"] for each in database.holdall_records.find()] == ["marked"]
        assert [each["k"] for each in database.holdall_logs.find()] == ["marked"]
        with pytest.raises(holdall.Fenced):
            store.put("s", "marked", 2, fence=6)
        with pytest.raises(holdall.Fenced):
            store.append("s", "marked", [2], fence=6)


def test_a_server_that_is_restarted_under_load_loses_nothing(given):
    with given(servers.local_mongo) as server, holdall.open_store(server.url, timeout=20) as store:
        store.put("s", "open", 1)
        done, errors, end = [], [], threading.Event()

        def write(writer):
            number = 0
            while not end.is_set():
                number += 1
                try:
                    store.append("s", f"log{writer}", [number], batch_id=f"{writer}-{number}")
                    done.append((writer, number))
                except (Unavailable, OutcomeUnknown, holdall.StoreTimeout):
                    continue
                except HoldallError as error:
                    errors.append(error)
                    return

        threads = [threading.Thread(target=write, args=[writer]) for writer in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            threading.Event().wait(0.5)
            server.restart()
        threading.Event().wait(0.5)
        end.set()
        for thread in threads:
            thread.join(60)
        assert errors == []
        assert done
        for writer in range(4):
            kept = [entry.value for entry in store.read("s", f"log{writer}")]
            assert kept == sorted(set(kept))
            assert {number for who, number in done if who == writer} <= set(kept)
