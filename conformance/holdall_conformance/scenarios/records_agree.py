"""Every way to read a record tells the same, after every way to change one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from holdall import ABSENT, Conflict, Delete, Put, Record, Store
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.listings import everything
from holdall_conformance.scenarios.support import values_of


def _readers(store: Store, scope: str) -> dict[str, Callable[[], dict[str, Record]]]:
    """Return ways to read all records of a scope whose keys are a, b and c, by key and without what they have left."""

    def by_key(records: Any) -> dict[str, Record]:
        return {record.key: record._replace(expires_in=None) for record in records if record is not None}

    return {
        "get": lambda: by_key([store.get(scope, key) for key in "abc"]),
        "get_many": lambda: by_key(store.get_many(scope, list("abc"))),
        "scan": lambda: by_key(store.scan(scope).items),
        "scan by prefix": lambda: by_key([row for key in "abc" for row in store.scan(scope, key).items]),
        "iter_records": lambda: by_key(store.iter_records(scope)),
    }


@scenario("records.every-reader-sees-the-last-write")
def every_reader_sees_the_last_write(harness: Harness) -> None:
    """After every kind of write, get, get_many, scan, keys and the iterators of every handle tell the same, at once."""
    store, other, scope = harness.store, harness.open_store(), harness.new_scope()
    changes: dict[str, Callable[[], Any]] = {
        "put": lambda: store.put(scope, "a", 1),
        "put again": lambda: store.put(scope, "a", 2),
        "put_many": lambda: store.put_many(scope, {"a": 3, "b": 3, "c": 3}),
        "update": lambda: store.update(scope, "b", lambda value: [value]),
        "put with version": lambda: store.put(scope, "c", 4, expect=_version(store, scope, "c")),
        "commit": lambda: store.commit([Put(scope, "a", 5)]),
        "touch": lambda: store.touch(scope, "a", 600),
        "delete": lambda: store.delete(scope, "b"),
        "make anew": lambda: store.put(scope, "b", 6, expect=ABSENT),
        "commit a delete": lambda: store.commit([Delete(scope, "c")]),
        "delete_many": lambda: store.delete_many(scope, ["a", "c"]),
        "put with ttl": lambda: store.put(scope, "a", 7, ttl=600),
        "clear": lambda: store.clear(scope),
        "put after clear": lambda: store.put(scope, "b", 8),
    }
    for name, change in changes.items():
        change()
        expected = _readers(store, scope)["get"]()
        for handle in (store, other):
            for reader, read in _readers(handle, scope).items():
                assert read() == expected, f"{reader} after {name}"
            assert list(handle.keys(scope).items) == list(handle.iter_keys(scope)) == sorted(expected), name
            assert list(handle.scopes(scope).items) == ([scope] if expected else []), name


def _version(store: Store, scope: str, key: str) -> str:
    record = store.get(scope, key)
    assert record is not None
    return record.version


@scenario("records.many-of-any-number")
def many_of_any_number(harness: Harness) -> None:
    """put_many, get_many and delete_many leave nothing over, also where a number of keys fills no whole request."""
    store = harness.store
    for count in (1, 2, 9, 11, 24, 26, 51, 99, 101, 127, 257):
        scope = harness.new_scope()
        values = {f"{number:04}": number for number in range(count)}
        assert store.put_many(scope, values) == count
        found = store.get_many(scope, values)
        assert [record.value for record in found if record is not None] == list(values.values()), count
        assert everything(store.scan, scope) == list(values)
        assert store.delete_many(scope, list(values)[1:]) == count - 1
        assert list(store.keys(scope).items) == ["0000"], count


@scenario("records.clear-spares-logs")
def clear_spares_logs(harness: Harness) -> None:
    """Clear, delete and delete_many leave the logs of the same scope and key alone, and drop leaves the records."""
    store, scope = harness.store, harness.new_scope()
    for key in ("k", "other"):
        store.append(scope, key, [key])
        store.put(scope, key, 1)
    store.delete(scope, "k")
    store.delete_many(scope, ["other"])
    store.put_many(scope, {"k": 1, "x": 1})
    assert store.clear(scope) == 2
    assert list(store.logs(scope).items) == ["k", "other"]
    assert values_of(store.read(scope, "k")) == ["k"]
    assert store.append(scope, "other", [2]).start == 1
    store.put(scope, "k", 2)
    assert store.drop(scope, "k") is True
    assert list(store.keys(scope).items) == ["k"]


@scenario("versions.near-misses-refused")
def near_misses_refused(harness: Harness) -> None:
    """A text that only resembles the version, by case, by a beginning, by spaces or by an end, is not it."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "k", 1)
    near = {version.upper(), version.lower(), version[:-1], version[:8], version + "0", version + " ", " " + version}
    near |= {version + "\0", version[::-1], f"{version}x", f'"{version}"', "%", "_" * len(version), "*"}
    near |= {version[: len(version) // 2] + "0" * (len(version) - len(version) // 2)}
    for expect in sorted(near - {version, ""}):
        with pytest.raises(Conflict):
            store.put(scope, "k", 2, expect=expect)
        with pytest.raises(Conflict):
            store.delete(scope, "k", expect=expect)
    assert store.put(scope, "k", 2, expect=version)
