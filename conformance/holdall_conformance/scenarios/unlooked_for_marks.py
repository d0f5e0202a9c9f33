"""More cases that hardly any test of one operation comes to: marks beside batches and transactions, names of keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from holdall import BatchMismatch, Fenced, Transaction
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import fill, lease_of, record_of, value_of, values_of

_TOKEN = 7
_NAMES = (
    *("a/b", "a-b", "a_b", "a b", "a.b", "a:b", "a\\b", "a%b", "a%2Fb", "a+b", "a|b", "a,b", "a*b", "a?b", "a'b"),
    *("a//b", "a/./b", "/a/b", "a/b/", "a/b ", " a/b", "a/b\x00", "A/B", "a\u2215b", "a.", "a..", "a", "a:", "\u00e4"),
)


@scenario("leases.names-exact", level="full")
def names_exact(harness: Harness) -> None:
    """Keys that differ in one special character are each had by a holder of their own, all at once."""
    lock, other, base = harness.lock, harness.open_lock(), harness.new_key()
    leases = [lease_of(lock, base + name, owner=name) for name in _NAMES]
    for name, lease in zip(_NAMES, leases, strict=True):
        holder = other.holder(base + name)
        assert holder is not None
        assert (holder.owner, holder.token) == (name, lease.token), f"the holder of {name!r} is told wrong"
    for number, (name, lease) in enumerate(zip(_NAMES, leases, strict=True)):
        assert lock.release(lease) is True, f"{name!r} was released with another key"
        assert [other.held(base + each) for each in _NAMES[: number + 2]] == [
            each > number for each in range(len(_NAMES[: number + 2]))
        ]


@scenario("fencing.unfenced-many-at-once")
def unfenced_many_at_once(harness: Harness) -> None:
    """put_many, delete_many and clear write and delete records with marks and without, and keep the marks."""
    store, scope = harness.store, harness.new_scope()
    keys = ["plain", "written", "sealed", "gone"]
    store.put(scope, "plain", "old")
    store.put(scope, "written", "old", fence=_TOKEN)
    store.seal(scope, "sealed", _TOKEN)
    store.put(scope, "gone", "old", fence=_TOKEN)
    store.delete(scope, "gone")
    ways: list[Callable[[], int]] = [lambda: store.delete_many(scope, keys), lambda: store.clear(scope)]
    for deletes in ways:
        assert store.put_many(scope, dict.fromkeys(keys, "new")) == len(keys)
        assert [value_of(store, scope, key) for key in keys] == ["new"] * len(keys)
        assert deletes() == len(keys)
        assert list(store.keys(scope).items) == []
        for key in keys[1:]:
            with pytest.raises(Fenced):
                store.put(scope, key, "stale", fence=_TOKEN - 1)


@scenario("transactions.every-fence-counts", "atomic_commit")
def every_fence_counts(harness: Harness) -> None:
    """Of what a transaction puts, deletes and appends a stale fence refuses all, and a good one raises each mark."""
    store, scope = harness.store, harness.new_scope()
    fill(store, scope, {"put": "old", "deleted": "old"})
    for key in ("put", "deleted"):
        store.seal(scope, key, _TOKEN)
    store.seal(scope, "log", _TOKEN, log=True)

    def write(tx: Transaction, fences: list[int]) -> None:
        put, delete, append = fences
        tx.put(scope, "put", "new", fence=put)
        tx.delete(scope, "deleted", fence=delete)
        tx.append(scope, "log", ["new"], fence=append)

    for stale in range(3):
        fences = [_TOKEN - (place == stale) for place in range(3)]
        with pytest.raises(Fenced):
            store.transaction(partial(write, fences=fences))
        assert [record_of(store, scope, key).value for key in ("put", "deleted")] == ["old", "old"]
        assert store.head(scope, "log") is None
    store.transaction(partial(write, fences=[_TOKEN + 2] * 3))
    assert store.get(scope, "deleted") is None
    for key in ("put", "deleted"):
        with pytest.raises(Fenced):
            store.put(scope, key, "stale", fence=_TOKEN + 1)
    with pytest.raises(Fenced):
        store.append(scope, "log", ["stale"], fence=_TOKEN + 1)
    assert values_of(store.read(scope, "log")) == ["new"]


@scenario("batches.kinds-of-entries-told-apart", level="full")
def kinds_of_entries_told_apart(harness: Harness) -> None:
    """A known batch id with entries that are only equal to Python or to JavaScript is refused."""
    store, scope = harness.store, harness.new_scope()
    alike = [1, 1.0, True, "1", [1], {"1": 1}, [1.0], None, False, 0, 0.0, -0.0, "", [], {}, "null"]
    for number, entry in enumerate(alike):
        key = f"k{number}"
        first = store.append(scope, key, [entry], batch_id="id")
        for other in alike[:number] + alike[number + 1 :]:
            with pytest.raises(BatchMismatch):
                store.append(scope, key, [other], batch_id="id")
        assert store.append(scope, key, [entry], batch_id="id") == first
    large = [2**53, 2**53 + 1, float(2**53), 2**64, 2**64 + 1]
    store.append(scope, "large", large, batch_id="id")
    for place in range(len(large)):
        other = [*large[:place], large[place - 1], *large[place + 1 :]]
        with pytest.raises(BatchMismatch):
            store.append(scope, "large", other, batch_id="id")
