"""Commits, transactions, leases and flags that race: one winner per version, and nothing is lost beside another."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from typing import Any

import pytest

from holdall import ABSENT, Append, Conflict, Delete, Fenced, Head, Lock, Put, Store, Transaction
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.concurrency import flat, handles_for, together
from holdall_conformance.scenarios.support import fill, head_of, in_threads, lease_of, settled, value_of, values_of

_RACERS = 6
_PAUSE = 0.001
_MOST = 1000
_FAR = 2**40


def _locks_together(harness: Harness, count: int, work: Callable[[Lock, int], Any]) -> list[Any]:
    """Run some work at once, each with a handle of its own, and return the results; none may be an error."""
    locks = [harness.open_lock() for _ in range(count)]
    results = in_threads([partial(work, lock, number) for number, lock in enumerate(locks)])
    errors = [result for result in results if isinstance(result, Exception)]
    assert not errors, repr(errors[0])
    return results


@scenario("concurrency.one-operation-commits", level="full")
def one_operation_commits(harness: Harness) -> None:
    """Of commits of one operation that expect one version, or that nothing is there, exactly one succeeds."""
    scope, stores = harness.new_scope(), handles_for(harness, _RACERS)
    for turn in range(10):
        expect: Any = ABSENT if turn % 2 else harness.store.put(scope, "k", "start")

        def change(store: Store, number: int, expect: Any = expect) -> bool:
            operation = Delete(scope, "k", expect) if number == 0 else Put(scope, "k", number, expect)
            try:
                store.commit([Put(scope, "k", 0, expect) if expect is ABSENT else operation])
            except Conflict:
                return False
            return True

        won = together(stores, change)
        assert won.count(True) == 1, f"{won.count(True)} commits succeeded at one version"
        harness.store.delete(scope, "k")


@scenario("concurrency.one-operation-commits-to-a-log", level="full")
def one_operation_commits_to_a_log(harness: Harness) -> None:
    """Of commits of one append that expect one head exactly one succeeds."""
    scope, stores = harness.new_scope(), handles_for(harness, _RACERS)
    head: Head | None = None
    for turn in range(8):

        def change(store: Store, number: int, head: Head | None = head) -> bool:
            try:
                store.commit([Append(scope, "k", [number], expect=ABSENT if head is None else head)])
            except Conflict:
                return False
            return True

        won = together(stores, change)
        assert won.count(True) == 1, f"{won.count(True)} appends succeeded at one head"
        head = head_of(harness.store, scope, "k")
        assert head.length == turn + 1


@scenario("concurrency.increments-by-transaction")
def increments_by_transaction(harness: Harness) -> None:
    """Transactions of one record lose no increment, and each has read what the one before has written."""
    scope = harness.new_scope()

    def add(tx: Transaction) -> int:
        record = tx.get(scope, "k")
        value: int = 0 if record is None else record.value
        time.sleep(_PAUSE / 4)
        tx.put(scope, "k", value + 1)
        return value

    def work(store: Store, _: int) -> list[int]:
        return [store.transaction(add, attempts=1000) for _ in range(5)]

    seen = flat(together(handles_for(harness, 4), work))
    assert sorted(seen) == list(range(20))
    assert value_of(harness.store, scope, "k") == 20


@scenario("concurrency.no-write-skew", "atomic_commit")
def no_write_skew(harness: Harness) -> None:
    """Of two transactions that both read two records and each write another of them only one sees the old state."""
    scope, stores = harness.new_scope(), handles_for(harness, 3)[::2]
    for turn in range(15):
        fill(harness.store, scope, {"left": 1, "right": 1})

        def work(store: Store, number: int) -> bool:
            def leave(tx: Transaction) -> bool:
                records = tx.get_many(scope, ["left", "right"])
                if sum(record.value for record in records if record is not None) < 2:
                    return False
                tx.put(scope, ("left", "right")[number], 0)
                return True

            return store.transaction(leave, attempts=1000)

        assert together(stores, work).count(True) == 1, f"round {turn}: both have left"
        values = [value_of(harness.store, scope, key) for key in ("left", "right")]
        assert sum(values) == 1


@scenario("concurrency.no-write-skew-with-a-log", "atomic_commit", level="full")
def no_write_skew_with_a_log(harness: Harness) -> None:
    """Of two transactions that both read a record and the head of a log, and each write one, one sees the old state."""
    stores = handles_for(harness, 3)[::2]
    for turn in range(15):
        scope = harness.new_scope()

        def work(store: Store, number: int, scope: str = scope) -> bool:
            def claim(tx: Transaction) -> bool:
                if tx.get(scope, "k") is not None or tx.head(scope, "k") is not None:
                    return False
                if number:
                    tx.put(scope, "k", number)
                else:
                    tx.append(scope, "k", [number])
                return True

            return store.transaction(claim, attempts=1000)

        assert together(stores, work).count(True) == 1, f"round {turn}: both have claimed"
        claims = [harness.store.get(scope, "k"), harness.store.head(scope, "k")]
        assert claims.count(None) == 1


@scenario("concurrency.check-and-write", "atomic_commit", level="full")
def check_and_write(harness: Harness) -> None:
    """A transaction that logs while a switch is on logs nothing after another has turned it off and read the log."""
    scope = harness.new_scope()

    def work(store: Store, number: int) -> int:
        def note(tx: Transaction) -> bool:
            switch = tx.get(scope, "on")
            if switch is not None:
                tx.append(scope, "log", [number])
            return switch is not None

        if number:
            return sum(takewhile(bool, (store.transaction(note, attempts=1000) for _ in range(_MOST))))
        time.sleep(4 * _PAUSE)
        store.delete(scope, "on")
        head = store.head(scope, "log")
        return head.length if head is not None else 0

    for _ in range(4):
        harness.store.put(scope, "on", 1)
        before, *noted = together(handles_for(harness, 3), work)
        assert len(values_of(harness.store.read(scope, "log"))) == before == sum(noted), "a check came too late"
        harness.store.drop(scope, "log")


@scenario("leases.floors-race-acquire")
def floors_race_acquire(harness: Harness) -> None:
    """A floor that is raised while others take and give back the key undoes no lease, and no token comes twice."""
    key = harness.new_key()
    ended: list[bool] = []

    def work(lock: Lock, number: int) -> list[int]:
        tokens: list[int] = []
        if number == 0:
            try:
                for turn in range(20):
                    lock.raise_floor(key, _FAR + 3 * turn)
                    time.sleep(_PAUSE / 2)
            finally:
                ended.append(True)
            return tokens
        while not ended:
            lease = lock.try_acquire(key)
            if lease is None:
                continue
            tokens.append(lease.token)
            time.sleep(_PAUSE)
            assert lock.held(key), "a floor has undone a lease"
            assert settled(partial(lock.release, lease)), "a floor has undone a lease"
        return tokens

    _, *taken = _locks_together(harness, 3, work)
    tokens = flat(taken)
    assert len(set(tokens)) == len(tokens), "two leases have one token"
    assert all(own == sorted(own) for own in taken), "a token is lower than one before it"
    assert lease_of(harness.lock, key).token > max(tokens, default=0)


@scenario("leases.highest-floor-counts")
def highest_floor_counts(harness: Harness) -> None:
    """Of floors that are raised at once, up to 2**40 and beyond, the highest counts, on every handle."""
    for base in (10, _FAR) * 3:
        key = harness.new_key()

        def work(lock: Lock, number: int, key: str = key, base: int = base) -> None:
            for turn in range(4):
                lock.raise_floor(key, base + (number * 7 + turn) % 20)

        _locks_together(harness, 4, work)
        highest = max((number * 7 + turn) % 20 for number in range(4) for turn in range(4))
        lease = lease_of(harness.open_lock(), key)
        assert lease.token > base + highest, f"the token {lease.token} is not above the floor {base + highest}"
        harness.lock.raise_floor(key, base + 2 * _FAR)
        settled(partial(harness.lock.release, lease))
        assert lease_of(harness.open_lock(), key).token > base + 2 * _FAR


@scenario("leases.different-keys-at-once", level="full")
def different_keys_at_once(harness: Harness) -> None:
    """Leases of different keys that are taken and given back at once leave each other alone."""
    key = harness.new_key()

    def work(lock: Lock, number: int) -> int:
        for _ in range(4):
            lease = lease_of(lock, f"{key}-{number}")
            time.sleep(_PAUSE)
            assert settled(partial(lock.release, lease)), "a lease was lost to that of another key"
        return lease_of(lock, f"{key}-{number}", owner=f"{number}").token

    tokens = _locks_together(harness, _RACERS, work)
    for number, token in enumerate(tokens):
        holder = harness.lock.holder(f"{key}-{number}")
        assert holder is not None
        assert (holder.owner, holder.token) == (f"{number}", token)


@scenario("flags.raised-at-once", level="full")
def raised_at_once(harness: Harness) -> None:
    """Flags of different keys that are raised and lowered at once are each as their own caller left them."""
    key = harness.new_key()
    for turn in range(4):

        def work(lock: Lock, number: int, turn: int = turn) -> None:
            if (number + turn) % 3:
                lock.set_flag(f"{key}-{number}")
            else:
                lock.clear_flag(f"{key}-{number}")

        _locks_together(harness, _RACERS, work)
        raised = [harness.lock.flag(f"{key}-{number}") for number in range(_RACERS)]
        assert raised == [(number + turn) % 3 != 0 for number in range(_RACERS)]


@scenario("fencing.commits-raise-every-mark", "atomic_commit")
def commits_raise_every_mark(harness: Harness) -> None:
    """A commit of several raises the mark of each, and is refused whole if the token of any one is stale."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "gone", 1)

    def operations(*fences: int) -> list[Any]:
        put, delete, append = fences
        return [
            Put(scope, "put", "new", fence=put),
            Delete(scope, "gone", fence=delete),
            Append(scope, "log", ["new"], fence=append, batch_id=f"{fences}"),
        ]

    store.commit(operations(5, 5, 5))
    late: list[Callable[..., Any]] = [partial(store.put, scope, key, 1) for key in ("put", "gone")]
    late.append(partial(store.append, scope, "log", [1]))
    for write in late:
        with pytest.raises(Fenced):
            write(fence=4)
    store.put(scope, "gone", "here")
    for stale in range(3):
        with pytest.raises(Fenced):
            store.commit(operations(*(4 if place == stale else 9 for place in range(3))))
    store.commit(operations(5, 5, 5)[:1])
    assert store.get(scope, "gone") is not None
    assert values_of(store.read(scope, "log")) == ["new"]
