"""Renewals over a lock driver that hangs, fails, loses replies or refuses: cases 25, 26, 40, 41 and 47 of leases."""

from __future__ import annotations

import threading
import time

import pytest

import holdall
from holdall import Unavailable, hookimpl, plugins
from holdall.spi import Adapter, Connection
from holdall_adapters.memory import CAPABILITIES
from holdall_adapters.memory.lock import MemoryLock
from holdall_adapters.memory.port import Space

TTL = 0.8


class Troubled(MemoryLock):
    """A memory lock whose renewals do what a test says, by key."""

    def __init__(self, space, environment):
        super().__init__(space, environment)
        self.trouble = {}
        self.renewals = []
        self.never = threading.Event()

    async def renew(self, request, ttl):
        self.renewals.append(request.key)
        trouble = self.trouble.get(request.key)
        if trouble == "hang":
            self.never.wait(30)
        if callable(trouble):
            trouble()
        renewed = await super().renew(request, ttl)
        if trouble == "lose the reply":
            raise Unavailable("the reply was lost")
        return renewed

    async def release(self, request):
        if self.trouble.get(request.key) == "fail to release":
            raise Unavailable("gone")
        return await super().release(request)


@pytest.fixture
def troubled():
    """A lock handle, and its driver."""
    made = []

    async def connect(target):
        if not made:
            made.append(Troubled(Space(), target.environment))
        return Connection(store=None, lock=made[0], capabilities=CAPABILITIES)

    class Plugin:
        @hookimpl
        def holdall_adapter(self):
            return Adapter(
                name="troubled",
                schemes=("troubled",),
                summary="-",
                capabilities=CAPABILITIES,
                io="none",
                connect=connect,
            )

    plugin = Plugin()
    plugins.register(plugin)
    with holdall.open_lock("troubled://") as lock:
        yield lock, made[0]
        made[0].never.set()
    plugins.unregister(plugin)


def wait_until(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_renewal_that_hangs_loses_the_lease_at_its_deadline(troubled):
    lock, driver = troubled
    driver.trouble["k"] = "hang"
    told = []
    with lock.hold("k", ttl=TTL, on_lost=lambda _: told.append(time.monotonic())) as hold:
        started = time.monotonic()
        wait_until(lambda: told, TTL + 2)
        assert hold.lost
        assert hold.remaining == 0
    assert told[0] - started <= TTL + 0.5
    assert len(told) == 1


def test_one_that_hangs_does_not_delay_the_others(troubled):
    lock, driver = troubled
    driver.trouble["stuck"] = "hang"
    with lock.hold("stuck", ttl=TTL), lock.hold("a", ttl=TTL) as first, lock.hold("b", ttl=TTL) as second:
        time.sleep(2 * TTL)
        assert not first.lost
        assert not second.lost


def test_renewals_that_fail_and_work_again_lose_nothing(troubled):
    lock, driver = troubled
    failures = iter([True, True, True])

    def fail_three_times():
        if next(failures, False):
            raise ConnectionResetError

    driver.trouble["k"] = fail_three_times
    with lock.hold("k", ttl=2 * TTL, heartbeat=0.1) as hold:
        time.sleep(3 * TTL)
        assert not hold.lost
    assert driver.renewals.count("k") > 5


def test_renewals_that_go_on_failing_lose_the_lease_once(troubled):
    lock, driver = troubled
    told = []

    def fail():
        raise ConnectionResetError

    driver.trouble["k"] = fail
    with lock.hold("k", ttl=TTL, on_lost=told.append) as hold:
        wait_until(lambda: hold.lost, TTL + 2)
        time.sleep(0.2)
        assert told == [hold]
    assert told == [hold]


def test_replies_that_are_lost_are_made_up_for(troubled):
    """The renewals got through: the store goes on believing in the lease, and a later reply that comes is believed."""
    lock, driver = troubled
    driver.trouble["k"] = "lose the reply"
    with lock.hold("k", ttl=2 * TTL, heartbeat=0.1) as hold:
        time.sleep(TTL)
        assert not hold.lost
        driver.trouble.clear()
        time.sleep(2 * TTL)
        assert not hold.lost


def test_a_refused_renewal_loses_the_lease_at_once(troubled):
    lock, driver = troubled
    with lock.hold("k", ttl=20, heartbeat=0.1) as hold:
        driver._space.leases["k"].nonce = "somebody else"
        wait_until(lambda: hold.lost, 2)
    assert driver._space.leases["k"].nonce == "somebody else"


def test_a_failing_callback_harms_nobody(troubled):
    lock, driver = troubled
    driver.trouble["k"] = "hang"

    def fail(_):
        raise RuntimeError("callback")

    with lock.hold("k", ttl=TTL, on_lost=fail) as hold, lock.hold("other", ttl=TTL) as other:
        wait_until(lambda: hold.lost, TTL + 2)
        time.sleep(TTL)
        assert not other.lost


def test_a_failing_release_does_not_mask_the_body(troubled):
    lock, driver = troubled
    driver.trouble["k"] = "fail to release"
    with pytest.raises(KeyError, match="body"), lock.hold("k", ttl=TTL):
        raise KeyError("body")
    with lock.hold("k", ttl=TTL, timeout=2 * TTL):
        pass


def test_an_adapter_without_a_store_says_so(troubled):
    with pytest.raises(holdall.Unsupported, match="has no store"):
        holdall.open_store("troubled://")


@pytest.mark.parametrize("share", [0.8, 0.95])
def test_a_heartbeat_just_below_the_ttl_renews_in_time(troubled, share):
    lock, _ = troubled
    holds = [lock.hold(f"k{number}", ttl=TTL, heartbeat=TTL * share) for number in range(10)]
    for hold in holds:
        hold.__enter__()
    time.sleep(3 * TTL)
    assert [hold.lost for hold in holds] == [False] * 10
    for hold in holds:
        hold.__exit__(None, None, None)


def test_everybody_is_told_even_if_all_renewals_hang(troubled):
    lock, driver = troubled
    told = []
    holds = [lock.hold(f"k{number}", ttl=TTL, on_lost=told.append) for number in range(12)]
    for hold in holds:
        driver.trouble[hold._settings.key] = "hang"
        hold.__enter__()
    wait_until(lambda: len(told) == 12, TTL + 5)


def test_an_exit_in_callbacks_ends_no_renewals(troubled):
    lock, driver = troubled

    def leave(_):
        raise SystemExit

    for number in range(10):
        key = f"k{number}"
        with lock.hold(key, ttl=20, heartbeat=0.05, on_lost=leave) as hold:
            driver._space.leases[key].nonce = "somebody else"
            wait_until(lambda hold=hold: hold.lost, 3)
    with lock.hold("healthy", ttl=TTL) as hold:
        time.sleep(2 * TTL)
        assert not hold.lost


def test_a_thread_that_cannot_start_leaves_no_lease_and_harms_no_later_hold(troubled, monkeypatch):
    lock, _ = troubled
    start, failures = threading.Thread.start, ["holdall-heartbeat"]

    def failing(self):
        if self.name in failures:
            failures.remove(self.name)
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", failing)
    with pytest.raises(RuntimeError), lock.hold("k", ttl=60):
        pass
    assert not lock.held("k")
    with lock.hold("k", ttl=TTL) as hold:
        time.sleep(2 * TTL)
        assert not hold.lost
