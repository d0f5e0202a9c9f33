"""Logs of many sizes: what lies in pieces of the backend reads as one."""

from __future__ import annotations

import random

import pytest

from holdall import Store, Truncated
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import head_of, values_of


def _grow(store: Store, scope: str, batches: list[int], width: int) -> list[str]:
    """Append batches of some sizes with entries of about some width, and return all entries."""
    entries: list[str] = []
    for size in batches:
        batch = [f"{len(entries) + index}:".ljust(width, "x") for index in range(size)]
        store.append(scope, "k", batch)
        entries += batch
    return entries


def _check(store: Store, scope: str, entries: list[str], first: int = 0) -> None:
    """Read a log whole, in pieces, from many places and from its end."""
    total = len(entries)
    assert values_of(store.read(scope, "k", first)) == entries[first:]
    assert [tuple(entry) for entry in store.iter_entries(scope, "k", first)] == list(enumerate(entries))[first:]
    for start in range(first, total + 1, max(1, (total - first) // 23)):
        assert values_of(store.read(scope, "k", start, 3)) == entries[start : start + 3], f"start {start}"
    for count in (1, 2, (total - first) // 2, total - first, total + 5):
        assert values_of(store.tail(scope, "k", count)) == entries[max(first, total - count) :], f"tail {count}"
    assert head_of(store, scope, "k")[:2] == (first, total)


@scenario("logs.large-of-single-entries", level="full")
def large_of_single_entries(harness: Harness) -> None:
    """A log of some hundred single entries of several KiB reads whole from every place."""
    store, scope = harness.store, harness.new_scope()
    _check(store, scope, _grow(store, scope, [1] * 200, 4_000))


@scenario("logs.large-of-mixed-batches", level="full")
def large_of_mixed_batches(harness: Harness) -> None:
    """A log of batches of 1 to 1,000 entries of mixed sizes reads whole from every place."""
    store, scope = harness.store, harness.new_scope()
    dice = random.Random(7)
    entries: list[str] = []
    for _ in range(60):
        size = dice.choice([1, 1, 2, 3, 10, 50, 300])
        batch = [f"{len(entries) + index}:".ljust(dice.choice([5, 50, 700]), "x") for index in range(size)]
        assert store.append(scope, "k", batch, expect=len(entries)).start == len(entries)
        entries += batch
    _check(store, scope, entries)


@scenario("logs.large-batches", level="full")
def large_batches(harness: Harness) -> None:
    """Batches of 1,000 entries and of 3 MB, the promised minimum, are whole, between small ones."""
    store, scope = harness.store, harness.new_scope()
    entries = _grow(store, scope, [1, 1000, 2], 100) if harness.capabilities.max_batch_entries >= 1000 else []
    batch = ["y" * 749_990 for _ in range(4)]
    start = store.append(scope, "k", batch).start
    store.append(scope, "k", ["last"])
    assert start == len(entries) == 1003
    _check(store, scope, [*entries, *batch, "last"])


@scenario("logs.entry-of-a-mebibyte")
def entry_of_a_mebibyte(harness: Harness) -> None:
    """Entries of 1 MiB of JSON, the promised minimum, are kept whole beside small ones."""
    store, scope = harness.store, harness.new_scope()
    entries = ["small", "z" * (2**20 - 2), "small", "é" * (2**19 - 1), "small"]
    for entry in entries:
        store.append(scope, "k", [entry])
    _check(store, scope, entries)


@scenario("logs.large-truncated-anywhere", level="full")
def large_truncated_anywhere(harness: Harness) -> None:
    """A large log that is truncated again and again, within batches and between, keeps exactly the rest."""
    store, scope = harness.store, harness.new_scope()
    entries = _grow(store, scope, [1, 20, 3, 90, 1, 1, 60, 24] * 2, 2_000)
    first = 0
    for before in (1, 15, 21, 100, 101, 116, 177, 200, 250, 391, 399):
        assert store.truncate(scope, "k", before) == before - first
        first = before
        with pytest.raises(Truncated):
            store.read(scope, "k", first - 1, 1)
        _check(store, scope, entries, first)
    entries += ["next", "after"]
    assert store.append(scope, "k", entries[-2:]).start == 400
    _check(store, scope, entries, first)
    store.truncate(scope, "k", 402)
    assert head_of(store, scope, "k")[:2] == (402, 402)
    assert store.append(scope, "k", ["again"]).start == 402


@scenario("logs.large-dropped-and-regrown", level="full")
def large_dropped_and_regrown(harness: Harness) -> None:
    """A large log that was dropped and grows again shows nothing of its former entries, before and after a sweep."""
    store, scope = harness.store, harness.new_scope()
    _grow(store, scope, [30] * 8, 2_000)
    store.drop(scope, "k")
    entries = _grow(store, scope, [7] * 20, 1_500)
    _check(store, scope, entries)
    store.sweep()
    _check(store, scope, entries)


@scenario("logs.sweep-keeps-large-logs", level="full")
def sweep_keeps_large_logs(harness: Harness) -> None:
    """A sweep takes nothing from live logs, truncated or restored ones included."""
    store, scope = harness.store, harness.new_scope()
    entries = _grow(store, scope, [1, 40, 2, 70, 1], 2_000)
    store.truncate(scope, "k", 50)
    store.sweep()
    _check(store, scope, entries, 50)
    store.restore_log(scope, "restored", 500, ["r" * 2_000] * 100)
    for number in range(100):
        store.append(scope, "restored", [f"{number}".ljust(2_000)])
    store.sweep()
    restored = store.read(scope, "restored", 500)
    assert [entry.position for entry in restored] == list(range(500, 700))
    assert values_of(restored)[100].strip() == "0"


@scenario("logs.growing-does-not-slow-down", level="full")
def growing_does_not_slow_down(harness: Harness) -> None:
    """A log beyond 16 MB still takes small appends and gives its tail: it is not one growing document."""
    store, scope = harness.store, harness.new_scope()
    for _ in range(18):
        store.append(scope, "k", ["w" * 1_000_000])
    assert store.append(scope, "k", ["small"]).start == 18
    assert values_of(store.tail(scope, "k", 1)) == ["small"]
    assert values_of(store.read(scope, "k", 18)) == ["small"]
