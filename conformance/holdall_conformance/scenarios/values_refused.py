"""What is not JSON is refused with its path, and nothing is written."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import uuid
from typing import Any

import pytest

from holdall import Append, InvalidValue, Put
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import value_of


class _Colour(enum.Enum):
    RED = "red"


class _Level(enum.IntEnum):
    LOW = 1


class _Name(enum.StrEnum):
    ONE = "one"


def _cycle() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def _too_deep() -> Any:
    value: Any = 0
    for _ in range(129):
        value = [value]
    return value


def _kinds() -> dict[str, Any]:
    return {
        "nan": math.nan,
        "inf": math.inf,
        "-inf": -math.inf,
        "high surrogate": "a\ud800",
        "low surrogate": "\udc88",
        "surrogate pair": "\ud83d\ude00",
        "bytes": b"x",
        "bytearray": bytearray(b"x"),
        "datetime": dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
        "date": dt.date(2024, 1, 1),
        "uuid": uuid.UUID(int=1),
        "decimal": decimal.Decimal("1.5"),
        "complex": 1j,
        "set": {1},
        "frozenset": frozenset(),
        "object": object(),
        "enum": _Colour.RED,
        "int enum": _Level.LOW,
        "str enum": _Name.ONE,
        "generator": (number for number in (1,)),
        "int key": {1: "a"},
        "none key": {None: "a"},
        "bool key": {True: "a"},
        "bytes key": {b"a": "a"},
        "surrogate key": {"\ud800": "a"},
        "cycle": _cycle(),
        "too deep": _too_deep(),
        "too many digits": 10**4300,
        "deep recursion": _recursion(),
    }


def _recursion() -> Any:
    value: Any = 0
    for _ in range(5_000):
        value = {"a": value}
    return value


@scenario("values.refused-as-record")
def refused_as_record(harness: Harness) -> None:
    """A record that is not JSON is refused as a ValueError, and the record before it stays as it was."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "old", "old")
    for name, value in _kinds().items():
        for key in ("old", "new"):
            with pytest.raises(InvalidValue) as caught:
                store.put(scope, key, value)
            assert isinstance(caught.value, ValueError), name
            assert caught.value.path.startswith("$"), name
    record = store.get(scope, "old")
    assert record is not None
    assert (record.value, record.version) == ("old", version)
    assert list(store.keys(scope).items) == ["old"]


@scenario("values.refused-as-entry")
def refused_as_entry(harness: Harness) -> None:
    """A batch with an entry that is not JSON is refused whole, and the log does not begin or grow."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "old", ["first"])
    before = store.head(scope, "old")
    for value in _kinds().values():
        for key in ("old", "new"):
            with pytest.raises(InvalidValue):
                store.append(scope, key, ["good", value, "good"], batch_id="b")
    assert store.head(scope, "old") == before
    assert store.head(scope, "new") is None
    assert list(store.logs(scope).items) == ["old"]
    assert store.append(scope, "old", ["other"], batch_id="b").start == 1


@scenario("values.refused-names-the-path")
def refused_names_the_path(harness: Harness) -> None:
    """The error names the place of what is not JSON."""
    store, scope = harness.store, harness.new_scope()
    cases: list[tuple[Any, str]] = [
        (math.nan, "$"),
        ([0, [1, math.inf]], "$[1][1]"),
        ({"messages": [{}, {"at": dt.datetime.now(dt.UTC)}]}, "$.messages[1].at"),
        ({"a": {"b": b""}}, "$.a.b"),
        ((1, {"x": (2, uuid.UUID(int=1))}), "$[1].x[1]"),
    ]
    for value, path in cases:
        with pytest.raises(InvalidValue) as caught:
            store.put(scope, "k", value)
        assert caught.value.path == path
        assert path in str(caught.value)


@scenario("values.refused-in-put-many")
def refused_in_put_many(harness: Harness) -> None:
    """put_many checks all values before it writes the first."""
    store, scope = harness.store, harness.new_scope()
    with pytest.raises(InvalidValue):
        store.put_many(scope, {"a": 1, "b": 2, "c": math.nan})
    assert list(store.keys(scope).items) == []


@scenario("values.refused-in-commit")
def refused_in_commit(harness: Harness) -> None:
    """A commit checks its values before the backend sees any of it."""
    store, scope = harness.store, harness.new_scope()
    with pytest.raises(InvalidValue):
        store.commit([Put(scope, "a", math.nan)])
    with pytest.raises(InvalidValue):
        store.commit([Append(scope, "a", [1, {2}])])
    assert store.get(scope, "a") is None
    assert store.head(scope, "a") is None


@scenario("values.refused-in-update")
def refused_in_update(harness: Harness) -> None:
    """An update whose function returns what is not JSON is refused and leaves the value."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "k", 1)
    with pytest.raises(InvalidValue):
        store.update(scope, "k", lambda _: {1, 2})
    assert value_of(store, scope, "k") == 1


@scenario("values.refused-in-restore")
def refused_in_restore(harness: Harness) -> None:
    """restore_log refuses entries that are not JSON and makes no log."""
    store, scope = harness.store, harness.new_scope()
    with pytest.raises(InvalidValue):
        store.restore_log(scope, "k", 3, [1, math.nan])
    assert store.head(scope, "k") is None


@scenario("values.refused-poisons-nothing")
def refused_poisons_nothing(harness: Harness) -> None:
    """After a refused value, the other records and entries of the scope can be listed and read."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "a", 1)
    store.append(scope, "a", [1])
    for value in ("\ud800", "\udc88", {"\udfff": 1}):
        with pytest.raises(InvalidValue):
            store.put(scope, "b", value)
        with pytest.raises(InvalidValue):
            store.append(scope, "a", [value])
    store.put(scope, "c", 3)
    assert [record.value for record in store.scan(scope).items] == [1, 3]
    assert [entry.value for entry in store.read(scope, "a")] == [1]
