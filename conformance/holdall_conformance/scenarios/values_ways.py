"""Values by every way in and every way out, one after the other: none of them is less exact than the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from holdall import Append, Put, Store, Transaction
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import all_items, demand_any, fill, has, identical, value_of, values_of

_VALUES: list[Any] = [
    {"z": 1, "a": 1.0, "m": [True, 1, 1.0, None], "\u00e9": "e\u0301", "e\u0301": "\u00e9", "": {}},
    [2**53 + 1, -(2**63), 2**64, 10**40, 0, -0.0, 0.0, 3.0, 1e16, 5e-324, 0.1 + 0.2, 1.7976931348623157e308],
    ["\x00a\x00", " a ", "a\r\n", "\U0010ffff", "\\u0000", "%s {} ${x}", "1", "null", "2026-01-01T00:00:00Z", ""],
    [[], {}, [[]], [{}], {"a": {"a.b": {"$set": None}}}, [None], [[None], None]],
    2**53 + 1,
    1.0,
    -0.0,
    "",
    None,
    False,
]


def _demand(way: str, found: Iterable[Any]) -> None:
    """Compare what one way gave with the values."""
    told = list(found)
    assert len(told) == len(_VALUES), f"{way} gives {len(told)} of {len(_VALUES)} values"
    for value, given in zip(_VALUES, told, strict=True):
        assert identical(value, given), f"{way} changes {value!r:.120} to {given!r:.120}"


def _ways_in(store: Store, scope: str) -> dict[str, Callable[[str, Any], Any]]:
    """Return the ways to write a record, each as a function of a key and a value."""
    ways: dict[str, Callable[[str, Any], Any]] = {
        "put": lambda key, value: store.put(scope, key, value),
        "put over another": lambda key, value: store.put(scope, key, value, expect=store.put(scope, key, [0])),
        "put_many": lambda key, value: store.put_many(scope, {f"{key} beside": 0, key: value}),
        "update": lambda key, value: store.update(scope, key, lambda _: value),
        "commit of one": lambda key, value: store.commit([Put(scope, key, value)]),
        "transaction": lambda key, value: store.transaction(lambda tx: tx.put(scope, key, value)),
    }
    if store.capabilities.atomic_commit:
        ways["commit of two"] = lambda key, value: store.commit([Put(scope, f"{key} too", 0), Put(scope, key, value)])
    return {way: write for way, write in ways.items() if has(store, way.split()[0])}


@scenario("values.every-way-in", level="full")
def every_way_in(harness: Harness) -> None:
    """A value is stored exactly by put, put_many, update, commit and transaction, over another and anew."""
    store, scope = harness.store, harness.new_scope()
    for way, write in _ways_in(store, scope).items():
        for place, value in enumerate(_VALUES):
            write(f"{way} {place}", value)
        _demand(way, (value_of(store, scope, f"{way} {place}") for place in range(len(_VALUES))))


def _given_to_update(store: Store, scope: str, key: str) -> Any:
    given: list[Any] = []

    def same(value: Any) -> Any:
        given.append(value)
        return value

    returned = store.update(scope, key, same).value
    assert identical(given[0], returned), f"update returns {returned!r:.120} for {given[0]!r:.120}"
    return given[0]


def _read_in_transaction(store: Store, scope: str, key: str) -> Any:
    def read(tx: Transaction) -> Any:
        record = tx.get(scope, key)
        return "absent" if record is None else record.value

    return store.transaction(read)


def _ways_out(store: Store, scope: str, keys: list[str]) -> dict[str, Callable[[], Iterable[Any]]]:
    """Return the ways to read records."""
    ways: dict[str, Callable[[], Iterable[Any]]] = {
        "get": lambda: [value_of(store, scope, key) for key in keys],
        "get_many": lambda: [record.value for record in store.get_many(scope, keys) if record is not None],
        "scan": lambda: [record.value for record in all_items(store.scan, scope, limit=3)],
        "iter_records": lambda: [record.value for record in store.iter_records(scope)],
        "transaction": lambda: [_read_in_transaction(store, scope, key) for key in keys],
        "update": lambda: [_given_to_update(store, scope, key) for key in keys],
    }
    return {way: read for way, read in ways.items() if has(store, way)}


@scenario("values.every-way-out", level="full")
def every_way_out(harness: Harness) -> None:
    """A value is read exactly by every reader, also by the functions of update and transaction."""
    store, scope = harness.store, harness.new_scope()
    keys = [f"{place:02}" for place in range(len(_VALUES))]
    fill(store, scope, dict(zip(keys, _VALUES, strict=True)))
    for way, read in _ways_out(store, scope, keys).items():
        _demand(way, read())
        _demand(f"get after {way}", (value_of(store, scope, key) for key in keys))


@scenario("values.unchanged-by-what-writes-none", level="full")
def unchanged_by_what_writes_none(harness: Harness) -> None:
    """Touches, seals and sweeps leave a value exactly as it was."""
    store, scope = harness.store, harness.new_scope()
    keys = [f"{place:02}" for place in range(len(_VALUES))]
    fill(store, scope, dict(zip(keys, _VALUES, strict=True)))
    ways: dict[str, Callable[[str], Any]] = {
        "touch": lambda key: store.touch(scope, key, 600),
        "touch with None": lambda key: store.touch(scope, key, None),
        "seal": lambda key: store.seal(scope, key, 3),
        "sweep": lambda _: store.sweep(),
    }
    for way, change in ways.items():
        if has(store, way.split()[0]):
            for key in keys if way != "sweep" else keys[:1]:
                change(key)
            _demand(f"get after {way}", (value_of(store, scope, key) for key in keys))


@scenario("values.entries-by-every-way", level="full")
def entries_by_every_way(harness: Harness) -> None:
    """An entry is stored exactly by append, commit, transaction and restore, and read so by every reader."""
    store, scope = harness.store, harness.new_scope()
    demand_any(store, "append")
    ways: dict[str, Callable[[str], Any]] = {
        "append": lambda key: store.append(scope, key, _VALUES),
        "append with an id": lambda key: store.append(scope, key, _VALUES, batch_id="b"),
        "append one by one": lambda key: [store.append(scope, key, [value]) for value in _VALUES],
        "commit": lambda key: store.commit([Append(scope, key, _VALUES)]),
        "transaction": lambda key: store.transaction(lambda tx: tx.append(scope, key, _VALUES)),
        "restore_log": lambda key: store.restore_log(scope, key, 7, _VALUES),
    }
    for way, write in ways.items():
        if has(store, way.split()[0]):
            write(way)
            first = 7 if way == "restore_log" else 0
            _demand(f"read after {way}", values_of(store.read(scope, way, first)))
            _demand(f"read with a limit after {way}", values_of(store.read(scope, way, first, len(_VALUES))))
            _demand(f"tail after {way}", values_of(store.tail(scope, way, 1000)))
            _demand(f"iter_entries after {way}", values_of(store.iter_entries(scope, way, first)))
            _demand(f"follow after {way}", values_of(store.follow(scope, way, first, timeout=0)))
            store.truncate(scope, way, first)
            _demand(f"read after a truncate of {way}", values_of(store.read(scope, way, first)))
