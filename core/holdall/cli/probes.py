"""What `holdall doctor` tries out on an open store or lock; whatever it writes it removes again."""

from __future__ import annotations

import os
import secrets
import socket
import statistics
import subprocess

from holdall.cli.terminal import readable
from holdall.clock import boot_id, boot_time
from holdall.errors import Conflict
from holdall.lock import Lock
from holdall.store import Store
from holdall.values import ABSENT

__all__ = ["Wrong", "probe_clock", "probe_latency", "probe_lease", "probe_records"]

_PINGS = 5
_TTL = 60.0
_PATIENCE = 5.0
# Tokens are kept for ever, so the key of a host is always the same: a new one every time would leave a row each.
_LEASE = f"holdall-doctor-{socket.gethostname()}"


class Wrong(Exception):
    """The storage does not do what it should."""


def probe_latency(store: Store) -> dict[str, float]:
    """Return how long a few pings took.

    Args:
        store: the store.

    """
    times = [store.ping() for _ in range(_PINGS)]
    return {"pings": _PINGS, "min_seconds": min(times), "median_seconds": statistics.median(times)}


def probe_records(store: Store) -> str:
    """Put, compare and set, and delete a record in a scope of its own.

    Args:
        store: the store.

    Raises:
        Wrong: it does not keep what it promises.

    """
    scope = _scope()
    try:
        first = store.put(scope, "probe", {"step": 1}, expect=ABSENT)
        store.put(scope, "probe", {"step": 2}, expect=first)
        _expect_conflict(store, scope, first)
        found = store.get(scope, "probe")
    finally:
        store.delete(scope, "probe")
    if found is None or found.value != {"step": 2}:
        message = "a record that was just written cannot be read"
        raise Wrong(message)
    if store.get(scope, "probe") is not None:
        message = "a record that was deleted is still there"
        raise Wrong(message)
    return "put, compare-and-set, refusal of a stale version, delete"


def _scope() -> str:
    return f"holdall-doctor-{secrets.token_hex(8)}"


def _expect_conflict(store: Store, scope: str, stale: str) -> None:
    try:
        store.put(scope, "probe", {"step": 3}, expect=stale)
    except Conflict:
        return
    message = "a compare-and-set with a stale version was not refused"
    raise Wrong(message)


def probe_clock(store: Store) -> str:
    """See whose clock judges expiry, and whether a record has the time left that it was given.

    Args:
        store: the store.

    Raises:
        Wrong: it has more or less.

    """
    capabilities, scope = store.capabilities, _scope()
    ttl = max(_TTL, 2 * capabilities.min_ttl)
    started = boot_time()
    try:
        store.put(scope, "clock", None, ttl=ttl)
        found = store.get(scope, "clock")
        passed = boot_time() - started
    finally:
        store.delete(scope, "clock")
    left = 0.0 if found is None or found.expires_in is None else found.expires_in
    if not ttl - passed - capabilities.expiry_margin <= left <= ttl + capabilities.expiry_margin:
        message = f"a record that should last {ttl:g} s has {left:.3f} s left"
        raise Wrong(message)
    return f"{capabilities.expiry_clock}, {_boot()}; of {ttl:g} s a record has {left:.2f} s left"


def _boot() -> str:
    try:
        return f"boot id {boot_id()[:8]}..."
    except (OSError, subprocess.SubprocessError):
        return "boot id not known"


def probe_lease(lock: Lock) -> str:
    """Acquire, renew and release a lease.

    Args:
        lock: the lock.

    Raises:
        Wrong: it does not keep what it promises.

    """
    ttl = max(_TTL, lock.capabilities.min_ttl)
    started = boot_time()
    lease = lock.acquire(_LEASE, ttl=ttl, timeout=_PATIENCE, owner=f"holdall doctor, process {os.getpid()}")
    try:
        lock.renew(lease)
        holder = lock.holder(_LEASE)
    finally:
        released = lock.release(lease)
    if holder is None or holder.token != lease.token or not released:
        message = "a lease that was just acquired is not there"
        raise Wrong(message)
    return f"acquired (token {lease.token}), renewed, released in {readable('seconds', boot_time() - started)}"
