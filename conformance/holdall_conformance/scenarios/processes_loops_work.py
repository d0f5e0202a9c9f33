"""What the child processes of the scenarios on event loops and the end of interpreters do."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from typing import Any, NoReturn

from holdall.clock import boot_time
from holdall_conformance.children import PATIENCE, Parent
from holdall_conformance.harness import Harness

_IMPATIENT = 5.0


def write_at_once(parent: Parent, harness: Harness, scope: str) -> None:
    """Write in every way, without waiting long for anybody."""
    with harness.open_store(timeout=_IMPATIENT) as store:
        store.put(scope, "elsewhere", 1)
        store.append(scope, "elsewhere", [1])
    parent.say("written")


async def works_blocked(harness: Harness, key: str, ttl: float) -> None:
    """Block the event loop for two ttl inside a hold.

    Args:
        harness: the storage.
        key: what to hold.
        ttl: seconds.

    """
    async with harness.bare_lock(asynchronous=True) as lock, lock.hold(key, ttl=ttl, timeout=PATIENCE) as hold:
        await asyncio.sleep(0)
        time.sleep(2 * ttl)  # noqa: ASYNC251 - blocking the loop is the point
        assert not hold.lost
        assert hold.remaining > 0
        assert await lock.held(key)


def exit_holding(parent: Parent, harness: Harness, asynchronous: bool, key: str, ttl: float) -> None:  # noqa: FBT001 - comes as JSON
    """End without releasing, closing or awaiting anything."""
    if asynchronous:
        asyncio.run(_exit_holding(parent, harness, key, ttl))
    lock, store = harness.bare_lock(), harness.bare_store()
    hold = lock.hold(key, ttl=ttl, timeout=PATIENCE)
    hold.__enter__()
    store.put(key, "k", 1)
    _keep(lock, store, hold)
    parent.say("ready")
    sys.exit(0)


async def _exit_holding(parent: Parent, harness: Harness, key: str, ttl: float) -> NoReturn:
    lock, store = harness.bare_lock(asynchronous=True), harness.bare_store(asynchronous=True)
    hold = lock.hold(key, ttl=ttl, timeout=PATIENCE)
    await hold.__aenter__()
    tasks = [asyncio.ensure_future(store.put(key, f"k{number}", number)) for number in range(50)]
    _keep(lock, store, hold, tasks)
    await asyncio.sleep(0)
    parent.say("ready")
    sys.exit(0)


_kept: list[Any] = []


def _keep(*things: Any) -> None:
    """Keep things alive to the very end of the interpreter."""
    _kept.extend(things)


def abandon(parent: Parent, harness: Harness, asynchronous: bool, key: str) -> None:  # noqa: FBT001 - comes as JSON
    """Use handles and throw them away, and demand that their threads end."""
    if asynchronous:
        asyncio.run(_abandon(harness, key))
    else:
        _abandon_sync(harness, key)
    deadline = boot_time() + _IMPATIENT
    while threading.active_count() > 1 and boot_time() < deadline:
        gc.collect()
        time.sleep(0.02)
    if threading.active_count() > 1:
        message = f"threads are left: {threading.enumerate()}"
        raise AssertionError(message)
    parent.say("ready")


def _abandon_sync(harness: Harness, key: str) -> None:
    lock, store = harness.bare_lock(), harness.bare_store()
    store.put(key, "k", 1)
    for _ in store.iter_records(key):
        break
    hold = lock.hold(key, ttl=1.0, heartbeat=0.05, timeout=PATIENCE)
    hold.__enter__()
    _wait_for_renewal(hold)


async def _abandon(harness: Harness, key: str) -> None:
    lock, store = harness.bare_lock(asynchronous=True), harness.bare_store(asynchronous=True)
    await store.put(key, "k", 1)
    hold = lock.hold(key, ttl=1.0, heartbeat=0.05, timeout=PATIENCE)
    await hold.__aenter__()
    _wait_for_renewal(hold)


def _wait_for_renewal(hold: Any) -> None:
    first, end = hold.lease, boot_time() + _IMPATIENT
    while hold.lease is first and boot_time() < end:
        time.sleep(0.01)
