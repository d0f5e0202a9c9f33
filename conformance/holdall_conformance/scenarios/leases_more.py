"""Leases: long ones, those that were waited for, and high floors."""

from __future__ import annotations

import threading

from holdall import Lease, Lock
from holdall.clock import boot_time
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import lease_of

_DAY = 86_400.0
_LONG = 1000.0
_SLACK, _ROUNDING = 1.0, 0.001
"""Seconds that a clause about hundreds of seconds does not argue about."""
_WAIT, _PATIENCE = 0.15, 20.0
_FLOORS = (2**31, 2**32 + 5, 2**40, 2**53, 2**53 + 10)


def _lasts(harness: Harness, lease: Lease, ttl: float, began: float) -> None:
    """Demand that a lease which was granted since a moment of the boot clock has the rest of its ttl left."""
    holder, margin = harness.lock.holder(lease.key), harness.capabilities.expiry_margin
    assert holder is not None
    assert (holder.owner, holder.token) == (lease.owner, lease.token)
    rest = ttl - margin - _SLACK - (boot_time() - began)
    assert rest <= holder.expires_in <= ttl + margin + _ROUNDING, f"{holder.expires_in} s of {ttl} s left"
    assert lease.ttl == ttl


@scenario("leases.long-ttl-kept")
def long_ttl_kept(harness: Harness) -> None:
    """A lease for a day lasts a day, by try_acquire, acquire, a renewal and a hold."""
    lock, began = harness.lock, boot_time()
    tried = lease_of(lock, harness.new_key(), ttl=_DAY)
    acquired = lock.acquire(harness.new_key(), ttl=_DAY, timeout=0)
    renewed = lock.renew(lease_of(lock, harness.new_key()), ttl=_DAY)
    for lease in (tried, acquired, renewed):
        _lasts(harness, lease, _DAY, began)
        assert _DAY - _SLACK - 2 * harness.capabilities.expiry_margin <= lease.deadline - began
    with lock.hold(harness.new_key(), ttl=_DAY) as hold:
        _lasts(harness, hold.lease, _DAY, began)


@scenario("leases.renewal-adds-nothing-up")
def renewal_adds_nothing_up(harness: Harness) -> None:
    """Each renewal sets the end anew, with its own ttl or the one before: what was left is not added."""
    lock, began = harness.lock, boot_time()
    lease = lease_of(lock, harness.new_key(), ttl=_LONG)
    for ttl in (None, None, _LONG / 2, None, _LONG * 2):
        lease = lock.renew(lease, ttl=ttl)
        _lasts(harness, lease, lease.ttl if ttl is None else ttl, began)
    assert lock.release(lease) is True


@scenario("leases.waited-for-is-what-was-asked-for", waits=True)
def waited_for_is_what_was_asked_for(harness: Harness) -> None:
    """A lease that was waited for has the ttl and the owner that were asked for."""
    lock, other, key = harness.lock, harness.open_lock(), harness.new_key()
    lease = lease_of(lock, key, ttl=_LONG * 3, owner="before")
    timer = threading.Timer(_WAIT, lock.release, (lease,))
    began = boot_time()
    timer.start()
    mine = other.acquire(key, ttl=_LONG, timeout=_PATIENCE, owner="waiter")
    timer.join()
    assert mine.owner == "waiter"
    assert mine.token > lease.token
    _lasts(harness, mine, _LONG, began)
    assert other.release(mine) is True


@scenario("leases.waiting-hold-keeps-its-ttl", waits=True)
def waiting_hold_keeps_its_ttl(harness: Harness) -> None:
    """A hold that had to wait for its key has the ttl that was asked for."""
    lock, other, key = harness.lock, harness.open_lock(), harness.new_key()
    lease = lease_of(lock, key, ttl=_LONG * 3)
    timer = threading.Timer(_WAIT, lock.release, (lease,))
    began = boot_time()
    timer.start()
    with other.hold(key, ttl=_LONG, timeout=_PATIENCE) as hold:
        timer.join()
        assert hold.lease.token > lease.token
        _lasts(harness, hold.lease, _LONG, began)


def _token(lock: Lock, key: str) -> int:
    """Take a free key, give it back, and return the token."""
    lease = lease_of(lock, key)
    assert lock.release(lease) is True
    assert type(lease.token) is int
    return lease.token


@scenario("leases.floor-survives-sweep")
def floor_survives_sweep(harness: Harness) -> None:
    """A floor counts after a sweep too, whether the key was taken before or never."""
    lock, new, former = harness.lock, harness.new_key(), harness.new_key()
    _token(lock, former)
    for key in (new, former):
        lock.raise_floor(key, 41)
    for _ in range(2):
        harness.store.sweep()
    for key in (new, former):
        assert _token(harness.open_lock(), key) > 41


@scenario("leases.high-floors")
def high_floors(harness: Harness) -> None:
    """Tokens rise above floors beyond 32 bits and beyond what a float holds exactly, one after another."""
    lock, raised = harness.lock, harness.new_key()
    for floor in _FLOORS:
        new = harness.new_key()
        for key in (new, raised):
            lock.raise_floor(key, floor)
            first = _token(lock, key)
            second = _token(lock, key)
            assert floor < first < second, f"{first}, then {second}, over {floor}"
            lock.raise_floor(key, floor - 1)
            assert _token(lock, key) > second
