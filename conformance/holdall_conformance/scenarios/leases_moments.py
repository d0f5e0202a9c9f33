"""Leases at the moment at which they end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from holdall import HoldallError, Lease, Lock
from holdall.clock import boot_time
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import lease_of

_KEYS = 16
_LOOK = 0.001
_SPREAD = 0.006
"""Seconds around the end of a lease within which its holder makes its last call."""


@dataclass
class _Moment:
    """One key whose holder makes a last call while another waits to take over."""

    key: str
    lease: Lease
    answer: Any = None
    taken: Lease | None = None

    def call(self, operation: Callable[[Lease], Any], moment: float) -> None:
        """Make the holder's last call."""
        time.sleep(max(0.0, moment - boot_time()))
        try:
            self.answer = operation(self.lease)
        except HoldallError as refusal:  # it is lost, or the store has no time left to find out
            self.answer = refusal

    def take(self, lock: Lock, begin: float, end: float) -> None:
        """Take over as soon as possible."""
        time.sleep(max(0.0, begin - boot_time()))
        while self.taken is None and boot_time() < end:
            self.taken = lock.try_acquire(self.key, ttl=600)
            time.sleep(_LOOK)


def _moments(harness: Harness, last_call: Callable[[Lock, Lease], Any], patience: float) -> list[_Moment]:
    """Let leases end, on many keys at once, while the holder calls and another takes over."""
    lock, other = harness.lock, harness.open_lock()
    ttl, margin = max(harness.short_ttl, 0.3), harness.capabilities.expiry_margin
    threads: list[threading.Thread] = []
    moments: list[_Moment] = []
    for number in range(_KEYS):
        key = harness.new_key()
        granted = boot_time()
        moment = _Moment(key, lease_of(lock, key, ttl=ttl))
        last = granted + ttl + (number / _KEYS * 2 - 1) * _SPREAD
        calling = (partial(last_call, lock), last)
        threads.append(threading.Thread(target=moment.call, args=calling, daemon=True))
        taking = (other, granted + ttl - margin - 2 * _SPREAD, last + margin + patience)
        threads.append(threading.Thread(target=moment.take, args=taking, daemon=True))
        moments.append(moment)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "an operation hangs"
    return moments


@scenario("leases.last-moment-release", level="full")
def last_moment_release(harness: Harness) -> None:
    """A release at the very end of a lease never frees the key of whoever has just taken over."""
    for moment in _moments(harness, lambda lock, lease: lock.release(lease), 20):
        holder = harness.lock.holder(moment.key)
        assert moment.taken is not None, "a key that was released or has expired is not free"
        assert holder is not None, "a late release freed the key of the next holder"
        assert holder.token == moment.taken.token


@scenario("leases.last-moment-renewal", level="full")
def last_moment_renewal(harness: Harness) -> None:
    """Of a renewal at the very end of a lease and a takeover at most one succeeds, and the token tells which."""
    for moment in _moments(harness, lambda lock, lease: lock.renew(lease, ttl=600), 0.1):
        renewed = isinstance(moment.answer, Lease)
        assert not (renewed and moment.taken is not None), "two holders: one renewed, one took over"
        holder = harness.lock.holder(moment.key)
        if moment.taken is not None:
            assert holder is not None
            assert holder.token == moment.taken.token


@scenario("leases.short-try-waits-for-a-long-lease", waits=True)
def short_try_waits_for_a_long_lease(harness: Harness) -> None:
    """Whoever wants a key for a short while gets it no earlier: the holder's ttl counts, for tries and for waiters."""
    lock, other, key, ttl = harness.lock, harness.open_lock(), harness.new_key(), harness.short_ttl
    lease = lease_of(lock, key, ttl=600)
    harness.outlast(2 * ttl)
    for want in (other, lock):
        assert want.try_acquire(key, ttl=ttl) is None
        assert want.try_acquire(key, ttl=600) is None
    assert lock.renew(lease).token == lease.token
    assert lock.release(lease) is True
