"""Logs that are read in one go: large ones, and with high limits."""

from __future__ import annotations

from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import append_all, head_of, values_of

_ENTRIES = 2_000
_LIMITS = (999, 1_000, 1_001, 1_500, 1_999, 2_000, 2_001, 50_000)
_LARGE = 18


@scenario("logs.high-limits", level="full")
def high_limits(harness: Harness) -> None:
    """Read with a limit, and tail, give as many entries of a log of 2,000 as they are asked for."""
    store, scope = harness.store, harness.new_scope()
    append_all(store, scope, "k", range(_ENTRIES))
    for limit in _LIMITS:
        assert values_of(store.read(scope, "k", 0, limit)) == list(range(min(limit, _ENTRIES))), f"limit {limit}"
        last = list(range(max(0, _ENTRIES - limit), _ENTRIES))
        assert values_of(store.tail(scope, "k", limit)) == last, f"tail of {limit}"
    assert values_of(store.read(scope, "k", 300, 1_500)) == list(range(300, 1_800))
    assert values_of(store.read(scope, "k")) == list(range(_ENTRIES))


@scenario("logs.truncated-by-many")
def truncated_by_many(harness: Harness) -> None:
    """Truncate forgets 1,500 entries at once, and tells how many."""
    store, scope = harness.store, harness.new_scope()
    append_all(store, scope, "k", range(_ENTRIES))
    assert store.truncate(scope, "k", 1_500) == 1_500
    assert head_of(store, scope, "k")[:2] == (1_500, _ENTRIES)
    assert values_of(store.read(scope, "k", 1_500)) == list(range(1_500, _ENTRIES))


@scenario("logs.read-of-many-mebibytes", level="full")
def read_of_many_mebibytes(harness: Harness) -> None:
    """Read, tail and the iterator give all of a log of 18 MiB, without a limit and with one."""
    store, scope = harness.store, harness.new_scope()
    entries = [f"{number:03}".ljust(2**20 - 2, "x") for number in range(_LARGE)]
    for start in range(0, _LARGE, 2):
        store.append(scope, "k", entries[start : start + 2])
    ways = {
        "read": store.read(scope, "k"),
        "read with a limit": store.read(scope, "k", 0, _LARGE),
        "tail": store.tail(scope, "k", _LARGE),
        "iter_entries": list(store.iter_entries(scope, "k")),
    }
    for name, found in ways.items():
        assert [entry.position for entry in found] == list(range(_LARGE)), name
        assert values_of(found) == entries, name
