"""What one process changes besides values counts for all others: ends of records, floors of tokens."""

from __future__ import annotations

import pytest

from holdall import Fenced
from holdall.clock import boot_time
from holdall_conformance.children import Children
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import lease_of

_WORK = "holdall_conformance.scenarios.processes_shared_work"
_BEFORE = 5_000.0
_ENDS = {"longer": 9_000.0, "shorter": 1_000.0, "cleared": None, "given": 2_000.0}
_SLACK = 1.0
"""Seconds that a clause about thousands of seconds does not argue about."""
_TOKEN = 9
_FLOORS = {"used": 41, "new": 43}


def _check_ends(told: list[float | None], harness: Harness, began: float, ended: float) -> None:
    """Compare how long records are told to last with the touches that another process did between two moments."""
    margin, now = harness.capabilities.expiry_margin + _SLACK, boot_time()
    for (key, ttl), left in zip(_ENDS.items(), told, strict=True):
        if ttl is None or left is None:
            assert left is ttl, f"{key!r} lasts {left} s, where another process has touched it for {ttl}"
            continue
        assert began + ttl - now - margin <= left <= ended + ttl - began + margin, (
            f"{key!r} lasts {left} s, where another process has touched it for {ttl} s"
        )


@scenario("processes.touches-count-for-all", "cross_process", level="full")
def touches_count_for_all(harness: Harness) -> None:
    """A touch by one process counts for those before and after it, its fence too, once that process has ended."""
    store, scope, keys = harness.store, harness.new_scope(), list(_ENDS)
    for key in keys:
        store.put(scope, key, 1, ttl=None if key == "given" else _BEFORE)
    with Children(harness) as children:
        reader = children.start(f"{_WORK}:look_at_ends", scope, keys)
        reader.hear()
        toucher = children.start(f"{_WORK}:touch_all", scope, _ENDS, _TOKEN)
        there, began, ended = toucher.hear()
        toucher.finish()
        assert there == [True] * len(keys)
        reader.say("look again")
        _check_ends(reader.hear(), harness, began, ended)
        reader.say("stop")
        reader.finish()
        later = children.start(f"{_WORK}:look_at_ends", scope, keys)
        _check_ends(later.hear(), harness, began, ended)
        later.say("stop")
        later.finish()
    _check_ends([record and record.expires_in for record in store.get_many(scope, keys)], harness, began, ended)
    for key in keys:
        with pytest.raises(Fenced):
            store.put(scope, key, "stale", fence=_TOKEN - 1)


@scenario("processes.floors-count-for-all", "cross_process", level="full")
def floors_count_for_all(harness: Harness) -> None:
    """A floor that one process raises counts for those before and after it, once that process has ended."""
    lock, base = harness.lock, harness.new_key()
    floors = {f"{base}-{who}-{name}": floor for who in ("here", "there") for name, floor in _FLOORS.items()}
    for key in floors:
        if key.endswith("used"):
            lock.release(lease_of(lock, key))
    here, there = list(floors)[:2], list(floors)[2:]
    with Children(harness) as children:
        taker = children.start(f"{_WORK}:take_when_told", there)
        assert taker.hear() == [False, False]
        raiser = children.start(f"{_WORK}:raise_floors", floors)
        assert raiser.hear() == "raised"
        raiser.finish()
        taker.say("take them")
        for key, token in zip(there, taker.hear(), strict=True):
            assert token > floors[key], f"a token {token}, where another process has raised the floor to {floors[key]}"
        taker.finish()
    for key in here:
        token = lease_of(lock, key).token
        assert token > floors[key], f"a token {token}, where another process has raised the floor to {floors[key]}"
