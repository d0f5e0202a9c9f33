"""Following a log."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from holdall import InvalidArgument, NotFound, Store, Truncated
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import eventually, values_of

_QUIET = 0.1
_PATIENCE = 10.0


class _Later:
    """Runs a function in a thread of its own and hands on what it raised."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, args=(function,), daemon=True)
        self._thread.start()

    def _run(self, function: Callable[[], Any]) -> None:
        try:
            function()
        except Exception as error:  # noqa: BLE001 - handed on by `join`
            self._error = error

    def join(self) -> None:
        """Wait for it."""
        self._thread.join(_PATIENCE)
        assert not self._thread.is_alive()
        assert self._error is None, repr(self._error)


@scenario("follow.what-is-there")
def what_is_there(harness: Harness) -> None:
    """Following with a timeout of 0 gives what there is from the start position on, and ends."""
    store, scope = harness.store, harness.new_scope()
    assert list(store.follow(scope, "k", timeout=0)) == []
    for size in (1, 3, 2):
        store.append(scope, "k", list(range(size)))
    assert [tuple(entry) for entry in store.follow(scope, "k", timeout=0)] == list(enumerate([0, 0, 1, 2, 0, 1]))
    assert [entry.position for entry in store.follow(scope, "k", 4, timeout=0)] == [4, 5]
    assert list(store.follow(scope, "k", 6, timeout=0)) == []


@scenario("follow.timeout-ends-the-iteration", waits=True)
def timeout_ends_the_iteration(harness: Harness) -> None:
    """Without a new entry for the timeout the iteration ends, not before, and without an error."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", [1, 2])
    for key, expected in (("k", [1, 2]), ("absent", [])):
        started = time.monotonic()
        assert values_of(store.follow(scope, key, timeout=_QUIET)) == expected
        waited = time.monotonic() - started
        assert waited >= _QUIET - 0.001
        assert waited < _QUIET + 3


@scenario("follow.new-entries-arrive", waits=True)
def new_entries_arrive(harness: Harness) -> None:
    """Entries of several batches by another handle arrive while following, in order, none twice and none skipped."""
    store, writer, scope = harness.open_store(), harness.open_store(), harness.new_scope()
    store.append(scope, "k", ["old"])
    sizes = (1, 5, 2, 200, 1, 1, 30)

    def write() -> None:
        for size in sizes:
            time.sleep(0.01)
            writer.append(scope, "k", ["new"] * size)

    later, seen = _Later(write), []
    for entry in store.follow(scope, "k", timeout=_PATIENCE):
        seen.append(entry.position)
        if len(seen) == 1 + sum(sizes):
            break
    later.join()
    assert seen == list(range(1 + sum(sizes)))


@scenario("follow.waits-for-an-absent-log", waits=True)
def waits_for_an_absent_log(harness: Harness) -> None:
    """Following a log that does not exist waits for it, also from a position that it has yet to reach."""
    for start in (0, 3):
        store, writer, scope = harness.open_store(), harness.store, harness.new_scope()

        def write(writer: Store = writer, scope: str = scope) -> None:
            time.sleep(0.03)
            writer.append(scope, "k", ["a", "b"])
            time.sleep(0.01)
            writer.append(scope, "k", ["c", "d"])

        later, seen = _Later(write), []
        for entry in store.follow(scope, "k", start, timeout=_PATIENCE):
            seen.append(tuple(entry))
            if entry.position == 3:
                break
        later.join()
        assert seen == [(0, "a"), (1, "b"), (2, "c"), (3, "d")][start:]


@scenario("follow.timeout-counts-from-the-last-entry", waits=True)
def timeout_counts_from_the_last_entry(harness: Harness) -> None:
    """The timeout counts from the last new entry, so that a slow writer keeps a follower for longer than it."""
    store, writer, scope = harness.open_store(), harness.store, harness.new_scope()
    quiet, count = 0.8, 6  # most of it is left for a writer that the machine keeps waiting

    def write() -> None:
        for number in range(count):
            time.sleep(quiet / 5)
            writer.append(scope, "k", [number])

    later = _Later(write)
    assert values_of(store.follow(scope, "k", timeout=quiet)) == list(range(count))
    later.join()


@scenario("follow.truncated-past-it")
def truncated_past_it(harness: Harness) -> None:
    """A follower whose next position is truncated gets Truncated; one that has passed it does not notice."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", list(range(5)))
    iterator = iter(store.follow(scope, "k", timeout=_PATIENCE))
    assert [next(iterator).position for _ in range(5)] == list(range(5))
    store.truncate(scope, "k", 5)
    store.append(scope, "k", [5])
    assert next(iterator).position == 5
    store.append(scope, "k", [6, 7, 8])
    store.truncate(scope, "k", 8)
    with pytest.raises(Truncated) as caught:
        next(iterator)
    assert caught.value.first == 8
    with pytest.raises(Truncated):
        next(iter(store.follow(scope, "k", 3, timeout=0)))


@scenario("follow.dropped")
def dropped(harness: Harness) -> None:
    """A follower of a log that is dropped gets NotFound, also when the log has regrown meanwhile."""
    store, scope = harness.store, harness.new_scope()
    for regrow in (False, True):
        store.append(scope, "k", ["a"])
        iterator = iter(store.follow(scope, "k", timeout=_PATIENCE))
        assert next(iterator).value == "a"
        store.drop(scope, "k")
        if regrow:
            store.append(scope, "k", ["other", "others", "more"])
        with pytest.raises(NotFound) as caught:
            next(iterator)
        assert isinstance(caught.value, LookupError)
        store.drop(scope, "k")


@scenario("follow.dropped-while-waiting")
def dropped_while_waiting(harness: Harness) -> None:
    """A follower that waits is told of a drop, and does not wait for ever."""
    store, writer, scope = harness.open_store(), harness.store, harness.new_scope()
    writer.append(scope, "k", ["a"])

    def drop() -> None:
        time.sleep(0.03)
        writer.drop(scope, "k")

    iterator = iter(store.follow(scope, "k", timeout=_PATIENCE))
    assert next(iterator).value == "a"
    later = _Later(drop)
    with pytest.raises(NotFound):
        next(iterator)
    later.join()


@scenario("follow.large-log", level="full")
def large_log(harness: Harness) -> None:
    """Following a log from its beginning gives all of thousands of entries, in order, while it grows."""
    store, writer, scope = harness.open_store(), harness.store, harness.new_scope()
    for start in range(0, 2_500, 500):
        writer.append(scope, "k", [f"{number}".ljust(200) for number in range(start, start + 500)])
    seen = []
    for entry in store.follow(scope, "k", 100, timeout=_QUIET):
        seen.append(int(entry.value))
        if len(seen) in {1, 1_000, 2_399}:
            writer.append(scope, "k", [str(2_500 + len(seen) // 900)])
    assert seen == [*range(100, 2_500), 2_500, 2_501, 2_502]


@scenario("follow.several-followers", level="full")
def several_followers(harness: Harness) -> None:
    """Several followers of one log, on one handle and on others, each get every entry."""
    store, scope, total = harness.open_store(), harness.new_scope(), 40
    writer = harness.store
    writer.append(scope, "k", [0])
    seen: list[list[int]] = [[] for _ in range(3)]

    def follow(number: int, follower: Store) -> None:
        for entry in follower.follow(scope, "k", timeout=_PATIENCE):
            seen[number].append(entry.position)
            if entry.position == total - 1:
                return

    followers = (store, store, harness.open_store())
    laters = [_Later(partial(follow, number, follower)) for number, follower in enumerate(followers)]
    for number in range(1, total):
        writer.append(scope, "k", [number])
        if number % 8 == 0:
            time.sleep(0.01)
    assert eventually(lambda: all(len(each) == total for each in seen), _PATIENCE / 2), f"they got {seen}"
    for later in laters:
        later.join()
    assert seen == [list(range(total))] * 3


@scenario("follow.left-early")
def left_early(harness: Harness) -> None:
    """A follower may leave its loop at any time; the store works on."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", [1, 2, 3])
    for _ in range(5):
        for entry in store.follow(scope, "k"):
            assert entry.value == 1
            break
    assert store.append(scope, "k", [4]).start == 3


@scenario("follow.arguments-refused")
def arguments_refused(harness: Harness) -> None:
    """A timeout that is negative, NaN, a bool or a text is a ValueError."""
    store, scope = harness.store, harness.new_scope()
    wrong: list[Any] = [-1, float("nan"), True, "1"]
    for timeout in wrong:
        with pytest.raises(InvalidArgument):
            list(store.follow(scope, "k", timeout=timeout))
