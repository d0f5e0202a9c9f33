"""Followers of a log, and what another process does to it."""

from __future__ import annotations

import time

import pytest

from holdall import NotFound
from holdall_conformance.children import Children, Parent
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario

_ENTRIES = 12
_PATIENCE = 20.0


@scenario("processes.followers-hear-another-process", "cross_process", level="full")
def followers_hear_another_process(harness: Harness) -> None:
    """A follower gets what another process appends while it waits, and is told when that process drops the log."""
    scope = harness.new_scope()
    harness.store.append(scope, "k", [0])
    with Children(harness) as children:
        child = children.start("holdall_conformance.scenarios.processes_follow:append_slowly", scope)
        assert child.hear() == "ready"
        seen: list[int] = []
        following = iter(harness.store.follow(scope, "k", timeout=_PATIENCE))
        for entry in following:
            seen.append(entry.position)
            if len(seen) == 1:
                child.say("begin")
            if len(seen) == _ENTRIES:
                break
        assert seen == list(range(_ENTRIES)), f"after {len(seen)} entries nothing more came"
        following = iter(harness.store.follow(scope, "k", _ENTRIES - 1, timeout=_PATIENCE))
        assert next(following).position == _ENTRIES - 1
        child.say("drop")
        with pytest.raises(NotFound):
            next(following)
        child.finish()


def append_slowly(parent: Parent, harness: Harness, scope: str) -> None:
    """Append entry by entry, and drop the log in the end."""
    store = harness.store
    parent.say("ready")
    parent.hear()
    for number in range(1, _ENTRIES):
        time.sleep(0.01)
        store.append(scope, "k", [number])
    parent.hear()
    store.drop(scope, "k")
