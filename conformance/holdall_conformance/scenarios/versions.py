"""Versions and compare-and-set, one caller at a time."""

from __future__ import annotations

import pytest

from holdall import ABSENT, Conflict
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario


@scenario("versions.chain-without-reading")
def chain_without_reading(harness: Harness) -> None:
    """The version that a put returns is usable at once as the next expectation."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "k", 0, expect=ABSENT)
    for number in range(1, 20):
        version = store.put(scope, "k", number, expect=version)
    record = store.get(scope, "k")
    assert record is not None
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
