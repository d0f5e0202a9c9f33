"""Expired is absent, before anything is swept."""

from __future__ import annotations

from typing import Any

import pytest

from holdall import ABSENT, Check, Conflict, Delete, Put
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import (
    fill,
    record_of,
    value_of,
)


def _expired(harness: Harness, scope: str, keys: tuple[str, ...] = ("k",), fence: int | None = None) -> dict[str, str]:
    """Write records and wait until they have expired; return their versions."""
    ttl = harness.short_ttl
    versions = {key: harness.store.put(scope, key, f"expired {key}", ttl=ttl, fence=fence) for key in keys}
    harness.outlast(ttl)
    return versions


@scenario("expiry.absent-to-readers", waits=True)
def absent_to_readers(harness: Harness) -> None:
    """An expired record that nobody swept is absent in get, get_many, scan, keys, the iterators and scopes."""
    store, scope = harness.store, harness.new_scope()
    gone, mixed = f"{scope}-gone", f"{scope}-mixed"
    store.put(mixed, "alive", 1)
    store.put(mixed, "k", 1, ttl=harness.short_ttl)
    _expired(harness, gone)
    assert store.get(gone, "k") is None
    assert [record.key if record else None for record in store.get_many(mixed, ["k", "alive"])] == [None, "alive"]
    for listed in (store.scan(mixed).items, list(store.iter_records(mixed))):
        assert [record.key for record in listed] == ["alive"]
    assert list(store.keys(mixed).items) == list(store.iter_keys(mixed)) == ["alive"]
    assert list(store.keys(gone).items) == []
    assert list(store.scopes(scope).items) == [mixed]


@scenario("expiry.absent-to-creators", waits=True)
def absent_to_creators(harness: Harness) -> None:
    """ABSENT holds for an expired record, once."""
    store, scope = harness.store, harness.new_scope()
    _expired(harness, scope)
    version = store.put(scope, "k", "new", expect=ABSENT)
    assert record_of(store, scope, "k") == (scope, "k", "new", version, None)
    with pytest.raises(Conflict):
        store.put(scope, "k", "newer", expect=ABSENT)


@scenario("expiry.version-gone", waits=True)
def version_gone(harness: Harness) -> None:
    """The version of an expired record is no version any more: put and delete conflict, and None is current."""
    store, scope = harness.store, harness.new_scope()
    version = _expired(harness, scope)["k"]
    with pytest.raises(Conflict) as caught:
        store.put(scope, "k", "new", expect=version)
    assert caught.value.current is None
    with pytest.raises(Conflict) as caught:
        store.delete(scope, "k", expect=version)
    assert caught.value.current is None
    assert store.get(scope, "k") is None


@scenario("expiry.nothing-to-delete", waits=True)
def nothing_to_delete(harness: Harness) -> None:
    """Deleting what has expired returns False, and counts nothing in delete_many and clear."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "alive", 1)
    _expired(harness, scope, ("a", "b", "c", "d", "e"))
    assert store.delete(scope, "a") is False
    assert store.delete(scope, "b", expect=ABSENT) is False
    assert store.delete_many(scope, ["c", "alive"]) == 1
    store.put(scope, "alive", 1)
    assert store.clear(scope) == 1
    assert store.delete(scope, "d") is False


@scenario("expiry.nothing-to-touch", waits=True)
def nothing_to_touch(harness: Harness) -> None:
    """Touch returns False for what has expired and does not bring it back."""
    store, scope = harness.store, harness.new_scope()
    _expired(harness, scope)
    assert store.touch(scope, "k", 600) is False
    assert store.touch(scope, "k", None) is False
    assert store.get(scope, "k") is None


@scenario("expiry.nothing-to-update", waits=True)
def nothing_to_update(harness: Harness) -> None:
    """Update gives its function None for what has expired."""
    store, scope = harness.store, harness.new_scope()
    _expired(harness, scope)
    store.update(scope, "k", lambda value: {"found": value})
    assert value_of(store, scope, "k") == {"found": None}


@scenario("expiry.absent-to-commits", waits=True)
def absent_to_commits(harness: Harness) -> None:
    """A commit takes an expired record for absent in Check, Put and Delete."""
    store, scope = harness.store, harness.new_scope()
    version = _expired(harness, scope)["k"]
    assert store.commit([Check(scope, "k", ABSENT)]) == [None]
    assert store.commit([Delete(scope, "k")]) == [False]
    _expired(harness, scope)
    for operation in (
        Check(scope, "k", version),
        Put(scope, "k", 1, expect=version),
        Delete(scope, "k", expect=version),
    ):
        with pytest.raises(Conflict):
            store.commit([operation])
    store.commit([Put(scope, "k", "new", expect=ABSENT)])
    assert value_of(store, scope, "k") == "new"


@scenario("expiry.seal-finds-nothing", waits=True)
def seal_finds_nothing(harness: Harness) -> None:
    """A seal of an expired record returns None and does not bring it back."""
    store, scope = harness.store, harness.new_scope()
    _expired(harness, scope)
    assert store.seal(scope, "k", 3) is None
    assert store.get(scope, "k") is None
    assert list(store.keys(scope).items) == []


@scenario("expiry.expires-in-counts-down")
def expires_in_counts_down(harness: Harness) -> None:
    """expires_in tells the seconds that are left, by every reader, and None where there is no ttl."""
    store, scope = harness.store, harness.new_scope()
    margin = harness.capabilities.expiry_margin
    store.put(scope, "ttl", 1, ttl=100)
    store.put(scope, "ever", 1)
    found = {record.key: record.expires_in for record in store.scan(scope).items}
    assert found["ever"] is None
    many = [record.expires_in for record in store.get_many(scope, ["ttl"]) if record]
    seen: list[Any] = [record_of(store, scope, "ttl").expires_in, found["ttl"], *many]
    assert len(seen) == 3
    for left in seen:
        assert type(left) is float
        assert 90 - margin < left <= 100 + margin
    later = record_of(store, scope, "ttl").expires_in
    assert later is not None
    assert later <= seen[0] + margin


@scenario("expiry.not-early", waits=True)
def not_early(harness: Harness) -> None:
    """A record with time left is there, and one with a century too."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "minute", 1, ttl=60)
    store.put(scope, "century", 1, ttl=100 * 365 * 86_400)
    store.put(scope, "whole", 1, ttl=3600.0)
    store.put(scope, "k", 1, ttl=harness.short_ttl)
    harness.outlast(harness.short_ttl)
    assert list(store.keys(scope).items) == ["century", "minute", "whole"]
    century = record_of(store, scope, "century").expires_in
    assert century is not None
    assert century > 99 * 365 * 86_400


@scenario("expiry.put-without-ttl-clears", waits=True)
def put_without_ttl_clears(harness: Harness) -> None:
    """A put, put_many, update or commit without ttl clears a former one; touch(None) too."""
    store, scope, ttl = harness.store, harness.new_scope(), harness.short_ttl * 4
    for key in ("put", "many", "update", "commit", "touch"):
        store.put(scope, key, 1, ttl=ttl)
    store.put(scope, "put", 2)
    store.put_many(scope, {"many": 2})
    store.update(scope, "update", lambda _: 2)
    store.commit([Put(scope, "commit", 2)])
    assert store.touch(scope, "touch", None) is True
    assert {record.expires_in for record in store.scan(scope).items} == {None}
    harness.outlast(ttl)
    assert list(store.keys(scope).items) == ["commit", "many", "put", "touch", "update"]


@scenario("expiry.every-write-can-have-a-ttl", waits=True)
def every_write_can_have_a_ttl(harness: Harness) -> None:
    """put, put_many, update, touch and commit set a ttl that ends."""
    store, scope, ttl = harness.store, harness.new_scope(), harness.short_ttl
    store.put(scope, "touch", 1)
    store.put(scope, "put", 1, ttl=ttl)
    store.put_many(scope, {"many": 1, "more": 1}, ttl=ttl)
    updated = store.update(scope, "update", lambda _: 1, ttl=ttl)
    store.commit([Put(scope, "commit", 1, ttl=ttl)])
    assert store.touch(scope, "touch", ttl) is True
    assert updated.expires_in is not None
    assert updated.expires_in <= ttl + harness.capabilities.expiry_margin
    harness.outlast(ttl)
    assert list(store.keys(scope).items) == []


@scenario("expiry.touch-prolongs", waits=True)
def touch_prolongs(harness: Harness) -> None:
    """A touched record lives on beyond its first ttl, with the same value and version."""
    store, scope, ttl = harness.store, harness.new_scope(), harness.short_ttl * 4
    version = store.put(scope, "k", 1, ttl=ttl)
    assert store.touch(scope, "k", 600) is True
    harness.outlast(ttl)
    record = record_of(store, scope, "k")
    assert (record.value, record.version) == (1, version)
    assert record.expires_in is not None
    assert record.expires_in > 500


@scenario("expiry.touch-shortens", waits=True)
def touch_shortens(harness: Harness) -> None:
    """A touch may bring the expiry nearer."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "k", 1, ttl=600)
    assert store.touch(scope, "k", harness.short_ttl) is True
    harness.outlast(harness.short_ttl)
    assert store.get(scope, "k") is None


@scenario("expiry.recreated-does-not-expire-twice", waits=True)
def recreated_does_not_expire_twice(harness: Harness) -> None:
    """A record that was deleted, or expired, and made anew does not inherit the old expiry, also not when swept."""
    store, scope, ttl = harness.store, harness.new_scope(), harness.short_ttl
    store.put(scope, "deleted", 1, ttl=ttl)
    store.delete(scope, "deleted")
    store.put(scope, "deleted", 2)
    _expired(harness, scope, ("expired",))
    store.put(scope, "expired", 2)
    store.sweep()
    assert [record.value for record in store.scan(scope).items] == [2, 2]


@scenario("expiry.sweep-removes-only-what-expired")
def sweep_removes_only_what_expired(harness: Harness) -> None:
    """Sweep counts what it removed, changes no answer, and a second one does not count it again."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "alive", 1)
    store.put(scope, "later", 1, ttl=600)
    swept = 0
    for _ in range(10):  # whoever else sweeps a shared storage may be faster
        _expired(harness, scope, tuple(f"k{number}" for number in range(30)))
        if (swept := store.sweep()) >= 30:
            break
    assert swept >= 30
    assert list(store.keys(scope).items) == ["alive", "later"]
    assert store.get(scope, "k1") is None
    assert store.delete(scope, "k1") is False
    store.put(scope, "k1", 2, expect=ABSENT)
    assert any(store.sweep() < 30 for _ in range(20))  # others' records expire meanwhile
    assert value_of(store, scope, "k1") == 2


@scenario("expiry.pages-of-expired-records", waits=True)
def pages_of_expired_records(harness: Harness) -> None:
    """Pages over many expired records end, and find the live ones before, between and behind them."""
    store, scope, ttl = harness.store, harness.new_scope(), harness.short_ttl
    fill(store, scope, {f"{number:04}": number for number in range(300) if number % 100 == 50})
    fill(store, scope, {f"{number:04}": number for number in range(300) if number % 100 != 50}, ttl=ttl)
    harness.outlast(ttl)
    assert list(store.iter_keys(scope)) == ["0050", "0150", "0250"]
    seen, after = list[str](), None
    while True:
        page = store.scan(scope, after=after, limit=20)
        assert len(page.items) <= 20
        seen += [record.key for record in page.items]
        after = page.next
        if after is None:
            break
    assert seen == ["0050", "0150", "0250"]


@scenario("expiry.marked-record-expires-too", waits=True)
def marked_record_expires_too(harness: Harness) -> None:
    """A record with a fencing mark expires like any other."""
    store, scope = harness.store, harness.new_scope()
    _expired(harness, scope, fence=7)
    assert store.get(scope, "k") is None
    assert list(store.keys(scope).items) == []
    assert list(store.scopes(scope).items) == []
    store.sweep()
    assert store.delete(scope, "k") is False
    store.put(scope, "k", "new", expect=ABSENT, fence=7)
