"""Records, one caller at a time."""

from __future__ import annotations

from typing import Any

import pytest

from holdall import ABSENT, Conflict, InvalidArgument, Record
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import record_of, value_of


@scenario("records.round-trip")
def round_trip(harness: Harness) -> None:
    """What was put is got, with its scope, key and version and without an expiry."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "k", {"a": 1})
    assert type(version) is str
    assert version
    assert store.get(scope, "k") == Record(scope, "k", {"a": 1}, version, None)


@scenario("records.absent-is-none")
def absent_is_none(harness: Harness) -> None:
    """What was never written is absent in every operation, and reading creates nothing."""
    store, scope = harness.store, harness.new_scope()
    assert store.get(scope, "k") is None
    assert store.get_many(scope, ["k", "l"]) == [None, None]
    assert store.touch(scope, "k", 60) is False
    assert store.delete(scope, "k") is False
    assert store.delete_many(scope, ["k"]) == 0
    assert store.clear(scope) == 0
    assert list(store.scan(scope).items) == []
    assert list(store.scopes(scope).items) == []


@scenario("records.last-put-counts")
def last_put_counts(harness: Harness) -> None:
    """A put replaces the whole value, whatever its type was."""
    store, scope = harness.store, harness.new_scope()
    for value in ({"a": 1, "b": 2}, {"a": 3}, [1], "text", None, 0, {}):
        version = store.put(scope, "k", value)
        assert record_of(store, scope, "k")[2:4] == (value, version)


@scenario("records.null-is-not-absent")
def null_is_not_absent(harness: Harness) -> None:
    """A record whose value is null exists."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "k", None)
    assert store.get(scope, "k") is not None
    with pytest.raises(Conflict):
        store.put(scope, "k", 1, expect=ABSENT)
    assert list(store.keys(scope).items) == ["k"]
    assert store.delete(scope, "k") is True


@scenario("records.delete-tells-whether-it-existed")
def delete_tells_whether_it_existed(harness: Harness) -> None:
    """Delete returns True once and False afterwards, and what was deleted is absent everywhere."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "k", 1)
    assert store.delete(scope, "k") is True
    assert store.delete(scope, "k") is False
    assert store.get(scope, "k") is None
    assert store.get_many(scope, ["k"]) == [None]
    assert list(store.keys(scope).items) == []
    assert list(store.scopes(scope).items) == []


@scenario("records.get-many-in-order-asked")
def get_many_in_order_asked(harness: Harness) -> None:
    """get_many answers in the order asked, with None for what is absent and twice for what is asked twice."""
    store, scope = harness.store, harness.new_scope()
    store.put_many(scope, {"a": 1, "b": 2, "c": 3})
    found = store.get_many(scope, ["c", "x", "a", "c", "b", "y"])
    assert [record.value if record else None for record in found] == [3, None, 1, 3, 2, None]
    assert found[0] == store.get(scope, "c")
    assert store.get_many(scope, []) == []
    assert [record.key for record in store.get_many(scope, iter(["b"])) if record] == ["b"]


@scenario("records.many-at-once")
def many_at_once(harness: Harness) -> None:
    """put_many, get_many and delete_many take thousands of keys, count them, and leave the others alone."""
    store, scope = harness.store, harness.new_scope()
    keys = [f"{number:05}" for number in range(2_300)]
    store.put(scope, "other", "kept")
    assert store.put_many(scope, {key: int(key) for key in keys}) == len(keys)
    asked = keys[::-1]
    assert [record.value if record else None for record in store.get_many(scope, asked)] == [int(key) for key in asked]
    assert store.delete_many(scope, [*keys[:1500], "absent", *keys[:10]]) == 1500
    assert list(store.iter_keys(scope)) == [*keys[1500:], "other"]
    assert store.clear(scope) == len(keys) - 1500 + 1
    assert list(store.keys(scope).items) == []


@scenario("records.put-many-gives-versions")
def put_many_gives_versions(harness: Harness) -> None:
    """Records of put_many have versions of their own, and replace what was there with its ttl."""
    store, scope = harness.store, harness.new_scope()
    before = store.put(scope, "a", 1, ttl=60)
    assert store.put_many(scope, {"a": 2, "b": 2}) == 2
    versions = {record.version for record in store.scan(scope).items}
    assert len(versions) == 2
    assert before not in versions
    assert record_of(store, scope, "a").expires_in is None
    with pytest.raises(Conflict):
        store.put(scope, "a", 3, expect=before)
    assert store.put_many(scope, {}) == 0


@scenario("records.update-makes-and-changes")
def update_makes_and_changes(harness: Harness) -> None:
    """Update gives the function the value or None, writes what it returns, and returns the record."""
    store, scope = harness.store, harness.new_scope()
    seen: list[Any] = []

    def count(value: Any) -> Any:
        seen.append(value)
        return (value or 0) + 1

    for number in (1, 2, 3):
        record = store.update(scope, "k", count)
        assert (record.scope, record.key, record.value) == (scope, "k", number)
        assert record_of(store, scope, "k").version == record.version
    assert seen == [None, 1, 2]


@scenario("records.update-loses-no-rival-write")
def update_loses_no_rival_write(harness: Harness) -> None:
    """An update during which somebody else writes runs its function again on the new value."""
    store, rival, scope = harness.store, harness.open_store(), harness.new_scope()
    store.put(scope, "k", [])
    seen: list[Any] = []

    def add(value: Any) -> Any:
        seen.append(list(value))
        if len(seen) < 3:
            rival.put(scope, "k", [*value, "rival"])
        return [*value, "mine"]

    store.update(scope, "k", add)
    assert seen == [[], ["rival"], ["rival", "rival"]]
    assert value_of(store, scope, "k") == ["rival", "rival", "mine"]


@scenario("records.update-sees-rival-delete-and-create")
def update_sees_rival_delete_and_create(harness: Harness) -> None:
    """An update notices that its record was deleted, or made meanwhile."""
    store, rival, scope = harness.store, harness.open_store(), harness.new_scope()
    store.put(scope, "gone", "old")
    seen: list[Any] = []

    def delete_first(value: Any) -> Any:
        seen.append(value)
        rival.delete(scope, "gone")
        return "new"

    store.update(scope, "gone", delete_first)
    assert seen == ["old", None]

    def create_first(value: Any) -> Any:
        seen.append(value)
        if value is None:
            rival.put(scope, "made", "rival")
        return f"{value} and mine"

    assert store.update(scope, "made", create_first).value == "rival and mine"


@scenario("records.update-error-of-function-unchanged")
def update_error_of_function_unchanged(harness: Harness) -> None:
    """What the function of an update raises reaches the caller unchanged, and nothing is written."""
    store, scope = harness.store, harness.new_scope()
    mine = ArithmeticError("mine")

    def fail(_: Any) -> Any:
        raise mine

    with pytest.raises(ArithmeticError) as caught:
        store.update(scope, "k", fail)
    assert caught.value is mine
    assert store.get(scope, "k") is None
    with pytest.raises(InvalidArgument):
        store.update(scope, "k", "no function")  # type: ignore[arg-type]


@scenario("records.update-with-null")
def update_with_null(harness: Harness) -> None:
    """An update may write null, and tells a record that is null from an absent one when it writes."""
    store, scope = harness.store, harness.new_scope()
    assert store.update(scope, "k", lambda _: None).value is None
    assert store.get(scope, "k") is not None
    assert store.update(scope, "k", lambda value: [value]).value == [None]


@scenario("records.several-not-one-string")
def several_not_one_string(harness: Harness) -> None:
    """A str in place of several keys, and values that are no mapping, are refused and not taken letter by letter."""
    store, scope = harness.store, harness.new_scope()
    store.put_many(scope, {"a": 1, "b": 2})
    for call in (lambda: store.delete_many(scope, "ab"), lambda: store.get_many(scope, "ab")):
        with pytest.raises(InvalidArgument):
            call()
    with pytest.raises(InvalidArgument):
        store.put_many(scope, [("a", 3)])  # type: ignore[arg-type]
    assert [record.value for record in store.scan(scope).items] == [1, 2]


@scenario("records.handles-agree-at-once")
def handles_agree_at_once(harness: Harness) -> None:
    """What one handle has acknowledged, every other handle sees at once, deletions too."""
    first, second, scope = harness.store, harness.open_store(), harness.new_scope()
    for number in range(10):
        version = first.put(scope, "k", number)
        seen = record_of(second, scope, "k")
        assert (seen.value, seen.version) == (number, version)
        second.put(scope, "k", -number, expect=version)
        assert value_of(first, scope, "k") == -number
    assert second.delete(scope, "k") is True
    assert first.get(scope, "k") is None
    assert first.delete(scope, "k") is False


@scenario("records.ping-and-describe")
def ping_and_describe(harness: Harness) -> None:
    """Ping returns the seconds it took, and describe texts for people."""
    seconds, words = harness.store.ping(), harness.store.describe()
    assert type(seconds) is float
    assert seconds >= 0
    assert words
    assert all(isinstance(text, str) for pair in words.items() for text in pair)


@scenario("records.sweep-spares-the-living", level="full")
def sweep_spares_the_living(harness: Harness) -> None:
    """Sweep removes no live record, log, remembered batch, lease or flag."""
    store, lock, scope, key = harness.store, harness.lock, harness.new_scope(), harness.new_key()
    version = store.put(scope, "k", 1)
    store.put(scope, "ttl", 1, ttl=60)
    appended = store.append(scope, "log", [1, 2], batch_id="b")
    lease = lock.try_acquire(key)
    lock.set_flag(key)
    assert type(store.sweep()) is int
    assert record_of(store, scope, "k").version == version
    assert value_of(store, scope, "ttl") == 1
    assert store.append(scope, "log", [1, 2], batch_id="b") == appended
    assert lease is not None
    assert lock.renew(lease).token == lease.token
    assert lock.flag(key)
