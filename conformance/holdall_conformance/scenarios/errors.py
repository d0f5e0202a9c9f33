"""Errors: what they carry, what they hide, and that they cross processes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from holdall import (
    ABSENT,
    AlreadyExists,
    BatchMismatch,
    Check,
    Conflict,
    Fenced,
    HoldallError,
    InvalidArgument,
    InvalidKey,
    InvalidValue,
    LeaseLost,
    LockTimeout,
    NotFound,
    Put,
    TooLarge,
    Truncated,
)
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import lease_of

_SECRET = "value-that-no-message-may-show"  # noqa: S105 - a word to look for

_Case = tuple[type[HoldallError], type[Exception], str, Callable[[], Any]]


def _prepared(harness: Harness, scope: str) -> None:
    store = harness.store
    store.put(scope, "k", _SECRET, fence=5)
    store.append(scope, "k", [_SECRET, _SECRET], batch_id="id", fence=5)
    store.truncate(scope, "k", 1)


def _cases(harness: Harness, scope: str) -> list[_Case]:
    store, key, huge = harness.store, "k", _SECRET * (harness.capabilities.max_value_bytes // len(_SECRET) + 1)
    bad = {"secret": [_SECRET, b""]}
    return [
        (Conflict, RuntimeError, "put", lambda: store.put(scope, key, _SECRET, expect=ABSENT)),
        (Conflict, RuntimeError, "delete", lambda: store.delete(scope, key, expect="stale")),
        (Conflict, RuntimeError, "append", lambda: store.append(scope, key, [_SECRET], expect=7)),
        (Conflict, RuntimeError, "truncate", lambda: store.truncate(scope, key, 1, expect=7)),
        (Conflict, RuntimeError, "drop", lambda: store.drop(scope, key, expect=7)),
        (Conflict, RuntimeError, "commit", lambda: store.commit([Put(scope, key, _SECRET, expect=ABSENT)])),
        (Conflict, RuntimeError, "commit", lambda: store.commit([Check(scope, key, 9, log=True)])),
        (Fenced, PermissionError, "put", lambda: store.put(scope, key, _SECRET, fence=4)),
        (Fenced, PermissionError, "touch", lambda: store.touch(scope, key, 60, fence=4)),
        (Fenced, PermissionError, "append", lambda: store.append(scope, key, [_SECRET], fence=4)),
        (Fenced, PermissionError, "seal", lambda: store.seal(scope, key, 4)),
        (Fenced, PermissionError, "seal", lambda: store.seal(scope, key, 4, log=True)),
        (Truncated, LookupError, "read", lambda: store.read(scope, key, 0)),
        (AlreadyExists, RuntimeError, "restore_log", lambda: store.restore_log(scope, key, 0, [_SECRET])),
        (BatchMismatch, ValueError, "append", lambda: store.append(scope, key, [_SECRET], batch_id="id")),
        (InvalidValue, ValueError, "put", lambda: store.put(scope, key, bad)),
        (InvalidValue, ValueError, "append", lambda: store.append(scope, key, [bad])),
        (InvalidArgument, ValueError, "put", lambda: store.put(scope, key, _SECRET, ttl=-1)),
        (InvalidArgument, ValueError, "append", lambda: store.append(scope, key, [])),
        (TooLarge, ValueError, "put", lambda: store.put(scope, key, huge)),
        (TooLarge, ValueError, "append", lambda: store.append(scope, key, [huge])),
        (InvalidKey, ValueError, "get", lambda: store.get(scope, "")),
    ]


@scenario("errors.carry-where-they-happened")
def carry_where_they_happened(harness: Harness) -> None:
    """Errors carry adapter, operation, scope and key, name them in their message, and are the builtin one expects."""
    scope = harness.new_scope()
    _prepared(harness, scope)
    silent = []
    for kind, builtin, operation, call in _cases(harness, scope):
        with pytest.raises(kind) as caught:
            call()
        error = caught.value
        assert isinstance(error, builtin)
        key = "" if kind is InvalidKey else "k"
        found = (error.adapter, error.operation, error.scope, error.key)
        if found != (harness.store.adapter, operation, scope, key) or scope not in str(error):
            silent.append(f"{kind.__name__} of {operation}: {found}")
    assert silent == []


@scenario("errors.of-updates-and-iterators")
def of_updates_and_iterators(harness: Harness) -> None:
    """Errors of update, follow and the iterators carry adapter, operation, scope and key too."""
    store, scope = harness.store, harness.new_scope()
    _prepared(harness, scope)
    cases: list[tuple[type[HoldallError], Callable[[], Any]]] = [
        (InvalidValue, lambda: store.update(scope, "k", lambda _: b"")),
        (Fenced, lambda: store.update(scope, "k", lambda _: 1, fence=4)),
        (InvalidArgument, lambda: store.update(scope, "k", 5)),  # type: ignore[arg-type]
        (Truncated, lambda: list(store.iter_entries(scope, "k"))),
        (Truncated, lambda: list(store.follow(scope, "k", timeout=0))),
        (InvalidArgument, lambda: list(store.follow(scope, "k", timeout=-1))),
        (InvalidArgument, lambda: list(store.iter_entries(scope, "k", -1))),
        (NotFound, lambda: _follow_a_dropped_log(harness, scope, "k")),
    ]
    silent = []
    for number, (kind, call) in enumerate(cases):
        with pytest.raises(kind) as caught:
            call()
        error = caught.value
        if (error.adapter, error.scope, error.key) != (store.adapter, scope, "k") or not error.operation:
            silent.append(f"case {number}: {kind.__name__}: {error}")
    assert silent == []


def _follow_a_dropped_log(harness: Harness, scope: str, key: str) -> None:
    iterator = iter(harness.store.follow(scope, key, 1, timeout=5))
    next(iterator)
    harness.store.drop(scope, key)
    next(iterator)


@scenario("errors.of-locks")
def of_locks(harness: Harness) -> None:
    """Errors of a lock carry adapter, operation and key, and are the builtin one expects."""
    lock, key = harness.lock, harness.new_key()
    lease = lease_of(lock, key)
    lock.release(lease)
    lease_of(lock, key)
    cases: list[tuple[type[HoldallError], type[Exception], Callable[[], Any]]] = [
        (LeaseLost, RuntimeError, lambda: lock.renew(lease)),
        (LockTimeout, TimeoutError, lambda: lock.acquire(key, timeout=0)),
        (LockTimeout, TimeoutError, lambda: lock.hold(key).__enter__()),
        (InvalidArgument, ValueError, lambda: lock.try_acquire(key, ttl=0)),
        (InvalidArgument, ValueError, lambda: lock.acquire(key, ttl=60, timeout=-1)),
        (InvalidArgument, ValueError, lambda: lock.hold(key, ttl=0)),
        (InvalidArgument, ValueError, lambda: lock.raise_floor(key, 0)),
        (InvalidArgument, ValueError, lambda: lock.set_flag(key, ttl=0)),
    ]
    silent = []
    for number, (kind, builtin, call) in enumerate(cases):
        with pytest.raises(kind) as caught:
            call()
        error = caught.value
        assert isinstance(error, builtin)
        if (error.adapter, error.key) != (lock.adapter, key) or not error.operation:
            silent.append(f"case {number}: {kind.__name__}: {error}")
    assert silent == []


@scenario("errors.show-no-value")
def show_no_value(harness: Harness) -> None:
    """Neither the message nor the repr of an error, nor the repr of a record, entry or operation, shows a value."""
    store, scope = harness.store, harness.new_scope()
    _prepared(harness, scope)
    for kind, _, operation, call in _cases(harness, scope):
        with pytest.raises(kind) as caught:
            call()
        shown = f"{caught.value} {caught.value!r} {caught.value.args} {vars(caught.value)}"
        assert _SECRET not in shown, f"{kind.__name__} of {operation} shows the value"
    shown = [store.get(scope, "k"), store.read(scope, "k", 1), store.read(scope, "k", 1)[0], store.scan(scope)]  # type: ignore[assignment]
    shown += [Put(scope, "k", _SECRET), store.get_many(scope, ["k"]), store]  # type: ignore[operator]
    assert _SECRET not in f"{shown} {store.get(scope, 'k')}"


@scenario("errors.cross-processes-whole")
def cross_processes_whole(harness: Harness) -> None:
    """Errors can be pickled and copied with everything they carry."""
    scope = harness.new_scope()
    _prepared(harness, scope)
    for kind, _, _, call in _cases(harness, scope):
        with pytest.raises(kind) as caught:
            call()
        for again in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):  # noqa: S301 - made right here
            assert type(again) is kind
            assert str(again) == str(caught.value)
            assert vars(again) == vars(caught.value)


@scenario("errors.tell-the-current-state")
def tell_the_current_state(harness: Harness) -> None:
    """Conflict carries the current version or head, Fenced the mark, Truncated the first kept position."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "k", 1, fence=5)
    head = store.append(scope, "k", [1, 2], fence=6).head
    with pytest.raises(Conflict) as conflict:
        store.put(scope, "k", 1, expect=ABSENT)
    assert conflict.value.current == version
    with pytest.raises(Conflict) as conflict:
        store.append(scope, "k", [1], expect=ABSENT)
    assert conflict.value.current == head
    with pytest.raises(Fenced) as fenced:
        store.put(scope, "k", 1, fence=4)
    assert fenced.value.mark == 5
    with pytest.raises(Fenced) as fenced:
        store.drop(scope, "k", fence=5)
    assert fenced.value.mark == 6
    store.truncate(scope, "k", 1)
    with pytest.raises(Truncated) as truncated:
        store.read(scope, "k")
    assert truncated.value.first == 1


@scenario("errors.change-nothing")
def change_nothing(harness: Harness) -> None:
    """After every kind of refusal, record, log, version and head are as they were."""
    store, scope = harness.store, harness.new_scope()
    _prepared(harness, scope)
    before = (store.get(scope, "k"), store.read(scope, "k", 1), store.head(scope, "k"))
    for kind, _, _, call in _cases(harness, scope):
        with pytest.raises(kind):
            call()
        assert (store.get(scope, "k"), store.read(scope, "k", 1), store.head(scope, "k")) == before
    assert list(store.keys(scope).items) == list(store.logs(scope).items) == ["k"]
