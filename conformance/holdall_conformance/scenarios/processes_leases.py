"""Leases between processes: holders that are paused or killed, clocks that step, tokens that go on."""

from __future__ import annotations

import time

import pytest

from holdall import Fenced, Head, Lease, LeaseLost
from holdall.clock import boot_time
from holdall_conformance.children import PATIENCE, Child, Children
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.processes_leases_work import lease_from, lease_to

_WORK = "holdall_conformance.scenarios.processes_leases_work"
_POLL = 0.005
_HOUR, _TEN_MINUTES = 3_600.0, 600.0


def _take_over(harness: Harness, key: str, former: Lease) -> Lease:
    """Acquire a key whose holder has fallen silent; never before the holder itself must have stopped."""
    lease = harness.lock.acquire(key, ttl=PATIENCE, timeout=PATIENCE)
    assert boot_time() >= former.deadline
    assert lease.token > former.token
    return lease


def _pause(harness: Harness, children: Children, scope: str) -> tuple[Child, Lease]:
    """Start a holder that writes with its lease, and pause it."""
    ttl = max(1.0, harness.capabilities.min_ttl)
    child = children.start(f"{_WORK}:hold_and_write", scope, ttl)
    lease = lease_from(child.hear())
    child.stop()
    return child, lease


def _check_outcome(harness: Harness, child: Child, lease: Lease) -> None:
    """Let the former holder go on: it knows that it lost, and none of its attempts comes to anything."""
    child.resume()
    child.say("go on")
    assert child.hear() == {
        "lost": True,
        "remaining": 0.0,
        "told": 1,
        "append": "Fenced",
        "put": "Fenced",
        "seal": "Fenced",
        "renew": "LeaseLost",
        "release": False,
    }
    child.finish()
    holder = harness.lock.holder(lease.key)
    assert holder is not None
    assert holder.token == lease.token
    assert harness.lock.renew(lease).token == lease.token
    assert harness.lock.release(lease) is True


@scenario("processes.paused-holder-is-fenced", "cross_process", waits=True)
def paused_holder_is_fenced(harness: Harness) -> None:
    """A holder paused past its lease learns of the loss at once, and nothing of it gets in once another has written."""
    store, scope = harness.store, harness.new_scope()
    with Children(harness) as children:
        child, former = _pause(harness, children, scope)
        lease = _take_over(harness, scope, former)
        head = store.seal(scope, "log", lease, log=True)
        assert isinstance(head, Head)
        store.seal(scope, "record", lease)
        store.append(scope, "log", ["new"], expect=head, fence=lease)
        store.put(scope, "record", "new", fence=lease)
        _check_outcome(harness, child, lease)
    assert [entry.value for entry in store.read(scope, "log")] == ["old", "new"]
    record = store.get(scope, "record")
    assert record is not None
    assert record.value == "new"


@scenario("processes.paused-holder-is-sealed-out", "cross_process", level="full", waits=True)
def paused_holder_is_sealed_out(harness: Harness) -> None:
    """Nothing of a holder paused past its lease gets in once another has sealed, even before that one has written."""
    store, scope = harness.store, harness.new_scope()
    with Children(harness) as children:
        child, former = _pause(harness, children, scope)
        lease = _take_over(harness, scope, former)
        head = store.seal(scope, "log", lease, log=True)
        version = store.seal(scope, "record", lease)
        _check_outcome(harness, child, lease)
    entries, record = store.read(scope, "log"), store.get(scope, "record")
    assert ([entry.value for entry in entries], entries.head) == (["old"], head)
    assert record is not None
    assert (record.value, record.version) == ("old", version)


@scenario("processes.killed-holder-expires", "cross_process", level="full", waits=True)
def killed_holder_expires(harness: Harness) -> None:
    """The key of a killed holder is free no earlier than ttl after its last renewal, no later than ttl and margin."""
    lock, key, margin = harness.lock, harness.new_key(), harness.capabilities.expiry_margin
    ttl = max(1.5, harness.capabilities.min_ttl)
    with Children(harness) as children:
        child = children.start(f"{_WORK}:hold_and_tell", key, ttl, ttl / 8)
        first, last = lease_from(child.hear()), lease_from(child.hear())
        assert (last.token, last.nonce) == (first.token, first.nonce)
        assert last.deadline > first.deadline
        child.kill()
        killed = boot_time()
        while (lease := _attempt(harness, key, killed + ttl + margin)) is None:
            time.sleep(_POLL)
    assert boot_time() >= last.deadline - margin
    assert lease.token > first.token
    assert lock.release(lease)


def _attempt(harness: Harness, key: str, latest: float) -> Lease | None:
    sent = boot_time()
    lease = harness.lock.try_acquire(key, ttl=PATIENCE)
    assert lease is not None or sent <= latest, "a killed holder's key is still taken after ttl and margin"
    return lease


@scenario("processes.tokens-go-on", "cross_process", "durable_tokens", level="full")
def tokens_go_on(harness: Harness) -> None:
    """Tokens go on in a new process after the holder was killed, after close, and after a sweep."""
    key, ttl = harness.new_key(), max(0.2, harness.capabilities.min_ttl)
    with Children(harness) as children:
        child = children.start(f"{_WORK}:hold_and_tell", key, ttl, ttl / 4)
        tokens = [lease_from(child.hear()).token]
        child.kill()
        with harness.open_lock() as lock:
            lease = lock.acquire(key, ttl=PATIENCE, timeout=PATIENCE)
            tokens.append(lease.token)
            assert lock.release(lease)
        harness.open_store().sweep()
        child = children.start(f"{_WORK}:acquire_and_release", key)
        tokens.append(child.hear())
        child.finish()
        lease = harness.lock.acquire(key, ttl=ttl, timeout=PATIENCE)
        tokens.append(lease.token)
        assert tokens == sorted(set(tokens)), f"tokens do not rise: {tokens}"


@scenario("processes.wall-clock-steps", "cross_process", level="full", waits=True)
def wall_clock_steps(harness: Harness) -> None:
    """Steps of the wall clock, in holder or contender, end no lease or record early and let none live longer."""
    scope = harness.new_scope()
    short = max(1.0, harness.capabilities.min_ttl)
    with Children(harness) as children:
        owner = children.start(f"{_WORK}:own_with_stepped_clock", scope, short, _HOUR)
        others = [
            children.start(f"{_WORK}:look_with_stepped_clock", scope, step)
            for step in (0.0, _HOUR, -_HOUR, _TEN_MINUTES, -_TEN_MINUTES)
        ]
        assert owner.hear() == "written"
        for other in others:
            other.say("look")
        for other in others:
            assert other.hear() == {"acquired": None, "held": True, "flag": True, "record": True}
        owner.say("write what is short-lived")
        expiry = owner.hear() + harness.capabilities.expiry_margin
        time.sleep(max(0.0, expiry - boot_time()))
        for other in others:
            other.say("look")
            assert other.hear() == {"held": False, "flag": False, "record": False}
        tokens = [_asked(other) for other in others]
        assert len(set(tokens)) == len(tokens), f"a token was given twice: {tokens}"
        owner.say("end")
        assert owner.hear() is False
        for child in (owner, *others):
            child.finish()


def _asked(child: Child) -> int:
    child.say("acquire")
    token = child.hear()
    assert isinstance(token, int)
    return token


@scenario("processes.lease-crosses-processes", "cross_process", level="full")
def lease_crosses_processes(harness: Harness) -> None:
    """A lease is plain data: another process can fence with it, renew it and release it."""
    key = harness.new_key()
    lease = harness.lock.acquire(key, ttl=PATIENCE, timeout=0)
    with Children(harness) as children:
        child = children.start(f"{_WORK}:use_lease", lease_to(lease))
        assert child.hear() == {"token": lease.token, "released": True}
        child.finish()
    assert harness.lock.release(lease) is False
    with pytest.raises(LeaseLost):
        harness.lock.renew(lease)
    harness.store.seal(key, "record", lease.token + 1)
    with pytest.raises(Fenced):
        harness.store.put(key, "record", "late", fence=lease)


@scenario("processes.killed-setter-leaves-no-flag", "cross_process", level="full", waits=True)
def killed_setter_leaves_no_flag(harness: Harness) -> None:
    """A flag whose setter was killed stays up for its ttl and falls by itself, before anything is swept."""
    lock, key, margin = harness.lock, harness.new_key(), harness.capabilities.expiry_margin
    ttl = max(1.0, harness.capabilities.min_ttl)
    with Children(harness) as children:
        child = children.start(f"{_WORK}:raise_flag_and_wait", key, ttl)
        before, after = child.hear()
        child.kill()
        up = lock.flag(key)
        assert up or boot_time() >= before + ttl - margin, "the flag fell with its setter"
    time.sleep(max(0.0, after + ttl + margin - boot_time()))
    assert lock.flag(key) is False


@scenario("processes.waiting-under-a-stepping-clock", "cross_process", level="full", waits=True)
def waiting_under_a_stepping_clock(harness: Harness) -> None:
    """A step of the wall clock makes nobody who waits for a lease give up early or wait for longer."""
    key, timeout = harness.new_key(), 1.0
    lease = harness.lock.acquire(key, ttl=PATIENCE, timeout=0)
    with Children(harness) as children:
        waiting = [children.start(f"{_WORK}:wait_while_clock_steps", key, timeout, step) for step in (_HOUR, -_HOUR)]
        for child in waiting:
            outcome, waited = child.hear()
            assert outcome == "LockTimeout"
            assert timeout - 0.01 <= waited < timeout + PATIENCE / 4
            child.finish()
    assert harness.lock.release(lease) is True
