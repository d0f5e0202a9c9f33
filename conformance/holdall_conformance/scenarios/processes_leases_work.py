"""What the child processes of the scenarios on leases do."""

from __future__ import annotations

import dataclasses
import datetime as dt
import threading
import time
from collections.abc import Callable
from typing import Any

from holdall import HoldallError, Lease, Lock, Store
from holdall.clock import boot_time
from holdall_conformance.children import PATIENCE, Parent
from holdall_conformance.harness import Harness

_LONG = 60.0


def lease_to(lease: Lease) -> dict[str, Any]:
    """Return a lease as JSON."""
    return dataclasses.asdict(lease)


def lease_from(message: dict[str, Any]) -> Lease:
    """Return the lease that `lease_to` made JSON of."""
    return Lease(**message)


def _outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except HoldallError as error:
        return type(error).__name__


def hold_and_write(parent: Parent, harness: Harness, scope: str, ttl: float) -> None:
    """Write under a lease, be paused, and try everything with it again."""
    store, lock, told, heard = harness.store, harness.lock, [], threading.Event()

    def on_lost(_: Any) -> None:
        told.append(1)
        heard.set()

    # The first renewal is far off, so that the pause does not fall into it: a paused writer would hold up the others.
    with lock.hold(scope, ttl=ttl, heartbeat=ttl * 0.95, timeout=PATIENCE, on_lost=on_lost) as hold:
        lease = hold.lease
        store.append(scope, "log", ["old"], fence=lease)
        store.put(scope, "record", "old", fence=lease)
        parent.say(lease_to(hold.lease))
        parent.hear()
        lost, remaining = hold.lost, hold.remaining
        heard.wait(PATIENCE)
        time.sleep(0.05)
        parent.say(
            {
                "lost": lost,
                "remaining": remaining,
                "told": len(told),
                "append": _outcome(lambda: store.append(scope, "log", ["late"], fence=lease).start),
                "put": _outcome(lambda: store.put(scope, "record", "late", fence=lease)),
                "seal": _outcome(lambda: store.seal(scope, "log", lease, log=True)),
                "renew": _outcome(lambda: lock.renew(lease).token),
                "release": _outcome(lambda: lock.release(lease)),
            }
        )


def hold_and_tell(parent: Parent, harness: Harness, key: str, ttl: float, heartbeat: float) -> None:
    """Hold a key, tell the lease, tell it again after some renewals, and wait to be killed."""
    with harness.lock.hold(key, ttl=ttl, heartbeat=heartbeat, timeout=PATIENCE) as hold:
        first = hold.lease
        parent.say(lease_to(first))
        while hold.lease.deadline < first.deadline + heartbeat:
            time.sleep(heartbeat / 10)
        parent.say(lease_to(hold.lease))
        parent.hear()


def acquire_and_release(parent: Parent, harness: Harness, key: str) -> None:
    """Acquire a key, release it, and tell the token."""
    lease = harness.lock.acquire(key, ttl=_LONG, timeout=PATIENCE)
    harness.lock.release(lease)
    parent.say(lease.token)


def use_lease(parent: Parent, harness: Harness, message: dict[str, Any]) -> None:
    """Write with a lease that another process acquired, renew it and release it."""
    lease = lease_from(message)
    harness.store.put(lease.key, "record", "fenced", fence=lease)
    renewed = harness.lock.renew(lease)
    parent.say({"token": renewed.token, "released": harness.lock.release(renewed)})


def _step_wall_clock(seconds: float, *, dates: bool = True) -> None:
    """Let this process see another time of day.

    Args:
        seconds: by how much.
        dates: also where it asks `datetime`; not before the drivers are imported, some of which build on that class.

    """
    real, real_ns = time.time, time.time_ns
    get, get_ns = time.clock_gettime, time.clock_gettime_ns
    time.time = lambda: real() + seconds
    time.time_ns = lambda: real_ns() + int(seconds * 1e9)
    time.clock_gettime = lambda clock: get(clock) + seconds * (clock == time.CLOCK_REALTIME)
    time.clock_gettime_ns = lambda clock: get_ns(clock) + int(seconds * 1e9) * (clock == time.CLOCK_REALTIME)
    if dates:
        dt.datetime = _stepped(dt.datetime, dt.timedelta(seconds=seconds))  # type: ignore[misc]


_plain = dt.datetime


class _LikePlain(type):
    """Makes every datetime an instance of a class that tells another time."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _plain)


def _stepped(former: Any, step: dt.timedelta) -> Any:
    """Return the class `datetime` with another idea of now."""

    class Stepped(_plain, metaclass=_LikePlain):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return former.now(tz) + step

        @classmethod
        def utcnow(cls) -> Any:
            return former.utcnow() + step

        @classmethod
        def today(cls) -> Any:
            return former.today() + step

    return Stepped


def _opened_at(harness: Harness, step: float) -> tuple[Store, Lock]:
    """Open a store and a lock while the clock is wrong, and leave it so."""
    _step_wall_clock(step, dates=False)
    store, lock = harness.store, harness.lock
    dt.datetime = _stepped(dt.datetime, dt.timedelta(seconds=step))  # type: ignore[misc]
    return store, lock


def own_with_stepped_clock(parent: Parent, harness: Harness, scope: str, short: float, step: float) -> None:
    """Open the storage with a clock that is wrong; hold and write; let the clock step, and write what lives shortly."""
    store, lock = _opened_at(harness, step)
    with lock.hold(f"{scope}-long", ttl=_LONG, timeout=PATIENCE) as hold:
        _step_wall_clock(-2 * step)
        store.put(scope, "long", "value", ttl=_LONG)
        lock.set_flag(f"{scope}-long", ttl=_LONG)
        parent.say("written")
        parent.hear()
        began = boot_time()
        store.put(scope, "short", "value", ttl=short)
        lock.set_flag(f"{scope}-short", ttl=short)
        lease = lock.acquire(f"{scope}-short", ttl=short, timeout=PATIENCE)
        written = boot_time()
        _step_wall_clock(step)
        live = store.get(scope, "short") is not None and lock.flag(lease.key) and lock.held(lease.key)
        if not live and boot_time() < began + short - lock.capabilities.expiry_margin:
            message = f"what lives for {short} s was gone after {boot_time() - began} s"
            raise AssertionError(message)
        parent.say(written + short)
        parent.hear()
        parent.say(hold.lost)


def look_with_stepped_clock(parent: Parent, harness: Harness, scope: str, step: float) -> None:
    """Open the storage with a clock that is wrong, and say what is there; step it back and look again."""
    store, lock = _opened_at(harness, step)
    parent.hear()
    record, most = store.get(scope, "long"), _LONG + lock.capabilities.expiry_margin
    lease = lock.try_acquire(f"{scope}-long", ttl=_LONG)
    parent.say(
        {
            "acquired": None if lease is None else lease.token,
            "held": lock.held(f"{scope}-long"),
            "flag": lock.flag(f"{scope}-long"),
            "record": record is not None and 0 < (record.expires_in or 0) <= most,
        }
    )
    _step_wall_clock(-2 * step)
    parent.hear()
    key = f"{scope}-short"
    parent.say({"held": lock.held(key), "flag": lock.flag(key), "record": store.get(scope, "short") is not None})
    parent.hear()
    acquired = lock.acquire(key, ttl=_LONG, timeout=0)
    lock.release(acquired)
    parent.say(acquired.token)


def raise_flag_and_wait(parent: Parent, harness: Harness, key: str, ttl: float) -> None:
    """Raise a flag, say between which moments, and wait to be killed."""
    lock = harness.lock
    before = boot_time()
    lock.set_flag(key, ttl=ttl)
    parent.say([before, boot_time()])
    parent.hear()


def wait_while_clock_steps(parent: Parent, harness: Harness, key: str, timeout: float, step: float) -> None:
    """Wait for a key that is held, let the clock step meanwhile, and say what came of it after how long."""
    lock = harness.lock
    lock.held(key)
    timer = threading.Timer(timeout / 3, _step_wall_clock, [step])
    began = boot_time()
    timer.start()
    outcome = _outcome(lambda: lock.acquire(key, ttl=_LONG, timeout=timeout).token)
    parent.say([outcome, boot_time() - began])
    timer.join()
