"""What the caller passed or received never aliases what is stored."""

from __future__ import annotations

from typing import Any

from holdall import Append, Put
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import value_of, values_of


def _sample() -> dict[str, Any]:
    return {"list": [1, {"deep": [2]}], "text": "a"}


def _spoil(value: Any) -> None:
    value["list"][1]["deep"].append("spoilt")
    value["list"].append("spoilt")
    value["new"] = "spoilt"


@scenario("values.passed-not-aliased")
def passed_not_aliased(harness: Harness) -> None:
    """Changing an object after it was put, appended or committed changes nothing that is stored."""
    store, scope = harness.store, harness.new_scope()
    writes: dict[str, Any] = {}
    for name in ("put", "put_many", "commit", "update"):
        writes[name] = _sample()
    store.put(scope, "put", writes["put"])
    store.put_many(scope, {"put_many": writes["put_many"]})
    store.commit([Put(scope, "commit", writes["commit"])])
    store.update(scope, "update", lambda _: writes["update"])
    for value in writes.values():
        _spoil(value)
    for name in writes:
        assert value_of(store, scope, name) == _sample(), name


@scenario("values.passed-entries-not-aliased")
def passed_entries_not_aliased(harness: Harness) -> None:
    """Changing a batch or its entries after the append changes nothing that is stored."""
    store, scope = harness.store, harness.new_scope()
    entry, other, third = _sample(), _sample(), _sample()
    batch = [entry]
    store.append(scope, "log", batch)
    store.commit([Append(scope, "log", [other])])
    store.restore_log(scope, "restored", 5, [third])
    batch.append({})
    for value in (entry, other, third):
        _spoil(value)
    assert values_of(store.read(scope, "log")) == [_sample(), _sample()]
    assert values_of(store.read(scope, "restored", 5)) == [_sample()]


@scenario("values.received-not-aliased")
def received_not_aliased(harness: Harness) -> None:
    """Changing what get, get_many, scan, iter_records or update returned changes nothing that is stored."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "k", _sample())
    received = [value_of(store, scope, "k"), store.scan(scope).items[0].value]
    received += [record.value for record in store.get_many(scope, ["k", "k"]) if record is not None]
    received += [record.value for record in store.iter_records(scope)]
    received.append(store.update(scope, "k", lambda value: value).value)
    for value in received:
        _spoil(value)
        assert value_of(store, scope, "k") == _sample()


@scenario("values.received-twice-not-shared")
def received_twice_not_shared(harness: Harness) -> None:
    """Two reads of one record give two values; changing one does not change the other."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "k", _sample())
    first, second = (record.value for record in store.get_many(scope, ["k", "k"]) if record is not None)
    _spoil(first)
    assert second == _sample()


@scenario("values.received-entries-not-aliased")
def received_entries_not_aliased(harness: Harness) -> None:
    """Changing what read, tail, iter_entries or follow returned changes nothing that is stored."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "log", [_sample(), _sample()])
    received = [*values_of(store.read(scope, "log")), *values_of(store.tail(scope, "log", 1))]
    received += values_of(store.iter_entries(scope, "log"))
    received += values_of(store.follow(scope, "log", timeout=0))
    for value in received:
        _spoil(value)
        assert values_of(store.read(scope, "log")) == [_sample(), _sample()]


@scenario("values.update-argument-not-aliased")
def update_argument_not_aliased(harness: Harness) -> None:
    """An update whose function changes its argument and then fails leaves the stored value as it was."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "k", _sample())

    def spoil_and_fail(value: Any) -> Any:
        _spoil(value)
        raise ArithmeticError

    try:
        store.update(scope, "k", spoil_and_fail)
    except ArithmeticError:
        assert value_of(store, scope, "k") == _sample()
        return
    raise AssertionError("the error of the function is swallowed")


@scenario("values.update-result-is-what-a-read-gives")
def update_result_is_what_a_read_gives(harness: Harness) -> None:
    """The record that update returns equals the record that get returns, in value, type and version."""
    store, scope = harness.store, harness.new_scope()
    updated = store.update(scope, "k", lambda _: {"tuple": (1, 2)})
    assert updated == store.get(scope, "k")
    assert type(updated.value["tuple"]) is list
