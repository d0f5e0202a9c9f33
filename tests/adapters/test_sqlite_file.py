"""What only a database file can do to its users."""

from __future__ import annotations

import sqlite3

import pytest

import holdall
from holdall import ConfigError, Corrupt, TooLarge


@pytest.mark.parametrize("replace", [False, True])
def test_a_file_that_is_removed_while_open_takes_no_more_writes(tmp_path, replace):
    path = tmp_path / "x.db"
    with holdall.open_store(f"sqlite:///{path}") as store:
        store.put("s", "k", 1)
        path.unlink()
        if replace:
            path.write_bytes(b"")
        with pytest.raises(Corrupt, match="removed or replaced"):
            store.put("s", "k", 2)
        with pytest.raises(Corrupt):
            store.get("s", "k")


@pytest.mark.parametrize(
    "url,hint",
    [
        ("sqlite:///{}/nowhere/x.db", "does not exist: create it first"),
        ("sqlite:///{}", "it is a folder"),
        ("sqlite:///{}/none.db?create=false", "create=false forbids"),
        ("sqlite://x.db", "write sqlite:///app.db for a relative path"),
        ("sqlite:///", "names no file"),
        ("sqlite:///:memory:", "memory://name"),
    ],
)
def test_places_that_cannot_be_opened(tmp_path, url, hint):
    with pytest.raises(ConfigError, match=hint):
        holdall.open_store(url.format(tmp_path))


def test_odd_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a b.db", "größe.db", "100%25.db", "q%3Fx%23.db"):
        with holdall.open_store(f"sqlite:///{name}") as store:
            store.put("s", "k", name)
    assert {path.name for path in tmp_path.glob("*.db")} == {"a b.db", "größe.db", "100%.db", "q?x#.db"}


def test_tables_of_the_user_stay(tmp_path):
    mine = sqlite3.connect(tmp_path / "x.db")
    mine.execute("CREATE TABLE records (a)")
    mine.execute("INSERT INTO records VALUES (7)")
    mine.commit()
    with holdall.open_store(f"sqlite:///{tmp_path}/x.db") as store:
        store.put("s", "k", 1)
        store.clear("s")
    assert mine.execute("SELECT a FROM records").fetchall() == [(7,)]
    mine.close()


def test_a_file_of_the_user_in_another_encoding_is_refused(tmp_path):
    mine = sqlite3.connect(tmp_path / "x.db")
    mine.execute("PRAGMA encoding = 'UTF-16'")
    mine.execute("CREATE TABLE records (a)")
    mine.close()
    with pytest.raises(ConfigError, match="needs UTF-8"):
        holdall.open_store(f"sqlite:///{tmp_path}/x.db")


def test_there_is_no_position_beyond_those_of_an_id(tmp_path):
    last = 2**36 - 1
    with holdall.open_store(f"sqlite:///{tmp_path}/x.db") as store:
        store.restore_log("s", "big", last - 2, [1])
        store.append("s", "neighbour", ["mine"])
        with pytest.raises(TooLarge):
            store.append("s", "big", [2, 3, 4])
        assert store.head("s", "big").length == last - 1
        assert store.append("s", "big", [2]).start == last - 1
        with pytest.raises(TooLarge):
            store.append("s", "big", [3])
        assert [entry.value for entry in store.read("s", "neighbour")] == ["mine"]
        with pytest.raises(TooLarge):
            store.restore_log("s", "other", last + 1, [])


def test_a_record_that_expires_while_it_is_listed_ends_no_listing(tmp_path):
    with holdall.open_store(f"sqlite:///{tmp_path}/x.db") as store:
        store.put("s", "a", 1, ttl=100)
        store.put_many("s", {f"z{number:03}": number for number in range(500)})
        clock = store._operations._driver._database.clock
        real, calls = clock.now, [0]

        def leaping():
            calls[0] += 1
            return real() if calls[0] == 1 else real() + 100

        clock.now = leaping
        assert len(list(store.iter_records("s"))) == 500


def test_sealing_burns_no_ids(tmp_path):
    with holdall.open_store(f"sqlite:///{tmp_path}/x.db") as store:
        store.append("s", "a", [1])
        for token in range(1, 50):
            store.seal("s", "a", token, log=True)
        store.append("s", "b", [1])
        database = store._operations._driver._database
        assert database.rows("SELECT max(id) FROM holdall_logs", ()) == [(2,)]
