"""What a transaction buffers, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from holdall import ABSENT, Fenced, InvalidArgument, InvalidValue, Transaction
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import value_of, values_of


@scenario("transactions.arguments-refused")
def arguments_refused(harness: Harness) -> None:
    """Attempts below 1 and what is no function are ValueErrors, before anything runs."""
    store = harness.store
    wrong: list[Any] = [0, -1, True, 1.5, None, "3"]
    for attempts in wrong:
        with pytest.raises(InvalidArgument):
            store.transaction(lambda _: pytest.fail("it ran"), attempts=attempts)
    with pytest.raises(InvalidArgument):
        store.transaction("no function")  # type: ignore[arg-type]


@scenario("transactions.reads-its-own-writes")
def reads_its_own_writes(harness: Harness) -> None:
    """Within a transaction its own put and delete are read back, and nobody else sees them before the commit."""
    store, rival, scope = harness.store, harness.open_store(), harness.new_scope()
    store.put(scope, "k", "before")

    def run(tx: Transaction) -> None:
        tx.put(scope, "k", {"t": (1, 2)}, ttl=600)
        mine = tx.get(scope, "k")
        assert mine is not None
        assert (mine.value, mine.version) == ({"t": [1, 2]}, "")
        assert value_of(rival, scope, "k") == "before"
        tx.delete(scope, "k")
        assert tx.get(scope, "k") is None
        tx.put(scope, "k", "after")
        assert [record.value for record in tx.get_many(scope, ["k", "k"]) if record] == ["after", "after"]

    store.transaction(run)
    assert value_of(store, scope, "k") == "after"


@scenario("transactions.buffered-values-not-aliased")
def buffered_values_not_aliased(harness: Harness) -> None:
    """Changing an object after it was given to a transaction, or received from it, changes nothing that is written."""
    store, scope = harness.store, harness.new_scope()

    def run(tx: Transaction) -> None:
        value = {"a": [1]}
        tx.put(scope, "k", value)
        value["a"].append(2)
        mine = tx.get(scope, "k")
        assert mine is not None
        mine.value["a"].append(3)

    store.transaction(run)
    assert value_of(store, scope, "k") == {"a": [1]}


@scenario("transactions.appends-become-one-batch")
def appends_become_one_batch(harness: Harness) -> None:
    """Several appends of a transaction to one log become one batch, in order, under one id."""
    store, scope = harness.store, harness.new_scope()

    def run(tx: Transaction) -> None:
        tx.append(scope, "k", ["a"], batch_id="id")
        tx.append(scope, "k", (entry for entry in "bc"), batch_id="id")

    store.transaction(run)
    store.transaction(run)
    assert store.append(scope, "k", ["a", "b", "c"], batch_id="id").count == 3
    assert values_of(store.read(scope, "k")) == ["a", "b", "c"]


@scenario("transactions.values-refused")
def values_refused(harness: Harness) -> None:
    """What is not JSON is refused in a transaction, and nothing of it is written."""
    store, scope = harness.store, harness.new_scope()
    with pytest.raises(InvalidValue):
        store.transaction(lambda tx: tx.put(scope, "k", float("nan")))
    with pytest.raises(InvalidValue):
        store.transaction(lambda tx: tx.append(scope, "k", [b""]))
    assert store.get(scope, "k") is None
    assert store.head(scope, "k") is None


@scenario("transactions.fenced")
def fenced(harness: Harness) -> None:
    """A stale fence in a transaction is refused and not tried again; a good one raises the mark."""
    store, scope, runs = harness.store, harness.new_scope(), list[Any]()
    store.put(scope, "k", 1, fence=5)

    def write(tx: Transaction) -> None:
        runs.append(tx.get(scope, "k"))
        tx.put(scope, "k", 2, fence=4)

    with pytest.raises(Fenced):
        store.transaction(write)
    assert len(runs) == 1
    store.transaction(lambda tx: tx.put(scope, "k", 3, fence=6))
    with pytest.raises(Fenced) as caught:
        store.put(scope, "k", 4, fence=5)
    assert caught.value.mark == 6
    store.transaction(lambda tx: tx.append(scope, "log", [1], fence=6))
    with pytest.raises(Fenced):
        store.append(scope, "log", [2], fence=5)


@scenario("transactions.ttl-applies", waits=True)
def ttl_applies(harness: Harness) -> None:
    """A put of a transaction with a ttl expires."""
    store, scope = harness.store, harness.new_scope()
    store.transaction(lambda tx: tx.put(scope, "k", 1, ttl=harness.short_ttl))
    harness.outlast(harness.short_ttl)
    assert store.get(scope, "k") is None
    store.put(scope, "k", 2, expect=ABSENT)
