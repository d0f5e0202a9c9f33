"""Commits of one operation, which work everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from holdall import (
    ABSENT,
    ANY,
    Append,
    Appended,
    Check,
    Conflict,
    Delete,
    Fenced,
    Head,
    HoldallError,
    Put,
)
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import head_of, record_of, values_of


@scenario("commits.one-put")
def one_put(harness: Harness) -> None:
    """A commit of one Put works everywhere, with expectation, ttl and fence, and returns the version."""
    store, scope = harness.store, harness.new_scope()
    [version] = store.commit([Put(scope, "k", {"a": 1}, expect=ABSENT, ttl=600, fence=2)])
    record = record_of(store, scope, "k")
    assert (record.value, record.version) == ({"a": 1}, version)
    assert record.expires_in is not None
    with pytest.raises(Conflict) as caught:
        store.commit([Put(scope, "k", 2, expect=ABSENT)])
    assert caught.value.current == version
    with pytest.raises(Fenced):
        store.commit([Put(scope, "k", 2, fence=1)])
    assert store.commit([Put(scope, "k", 2, expect=version)]) == [record_of(store, scope, "k").version]


@scenario("commits.one-delete")
def one_delete(harness: Harness) -> None:
    """A commit of one Delete works everywhere and returns whether there was something."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "k", 1)
    with pytest.raises(Conflict):
        store.commit([Delete(scope, "k", expect="stale")])
    with pytest.raises(Conflict):
        store.commit([Delete(scope, "k", expect=ABSENT)])
    assert store.commit([Delete(scope, "k", expect=version, fence=3)]) == [True]
    assert store.commit([Delete(scope, "k")]) == [False]
    with pytest.raises(Fenced):
        store.commit([Delete(scope, "k", fence=2)])


@scenario("commits.one-append")
def one_append(harness: Harness) -> None:
    """A commit of one Append works everywhere and returns what append returns."""
    store, scope = harness.store, harness.new_scope()
    [appended] = store.commit([Append(scope, "k", ["a", "b"], expect=ABSENT, fence=2, batch_id="id")])
    assert appended == Appended(0, 2, head_of(store, scope, "k"))
    for expect in (ABSENT, 0, 1, Head(0, 2, "other")):
        with pytest.raises(Conflict) as caught:
            store.commit([Append(scope, "k", ["c"], expect=expect)])
        assert caught.value.current == appended.head
    with pytest.raises(Fenced):
        store.commit([Append(scope, "k", ["c"], fence=1)])
    [more] = store.commit([Append(scope, "k", (entry for entry in "cd"), expect=appended.head)])
    assert (more.start, more.count) == (2, 2)
    assert values_of(store.read(scope, "k")) == ["a", "b", "c", "d"]


@scenario("commits.one-check")
def one_check(harness: Harness) -> None:
    """A commit of one Check works everywhere, writes nothing, and returns the version or head that it found."""
    store, scope = harness.store, harness.new_scope()
    version, head = store.put(scope, "k", 1), store.append(scope, "k", ["a"]).head
    assert store.commit([Check(scope, "k", version)]) == [version]
    assert store.commit([Check(scope, "k", head, log=True)]) == [head]
    assert store.commit([Check(scope, "k", 1, log=True)]) == [head]
    assert store.commit([Check(scope, "absent", ABSENT)]) == [None]
    assert store.commit([Check(scope, "absent", ABSENT, log=True)]) == [None]
    assert store.commit([Check(scope, "absent", 0, log=True)]) == [None]
    failing: list[tuple[Check, Any]] = [
        (Check(scope, "k", "stale"), version),
        (Check(scope, "k", ABSENT), version),
        (Check(scope, "absent", version), None),
        (Check(scope, "k", 0, log=True), head),
        (Check(scope, "k", ABSENT, log=True), head),
        (Check(scope, "k", head._replace(first=1), log=True), head),
        (Check(scope, "absent", 1, log=True), None),
    ]
    for check, current in failing:
        with pytest.raises(Conflict) as caught:
            store.commit([check])
        assert caught.value.current == current, check
    assert list(store.keys(scope).items) == list(store.logs(scope).items) == ["k"]


@scenario("commits.refused-shapes")
def refused_shapes(harness: Harness) -> None:
    """An empty commit, what is no operation, a Check with ANY, and bad arguments inside are refused as ValueErrors."""
    store, scope = harness.store, harness.new_scope()
    wrong: list[list[Any]] = [
        [],
        ["put"],
        [("k", 1)],
        [None],
        [Check(scope, "k", ANY)],
        [Check(scope, "k", None)],  # type: ignore[arg-type]
        [Check(scope, "k", 3)],
        [Check(scope, "k", True, log=True)],  # noqa: FBT003 - a bool is the point
        [Put(scope, "", 1)],
        [Put(scope, "k", 1, ttl=0)],
        [Put(scope, "k", 1, fence=0)],
        [Put(scope, "k", 1, expect=None)],  # type: ignore[arg-type]
        [Put(scope, "k", b"")],
        [Append(scope, "k", [])],
        [Append(scope, "k", "text")],
        [Append(scope, "k", [1], expect=True)],
        [Append(scope, "k", [1], batch_id="")],
        [Delete("", "k")],
        [Delete(scope, "k", expect="")],
    ]
    for operations in wrong:
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the builtin is part of the contract
            store.commit(operations)
        assert isinstance(caught.value, HoldallError), operations
    assert list(store.keys(scope).items) == list(store.logs(scope).items) == []
