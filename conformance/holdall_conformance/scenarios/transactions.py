"""Optimistic transactions."""

from __future__ import annotations

from typing import Any

import pytest

from holdall import Conflict, Transaction, Unsupported
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import (
    fill,
    head_of,
    record_of,
    value_of,
    values_of,
)


@scenario("transactions.returns-what-the-function-returned")
def returns_what_the_function_returned(harness: Harness) -> None:
    """A transaction that writes nothing works everywhere and returns what its function returned."""
    store, scope = harness.store, harness.new_scope()
    marker = object()
    assert store.transaction(lambda _: marker) is marker
    assert store.transaction(lambda tx: tx.get(scope, "k")) is None


@scenario("transactions.one-record")
def one_record(harness: Harness) -> None:
    """A transaction on one record works everywhere: what it read is what its write expects."""
    store, scope = harness.store, harness.new_scope()

    def count(tx: Transaction) -> int:
        record = tx.get(scope, "k")
        number = 1 if record is None else record.value + 1
        tx.put(scope, "k", number)
        return number

    assert [store.transaction(count) for _ in range(3)] == [1, 2, 3]
    assert value_of(store, scope, "k") == 3


@scenario("transactions.one-log")
def one_log(harness: Harness) -> None:
    """A transaction on one log works everywhere: the head that it read is what its append expects."""
    store, rival, scope, runs = harness.store, harness.open_store(), harness.new_scope(), list[Any]()

    def add(tx: Transaction) -> None:
        head = tx.head(scope, "k")
        runs.append(0 if head is None else head.length)
        if len(runs) == 1:
            rival.append(scope, "k", ["rival"])
        tx.append(scope, "k", [f"after {runs[-1]}"])

    store.transaction(add)
    assert runs == [0, 1]
    assert values_of(store.read(scope, "k")) == ["rival", "after 1"]


@scenario("transactions.several-unsupported", "!atomic_commit")
def several_unsupported(harness: Harness) -> None:
    """Where atomic commits are not declared, a transaction over several keys raises Unsupported and writes nothing."""
    store, scope = harness.store, harness.new_scope()

    def two(tx: Transaction) -> None:
        tx.get(scope, "a")
        tx.put(scope, "b", 1)

    with pytest.raises(Unsupported):
        store.transaction(two)
    assert list(store.keys(scope).items) == []


@scenario("transactions.move-between-records", "atomic_commit")
def move_between_records(harness: Harness) -> None:
    """What a transaction reads and writes over several records and logs is one commit."""
    store, scope = harness.store, harness.new_scope()
    fill(store, scope, {"a": 10, "b": 0, "doomed": 1})

    def move(tx: Transaction) -> int:
        first, second = tx.get_many(scope, ["a", "b"])
        assert first is not None
        assert second is not None
        tx.put(scope, "a", first.value - 3)
        tx.put(scope, "b", second.value + 3)
        tx.delete(scope, "doomed")
        tx.append(scope, "log", [{"moved": 3}])
        return int(first.value) - 3

    assert store.transaction(move) == 7
    assert [record.value for record in store.scan(scope).items] == [7, 3]
    assert values_of(store.read(scope, "log")) == [{"moved": 3}]


@scenario("transactions.rereads-after-a-rival", "atomic_commit")
def rereads_after_a_rival(harness: Harness) -> None:
    """A change of any record, absence or log that was read runs the function again, on fresh reads."""
    store, rival, scope = harness.store, harness.open_store(), harness.new_scope()
    rivals: dict[str, Any] = {
        "changes a record": lambda: rival.put(scope, "read", 2),
        "writes the same value": lambda: rival.put(scope, "read", 1),
        "deletes a record": lambda: rival.delete(scope, "read"),
        "makes a record": lambda: rival.put(scope, "absent", 1),
        "appends": lambda: rival.append(scope, "log", ["rival"]),
        "begins a log": lambda: rival.append(scope, "nolog", ["rival"]),
        "truncates": lambda: rival.truncate(scope, "log", 1),
        "regrows a log": lambda: (rival.drop(scope, "log"), rival.append(scope, "log", ["a"])),
    }
    for name, interfere in rivals.items():
        store.put(scope, "read", 1)
        store.delete(scope, "absent")
        store.drop(scope, "log")
        store.drop(scope, "nolog")
        store.append(scope, "log", ["a"])
        runs: list[Any] = []

        def run(tx: Transaction, runs: list[Any] = runs, interfere: Any = interfere) -> None:
            seen = [tx.get(scope, "read"), tx.get(scope, "absent"), tx.head(scope, "log"), tx.head(scope, "nolog")]
            runs.append(seen)
            if len(runs) == 1:
                interfere()
            tx.put(scope, "result", len(runs))

        store.transaction(run)
        assert len(runs) == 2, f"{name}: {len(runs)} runs"
        assert runs[0] != runs[1], name
        assert value_of(store, scope, "result") == 2, name


@scenario("transactions.unread-may-change", "atomic_commit")
def unread_may_change(harness: Harness) -> None:
    """What a transaction did not read does not make it run again."""
    store, rival, scope, runs = harness.store, harness.open_store(), harness.new_scope(), list[Any]()
    store.put(scope, "read", 1)

    def blind(tx: Transaction) -> None:
        runs.append(tx.get(scope, "read"))
        rival.put(scope, "written", "rival")
        rival.append(scope, "log", ["rival"])
        tx.put(scope, "written", "mine")
        tx.append(scope, "log", ["mine"])

    store.transaction(blind)
    assert len(runs) == 1
    assert value_of(store, scope, "written") == "mine"
    assert values_of(store.read(scope, "log")) == ["rival", "mine"]


@scenario("transactions.gives-up-after-attempts")
def gives_up_after_attempts(harness: Harness) -> None:
    """After its attempts a transaction raises the last Conflict, and nothing of it is written."""
    store, rival, scope = harness.store, harness.open_store(), harness.new_scope()
    for attempts in (1, 3):
        runs: list[int] = []

        def lose(tx: Transaction, runs: list[int] = runs) -> None:
            tx.get(scope, "k")
            runs.append(1)
            rival.put(scope, "k", "rival")
            tx.put(scope, "k", "mine")

        with pytest.raises(Conflict) as caught:
            store.transaction(lose, attempts=attempts)
        assert len(runs) == attempts
        assert caught.value.current == record_of(store, scope, "k").version
        assert value_of(store, scope, "k") == "rival"


@scenario("transactions.error-of-function-unchanged")
def error_of_function_unchanged(harness: Harness) -> None:
    """What the function raises reaches the caller unchanged, its own Conflict too, and nothing is written."""
    store, scope = harness.store, harness.new_scope()
    for mine in (ArithmeticError("mine"), Conflict("mine", None)):
        runs: list[int] = []

        def fail(tx: Transaction, mine: Exception = mine, runs: list[int] = runs) -> None:
            runs.append(1)
            tx.put(scope, "k", 1)
            raise mine

        with pytest.raises(type(mine)) as caught:
            store.transaction(fail)
        assert caught.value is mine
        assert runs == [1]
        assert store.get(scope, "k") is None


@scenario("transactions.reads-are-repeatable", "atomic_commit")
def reads_are_repeatable(harness: Harness) -> None:
    """A record or head that was read twice in one run is the same both times, whatever a rival does between."""
    store, rival, scope, runs = harness.store, harness.open_store(), harness.new_scope(), list[Any]()
    store.put(scope, "k", 0)

    def run(tx: Transaction) -> None:
        first, first_head = tx.get(scope, "k"), tx.head(scope, "log")
        if not runs:
            rival.put(scope, "k", 1)
            rival.append(scope, "log", [1])
        runs.append(1)
        assert tx.get(scope, "k") == first
        assert tx.head(scope, "log") == first_head
        tx.put(scope, "result", 1)

    store.transaction(run)
    assert len(runs) == 2


@scenario("transactions.pop-gives-each-item-once", "atomic_commit")
def pop_gives_each_item_once(harness: Harness) -> None:
    """Items that are taken off a list by transactions, with a note for each, are each taken once."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "items", list(range(10)))

    def pop(tx: Transaction) -> Any:
        record = tx.get(scope, "items")
        assert record is not None
        *rest, last = record.value
        tx.put(scope, "items", rest)
        tx.append(scope, "taken", [last])
        return last

    assert [store.transaction(pop) for _ in range(10)] == list(range(9, -1, -1))
    assert values_of(store.read(scope, "taken")) == list(range(9, -1, -1))
    assert head_of(store, scope, "taken").length == 10
