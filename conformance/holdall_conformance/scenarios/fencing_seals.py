"""Seals of records and logs in every state: whatever is there, they count."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from holdall import Fenced, Head, Store
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import values_of

_TOKEN = 5

_RECORDS: dict[str, Callable[[Store, str, str], Any]] = {
    "present": lambda store, scope, key: store.put(scope, key, "good"),
    "with a ttl": lambda store, scope, key: store.put(scope, key, "good", ttl=600),
    "fenced": lambda store, scope, key: store.put(scope, key, "good", fence=_TOKEN - 2),
    "deleted": lambda store, scope, key: (store.put(scope, key, "good"), store.delete(scope, key)),
    "sealed": lambda store, scope, key: store.seal(scope, key, _TOKEN - 2),
    "absent": lambda *_: None,
}
_LOGS: dict[str, Callable[[Store, str, str], Any]] = {
    "present": lambda store, scope, key: store.append(scope, key, ["a", "b"]),
    "fenced": lambda store, scope, key: store.append(scope, key, ["a"], fence=_TOKEN - 2, batch_id="id"),
    "shortened": lambda store, scope, key: (store.append(scope, key, ["a", "b"]), store.truncate(scope, key, 1)),
    "emptied": lambda store, scope, key: (store.append(scope, key, ["a", "b"]), store.truncate(scope, key, 2)),
    "dropped": lambda store, scope, key: (store.append(scope, key, ["a"]), store.drop(scope, key)),
    "restored": lambda store, scope, key: store.restore_log(scope, key, 7, ["a"]),
    "restored without entries": lambda store, scope, key: store.restore_log(scope, key, 7, []),
    "sealed": lambda store, scope, key: store.seal(scope, key, _TOKEN - 2, log=True),
    "absent": lambda *_: None,
}


def _refused(state: str, write: Callable[..., Any]) -> None:
    """Demand that a write with the token before the seal is refused."""
    with pytest.raises(Fenced) as caught:
        write(fence=_TOKEN - 1)
    assert caught.value.mark == _TOKEN, f"the mark of what is {state} is told as {caught.value.mark}"


@scenario("fencing.seals-count-whatever-is-there")
def of_records(harness: Harness) -> None:
    """A seal of a record counts whatever is there, changes nothing that reads see, and tells the version."""
    store, scope = harness.store, harness.new_scope()
    for state, make in _RECORDS.items():
        make(store, scope, state)
        before = store.get(scope, state)
        assert store.seal(scope, state, _TOKEN) == (None if before is None else before.version)
        after = store.get(scope, state)
        assert (before and before[:4]) == (after and after[:4]), f"a seal has changed a record that is {state}"
        _refused(state, partial(store.put, scope, state, "late"))
        _refused(state, partial(store.delete, scope, state))
        _refused(state, partial(store.touch, scope, state, 600))


@scenario("fencing.seals-of-logs-count-whatever-is-there")
def of_logs(harness: Harness) -> None:
    """A seal of a log counts whatever is there, emptied or restored too, changes nothing, and tells the head."""
    store, scope = harness.store, harness.new_scope()
    for state, make in _LOGS.items():
        make(store, scope, state)
        before = _look(store, scope, state)
        assert store.seal(scope, state, _TOKEN, log=True) == before[0]
        assert _look(store, scope, state) == before, f"a seal has changed a log that is {state}"
        _refused(state, partial(store.append, scope, state, ["late"]))
        _refused(state, partial(store.truncate, scope, state, 1))
        _refused(state, partial(store.drop, scope, state))
        assert store.append(scope, state, ["next"], fence=_TOKEN).count == 1


def _look(store: Store, scope: str, key: str) -> tuple[Head | None, list[Any]]:
    head = store.head(scope, key)
    return head, values_of(store.read(scope, key, 0 if head is None else head.first))
