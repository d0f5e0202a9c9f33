"""What the child processes of the scenarios on touches and floors do."""

from __future__ import annotations

from typing import Any

from holdall.clock import boot_time
from holdall_conformance.children import Parent
from holdall_conformance.harness import Harness
from holdall_conformance.scenarios.support import lease_of


def touch_all(parent: Parent, harness: Harness, scope: str, ends: dict[str, float | None], token: int) -> None:
    """Touch records, each for so long, with a fence, and say between which moments."""
    began = boot_time()
    there = [harness.store.touch(scope, key, ttl, fence=token) for key, ttl in ends.items()]
    parent.say([there, began, boot_time()])


def look_at_ends(parent: Parent, harness: Harness, scope: str, keys: list[str]) -> None:
    """Say how long records last, now and whenever told to, until told to stop."""
    message: Any = None
    while message != "stop":
        found = harness.store.get_many(scope, keys)
        parent.say([None if record is None else record.expires_in for record in found])
        message = parent.hear()


def raise_floors(parent: Parent, harness: Harness, floors: dict[str, int]) -> None:
    """Raise the floors of keys."""
    for key, floor in floors.items():
        harness.lock.raise_floor(key, floor)
    parent.say("raised")


def take_when_told(parent: Parent, harness: Harness, keys: list[str]) -> None:
    """Ask for some keys, take and release them when told to, and say the tokens."""
    lock = harness.lock
    parent.say([lock.held(key) for key in keys])
    parent.hear()
    tokens: list[int] = []
    for key in keys:
        lease = lease_of(lock, key)
        tokens.append(lease.token)
        lock.release(lease)
    parent.say(tokens)
