"""Everything that a transaction reads is checked at its commit, however it was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdall import Store, Transaction
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import (
    fill,
    value_of,
)

_READS: dict[str, Callable[[Transaction, str], Any]] = {
    "get": lambda tx, scope: tx.get(scope, "there"),
    "get of nothing": lambda tx, scope: tx.get(scope, "nothing"),
    "get_many": lambda tx, scope: tx.get_many(scope, ["other", "there"]),
    "get_many of nothing": lambda tx, scope: tx.get_many(scope, ["other", "nothing"]),
    "head": lambda tx, scope: tx.head(scope, "there"),
    "head of nothing": lambda tx, scope: tx.head(scope, "nothing"),
    "get, then get_many": lambda tx, scope: (tx.get(scope, "there"), tx.get_many(scope, ["there", "nothing"])),
    "get after an own put": lambda tx, scope: [tx.put(scope, "other", 3), tx.get(scope, "there")],  # type: ignore[func-returns-value]
}


def _interfere(rival: Store, scope: str, read: str) -> None:
    key = "nothing" if "nothing" in read and "then" not in read else "there"
    if "head" in read:
        rival.append(scope, key, ["rival"])
    else:
        rival.put(scope, key, "rival")


@scenario("transactions.every-read-is-checked", "atomic_commit")
def every_read_is_checked(harness: Harness) -> None:
    """What get, get_many or head read, alone, is checked at commit, also where there was nothing."""
    store, rival = harness.store, harness.open_store()
    for name, read in _READS.items():
        scope = harness.new_scope()
        fill(store, scope, {"there": 1, "other": 1})
        store.append(scope, "there", [1])
        runs: list[Any] = []

        def run(tx: Transaction, name: str = name, read: Any = read, scope: str = scope, runs: Any = runs) -> None:
            read(tx, scope)
            runs.append(name)
            if len(runs) == 1:
                _interfere(rival, scope, name)
            tx.put(scope, "result", len(runs))

        store.transaction(run)
        assert len(runs) == 2, f"{name} is not checked: {len(runs)} runs"
        assert value_of(store, scope, "result") == 2
