"""Holds: leases that are kept alive in the background."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from typing import Any

import pytest

from holdall import Fenced, Hold, InvalidArgument, Lock, LockTimeout
from holdall.clock import boot_time
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import eventually, lease_of

_MOST_THREADS = 24
_LEASES = 200
_STEADY = 1.0
"""A ttl in seconds whose quarter is enough for a renewal while others keep the disk busy."""


def _ttl(harness: Harness, least: float = 0.3) -> float:
    return max(harness.capabilities.min_ttl, least)


def _steady_ttl(harness: Harness) -> float:
    """Return a ttl for holds that must not be lost, longer where many clauses wait beside each other."""
    return max(_STEADY, 3 * harness.patience, 3 * harness.capabilities.min_ttl)


@scenario("holds.take-and-give-back")
def take_and_give_back(harness: Harness) -> None:
    """Within its block a hold has the key, with a lease that fences writes; after it the key is free at once."""
    store, lock, scope, key = harness.store, harness.lock, harness.new_scope(), harness.new_key()
    with lock.hold(key, ttl=60) as hold:
        assert hold.lease.key == key
        assert hold.lost is False
        assert hold.stop_requested is False
        assert 50 < hold.remaining <= 60
        assert lock.held(key) is True
        store.put(scope, "k", 1, fence=hold.lease)
    assert lock.held(key) is False
    assert lease_of(lock, key).token > hold.lease.token


@scenario("holds.outlive-their-ttl", waits=True)
def outlive_their_ttl(harness: Harness) -> None:
    """A hold lasts for several times its ttl: renewed, never lost, never given to another, with one token."""
    lock, other, key, ttl = harness.lock, harness.open_lock(), harness.new_key(), _steady_ttl(harness)
    lost: list[Any] = []
    with lock.hold(key, ttl=ttl, on_lost=lost.append) as hold:
        token, first = hold.lease.token, hold.lease.deadline
        end = time.monotonic() + 2.2 * ttl
        while time.monotonic() < end:
            assert other.try_acquire(key) is None
            assert hold.lost is False
            assert hold.remaining > 0
            time.sleep(ttl / 10)
        assert hold.lease.token == token
        assert hold.lease.deadline > first + 1.2 * ttl
    assert lost == []
    assert lock.held(key) is False


@scenario("holds.busy-program-keeps-its-lease", waits=True)
def busy_program_keeps_its_lease(harness: Harness) -> None:
    """A body that computes without a pause, or blocks the event loop, for more than a ttl keeps its lease."""
    lock, key, ttl = harness.lock, harness.new_key(), _steady_ttl(harness)
    with lock.hold(key, ttl=ttl) as hold:
        harness.occupy(1.1 * ttl)
        assert hold.lost is False
        end = time.monotonic() + ttl
        while time.monotonic() < end:
            sum(range(2_000))
        assert hold.lost is False
        assert lock.renew(hold.lease).token == hold.lease.token


@scenario("holds.not-re-entrant", waits=True)
def not_re_entrant(harness: Harness) -> None:
    """A second hold of a key in one process is refused, and leaves the first alive and renewed."""
    lock, key, ttl = harness.lock, harness.new_key(), _steady_ttl(harness)
    with lock.hold(key, ttl=ttl) as hold:
        with pytest.raises(LockTimeout) as caught, lock.hold(key, ttl=ttl):
            pytest.fail("two holds of one key")
        assert caught.value.holder is not None
        assert caught.value.holder.token == hold.lease.token
        time.sleep(1.2 * ttl)
        assert hold.lost is False
        assert lock.held(key) is True


@scenario("holds.error-of-the-body-unchanged")
def error_of_the_body_unchanged(harness: Harness) -> None:
    """What the body raises reaches the caller unchanged and the key is released; also when the lease was lost."""
    lock, key = harness.lock, harness.new_key()
    for lose in (False, True):
        mine = ArithmeticError("mine")
        with pytest.raises(ArithmeticError) as caught:
            _fail_within(lock, key, mine, lose=lose)
        assert caught.value is mine
        assert caught.value.__context__ is None
        assert lock.held(key) is False


def _fail_within(lock: Lock, key: str, error: Exception, *, lose: bool) -> None:
    with lock.hold(key) as hold:
        if lose:
            lock.release(hold.lease)
        raise error


@scenario("holds.leaving-when-release-fails")
def leaving_when_release_fails(harness: Harness) -> None:
    """Leaving the block never raises for a release that cannot work, and never masks the body's error."""
    lock, key = harness.open_lock(), harness.new_key()
    with lock.hold(key, ttl=_ttl(harness)):
        lock.close()
    lock, mine = harness.open_lock(), ArithmeticError("mine")
    with pytest.raises(ArithmeticError) as caught:
        _close_and_fail(lock, harness.new_key(), mine)
    assert caught.value is mine


def _close_and_fail(lock: Lock, key: str, error: Exception) -> None:
    with lock.hold(key):
        lock.close()
        raise error


@scenario("holds.lost-to-another", waits=True)
def lost_to_another(harness: Harness) -> None:
    """A hold whose lease was taken away notices with its next renewal: lost once and for good, its writes refused."""
    store, lock, other, key = harness.store, harness.lock, harness.open_lock(), harness.new_key()
    scope, ttl, lost = harness.new_scope(), _ttl(harness, 0.6), list[Any]()
    with lock.hold(key, ttl=ttl, heartbeat=ttl / 6, on_lost=lost.append) as hold:
        stale = hold.lease
        assert other.release(stale) is True
        taken = lease_of(other, key)
        store.seal(scope, "k", taken)
        assert eventually(lambda: hold.lost, ttl + 2)
        assert eventually(lambda: len(lost) == 1, 2)
        assert hold.remaining == 0
        with pytest.raises(Fenced):
            store.put(scope, "k", 1, fence=hold.lease)
        time.sleep(ttl / 2)
        assert hold.lost is True
    assert len(lost) == 1
    assert other.renew(taken).token == taken.token, "leaving the lost hold disturbed the new holder"


@scenario("holds.lost-when-renewals-cannot-work", waits=True)
def lost_when_renewals_cannot_work(harness: Harness) -> None:
    """When nothing renews any more a hold is lost at its deadline, and the key can be had after its ttl."""
    lock, key, ttl = harness.open_lock(), harness.new_key(), _steady_ttl(harness)
    other = harness.open_lock()
    with lock.hold(key, ttl=ttl) as hold:
        lock.close()
        deadline = hold.lease.deadline
        while boot_time() < deadline - 0.02:
            assert hold.lost is False or boot_time() >= deadline
            time.sleep(0.005)
        time.sleep(max(0.0, deadline - boot_time()) + 0.01)
        assert hold.lease.deadline == deadline
        assert hold.lost is True
        assert hold.remaining == 0
        assert eventually(lambda: other.try_acquire(key) is not None, ttl + harness.capabilities.expiry_margin + 2)


@scenario("holds.on-lost-gets-the-hold", waits=True)
def on_lost_gets_the_hold(harness: Harness) -> None:
    """on_lost is called with the hold, in which `lost` is already true; an error in it harms nobody."""
    lock, key, bystander, ttl = harness.lock, harness.new_key(), harness.new_key(), _steady_ttl(harness)
    seen: list[Any] = []

    def note(hold: Hold) -> None:
        seen.append((hold.lost, hold.lease.key))
        raise ArithmeticError

    with lock.hold(bystander, ttl=ttl) as other, lock.hold(key, ttl=ttl, heartbeat=ttl / 8, on_lost=note) as hold:
        lock.release(hold.lease)
        assert eventually(lambda: bool(seen), ttl + 2)
        time.sleep(1.2 * ttl)
        assert other.lost is False
        assert lock.held(bystander) is True
    assert seen == [(True, key)]


@scenario("holds.not-lost-by-leaving", waits=True)
def not_lost_by_leaving(harness: Harness) -> None:
    """on_lost is not called for a hold that ended as it should."""
    lock, lost, ttl = harness.lock, list[Any](), _ttl(harness, 0.2)
    with lock.hold(harness.new_key(), ttl=ttl, on_lost=lost.append):
        pass
    time.sleep(1.2 * ttl)
    assert lost == []


@scenario("holds.stop-flag-seen", waits=True)
def stop_flag_seen(harness: Harness) -> None:
    """A hold sees its stop flag, and keeps the lease; another flag, or none, stops nobody."""
    lock, other, key, flag = harness.lock, harness.open_lock(), harness.new_key(), harness.new_key()
    ttl = _steady_ttl(harness)
    with lock.hold(key, ttl=ttl, stop_flag=flag) as hold, lock.hold(flag, ttl=ttl, stop_flag=key) as bystander:
        other.set_flag(harness.new_key())
        time.sleep(ttl / 2)
        assert not _stops(hold)
        other.set_flag(flag)
        assert eventually(lambda: hold.stop_requested, 3 + ttl)
        other.clear_flag(flag)
        time.sleep(ttl / 2)
        assert _stops(hold)
        assert hold.lost is False
        assert not _stops(bystander)


def _stops(hold: Hold) -> bool:
    return hold.stop_requested


@scenario("holds.stop-flag-raised-before")
def stop_flag_raised_before(harness: Harness) -> None:
    """A stop flag that was raised before the hold began is seen too."""
    lock, flag = harness.lock, harness.new_key()
    lock.set_flag(flag)
    with lock.hold(harness.new_key(), ttl=60, stop_flag=flag) as hold:
        assert eventually(lambda: hold.stop_requested, 3)


@scenario("holds.thrown-away-is-not-renewed", level="full")
def thrown_away_is_not_renewed(harness: Harness) -> None:
    """A hold that was garbage-collected inside its block is not renewed any more: its key is free after the ttl."""
    lock, key, ttl = harness.lock, harness.new_key(), _steady_ttl(harness)
    hold = lock.hold(key, ttl=ttl)
    hold.__enter__()
    assert lock.held(key) is True
    del hold
    gc.collect()
    assert eventually(lambda: not lock.held(key), 3 * ttl + harness.capabilities.expiry_margin + 2)


@scenario("holds.use-once-at-a-time")
def use_once_at_a_time(harness: Harness) -> None:
    """A hold that is not entered has no lease to show, and one that is entered cannot be entered again."""
    lock, key = harness.lock, harness.new_key()
    hold = lock.hold(key)
    assert lock.held(key) is False
    with pytest.raises(InvalidArgument):
        _ = hold.lease
    with hold, pytest.raises(InvalidArgument), hold:
        pytest.fail("entered twice")
    assert lock.held(key) is False


@scenario("holds.many-at-once", level="full")
def many_at_once(harness: Harness) -> None:
    """200 leases of one handle are all renewed in time, by a bounded number of threads."""
    lock, ttl, lost = harness.lock, _ttl(harness, 3.0), list[Any]()
    base, before = harness.new_key(), threading.active_count()
    with contextlib.ExitStack() as stack:
        holds: list[Hold] = []
        for number in range(_LEASES):
            hold = lock.hold(f"{base}{number}", ttl=ttl, heartbeat=ttl / 6, on_lost=lost.append)
            holds.append(stack.enter_context(hold))
        first = [hold.lease.deadline for hold in holds]
        renewed = eventually(lambda: all(map(_is_later, holds, first)), ttl)
        threads = threading.active_count() - before
        behind = sum(not _is_later(*pair) for pair in zip(holds, first, strict=True))
        assert renewed, f"{behind} of {_LEASES} leases are not renewed in time"
        assert not any(hold.lost for hold in holds)
    assert lost == []
    assert threads <= _MOST_THREADS


def _is_later(hold: Hold, deadline: float) -> bool:
    return hold.lease.deadline > deadline


@scenario("holds.share-the-store", waits=True)
def share_the_store(harness: Harness) -> None:
    """A lock that shares a store's connection excludes other handles, renews, and leaves the store open when closed."""
    store, key, ttl = harness.open_store(), harness.new_key(), _steady_ttl(harness)
    lock = harness.share_lock(store)
    with lock.hold(key, ttl=ttl) as hold:
        assert harness.lock.try_acquire(key) is None
        time.sleep(1.2 * ttl)
        assert hold.lost is False
        assert harness.lock.held(key) is True
    lock.close()
    assert store.get(harness.new_scope(), "k") is None


@scenario("holds.slow-on-lost-delays-nobody", waits=True, level="full")
def slow_on_lost_delays_nobody(harness: Harness) -> None:
    """While an on_lost takes its time, the other holds of the handle are renewed, and told of their own loss."""
    lock, ttl, lost = harness.lock, _steady_ttl(harness), list[Any]()
    begun, enough = threading.Event(), threading.Event()

    def linger(_: Hold) -> None:
        begun.set()
        enough.wait(10 * ttl)

    keys = [harness.new_key() for _ in range(3)]
    try:
        with (
            lock.hold(keys[0], ttl=ttl) as bystander,
            lock.hold(keys[1], ttl=ttl, heartbeat=ttl / 6, on_lost=lost.append) as second,
            lock.hold(keys[2], ttl=ttl, heartbeat=ttl / 8, on_lost=linger) as first,
        ):
            lock.release(first.lease)
            assert eventually(begun.is_set, ttl + 2)
            time.sleep(1.5 * ttl)
            assert bystander.lost is False
            assert lock.held(keys[0]) is True
            lock.release(second.lease)
            assert eventually(lambda: bool(lost), ttl + 2), "a loss was not told, because another was being told"
            enough.set()
    finally:
        enough.set()
