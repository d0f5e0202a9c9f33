"""Which ttl counts, where a record is written again or read."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from holdall import Conflict, Put, Store
from holdall.clock import boot_time
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario

_WRITES: dict[str, Callable[[Store, str, str, float], Any]] = {
    "put": lambda store, scope, key, ttl: store.put(scope, key, 2, ttl=ttl),
    "put_many": lambda store, scope, key, ttl: store.put_many(scope, {key: 2}, ttl=ttl),
    "update": lambda store, scope, key, ttl: store.update(scope, key, lambda _: 2, ttl=ttl),
    "commit": lambda store, scope, key, ttl: store.commit([Put(scope, key, 2, ttl=ttl)]),
    "touch": lambda store, scope, key, ttl: store.touch(scope, key, ttl),
}


@scenario("expiry.last-ttl-counts", waits=True)
def last_ttl_counts(harness: Harness) -> None:
    """Of several ttls of a record the last one counts, be it longer or shorter, however it was written."""
    store, ttl = harness.store, harness.short_ttl
    longer, shorter = harness.new_scope(), harness.new_scope()
    for name, write in _WRITES.items():
        store.put(longer, name, 1, ttl=4 * ttl)
        write(store, longer, name, 600)
        store.put(shorter, name, 1, ttl=600)
        write(store, shorter, name, ttl)
    harness.outlast(4 * ttl)
    assert list(store.keys(longer).items) == sorted(_WRITES)
    assert list(store.keys(shorter).items) == []
    for record in store.scan(longer).items:
        assert record.expires_in is not None
        assert record.expires_in <= 600 + harness.capabilities.expiry_margin, record.key


@scenario("expiry.reading-does-not-prolong", waits=True)
def reading_does_not_prolong(harness: Harness) -> None:
    """Reading, listing, sealing, sweeping and refused writes do not prolong a ttl."""
    store, scope, ttl = harness.store, harness.new_scope(), 2 * harness.short_ttl
    store.put(scope, "k", 1, ttl=ttl)
    end = boot_time() + ttl + harness.capabilities.expiry_margin
    while boot_time() < end:
        store.get(scope, "k")
        store.get_many(scope, ["k"])
        store.scan(scope)
        store.keys(scope)
        store.seal(scope, "k", 3)
        store.sweep()
        with pytest.raises(Conflict):
            store.put(scope, "k", 2, expect="stale", ttl=600)
        time.sleep(ttl / 10)
    harness.outlast(0)
    assert store.get(scope, "k") is None
