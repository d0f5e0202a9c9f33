"""Cases that hardly any test of one operation comes to: names within names, sweeps beside holders, refused retries."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

import pytest

from holdall import ABSENT, Append, Conflict, Page, Put
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.listings import everything
from holdall_conformance.scenarios.support import demand_any, has, lease_of, values_of

_PAUSE, _PATIENCE = 0.1, 20.0
_LONG = 1000.0


@scenario("keys.prefix-within-names-of-scopes", level="full")
def prefix_within_names_of_scopes(harness: Harness) -> None:
    """A prefix of scopes finds those that begin with it, and none that only hold it, in either case."""
    store, base = harness.store, harness.new_scope()
    names = [f"{base}-a", f"{base}-{base}-a", f"{base}-A", f"{base}-{base[::-1]}"]
    listings: list[Callable[..., Page[str]]] = []
    if has(store, "put", "scopes"):
        listings.append(store.scopes)
        for name in names:
            store.put(name, "k", 1)
    if has(store, "append", "log_scopes"):
        listings.append(store.log_scopes)
        for name in names:
            store.append(name, "k", [1])
    demand_any(store, "scopes", "log_scopes")
    for listing in listings:
        for prefix in (f"{base}-a", f"{base}-A", f"{base}-", f"{base}-{base}", f"-{base}", f"{base.upper()}-"):
            expected = sorted(name for name in names if name.startswith(prefix))
            assert everything(listing, prefix) == expected, f"scopes by {prefix!r}"


@scenario("leases.sweep-keeps-holders")
def sweep_keeps_holders(harness: Harness) -> None:
    """A sweep leaves a lease to its holder, with owner, token and end; renewal and release go on."""
    lock, key = harness.lock, harness.new_key()
    lease = lease_of(lock, key, ttl=_LONG, owner="me")
    harness.store.sweep()
    for each in (lock, harness.open_lock()):
        holder = each.holder(key)
        assert holder is not None, "a sweep has ended a lease"
        assert (holder.owner, holder.token) == ("me", lease.token)
        assert holder.expires_in > _LONG / 2
        assert each.try_acquire(key) is None
    renewed = lock.renew(lease)
    assert (renewed.owner, renewed.token, renewed.nonce) == ("me", lease.token, lease.nonce)
    harness.store.sweep()
    assert lock.release(renewed) is True


@scenario("commits.refused-leaves-no-ids", "atomic_commit")
def refused_leaves_no_ids(harness: Harness) -> None:
    """A commit that is refused remembers no batch id: sent again with what is so, all of its batches go in."""
    store, scope = harness.store, harness.new_scope()

    def operations(expect: Any) -> list[Any]:
        return [
            Append(scope, "before", ["a"], batch_id="id"),
            Put(scope, "k", 1, expect=expect),
            Append(scope, "behind", ["b"], batch_id="id"),
        ]

    for _ in range(2):
        with pytest.raises(Conflict):
            store.commit(operations("not there"))
    first, _, behind = store.commit(operations(ABSENT))
    assert (first.start, first.count, behind.start, behind.count) == (0, 1, 0, 1)
    assert [values_of(store.read(scope, key)) for key in ("before", "behind")] == [["a"], ["b"]]


@scenario("follow.from-a-position-to-come", waits=True)
def from_a_position_to_come(harness: Harness) -> None:
    """Who follows from behind the end gets nothing before that position, and everything from it on."""
    store, scope, other = harness.store, harness.new_scope(), harness.open_store()
    for key, length in (("there", 2), ("absent", 0)):
        if length:
            store.append(scope, key, list(range(length)))
        assert list(store.follow(scope, key, 10, timeout=0)) == []
        timer = threading.Timer(_PAUSE, partial(_grow, other, scope, key, length))
        timer.start()
        found = list(islice(store.follow(scope, key, 10, timeout=_PATIENCE), 3))
        timer.join()
        assert [tuple(entry) for entry in found] == [(10, 10), (11, 11), (12, 12)], f"a log that is {key}"


def _grow(store: Any, scope: str, key: str, length: int) -> None:
    """Append up to seven entries, and after a pause what comes behind them."""
    store.append(scope, key, list(range(length, 7)))
    time.sleep(2 * _PAUSE)
    store.append(scope, key, list(range(7, 13)), expect=7)
