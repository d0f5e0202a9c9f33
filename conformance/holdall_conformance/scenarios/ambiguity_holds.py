"""Ambiguity of leases and holds: grants that come late, and servers that go away while a hold is renewed."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from holdall import Hold
from holdall.clock import boot_time
from holdall_conformance.harness import Harness
from holdall_conformance.proxied import through_proxy
from holdall_conformance.proxy_faults import BLACK_HOLE, REFUSE, delay_reply
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import eventually, lease_of

_LATE = 0.4
_SLACK = 0.3


@scenario("ambiguity.late-grants-count-from-the-request", waits=True)
def late_grants_count_from_the_request(harness: Harness) -> None:
    """The deadline of a lease whose grant or renewal comes late counts from before it was asked for."""
    with through_proxy(harness) as (proxy, behind):
        lock, key = behind.open_lock(), harness.new_key()
        lock.held(key)
        proxy.always(delay_reply(_LATE))
        lease = lease_of(lock, key, ttl=60)
        assert lease.deadline <= boot_time() - _LATE + 60, "the deadline counts from the reply"
        renewed = lock.renew(lease)
        assert renewed.deadline <= boot_time() - _LATE + 60, "the renewed deadline counts from the reply"


@scenario("ambiguity.holds-outlive-short-outages", level="full", waits=True)
def holds_outlive_short_outages(harness: Harness) -> None:
    """A hold whose renewals fail, or hang, for less than its ttl is not lost, and is renewed again afterwards."""
    lost, ttl = list[Any](), max(4.0, harness.capabilities.min_ttl)
    with through_proxy(harness) as (proxy, behind):
        lock, key = behind.open_lock(), harness.new_key()
        with lock.hold(key, ttl=ttl, heartbeat=ttl / 12, on_lost=lost.append) as hold:
            for outage in (REFUSE, BLACK_HOLE):
                proxy.always(outage)
                if outage is REFUSE:
                    proxy.disconnect()
                time.sleep(0.45 * ttl)
                proxy.heal()
                assert eventually(partial(_is_renewed_or_lost, hold, hold.lease.deadline), ttl), f"{outage}"
                assert hold.lost is False, f"lost to an outage of less than half a ttl: {outage}"
        assert lost == []


def _is_renewed_or_lost(hold: Hold, deadline: float) -> bool:
    return hold.lost or hold.lease.deadline > deadline


@scenario("ambiguity.holds-are-lost-in-time", waits=True)
def holds_are_lost_in_time(harness: Harness) -> None:
    """A hold whose renewals fail, or hang, until its deadline is lost at it, told once, and lost for good."""
    ttl = max(2.0, harness.capabilities.min_ttl)
    for outage in (REFUSE, BLACK_HOLE):
        lost: list[float] = []

        def note(_: Hold, lost: list[float] = lost) -> None:
            lost.append(boot_time())

        with through_proxy(harness) as (proxy, behind):
            lock, key = behind.open_lock(), harness.new_key()
            with lock.hold(key, ttl=ttl, heartbeat=ttl / 10, on_lost=note) as hold:
                proxy.always(outage)
                if outage is REFUSE:
                    proxy.disconnect()
                time.sleep(0.05)  # the reply to a renewal may still be on its way
                deadline = hold.lease.deadline
                time.sleep(max(0.0, deadline - boot_time() - 0.1))
                assert hold.lost is False or boot_time() >= deadline, f"lost before its deadline: {outage}"
                time.sleep(max(0.0, deadline - boot_time()) + 0.01)
                assert hold.lost is True, f"not lost at its deadline: {outage}"
                assert eventually(partial(bool, lost), 5), f"nobody is told: {outage}"
                assert lost[0] < deadline + _SLACK, f"told {lost[0] - deadline:.2f} s after the deadline: {outage}"
                proxy.heal()
                time.sleep(ttl / 3)
                assert hold.lost is True
            assert len(lost) == 1
