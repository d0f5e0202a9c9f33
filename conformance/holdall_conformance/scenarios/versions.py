"""Versions and compare-and-set, one caller at a time."""

from __future__ import annotations

from typing import Any

import pytest

from holdall import ABSENT, ANY, Conflict, Head, InvalidArgument
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import record_of, value_of


@scenario("versions.chain-without-reading")
def chain_without_reading(harness: Harness) -> None:
    """The version that a put returns is usable at once as the next expectation."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "k", 0, expect=ABSENT)
    for number in range(1, 20):
        version = store.put(scope, "k", number, expect=version)
    record = record_of(store, scope, "k")
    assert (record.value, record.version) == (19, version)


@scenario("versions.never-reused")
def never_reused(harness: Harness) -> None:
    """A version is not reused, also not after delete and recreate with the same value."""
    store, scope = harness.store, harness.new_scope()
    first = store.put(scope, "k", "same")
    store.delete(scope, "k")
    second = store.put(scope, "k", "same", expect=ABSENT)
    assert first != second
    with pytest.raises(Conflict) as caught:
        store.put(scope, "k", "new", expect=first)
    assert caught.value.current == second


@scenario("versions.same-value-new-version")
def same_value_new_version(harness: Harness) -> None:
    """Writing the same value again makes a new version, so that no writer is taken for another."""
    store, scope = harness.store, harness.new_scope()
    versions = [store.put(scope, key, "same") for key in ("k", "k", "k", "l")]
    versions.append(store.update(scope, "k", lambda value: value).version)
    assert len(set(versions)) == len(versions)
    with pytest.raises(Conflict):
        store.put(scope, "k", "x", expect=versions[0])


@scenario("versions.stale-put-refused")
def stale_put_refused(harness: Harness) -> None:
    """A put that expects an older version is refused with the current one, and changes nothing."""
    store, scope = harness.store, harness.new_scope()
    stale = store.put(scope, "k", 1)
    current = store.put(scope, "k", 2, ttl=600)
    with pytest.raises(Conflict) as caught:
        store.put(scope, "k", 3, expect=stale)
    assert caught.value.current == current
    record = record_of(store, scope, "k")
    assert (record.value, record.version) == (2, current)
    assert record.expires_in is not None


@scenario("versions.stale-delete-refused")
def stale_delete_refused(harness: Harness) -> None:
    """A delete that expects an older version is refused with the current one, and deletes nothing."""
    store, scope = harness.store, harness.new_scope()
    stale = store.put(scope, "k", 1)
    current = store.put(scope, "k", 2)
    with pytest.raises(Conflict) as caught:
        store.delete(scope, "k", expect=stale)
    assert caught.value.current == current
    assert value_of(store, scope, "k") == 2
    assert store.delete(scope, "k", expect=current) is True


@scenario("versions.absent-creates-once")
def absent_creates_once(harness: Harness) -> None:
    """ABSENT creates once; the second creator is refused with the version that is there."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "k", 1, expect=ABSENT)
    with pytest.raises(Conflict) as caught:
        store.put(scope, "k", 2, expect=ABSENT)
    assert caught.value.current == version
    assert value_of(store, scope, "k") == 1
    with pytest.raises(Conflict):
        store.delete(scope, "k", expect=ABSENT)
    store.delete(scope, "k")
    assert store.delete(scope, "k", expect=ABSENT) is False
    store.put(scope, "k", 3, expect=ABSENT)


@scenario("versions.version-of-what-is-absent")
def version_of_what_is_absent(harness: Harness) -> None:
    """Expecting a version of what is absent, was deleted or never was is refused with None as the current version."""
    store, scope = harness.store, harness.new_scope()
    gone = store.put(scope, "gone", 1)
    store.delete(scope, "gone")
    foreign = store.put(scope, "other", 1)
    for key in ("gone", "never"):
        for expect in (gone, foreign, "0" * 32, "no version at all", "é"):
            with pytest.raises(Conflict) as caught:
                store.put(scope, key, 2, expect=expect)
            assert caught.value.current is None
            with pytest.raises(Conflict) as caught:
                store.delete(scope, key, expect=expect)
            assert caught.value.current is None
    assert list(store.keys(scope).items) == ["other"]


@scenario("versions.any-checks-nothing")
def any_checks_nothing(harness: Harness) -> None:
    """ANY writes and deletes whether or not there is something."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "k", 1, expect=ANY)
    store.put(scope, "k", 2, expect=ANY)
    assert store.delete(scope, "k", expect=ANY) is True
    assert store.delete(scope, "k", expect=ANY) is False


@scenario("versions.other-spellings-refused")
def other_spellings_refused(harness: Harness) -> None:
    """None, "", bools, numbers, bytes and a head are no expectation of a record: a ValueError, not "do not check"."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "k", 1)
    wrong: list[Any] = [None, "", True, False, 0, 1, b"x", version.encode(), [version], Head(0, 1, "x"), 1.0]
    for expect in wrong:
        for key in ("k", "new"):
            with pytest.raises(InvalidArgument) as caught:
                store.put(scope, key, 2, expect=expect)
            assert isinstance(caught.value, ValueError)
            with pytest.raises(InvalidArgument):
                store.delete(scope, key, expect=expect)
    assert record_of(store, scope, "k")[2:4] == (1, version)
    assert list(store.keys(scope).items) == ["k"]


@scenario("versions.touch-keeps-the-version")
def touch_keeps_the_version(harness: Harness) -> None:
    """Touch changes neither value nor version, so that an expectation from before it still holds."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "k", 1)
    assert store.touch(scope, "k", 600) is True
    assert record_of(store, scope, "k")[2:4] == (1, version)
    store.put(scope, "k", 2, expect=version)


@scenario("versions.seal-keeps-the-version")
def seal_keeps_the_version(harness: Harness) -> None:
    """A seal and a sweep change no version."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "k", 1)
    assert store.seal(scope, "k", 5) == version
    store.sweep()
    store.put(scope, "k", 2, expect=version, fence=5)


@scenario("versions.refusal-leaves-the-version")
def refusal_leaves_the_version(harness: Harness) -> None:
    """After any number of refused writes the version that was current still is."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "k", 1)
    for _ in range(5):
        with pytest.raises(Conflict):
            store.put(scope, "k", 2, expect="stale")
        with pytest.raises(Conflict):
            store.delete(scope, "k", expect="stale")
    assert store.put(scope, "k", 3, expect=version) != version


@scenario("versions.the-same-by-every-reader")
def the_same_by_every_reader(harness: Harness) -> None:
    """get, get_many, scan and iter_records tell the version that the last put returned, also where there was one."""
    store, scope = harness.store, harness.new_scope()
    store.put_many(scope, {"a": 1, "b": 1, "c": 1})
    store.delete(scope, "c")
    versions = {key: store.put(scope, key, key) for key in ("a", "b", "c")}
    assert {key: record_of(store, scope, key).version for key in versions} == versions
    assert {record.key: record.version for record in store.scan(scope).items} == versions
    assert {record.key: record.version for record in store.iter_records(scope)} == versions
    assert {record.key: record.version for record in store.get_many(scope, ["c", "a", "b"]) if record} == versions
