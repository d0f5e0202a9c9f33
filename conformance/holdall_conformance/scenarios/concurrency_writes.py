"""Writes that race with touches, seals and sweeps: none of them undoes another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice
from typing import Any

from holdall import ABSENT, Fenced, Store
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.concurrency import handles_for, together
from holdall_conformance.scenarios.support import fill, head_of, value_of, values_of

_TURNS = 20
_SEALS = 8
_PAUSE = 0.001
_MOST = 2000
"""How often a thread that is to disturb others does so at most."""


def _disturbed(harness: Harness, work: Callable[[Store], None], *disturb: Callable[[Store, int], Any]) -> None:
    """Run some work while others disturb it, again and again, until it has ended."""
    ended: list[bool] = []

    def run(store: Store, number: int) -> None:
        if number:
            for turn in range(1, _MOST):
                if ended:
                    break
                disturb[number - 1](store, turn)
            return
        try:
            work(store)
        finally:
            ended.append(True)

    together(handles_for(harness, 2 * len(disturb) + 1)[::2][: len(disturb) + 1], run)


def _put_and_look(scope: str, key: str) -> Callable[[Store], None]:
    """Return work that puts one value after the other, and demands that each stays until the next."""

    def work(store: Store) -> None:
        for turn in range(_TURNS):
            store.put(scope, key, turn)
            time.sleep(_PAUSE)
            assert value_of(store, scope, key) == turn, "an acknowledged put is lost"

    return work


@scenario("concurrency.touches-lose-no-put", level="full")
def touches_lose_no_put(harness: Harness) -> None:
    """A touch at the same time undoes no put and no update."""
    scope = harness.new_scope()
    _disturbed(harness, _put_and_look(scope, "put"), lambda store, _: store.touch(scope, "put", 600))

    def work(store: Store) -> None:
        for _ in range(_TURNS):
            store.update(scope, "update", lambda value: (value or 0) + 1)

    _disturbed(harness, work, *[lambda store, turn: store.touch(scope, "update", 600 + turn)] * 2)
    assert value_of(harness.store, scope, "update") == _TURNS


@scenario("concurrency.touches-revive-nothing", level="full")
def touches_revive_nothing(harness: Harness) -> None:
    """A touch at the same time does not bring back what is deleted."""
    scope, stores = harness.new_scope(), handles_for(harness, 5)[::2]
    for turn in range(8):
        harness.store.put(scope, "k", turn)

        def work(store: Store, number: int, turn: int = turn) -> None:
            if number == 0:
                time.sleep(turn * _PAUSE / 4)
                assert store.delete(scope, "k") is True
                return
            for _ in range(_MOST):
                if not store.touch(scope, "k", 600):
                    break

        together(stores, work)
        assert harness.store.get(scope, "k") is None, "a touch has brought a deleted record back"


@scenario("concurrency.seals-lose-no-put", level="full")
def seals_lose_no_put(harness: Harness) -> None:
    """A seal at the same time undoes no put."""
    scope = harness.new_scope()
    _disturbed(harness, _put_and_look(scope, "k"), lambda store, turn: store.seal(scope, "k", turn))


@scenario("concurrency.seals-lose-no-entry", level="full")
def seals_lose_no_entry(harness: Harness) -> None:
    """A seal of a log at the same time undoes no append."""
    scope = harness.new_scope()

    def work(store: Store) -> None:
        for turn in range(_TURNS):
            assert store.append(scope, "k", [turn]).start == turn, "an acknowledged append is lost"
            time.sleep(_PAUSE)

    _disturbed(harness, work, lambda store, turn: store.seal(scope, "k", turn, log=True))
    assert values_of(harness.store.read(scope, "k")) == list(range(_TURNS))


def _seals(
    store: Store, seal: Callable[[Store, int], Any], stale: Callable[[Store, int], Any], tokens: Iterator[int]
) -> None:
    """Seal with one token after the other, and demand that the one before is refused from then on."""
    for token in islice(tokens, _SEALS):
        seal(store, token)
        time.sleep(_PAUSE)
        try:
            stale(store, token - 1)
        except Fenced:
            continue
        raise AssertionError(f"the seal with {token} is undone")


@scenario("concurrency.unfenced-writes-undo-no-seal", level="full")
def unfenced_writes_undo_no_seal(harness: Harness) -> None:
    """Writes without a fence at the same time as a seal do not undo it: a stale write after it is refused."""
    scope = harness.new_scope()
    tokens = count(2)

    def seal(store: Store, token: int) -> None:
        store.seal(scope, "k", token)

    def stale(store: Store, token: int) -> None:
        store.put(scope, "k", "late", fence=token)

    writes: list[Callable[[Store, int], Any]] = [
        lambda store, turn: store.put(scope, "k", turn),
        lambda store, turn: store.put_many(scope, {"k": turn}),
        lambda store, turn: (store.put(scope, "k", turn, ttl=600), store.delete(scope, "k")),
        lambda store, turn: (store.update(scope, "k", lambda _: turn), store.touch(scope, "k", 600)),
    ]
    for write in writes:
        _disturbed(harness, partial(_seals, seal=seal, stale=stale, tokens=tokens), write)


@scenario("concurrency.unfenced-changes-undo-no-seal-of-a-log", level="full")
def unfenced_changes_undo_no_seal_of_a_log(harness: Harness) -> None:
    """Changes of a log without a fence at the same time as a seal do not undo it: a stale append is refused."""
    scope = harness.new_scope()
    tokens = count(2)

    def seal(store: Store, token: int) -> None:
        store.seal(scope, "k", token, log=True)

    def stale(store: Store, token: int) -> None:
        store.append(scope, "k", ["late"], fence=token)

    changes: list[Callable[[Store, int], Any]] = [
        lambda store, turn: store.append(scope, "k", [turn]),
        lambda store, turn: (store.append(scope, "k", [turn]), store.truncate(scope, "k", turn)),
        lambda store, turn: (store.append(scope, "k", [turn], batch_id=f"{turn}"), store.drop(scope, "k")),
    ]
    for change in changes:
        _disturbed(harness, partial(_seals, seal=seal, stale=stale, tokens=tokens), change)


@scenario("concurrency.sweeps-take-nothing-live", waits=True, level="full")
def sweeps_take_nothing_live(harness: Harness) -> None:
    """What is written anew over what has expired stays, whatever is swept at the same time."""
    scope, ttl, keys = harness.new_scope(), harness.short_ttl, [f"k{number}" for number in range(30)]
    stores = handles_for(harness, 7)[::2]
    for turn in range(2):
        fill(harness.store, scope, dict.fromkeys(keys, "old"), ttl=ttl)
        harness.outlast(ttl)

        def work(store: Store, number: int, turn: int = turn) -> None:
            if number < 2:
                for _ in range(4):
                    store.sweep()
                return
            for key in keys[number - 2 :: 2]:
                if turn:
                    store.update(scope, key, lambda value: value or "new")
                else:
                    store.put(scope, key, "new", expect=ABSENT)

        together(stores, work)
        found = [harness.store.get(scope, key) for key in keys]
        assert None not in found, "a sweep has taken what was live"
        assert {record.value for record in found if record is not None} == {"new"}


@scenario("concurrency.delete-many-counts-each-once", level="full")
def delete_many_counts_each_once(harness: Harness) -> None:
    """What several delete at once, by delete_many and by delete, is counted once in all."""
    scope, keys = harness.new_scope(), [f"k{number}" for number in range(12)]
    stores = handles_for(harness, 7)[::2]
    for _ in range(5):
        fill(harness.store, scope, dict.fromkeys(keys, 1))

        def work(store: Store, number: int) -> int:
            if number == 3:
                return sum(store.delete(scope, key) for key in reversed(keys))
            return store.delete_many(scope, keys)

        assert sum(together(stores, work)) == len(keys)
        assert list(harness.store.keys(scope).items) == []


@scenario("concurrency.puts-of-different-keys-all-stay", level="full")
def puts_of_different_keys_all_stay(harness: Harness) -> None:
    """Of records of one scope that are put or deleted at once every one is as its writer left it."""
    scope, stores = harness.new_scope(), handles_for(harness, 6)

    def work(store: Store, number: int) -> None:
        for turn in range(6):
            store.put(scope, f"{number}-{turn}", turn)
            store.put(scope, f"{number}-gone", turn)
            store.delete(scope, f"{number}-gone")

    together(stores, work)
    expected = sorted(f"{number}-{turn}" for number in range(6) for turn in range(6))
    assert sorted(harness.store.iter_keys(scope)) == expected
    assert all(value_of(harness.store, scope, key) == int(key[-1]) for key in expected)


@scenario("concurrency.scopes-listed-while-emptied", level="full")
def scopes_listed_while_emptied(harness: Harness) -> None:
    """A scope whose last record is deleted while another is put is listed."""
    stores = handles_for(harness, 3)[::2]
    for turn in range(20):
        scope = harness.new_scope()
        harness.store.put(scope, "first", 1)

        def work(store: Store, number: int, turn: int = turn, scope: str = scope) -> None:
            time.sleep((turn % 5) * number * _PAUSE / 5)
            if number:
                store.put(scope, "second", 2)
            else:
                store.delete(scope, "first")

        together(stores, work)
        assert list(harness.store.scopes(scope).items) == [scope], "a scope with a live record is not listed"
        assert list(harness.store.keys(scope).items) == ["second"]


@scenario("concurrency.logs-begun-at-once-are-listed", level="full")
def logs_begun_at_once_are_listed(harness: Harness) -> None:
    """Logs of one scope that begin while others begin or are dropped are all listed, and so is their scope."""
    stores = handles_for(harness, 7)[::2]
    for _ in range(8):
        scope = harness.new_scope()
        harness.store.append(scope, "old", [1])

        def work(store: Store, number: int, scope: str = scope) -> None:
            if number:
                store.append(scope, f"new {number}", [number])
            else:
                store.drop(scope, "old")

        together(stores, work)
        assert list(harness.store.logs(scope).items) == ["new 1", "new 2", "new 3"]
        assert list(harness.store.log_scopes(scope).items) == [scope]
        assert {head_of(harness.store, scope, f"new {number}").length for number in (1, 2, 3)} == {1}
