"""Tokens are numbers, of any size, and compared as such."""

from __future__ import annotations

import itertools

import pytest

from holdall import Fenced
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario

_RISING = (1, 2, 9, 10, 11, 99, 100, 101, 255, 256, 257, 999, 1_000, 65_535, 65_536, 2**31 - 1, 2**31, 2**32, 10**10)


@scenario("fencing.compared-as-numbers", level="full")
def compared_as_numbers(harness: Harness) -> None:
    """Of any two tokens the larger number wins, whatever their digits or bytes look like."""
    store, scope = harness.store, harness.new_scope()
    for low, high in itertools.pairwise(_RISING):
        key = f"{high}"
        store.put(scope, key, 1, fence=low)
        store.append(scope, key, [1], fence=low)
        store.put(scope, key, 2, fence=high)
        store.append(scope, key, [2], fence=high)
        for stale in (low, high - 1):
            for write in (
                lambda key=key, stale=stale: store.put(scope, key, 3, fence=stale),
                lambda key=key, stale=stale: store.append(scope, key, [3], fence=stale),
            ):
                with pytest.raises(Fenced) as caught:
                    write()
                assert caught.value.mark == high
    store.put(scope, "all", 0, fence=_RISING[0])
    for number, token in enumerate(_RISING):
        store.put(scope, "all", number, fence=token)
        store.append(scope, "all", [number], fence=token)
    assert len(store.read(scope, "all")) == len(_RISING)
