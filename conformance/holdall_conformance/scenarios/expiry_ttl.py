"""What a ttl may be: records, leases and flags alike."""

from __future__ import annotations

import decimal
import fractions
import math
from typing import Any

import pytest

from holdall import InvalidArgument, Put
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import value_of

_WRONG: list[Any] = [0, 0.0, -0.0, -1, -0.5, math.nan, math.inf, -math.inf, True, False, "60", b"60", [60], 1j]
_WRONG += [10**12, 1e308, 10**400, decimal.Decimal(60), fractions.Fraction(60)]


def _calls(harness: Harness, scope: str, ttl: Any) -> dict[str, Any]:
    store = harness.store
    return {
        "put": lambda: store.put(scope, "old", 2, ttl=ttl),
        "put new": lambda: store.put(scope, "new", 2, ttl=ttl),
        "put_many": lambda: store.put_many(scope, {"old": 2, "new": 2}, ttl=ttl),
        "update": lambda: store.update(scope, "old", lambda _: 2, ttl=ttl),
        "touch": lambda: store.touch(scope, "old", ttl),
        "touch absent": lambda: store.touch(scope, "absent", ttl),
        "commit": lambda: store.commit([Put(scope, "old", 2, ttl=ttl)]),
    }


@scenario("expiry.ttl-refused")
def ttl_refused(harness: Harness) -> None:
    """A ttl of 0 or less, NaN, inf, above a century, bool or another type is a ValueError and writes nothing."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "old", 1)
    for ttl in _WRONG:
        for name, call in _calls(harness, scope, ttl).items():
            with pytest.raises(InvalidArgument) as caught:
                call()
            assert isinstance(caught.value, ValueError), name
    records = store.scan(scope).items
    assert [(record.key, record.value, record.version, record.expires_in) for record in records] == [
        ("old", 1, version, None)
    ]


@scenario("expiry.ttl-below-the-minimum-refused")
def ttl_below_the_minimum_refused(harness: Harness) -> None:
    """A ttl below the declared minimum is refused; the minimum itself is taken."""
    store, scope, shortest = harness.store, harness.new_scope(), harness.capabilities.min_ttl
    assert shortest > 0
    store.put(scope, "old", 1)
    for name, call in _calls(harness, scope, math.nextafter(shortest, 0)).items():
        with pytest.raises(InvalidArgument):
            call()
        assert value_of(store, scope, "old") == 1, name
    store.put(scope, "old", 2, ttl=shortest)
    harness.outlast(shortest)
    assert store.get(scope, "old") is None


@scenario("expiry.ttl-of-leases-refused")
def ttl_of_leases_refused(harness: Harness) -> None:
    """A lease, a renewal and a hold take no ttl that a record would not take, and acquire nothing."""
    lock, key = harness.lock, harness.new_key()
    lease = lock.try_acquire(harness.new_key())
    assert lease is not None
    for ttl in [*_WRONG, math.nextafter(harness.capabilities.min_ttl, 0)]:
        for call in (
            lambda ttl=ttl: lock.try_acquire(key, ttl=ttl),
            lambda ttl=ttl: lock.acquire(key, ttl=ttl, timeout=0),
            lambda ttl=ttl: lock.renew(lease, ttl=ttl),
            lambda ttl=ttl: lock.hold(key, ttl=ttl),
        ):
            with pytest.raises(InvalidArgument):
                call()
    assert lock.held(key) is False
    assert lock.renew(lease).token == lease.token
    first = lock.try_acquire(key)
    assert first is not None
    assert first.token >= 1


@scenario("expiry.ttl-of-flags-refused")
def ttl_of_flags_refused(harness: Harness) -> None:
    """A flag takes no ttl that a lease would not take, and is not raised by a refused call."""
    lock, key = harness.lock, harness.new_key()
    for ttl in [*_WRONG, math.nextafter(harness.capabilities.min_ttl, 0)]:
        with pytest.raises(InvalidArgument):
            lock.set_flag(key, ttl=ttl)
    assert lock.flag(key) is False


@scenario("expiry.heartbeat-and-timeout-refused")
def heartbeat_and_timeout_refused(harness: Harness) -> None:
    """A heartbeat must be below the ttl and above 0, and a timeout from 0 on, before anything is acquired."""
    lock, key, ttl = harness.lock, harness.new_key(), max(10.0, harness.capabilities.min_ttl)
    wrong: list[Any] = [0, -1, ttl, ttl * 2, math.nan, math.inf, True, "1"]
    for heartbeat in wrong:
        with pytest.raises(InvalidArgument):
            lock.hold(key, ttl=ttl, heartbeat=heartbeat)
    wrong = [-1, math.nan, True, "1", -math.inf]
    for timeout in wrong:
        with pytest.raises(InvalidArgument):
            lock.hold(key, ttl=ttl, timeout=timeout)
        with pytest.raises(InvalidArgument):
            lock.acquire(key, ttl=ttl, timeout=timeout)
    assert lock.held(key) is False
