"""Flags: one-bit requests between processes."""

from __future__ import annotations

from functools import partial

from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import in_threads, lease_of


@scenario("flags.raise-see-lower")
def raise_see_lower(harness: Harness) -> None:
    """A raised flag is seen by every handle at once until it is lowered; raising and lowering twice is fine."""
    lock, other, key = harness.lock, harness.open_lock(), harness.new_key()
    assert lock.flag(key) is False
    for _ in range(3):
        lock.set_flag(key)
        lock.set_flag(key)
        assert lock.flag(key) is True
        assert other.flag(key) is True
        other.clear_flag(key)
        assert lock.flag(key) is False
        lock.clear_flag(key)
        assert other.flag(key) is False


@scenario("flags.lowering-what-is-not-raised")
def lowering_what_is_not_raised(harness: Harness) -> None:
    """Lowering a flag that was never raised does nothing."""
    lock, key = harness.lock, harness.new_key()
    lock.clear_flag(key)
    assert lock.flag(key) is False


@scenario("flags.fall-by-themselves", waits=True)
def fall_by_themselves(harness: Harness) -> None:
    """A flag falls when its ttl is over, before anything is swept, and can be raised again."""
    lock, key, ttl = harness.lock, harness.new_key(), harness.short_ttl
    lock.set_flag(key, ttl=ttl)
    lock.set_flag(f"{key}-later", ttl=600)
    harness.outlast(ttl)
    assert lock.flag(key) is False
    harness.store.sweep()
    assert lock.flag(key) is False
    assert lock.flag(f"{key}-later") is True
    lock.set_flag(key)
    assert lock.flag(key) is True


@scenario("flags.last-ttl-counts", waits=True)
def last_ttl_counts(harness: Harness) -> None:
    """A flag that is raised twice falls when the last ttl is over, be that sooner or later."""
    lock, ttl = harness.lock, harness.short_ttl
    longer, shorter = harness.new_key(), harness.new_key()
    lock.set_flag(longer, ttl=ttl)
    lock.set_flag(longer, ttl=600)
    lock.set_flag(shorter, ttl=600)
    lock.set_flag(shorter, ttl=ttl)
    harness.outlast(ttl)
    assert lock.flag(longer) is True
    assert lock.flag(shorter) is False


@scenario("flags.seeing-does-not-prolong", waits=True)
def seeing_does_not_prolong(harness: Harness) -> None:
    """Looking at a flag neither keeps it up nor lowers it."""
    lock, key, ttl = harness.lock, harness.new_key(), harness.short_ttl
    lock.set_flag(key, ttl=600)
    assert [lock.flag(key) for _ in range(5)] == [True] * 5
    lock.set_flag(key, ttl=ttl)
    lock.flag(key)
    harness.outlast(ttl)
    assert lock.flag(key) is False


@scenario("flags.apart-from-leases-and-records")
def apart_from_leases_and_records(harness: Harness) -> None:
    """A flag and a lease of one key know nothing of each other."""
    lock, key = harness.lock, harness.new_key()
    lock.set_flag(key)
    assert lock.held(key) is False
    assert lock.holder(key) is None
    lease = lease_of(lock, key)
    lock.clear_flag(key)
    assert lock.held(key) is True
    assert lock.flag(key) is False
    assert lock.renew(lease).token == lease.token
    lock.release(lease)
    assert lock.flag(key) is False
    lease = lease_of(lock, key)
    lock.set_flag(key)
    lock.release(lease)
    assert lock.flag(key) is True


@scenario("flags.names-exact")
def names_exact(harness: Harness) -> None:
    """Flags whose names differ in case, Unicode form, a slash, a space or a wildcard are distinct."""
    lock, base = harness.lock, harness.new_key()
    names = [base + ending for ending in ("a", "A", "a ", "a/", "\u00e9", "e\u0301", "%", "_", "*", "\x00", "", "😀")]
    long = harness.capabilities.max_key_bytes - len(base)
    names += [base + "x" * (size - 1) + last for size in (64, 200, long) for last in "ab"]
    for name in names:
        lock.set_flag(name)
    for number, name in enumerate(names):
        lock.clear_flag(name)
        assert [lock.flag(other) for other in names] == [False] * (number + 1) + [True] * (len(names) - number - 1)


@scenario("flags.raised-and-lowered-at-once", level="full")
def raised_and_lowered_at_once(harness: Harness) -> None:
    """Threads that raise and lower one flag at once raise no error, and the flag is then raised or not."""
    locks, key = [harness.lock, harness.open_lock()], harness.new_key()

    def work(number: int) -> None:
        for _ in range(10):
            if number % 4 < 2:
                locks[number % 2].set_flag(key)
            else:
                locks[number % 2].clear_flag(key)

    assert in_threads([partial(work, number) for number in range(8)]) == [None] * 8
    assert locks[0].flag(key) is locks[1].flag(key)
