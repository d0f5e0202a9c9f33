"""Capabilities: what is declared is well-formed, generous enough and holds; what is not declared is not half there."""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import fields
from typing import Any

from holdall import Capabilities
from holdall.clock import boot_time
from holdall_conformance.children import Children
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import in_threads, value_of

_WORK = "holdall_conformance.scenarios.capabilities_work"
_LEAST = {
    "max_scope_bytes": 128,
    "max_key_bytes": 512,
    "max_value_bytes": 1_048_576,
    "max_batch_entries": 1_000,
    "max_batch_bytes": 3_000_000,
}
_WAKE_UPS = 5
_PROMPTLY = 0.25
_LONGEST_TTL = 60.0


@scenario("capabilities.well-formed")
def well_formed(harness: Harness) -> None:
    """What is declared has the types and ranges of the contract, and stays the same for every handle."""
    declared = harness.capabilities
    assert isinstance(declared, Capabilities)
    for field in fields(declared):
        value: Any = getattr(declared, field.name)
        if field.type == "bool":
            assert type(value) is bool, field.name
        elif field.type == "int":
            assert type(value) is int, field.name
            assert value >= 1, field.name
        elif field.type == "float":
            assert math.isfinite(value), field.name
            assert value >= 0, field.name
    assert declared.expiry_clock in {"server", "boot", "estimated", "client"}
    assert 0 < declared.min_ttl <= _LONGEST_TTL
    assert declared.max_commit_operations == 1 or declared.atomic_commit
    assert harness.open_store().capabilities == declared


@scenario("capabilities.generous-limits")
def generous_limits(harness: Harness) -> None:
    """The limits are no tighter than those that every backend must take."""
    for name, least in _LEAST.items():
        assert getattr(harness.capabilities, name) >= least, f"{name} must be at least {least}"


@scenario("capabilities.persistent-means-it", "persistent", "cross_process", level="full")
def persistent_means_it(harness: Harness) -> None:
    """What a process wrote is there for another one after the first has ended and closed nothing."""
    scope = harness.new_scope()
    with Children(harness) as children:
        writer = children.start(f"{_WORK}:write_and_exit", scope)
        version = writer.hear()
        writer.finish()
        reader = children.start(f"{_WORK}:read", scope)
        assert reader.hear() == ["written", version, ["entry"]]
        reader.finish()


@scenario("capabilities.undeclared-is-not-shared", "!cross_process", level="full")
def undeclared_is_not_shared(harness: Harness) -> None:
    """Where several processes are not declared, another one sees nothing of this one's, and harms nothing of it."""
    scope = harness.new_scope()
    harness.store.put(scope, "k", "here")
    with Children(harness) as children:
        other = children.start(f"{_WORK}:read", scope)
        assert other.hear() == [None, None, []]
        other.finish()
        writer = children.start(f"{_WORK}:write_and_exit", scope)
        writer.hear()
        writer.finish()
    assert value_of(harness.store, scope, "k") == "here"


@scenario("capabilities.native-follow-wakes", "native_follow", level="full")
def native_follow_wakes(harness: Harness) -> None:
    """Where follow is declared to be woken up, an entry arrives promptly however long the follower has waited."""
    store, scope = harness.open_store(), harness.new_scope()
    arrived: list[float] = []

    def follow() -> None:
        entries = itertools.islice(store.follow(scope, "log", timeout=_LONGEST_TTL), _WAKE_UPS)
        arrived.extend(boot_time() for _ in entries)

    sent: list[float] = []

    def send() -> None:
        for _ in range(_WAKE_UPS):
            time.sleep(1.0)
            sent.append(boot_time())
            harness.store.append(scope, "log", [1])

    errors = [result for result in in_threads([follow, send]) if isinstance(result, Exception)]
    assert not errors, repr(errors[0])
    delays = sorted(came - went for went, came in zip(sent, arrived, strict=True))
    assert delays[_WAKE_UPS // 2] < _PROMPTLY, f"half of the entries took longer than {delays[_WAKE_UPS // 2]:.2f} s"
