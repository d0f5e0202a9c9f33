"""Leases: expiry, renewal, and what they outlast."""

from __future__ import annotations

import time

import pytest

from holdall import Holder, LeaseLost
from holdall.clock import boot_time
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import eventually, lease_of, settled


@scenario("leases.tokens-rise-over-expiry-and-sweep", waits=True)
def tokens_rise_over_expiry_and_sweep(harness: Harness) -> None:
    """After expiry without release, after a release, and after sweeps, the next token is larger."""
    lock, key, ttl = harness.lock, harness.new_key(), harness.short_ttl
    first = lease_of(lock, key, ttl=ttl)
    harness.outlast(ttl)
    harness.store.sweep()
    second = lease_of(lock, key)
    lock.release(second)
    harness.store.sweep()
    third = lease_of(harness.open_lock(), key)
    assert first.token < second.token < third.token


@scenario("leases.expires-and-not-before", waits=True)
def expires_and_not_before(harness: Harness) -> None:
    """A lease of ttl T is held for T minus the margin, cannot be taken before, and is free at T plus the margin."""
    lock, other, key = harness.lock, harness.open_lock(), harness.new_key()
    margin = harness.capabilities.expiry_margin
    ttl = max(harness.short_ttl, 2 * margin, 0.3)
    granted = boot_time()
    lease_of(lock, key, ttl=ttl)
    taken = None
    while taken is None and boot_time() < granted + ttl + margin + 5:
        asked = boot_time()
        taken = other.try_acquire(key)
        if taken is None and asked < granted + ttl - margin - 0.05:
            held = other.held(key)
            assert held or boot_time() >= granted + ttl - margin, "free too early"
            time.sleep(0.005)  # others wait beside
    now = boot_time()
    assert taken is not None, "it never expires"
    assert now >= granted + ttl - margin, "taken too early"


@scenario("leases.holder-stops-before-the-store-gives-away", waits=True)
def holder_stops_before_the_store_gives_away(harness: Harness) -> None:
    """The deadline of a lease lies before the moment at which somebody else can have the key."""
    lock, other, key, ttl = harness.lock, harness.open_lock(), harness.new_key(), max(harness.short_ttl, 0.2)
    lease = lease_of(lock, key, ttl=ttl)
    assert lease.deadline < boot_time() + ttl
    assert eventually(lambda: other.try_acquire(key) is not None, ttl + harness.capabilities.expiry_margin + 5)
    assert boot_time() >= lease.deadline


@scenario("leases.expired-and-taken", waits=True)
def expired_and_taken(harness: Harness) -> None:
    """After another took an expired key, renew raises LeaseLost, release returns False, the other is whole."""
    lock, other, key, ttl = harness.lock, harness.open_lock(), harness.new_key(), harness.short_ttl
    old = lease_of(lock, key, ttl=ttl)
    harness.outlast(ttl)
    new = lease_of(other, key, ttl=600, owner="new")
    with pytest.raises(LeaseLost):
        settled(lambda: lock.renew(old))
    assert settled(lambda: lock.release(old)) is False
    holder = lock.holder(key)
    assert holder is not None
    assert (holder.owner, holder.token) == ("new", new.token)
    assert holder.expires_in > 500
    assert lock.try_acquire(key) is None
    assert other.renew(new).token == new.token


@scenario("leases.expired-untaken-is-lost", waits=True)
def expired_untaken_is_lost(harness: Harness) -> None:
    """An expired lease that nobody took is lost too: renew does not revive it, and the next token is larger."""
    lock, key, ttl = harness.lock, harness.new_key(), harness.short_ttl
    lease = lease_of(lock, key, ttl=ttl)
    harness.outlast(ttl)
    assert lock.held(key) is False
    with pytest.raises(LeaseLost):
        settled(lambda: lock.renew(lease))
    assert lock.held(key) is False
    assert settled(lambda: lock.release(lease)) is False
    assert lease_of(lock, key).token > lease.token


@scenario("leases.renew-prolongs", waits=True)
def renew_prolongs(harness: Harness) -> None:
    """A renewed lease lives beyond its first ttl, with the same token and nonce and a later deadline."""
    lock, key, ttl = harness.lock, harness.new_key(), max(harness.short_ttl * 4, 0.2)
    lease = lease_of(lock, key, ttl=ttl)
    longer = settled(lambda: lock.renew(lease, ttl=600))
    assert (longer.token, longer.nonce, longer.key, longer.owner) == (lease.token, lease.nonce, lease.key, lease.owner)
    assert longer.ttl == 600
    assert longer.deadline > lease.deadline
    harness.outlast(ttl)
    assert lock.held(key) is True
    assert lock.try_acquire(key) is None
    assert lock.renew(longer).ttl == 600
    watches = harness.capabilities.expiry_clock in {"client", "estimated"}  # then the deadline of a lease counts too
    assert settled(lambda: lock.release(longer if watches else lease)) is True


@scenario("leases.renew-keeps-or-changes-the-ttl", waits=True)
def renew_keeps_or_changes_the_ttl(harness: Harness) -> None:
    """A renewal without ttl lasts as long as the lease did; one with a shorter ttl brings the end nearer."""
    lock, key, ttl = harness.lock, harness.new_key(), harness.short_ttl
    lease = lock.renew(lease_of(lock, key, ttl=600))
    holder = lock.holder(key)
    assert holder is not None
    assert lease.ttl == 600
    assert holder.expires_in > 500
    lock.renew(lease, ttl=ttl)
    harness.outlast(ttl)
    assert lock.held(key) is False


@scenario("leases.holders-ttl-counts", waits=True)
def holders_ttl_counts(harness: Harness) -> None:
    """The holder's ttl decides when a lease ends, not that of who wants it."""
    lock, other, key, ttl = harness.lock, harness.open_lock(), harness.new_key(), harness.short_ttl
    lease = lease_of(lock, key, ttl=ttl)
    taken = other.try_acquire(key, ttl=600)
    assert taken is None or boot_time() >= lease.deadline
    harness.outlast(ttl)
    assert taken is not None or other.try_acquire(key, ttl=600) is not None


@scenario("leases.held-and-holder-are-pure", waits=True)
def held_and_holder_are_pure(harness: Harness) -> None:
    """Held and holder tell of a key from any handle, write nothing and prolong nothing."""
    lock, other, key, ttl = harness.lock, harness.open_lock(), harness.new_key(), max(harness.short_ttl, 0.2)
    assert other.held(key) is False
    assert other.holder(key) is None
    lease = lease_of(lock, key, ttl=ttl, owner="worker 7")
    holder = other.holder(key)
    assert type(holder) is Holder
    assert holder[:2] == ("worker 7", lease.token)
    assert 0 < holder.expires_in <= ttl + harness.capabilities.expiry_margin
    for _ in range(20):
        other.held(key)
        other.holder(key)
    assert eventually(lambda: not other.held(key), ttl + harness.capabilities.expiry_margin + 5)
    assert other.holder(key) is None
    assert eventually(lambda: not lock.held(key), harness.capabilities.expiry_margin + 5)
