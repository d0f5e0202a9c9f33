"""Where a backend comes from: URLs, names, functions and classes, and what of it is absent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import holdall
from holdall import ConfigError
from holdall_conformance import StoreConformance
from holdall_conformance.absence import Absent, absent_from_lock, absent_from_store
from holdall_conformance.harness import Harness
from holdall_conformance.looking import look_at
from holdall_conformance.sources import ClassSource, FactorySource, UrlSource, source_from, source_of
from tests.unit.kit import given
from tests.unit.kit.given import ListBackend, RecordsOnly

GIVEN = "tests.unit.kit.given"


def retold(source):
    """The source as a child process has it."""
    return source_from(json.loads(json.dumps(source.told())))


class Sqlite(StoreConformance):
    def open(self, tmp_path):
        return given.store_in(tmp_path)


class SqliteUrl(StoreConformance):
    def open(self, tmp_path):
        return given.url_in(tmp_path)


SOURCES = {
    "url": lambda folder: UrlSource(given.url_in(folder)),
    "functions": lambda folder: FactorySource(f"{GIVEN}:store_in", f"{GIVEN}:lock_in", str(folder)),
    "function-url": lambda folder: FactorySource(f"{GIVEN}:url_in", None, str(folder)),
    "class-url": lambda folder: ClassSource(SqliteUrl, folder),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_handles_of_a_source_and_of_a_retold_one_share_the_storage(kind, tmp_path):
    source = SOURCES[kind](tmp_path)
    with Harness(source) as here, Harness(retold(source)) as there:
        here.store.put("s", "k", 1)
        assert there.open_store(timeout=3).get("s", "k").value == 1
        lease = here.lock.try_acquire("k")
        assert there.lock.held("k") is True
        assert here.lock.release(lease) is True


@pytest.mark.parametrize("kind", ["url", "function-url", "class-url"])
def test_what_gives_a_url_has_both_sides(kind, tmp_path):
    with Harness(SOURCES[kind](tmp_path)) as sync, Harness(SOURCES[kind](tmp_path), asynchronous=True) as side:
        sync.store.put("s", "k", 1)
        assert side.store.get("s", "k").value == 1
        assert side.lock.held("k") is False


def test_a_function_of_one_side_has_no_other(tmp_path):
    source = FactorySource(f"{GIVEN}:store_in", None, str(tmp_path))
    with Harness(source, asynchronous=True) as harness, pytest.raises(Absent, match="no asynchronous store"):
        harness.open_store()
    other = FactorySource(f"{GIVEN}:async_store_in", None, str(tmp_path))
    with Harness(other) as harness, pytest.raises(Absent, match="no synchronous store"):
        harness.open_store()
    with Harness(other, asynchronous=True) as harness:
        assert harness.store.get("s", "k") is None


def test_without_a_lock_there_is_none(tmp_path):
    with Harness(FactorySource(f"{GIVEN}:store_in", None, str(tmp_path))) as harness:
        with pytest.raises(Absent, match="no lock"):
            harness.open_lock()
        assert "lock" in look_at(harness).absent
    with Harness(ClassSource(Sqlite, tmp_path)) as harness, pytest.raises(Absent, match="no lock"):
        harness.open_lock()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_backend_brings_store_and_lock_of_both_sides(tmp_path, asynchronous):
    source = FactorySource(f"{GIVEN}:ListBackend", None, str(tmp_path))
    with Harness(source, asynchronous=asynchronous) as harness:
        scope = harness.new_scope()
        harness.open_store().append(scope, "log", [1, 2])
        assert [entry.value for entry in harness.store.read(scope, "log")] == [1, 2]
        assert harness.open_lock().try_acquire(scope).token == 1
        assert harness.lock.held(scope) is True
        assert harness.subject_of_simulation() is not None


def test_a_backend_must_say_what_it_can_do(tmp_path, monkeypatch):
    monkeypatch.delattr(ListBackend, "capabilities")
    source = FactorySource(f"{GIVEN}:ListBackend", None, str(tmp_path / "other"))
    with Harness(source) as harness, pytest.raises(ConfigError, match="ListBackend needs an attribute `capabilities`"):
        harness.open_store()


def test_what_a_store_lacks_is_found_by_calling(tmp_path):
    with Harness(FactorySource(f"{GIVEN}:RecordsOnly", None, str(tmp_path))) as harness:
        absent = absent_from_store(harness.store, harness.new_scope())
    assert {"append", "read", "head", "touch", "update", "sweep"} <= absent
    assert absent.isdisjoint({"get", "get_many", "put", "delete", "keys", "scan", "scopes", "clear"})


def test_a_whole_handle_lacks_nothing(tmp_path):
    for asynchronous in (False, True):
        with Harness(given.url_in(tmp_path), asynchronous=asynchronous) as harness:
            assert absent_from_store(harness.store, harness.new_scope()) == set()
            assert absent_from_lock(harness.lock, harness.new_key()) == set()
            assert list(harness.store.scopes().items) == list(harness.store.log_scopes().items) == []


def test_asking_for_what_is_absent_ends_the_scenario(tmp_path):
    source = FactorySource(f"{GIVEN}:RecordsOnly", None, str(tmp_path))
    with Harness(source, absent=["touch", "append"]) as harness:
        harness.store.put("s", "k", 1)
        for name in ("touch", "append"):
            with pytest.raises(Absent, match=f"the backend has no {name}"):
                getattr(harness.store, name)
        assert isinstance(harness.bare(harness.store), RecordsOnly)


def test_a_child_that_lacks_something_ends_the_scenario_too(tmp_path):
    from holdall_conformance.children import Children  # noqa: PLC0415

    source = FactorySource(f"{GIVEN}:store_in", None, str(tmp_path))
    with Harness(source, absent=["put"]) as harness, Children(harness) as children:
        child = children.start("holdall_conformance.scenarios.capabilities_work:write_and_exit", harness.new_scope())
        with pytest.raises(Absent, match="the backend has no put"):
            child.hear()


@pytest.mark.parametrize(
    "target,lock,told",
    [
        (f"{GIVEN}:nothing_there", None, "nothing_there"),
        ("no_such_module:open", None, "No module named 'no_such_module'"),
        (f"{GIVEN}:NOT_CALLABLE", None, "no function but int"),
        ("unheard-of", None, "no url for 'unheard-of'"),
    ],
)
def test_targets_that_cannot_be_had_are_refused(target, lock, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        source_of(target, lock, tmp_path)
    assert told in str(caught.value)


def test_a_name_of_the_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("holdall.toml").write_text('[stores.mine]\nurl = "sqlite:///mine.db"\n')
    source = source_of("mine")
    with Harness(retold(source)) as harness:
        harness.store.put("s", "k", 1)
        assert harness.lock.held("k") is False
    with holdall.open_store("mine") as store:
        assert store.get("s", "k").value == 1
    assert source.subject == "mine"


def test_a_url_with_the_lock_of_a_function(tmp_path):
    source = source_of("memory://kit", f"{GIVEN}:lock_in", tmp_path)
    assert (source.subject, source.lock) == ("memory://kit", f"{GIVEN}:lock_in")
    with Harness(retold(source)) as harness, given.lock_in(tmp_path) as other:
        assert harness.store.adapter == "memory"
        assert harness.lock.try_acquire("k").token == 1
        assert other.held("k") is True


def test_a_lock_alone(tmp_path):
    source = source_of(None, f"{GIVEN}:lock_in", tmp_path)
    with Harness(retold(source)) as harness:
        assert harness.capabilities.persistent is True
        assert "store" in look_at(harness).absent
    with pytest.raises(ConfigError, match="name a backend"):
        source_of(None)


def test_every_opening_must_give_the_same_storage():
    with Harness("memory://") as harness, pytest.raises(ConfigError, match="memory://kit instead of memory://"):
        look_at(harness)


def test_the_subject_shows_no_password():
    assert "secret" not in UrlSource("postgresql://me:secret@db/app").subject
