"""Commits: one operation everywhere, several all or none where that is declared."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from holdall import (
    ABSENT,
    Append,
    Appended,
    BatchMismatch,
    Check,
    Conflict,
    Delete,
    Fenced,
    HoldallError,
    InvalidArgument,
    InvalidValue,
    Put,
    Store,
    TooLarge,
    Unsupported,
)
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import head_of, record_of, value_of, values_of


@scenario("commits.several-unsupported", "!atomic_commit")
def several_unsupported(harness: Harness) -> None:
    """Where atomic commits are not declared, one of several operations raises Unsupported and writes nothing."""
    store, scope = harness.store, harness.new_scope()
    pairs: list[list[Any]] = [
        [Put(scope, "a", 1), Put(scope, "b", 1)],
        [Append(scope, "a", [1]), Append(scope, "b", [1])],
        [Put(scope, "a", 1), Check(scope, "b", ABSENT)],
        [Put(scope, "a", 1), Append(scope, "a", [1])],
    ]
    for operations in pairs:
        with pytest.raises(Unsupported) as caught:
            store.commit(operations)
        assert isinstance(caught.value, NotImplementedError)
    assert list(store.keys(scope).items) == list(store.logs(scope).items) == []


@scenario("commits.several-apply-together", "atomic_commit")
def several_apply_together(harness: Harness) -> None:
    """A commit of every kind of operation applies all of them and returns their results in order."""
    store, scope, other = harness.store, harness.new_scope(), harness.new_scope()
    changed, doomed = store.put(scope, "changed", 1), store.put(other, "doomed", 1)
    head = store.append(scope, "log", ["a"]).head
    results = store.commit(
        operation
        for operation in (
            Check(scope, "absent", ABSENT),
            Put(scope, "new", 1, expect=ABSENT, ttl=600),
            Put(scope, "changed", 2, expect=changed),
            Delete(other, "doomed", expect=doomed),
            Delete(other, "never"),
            Append(scope, "log", ["b", "c"], expect=head),
            Append(other, "log", ["x"], expect=ABSENT),
            Check(other, "nolog", ABSENT, log=True),
        )
    )
    assert [results[0], results[3], results[4], results[7]] == [None, True, False, None]
    assert results[1:3] == [record_of(store, scope, "new").version, record_of(store, scope, "changed").version]
    assert results[5] == Appended(1, 2, head_of(store, scope, "log"))
    assert results[6] == Appended(0, 1, head_of(store, other, "log"))
    assert value_of(store, scope, "changed") == 2
    assert store.get(other, "doomed") is None
    assert values_of(store.read(scope, "log")) == ["a", "b", "c"]


@scenario("commits.on-whatever-was-done", "atomic_commit")
def on_whatever_was_done(harness: Harness) -> None:
    """A commit of several takes records and logs as they are, whatever was done to them last."""
    store, scope = harness.store, harness.new_scope()
    names = ("touched", "sealed", "deleted", "truncated", "dropped", "bare")
    for name in names[:-1]:
        store.put(scope, name, 1)
        store.append(scope, name, ["a", "b"])
    assert store.touch(scope, "touched", 600)
    assert store.delete(scope, "deleted")
    assert store.truncate(scope, "truncated", 1) == 1
    assert store.drop(scope, "dropped")
    for log, name in itertools.product((False, True), ("sealed", "bare")):
        store.seal(scope, name, 3, log=log)
    found = {name: (store.get(scope, name), store.head(scope, name)) for name in names}
    versions = {name: ABSENT if record is None else record.version for name, (record, _) in found.items()}
    heads = {name: head or ABSENT for name, (_, head) in found.items()}
    checks = [Check(scope, name, versions[name]) for name in names]
    checks += [Check(scope, name, heads[name], log=True) for name in names]
    _commit_in_pieces(harness, [*checks, Put(scope, "done", 1)])
    writes = [Put(scope, name, 2, expect=versions[name], fence=3) for name in names]
    appends = [Append(scope, name, ["c"], expect=heads[name], fence=3) for name in names]
    _commit_in_pieces(harness, [*writes, *appends])
    assert [value_of(store, scope, name) for name in names] == [2] * len(names)
    logs = {"truncated": ["b", "c"], "dropped": ["c"], "bare": ["c"]}
    for name in names:
        assert values_of(store.tail(scope, name, 3)) == logs.get(name, ["a", "b", "c"]), name


def _commit_in_pieces(harness: Harness, operations: list[Any]) -> None:
    """Commit as many operations at once as the backend takes."""
    most = harness.capabilities.max_commit_operations
    for start in range(0, len(operations), most):
        harness.store.commit(operations[start : start + most])


@scenario("commits.record-and-log-of-one-key", "atomic_commit")
def record_and_log_of_one_key(harness: Harness) -> None:
    """The record and the log of one scope and key are two targets of a commit."""
    store, scope = harness.store, harness.new_scope()
    store.commit([Put(scope, "k", 1), Append(scope, "k", [2])])
    store.commit([Check(scope, "k", 1, log=True), Put(scope, "k", 3)])
    assert value_of(store, scope, "k") == 3
    assert values_of(store.read(scope, "k")) == [2]


@scenario("commits.duplicates-refused", "atomic_commit")
def duplicates_refused(harness: Harness) -> None:
    """A commit that names one record or one log twice is a ValueError and writes nothing."""
    store, scope = harness.store, harness.new_scope()
    pairs: list[list[Any]] = [
        [Put(scope, "k", 1), Put(scope, "k", 2)],
        [Put(scope, "k", 1), Delete(scope, "k")],
        [Check(scope, "k", ABSENT), Put(scope, "k", 2)],
        [Append(scope, "k", [1]), Append(scope, "k", [2])],
        [Append(scope, "k", [1]), Check(scope, "k", 0, log=True)],
        [Append(scope, "k", [1], batch_id="b"), Append(scope, "k", [1], batch_id="b")],
    ]
    for operations in pairs:
        with pytest.raises(InvalidArgument):
            store.commit([Put(scope, "other", 1), *operations])
    assert list(store.keys(scope).items) == list(store.logs(scope).items) == []


def _snapshot(store: Store, scope: str) -> Any:
    logs = {key: store.read(scope, key) for key in store.logs(scope).items}
    records = [(record.key, record.value, record.version) for record in store.scan(scope).items]
    return records, logs, {key: log.head for key, log in logs.items()}


@scenario("commits.all-or-none", "atomic_commit")
def all_or_none(harness: Harness) -> None:
    """Whichever operation of a commit is refused, in whatever place, nothing of the others is applied."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "old", 1)
    store.put(scope, "fenced", 1, fence=5)
    store.append(scope, "log", ["a"], batch_id="id")
    store.append(scope, "guarded", ["a"], fence=5)
    refused: list[tuple[type[HoldallError], Any]] = [
        (Conflict, Put(scope, "x", 1, expect="stale")),
        (Conflict, Put(scope, "fenced", 1, expect=ABSENT)),
        (Fenced, Put(scope, "fenced", 1, fence=4)),
        (Conflict, Delete(scope, "x", expect="stale")),
        (Fenced, Delete(scope, "fenced", fence=4)),
        (Conflict, Append(scope, "guarded", ["b"], expect=7)),
        (Conflict, Append(scope, "x", ["b"], expect=1)),
        (Fenced, Append(scope, "guarded", ["b"], fence=4)),
        (Conflict, Check(scope, "x", "stale")),
        (Conflict, Check(scope, "guarded", 0, log=True)),
        (InvalidValue, Put(scope, "x", float("nan"))),
        (InvalidValue, Append(scope, "x", [b""])),
    ]
    good: list[Any] = [
        Put(scope, "old", 2, expect=version, fence=9),
        Append(scope, "new", ["n"], batch_id="n", fence=9),
    ]
    good += [Delete(scope, "never", fence=9), Put(scope, "new", 1)]
    before = _snapshot(store, scope)
    refused.append((BatchMismatch, Append(scope, "log", ["other"], batch_id="id")))
    for error, operation in refused:
        for place in range(len(good) + 1):
            with pytest.raises(error):
                store.commit([*good[:place], operation, *good[place:]])
            assert _snapshot(store, scope) == before, f"{operation} in place {place} leaves something behind"
    store.put(scope, "old", 2, fence=1)
    assert store.append(scope, "new", ["other"], batch_id="n", fence=1).start == 0
    store.put(scope, "never", 1, fence=1)


@scenario("commits.a-repeated-batch-among-others", "atomic_commit")
def a_repeated_batch_among_others(harness: Harness) -> None:
    """A batch that was appended before gives its first result in a commit, and the other operations are applied."""
    store, scope = harness.store, harness.new_scope()
    first = store.append(scope, "log", ["a"], batch_id="id")
    results = store.commit([Append(scope, "log", ["a"], batch_id="id", expect=0), Put(scope, "k", 1)])
    assert results[0] == first
    assert value_of(store, scope, "k") == 1
    assert store.head(scope, "log") == first.head


@scenario("commits.as-many-as-declared", "atomic_commit")
def as_many_as_declared(harness: Harness) -> None:
    """A commit takes as many operations as are declared; one more is refused whole, with limit and number."""
    store, scope, most = harness.store, harness.new_scope(), harness.capabilities.max_commit_operations
    assert most >= 2
    results = store.commit([Put(scope, f"k{number:06}", number) for number in range(most)])
    assert len(results) == most
    assert len(list(store.iter_keys(scope))) == most
    with pytest.raises(TooLarge) as caught:
        store.commit([Put(scope, f"x{number:06}", number) for number in range(most + 1)])
    assert (caught.value.limit, caught.value.actual) == (most, most + 1)
    assert list(store.keys(scope, "x").items) == []


@scenario("commits.fences-raise-marks", "atomic_commit")
def fences_raise_marks(harness: Harness) -> None:
    """Every fenced operation of a commit raises the mark of its own record or log."""
    store, scope = harness.store, harness.new_scope()
    store.commit([Put(scope, "p", 1, fence=3), Delete(scope, "d", fence=4), Append(scope, "l", [1], fence=5)])
    with pytest.raises(Fenced) as caught:
        store.put(scope, "p", 2, fence=2)
    assert caught.value.mark == 3
    with pytest.raises(Fenced) as caught:
        store.put(scope, "d", 2, fence=3)
    assert caught.value.mark == 4
    with pytest.raises(Fenced) as caught:
        store.append(scope, "l", [2], fence=4)
    assert caught.value.mark == 5


@scenario("commits.errors-name-what-was-refused")
def errors_name_what_was_refused(harness: Harness) -> None:
    """The error of a commit names scope and key of the operation that was refused."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "fenced", 1, fence=5)
    refused: list[Any] = [
        Put(scope, "x", 1, expect="stale"),
        Put(scope, "fenced", 1, fence=4),
        Delete(scope, "x", expect="stale"),
        Append(scope, "x", ["b"], expect=1),
        Check(scope, "x", "stale"),
        Check(scope, "x", 1, log=True),
        Put(scope, "x", float("nan")),
        Append(scope, "x", [b""]),
        Append(scope, "x", []),
        Put(scope, "x", 1, ttl=-1),
    ]
    others: list[Any] = [Put(scope, "other", 1)] if harness.capabilities.atomic_commit else []
    silent = []
    for operation in refused:
        with pytest.raises(HoldallError) as caught:
            store.commit([*others, operation])
        error = caught.value
        if (error.operation, error.scope, error.key) != ("commit", scope, operation.key):
            silent.append(f"{type(error).__name__} of {operation}")
    assert silent == []
