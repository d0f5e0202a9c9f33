"""Threads and several handles at once, on records."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from holdall import ABSENT, ANY, Append, Conflict, Put, Record, Store, Transaction
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import (
    fill,
    in_threads,
    record_of,
    value_of,
    values_of,
)

_WORKERS = 6
_ROUNDS = 15
_RACERS = 32
_PAUSE = 0.001


def handles_for(harness: Harness, count: int) -> list[Store]:
    """Return as many stores as there are workers: two workers share a handle."""
    stores = [harness.open_store() for _ in range((count + 1) // 2)]
    return [stores[number // 2] for number in range(count)]


def together(stores: list[Store], work: Callable[[Store, int], Any]) -> list[Any]:
    """Run some work for each store at once, and return the results; none may be an error."""
    results = in_threads([partial(work, store, number) for number, store in enumerate(stores)])
    errors = [result for result in results if isinstance(result, Exception)]
    assert not errors, repr(errors[0])
    return results


def flat(results: list[Any]) -> list[Any]:
    """Return the items of several lists in one."""
    return [item for result in results for item in result]


@scenario("concurrency.increments-by-update", level="full")
def increments_by_update(harness: Harness) -> None:
    """Concurrent updates of one record lose no increment."""
    scope = harness.new_scope()

    def work(store: Store, _: int) -> list[int]:
        return [store.update(scope, "k", lambda value: (value or 0) + 1).value for _ in range(_ROUNDS)]

    seen = flat(together(handles_for(harness, _WORKERS), work))
    assert sorted(seen) == list(range(1, _WORKERS * _ROUNDS + 1))
    assert value_of(harness.store, scope, "k") == _WORKERS * _ROUNDS


@scenario("concurrency.increments-by-version")
def increments_by_version(harness: Harness) -> None:
    """Concurrent compare-and-set of one record loses no increment, and every loser learns the current version."""
    scope = harness.new_scope()
    harness.store.put(scope, "k", 0)
    seen: list[bool] = []

    def work(store: Store, _: int) -> list[str]:
        versions: list[str] = []
        while len(versions) < _ROUNDS:
            record = record_of(store, scope, "k")
            try:
                versions.append(store.put(scope, "k", record.value + 1, expect=record.version))
            except Conflict as conflict:
                seen.append(conflict.current != record.version)
        return versions

    versions = flat(together(handles_for(harness, _WORKERS), work))
    assert len(set(versions)) == _WORKERS * _ROUNDS
    assert all(seen), "a conflict tells the expected version as the current one"
    record = record_of(harness.store, scope, "k")
    assert record.value == _WORKERS * _ROUNDS
    assert record.version in versions


@scenario("concurrency.one-creator")
def one_creator(harness: Harness) -> None:
    """Of 32 that create one record at once exactly one succeeds, round after round, and its value stays."""
    scope, stores = harness.new_scope(), handles_for(harness, _RACERS)[:4] * 8
    for turn in range(3):

        def create(store: Store, number: int, turn: int = turn) -> str | None:
            try:
                return store.put(scope, f"k{turn}", number, expect=ABSENT)
            except Conflict:
                return None

        results = together(stores, create)
        winners = [number for number, version in enumerate(results) if version is not None]
        assert len(winners) == 1, f"{len(winners)} winners"
        record = record_of(harness.store, scope, f"k{turn}")
        assert (record.value, record.version) == (winners[0], results[winners[0]])


@scenario("concurrency.one-winner-per-version")
def one_winner_per_version(harness: Harness) -> None:
    """Of many that put or delete with one expected version exactly one succeeds, however they mix."""
    scope, stores = harness.new_scope(), handles_for(harness, 12)
    for turn in range(5):
        version = harness.store.put(scope, "k", "start")

        def change(store: Store, number: int, version: str = version) -> bool:
            try:
                if number % 3 == 0:
                    return store.delete(scope, "k", expect=version)
                store.put(scope, "k", number, expect=version)
            except Conflict:
                return False
            return True

        results = together(stores, change)
        assert results.count(True) == 1, f"round {turn}: {results.count(True)} winners"
        winner = results.index(True)
        record = harness.store.get(scope, "k")
        assert (record is None) if winner % 3 == 0 else (record is not None and record.value == winner)


@scenario("concurrency.one-deleter")
def one_deleter(harness: Harness) -> None:
    """Of many that delete one record at once exactly one is told that it was there."""
    scope, stores = harness.new_scope(), handles_for(harness, 12)
    for _ in range(5):
        harness.store.put(scope, "k", 1)
        assert together(stores, lambda store, _: store.delete(scope, "k")).count(True) == 1


@scenario("concurrency.readers-see-whole-values")
def readers_see_whole_values(harness: Harness) -> None:
    """Readers during writes see whole values, never older than what they saw before, with the version that fits."""
    scope = harness.new_scope()
    width = 200
    harness.store.put(scope, "k", [0] * width)

    def work(store: Store, number: int) -> list[tuple[int, str]]:
        if number == 0:
            return [(turn, store.put(scope, "k", [turn] * width)) for turn in range(1, 40)]
        seen: list[tuple[int, str]] = []
        for turn in range(40):
            record = store.scan(scope).items[0] if turn % 3 == 0 else record_of(store, scope, "k")
            assert len(set(record.value)) == 1
            assert not seen or record.value[0] >= seen[-1][0], "an older value after a newer one"
            seen.append((record.value[0], record.version))
        return seen

    written, *seen = together(handles_for(harness, 4), work)
    versions = dict(written)
    for turn, version in flat(seen):
        assert turn == 0 or versions[turn] == version


@scenario("concurrency.transfers-keep-the-sum", "atomic_commit", level="full")
def transfers_keep_the_sum(harness: Harness) -> None:
    """Transactions that move amounts between records keep their sum, and log each move once."""
    scope, accounts = harness.new_scope(), 4
    fill(harness.store, scope, {f"a{number}": 100 for number in range(accounts)})

    def work(store: Store, number: int) -> None:
        for turn in range(8):
            source, target = f"a{(number + turn) % accounts}", f"a{(number + turn + 1) % accounts}"

            def move(tx: Transaction, pair: tuple[str, str] = (source, target)) -> None:
                first, second = tx.get_many(scope, pair)
                assert isinstance(first, Record)
                assert isinstance(second, Record)
                tx.put(scope, pair[0], first.value - 1)
                tx.put(scope, pair[1], second.value + 1)
                tx.append(scope, "moves", [list(pair)])

            store.transaction(move, attempts=1000)

    together(handles_for(harness, 4), work)
    balances = {record.key: record.value for record in harness.store.scan(scope).items}
    assert sum(balances.values()) == 100 * accounts
    moves = values_of(harness.store.read(scope, "moves"))
    assert len(moves) == 32
    for source, target in moves:
        balances[source] += 1
        balances[target] -= 1
    assert set(balances.values()) == {100}


@scenario("concurrency.commits-whole", "atomic_commit")
def commits_whole(harness: Harness) -> None:
    """Commits that race for one record are whole: whoever wins it has written all of its other records too."""
    scope = harness.new_scope()

    def work(store: Store, number: int) -> bool:
        keys = ["first", "common", "last"][:: 1 if number % 2 else -1]
        operations: list[Any] = [Put(scope, key, number, expect=ABSENT if key == "common" else ANY) for key in keys]
        try:
            store.commit([*operations, Append(scope, "log", [number])])
        except Conflict:
            return False
        return True

    results = together(handles_for(harness, 8), work)
    assert results.count(True) == 1
    winner = results.index(True)
    assert {record.value for record in harness.store.scan(scope).items} == {winner}
    assert values_of(harness.store.read(scope, "log")) == [winner]


@scenario("concurrency.pops-give-each-item-once", level="full")
def pops_give_each_item_once(harness: Harness) -> None:
    """Ten that take the last item off one list at once, by a transaction or an update, get ten different ones."""
    scope, stores = harness.new_scope(), handles_for(harness, 10)
    fill(harness.store, scope, {"by transaction": list(range(12)), "by update": list(range(12))})

    def pop(store: Store, _: int) -> list[Any]:
        def take(tx: Transaction) -> Any:
            record = tx.get(scope, "by transaction")
            assert record is not None
            time.sleep(_PAUSE)
            tx.put(scope, "by transaction", record.value[:-1])
            return record.value[-1]

        taken: list[Any] = []

        def shorten(value: Any) -> Any:
            taken.append(value[-1])
            time.sleep(_PAUSE)
            return value[:-1]

        first = store.transaction(take, attempts=1000)
        store.update(scope, "by update", shorten)
        return [first, taken[-1]]

    pairs = together(stores, pop)
    for way in (0, 1):
        assert sorted(pair[way] for pair in pairs) == list(range(2, 12))
    assert [value_of(harness.store, scope, key) for key in ("by transaction", "by update")] == [[0, 1], [0, 1]]
