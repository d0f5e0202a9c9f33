"""Waiting for a lease."""

from __future__ import annotations

import threading
import time
from functools import partial

import pytest

from holdall import Lease, LockTimeout
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import in_threads, lease_of

_SHORT = 0.15
_PATIENCE = 20.0


@scenario("leases.timeout-kept", waits=True)
def timeout_kept(harness: Harness) -> None:
    """Acquire on a held key waits for its timeout, not shorter and not much longer, and names the holder."""
    lock, other, key = harness.lock, harness.open_lock(), harness.new_key()
    lease = lease_of(lock, key, owner="holder")
    started = time.monotonic()
    with pytest.raises(LockTimeout) as caught:
        other.acquire(key, timeout=_SHORT)
    waited = time.monotonic() - started
    assert waited + 0.001 >= _SHORT
    assert waited < _SHORT + 2
    assert caught.value.holder is not None
    assert caught.value.holder[:2] == ("holder", lease.token)
    started = time.monotonic()
    with pytest.raises(LockTimeout), other.hold(key, timeout=_SHORT):
        pytest.fail("a held key was given to a second holder")
    assert time.monotonic() - started + 0.001 >= _SHORT
    assert lock.release(lease) is True


@scenario("leases.released-key-goes-to-a-waiter", waits=True)
def released_key_goes_to_a_waiter(harness: Harness) -> None:
    """A waiter gets a key soon after its release, whether it waits for a while or for ever."""
    lock, other = harness.lock, harness.open_lock()
    for timeout in (_PATIENCE, None):
        key = harness.new_key()
        lease = lease_of(lock, key)
        timer = threading.Timer(_SHORT, lock.release, (lease,))
        timer.start()
        started = time.monotonic()
        mine = other.acquire(key, timeout=timeout)
        waited = time.monotonic() - started
        timer.join()
        assert mine.token > lease.token
        assert waited < _PATIENCE / 2
        assert other.release(mine) is True


@scenario("leases.abandoned-key-goes-to-a-waiter", waits=True)
def abandoned_key_goes_to_a_waiter(harness: Harness) -> None:
    """A waiter gets the key of a holder that neither renews nor releases once its ttl is over, and not before."""
    lock, other, key = harness.lock, harness.open_lock(), harness.new_key()
    ttl, margin = max(harness.short_ttl, 0.2), harness.capabilities.expiry_margin
    started = time.monotonic()
    lease = lease_of(lock, key, ttl=ttl)
    mine = other.acquire(key, timeout=ttl + margin + _PATIENCE)
    assert time.monotonic() - started >= ttl - margin
    assert mine.token > lease.token


@scenario("leases.waiters-get-it-one-by-one", level="full")
def waiters_get_it_one_by_one(harness: Harness) -> None:
    """24 waiters for one key on several handles get it one after another, each with a token of its own."""
    key, inside, worst = harness.new_key(), [0], [0]
    guard = threading.Lock()
    locks = [harness.open_lock() for _ in range(3)]

    def work(number: int) -> int:
        lock = locks[number % 3]
        lease = lock.acquire(key, timeout=_PATIENCE)
        with guard:
            inside[0] += 1
            worst[0] = max(worst[0], inside[0])
        time.sleep(0.002)
        with guard:
            inside[0] -= 1
        assert lock.release(lease) is True
        return lease.token

    tokens = in_threads([partial(work, number) for number in range(24)])
    assert worst[0] == 1
    assert len(set(tokens)) == 24
    assert min(tokens) >= 1


@scenario("leases.one-winner")
def one_winner(harness: Harness) -> None:
    """Of 32 threads on several handles that try for a free key, exactly one gets it; so too for an expired key."""
    free, expired, ttl = harness.new_key(), harness.new_key(), harness.short_ttl
    locks = [harness.lock, *(harness.open_lock() for _ in range(3))]
    former = lease_of(harness.lock, expired, ttl=ttl)
    harness.outlast(ttl)
    for key, least in ((free, 1), (expired, former.token + 1)):
        results = in_threads([partial(lock.try_acquire, key, ttl=600) for lock in locks * 8])
        assert not [result for result in results if isinstance(result, Exception)], results
        winners = [result for result in results if isinstance(result, Lease)]
        assert len(winners) == 1, f"{len(winners)} winners"
        assert winners[0].token >= least


@scenario("leases.guards-a-counter", level="full")
def guards_a_counter(harness: Harness) -> None:
    """Increments by read and write under the lock lose nothing, and their fenced writes are all let in."""
    store, scope, key = harness.store, harness.new_scope(), harness.new_key()
    locks = [harness.open_lock() for _ in range(4)]

    def work(number: int) -> None:
        for _ in range(6):
            lease = locks[number].acquire(key, timeout=_PATIENCE)
            record = store.get(scope, "k")
            store.put(scope, "k", 1 if record is None else record.value + 1, fence=lease)
            locks[number].release(lease)

    results = in_threads([partial(work, number) for number in range(4)])
    assert results == [None] * 4
    record = store.get(scope, "k")
    assert record is not None
    assert record.value == 24


_EARLY = (0.15, 0.1, 0.08, 0.06, 0.04, 0.03)
"""Seconds before the deadline of a waiter at which a key is released."""


@scenario("leases.last-try-at-the-deadline", waits=True)
def last_try_at_the_deadline(harness: Harness) -> None:
    """A waiter gets a key that is released shortly before its timeout ends: its last try is at the deadline."""
    lock, other, patience = harness.lock, harness.open_lock(), 4 * _SHORT

    def wait(early: float) -> None:
        key, freed = harness.new_key(), list[float]()
        lease = lease_of(lock, key)

        def free() -> None:
            lock.release(lease)
            freed.append(time.monotonic())

        began = time.monotonic()
        timer = threading.Timer(patience - early, free)
        timer.start()
        try:
            assert other.acquire(key, timeout=patience).token > lease.token
        except LockTimeout:
            timer.join()
            assert freed[0] > began + patience - 0.01, f"free {early} s before the end, and not had"
        timer.join()

    for result in in_threads([partial(wait, early) for early in _EARLY]):
        assert result is None, repr(result)


@scenario("leases.without-timeout-nobody-waits")
def without_timeout_nobody_waits(harness: Harness) -> None:
    """With a timeout of 0, acquire and hold on a held key raise LockTimeout at once, and wait for nothing."""
    lock, other, key, took = harness.lock, harness.open_lock(), harness.new_key(), list[float]()
    lease_of(lock, key)
    for attempt in (lambda: other.acquire(key, timeout=0), lambda: other.hold(key).__enter__()) * 3:
        began = time.monotonic()
        with pytest.raises(LockTimeout):
            attempt()
        took.append(time.monotonic() - began)
    assert min(took[::2]) < _SHORT
    assert min(took[1::2]) < _SHORT
