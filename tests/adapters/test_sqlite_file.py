"""What only a database file can do to its users."""

from __future__ import annotations

import sqlite3

import pytest

import holdall
from holdall import ConfigError, Corrupt


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
        ("sqlite://x.db", "write sqlite:///x.db for a relative path"),
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
