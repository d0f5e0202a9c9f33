"""Two processes whose wall clocks are far apart."""

from __future__ import annotations

import contextlib
import time

import holdall
from holdall import LeaseLost
from holdall_conformance.children import Children
from holdall_conformance.harness import Harness

TEN_MINUTES = 600.0
TTL = 1.5


def on_another_clock(parent, harness, url, offset):
    """In a child process: live at another time, and do what the parent says."""
    for name in ("time", "time_ns"):
        real, shift = getattr(time, name), offset if name == "time" else int(offset * 1e9)
        setattr(time, name, lambda real=real, shift=shift: real() + shift)
    with holdall.open_store(url) as store, holdall.open_lock(store) as lock:
        leases = []
        parent.say(time.time())
        while (order := parent.hear()) is not None:
            parent.say(obey(store, lock, leases, *order))


def obey(store, lock, leases, what, *arguments):
    if what == "acquire":
        leases.append(lock.acquire("k", ttl=TTL, timeout=arguments[0]))
        return leases[-1].token
    if what == "try":
        return lock.try_acquire("k") is not None
    if what == "renew":
        try:
            leases[-1] = lock.renew(leases[-1])
        except LeaseLost:
            return "lost"
        return "renewed"
    if what == "put":
        store.put("s", "k", 1, ttl=arguments[0])
        return None
    if what == "get":
        record = store.get("s", "k")
        return None if record is None else record.expires_in
    holder = lock.holder("k")
    return None if holder is None else holder.expires_in


@contextlib.contextmanager
def hosts_on(url):
    """Two processes, one ten minutes ahead and one ten minutes behind; each is called with an order."""
    with Children(Harness(url)) as children:
        target = "tests.adapters.clocks:on_another_clock"
        found = [children.start(target, url, offset) for offset in (TEN_MINUTES, -TEN_MINUTES)]
        times = [child.hear() for child in found]
        assert times[0] - times[1] > 1.9 * TEN_MINUTES

        def order(child):
            def ask(*words):
                child.say(words)
                return child.hear()

            return ask

        yield [order(child) for child in found]
        for child in found:
            child.say(None)
            child.finish()


def agree_on_leases(hosts, first):
    """One host takes a lease, and the other gets it when it has expired."""
    here, there = hosts[first], hosts[1 - first]
    token = here("acquire", 0)
    assert here("renew") == "renewed"
    assert there("try") is False
    for host in hosts:
        assert 0 < host("holder") <= TTL
    assert there("acquire", 60) == token + 1
    assert here("renew") == "lost"
    assert there("renew") == "renewed"


def agree_on_expiry(hosts, first, ttl=0.05, late=0.05):
    """What one host writes expires for both at the same moment."""
    here, there = hosts[first], hosts[1 - first]
    here("put", 3_600)
    for host in hosts:
        assert 3_500 < host("get") <= 3_600 + late
    there("put", ttl)
    time.sleep(ttl + late)
    for host in hosts:
        assert host("get") is None
