"""Defaults of the methods, and what follows from options that are hardly ever given."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import holdall
from holdall import AsyncStore
from holdall.clock import boot_time
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import all_items, eventually, fill, keys_of

_SLACK, _ROUNDING = 1.0, 0.001
"""Seconds of a minute that a busy machine may take."""
_HEARTBEAT, _SOON = 0.1, 10.0
_TURNS = 500
_FOLLOWERS = 3


def _defaults(function: Any) -> dict[str, Any]:
    """Return the defaults of a function's parameters by name; none if it does not tell."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.kind not in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
    }


def _check_signatures(protocol: type, handle: Any) -> None:
    """Compare the defaults of a handle's methods with those of its protocol, where the handle names the parameter."""
    for name, function in vars(protocol).items():
        if name.startswith("_") or not inspect.isfunction(function) or not callable(getattr(handle, name, None)):
            continue
        expected, found = _defaults(function), _defaults(getattr(handle, name))
        for parameter in expected.keys() & found.keys():
            told = f"{name}: {parameter}={found[parameter]!r}, not {expected[parameter]!r}"
            assert found[parameter] is expected[parameter] or found[parameter] == expected[parameter], told


@scenario("handles.defaults-of-stores")
def of_stores(harness: Harness) -> None:
    """The methods of a store have the defaults that the protocol tells."""
    protocol = holdall.AsyncStore if harness.asynchronous else holdall.Store
    _check_signatures(protocol, harness.bare(harness.store))


@scenario("handles.defaults-of-locks")
def of_locks(harness: Harness) -> None:
    """The methods of a lock have the defaults that the protocol tells."""
    protocol = holdall.AsyncLock if harness.asynchronous else holdall.Lock
    _check_signatures(protocol, harness.bare(harness.lock))


@scenario("paging.limits-by-default")
def pages(harness: Harness) -> None:
    """Without a limit a page of scan has 100 records at most, and one of keys 1,000; the next pages have the others."""
    store, scope = harness.store, harness.new_scope()
    keys = [f"{number:04}" for number in range(1_020)]
    fill(store, scope, dict.fromkeys(keys, 0))
    records, listed = store.scan(scope), store.keys(scope)
    assert 0 < len(records.items) <= 100
    assert keys_of(records.items) == keys[: len(records.items)]
    assert 0 < len(listed.items) <= 1000
    assert list(listed.items) == keys[: len(listed.items)]
    assert records.next is not None
    assert listed.next is not None
    assert list(all_items(store.keys, scope, limit=1000)) == keys


@scenario("leases.ttl-by-default")
def ttl_of_leases(harness: Harness) -> None:
    """A lease without a ttl is for 60 s, by try_acquire, acquire and hold, and a renewal keeps what it had."""
    lock, margin = harness.lock, harness.capabilities.expiry_margin
    tried = lock.try_acquire(harness.new_key())
    assert tried is not None
    renewed = lock.renew(lock.acquire(harness.new_key(), timeout=0))
    with lock.hold(harness.new_key()) as hold:
        for lease in (tried, renewed, hold.lease):
            asked = boot_time()
            kept = lock.renew(lease)
            holder = lock.holder(lease.key)
            assert holder is not None
            assert (lease.ttl, kept.ttl) == (60, 60)
            assert 60 - margin - _SLACK - (boot_time() - asked) <= holder.expires_in <= 60 + margin + _ROUNDING


@scenario("holds.heartbeat-notices-soon", waits=True)
def heartbeat_notices_soon(harness: Harness) -> None:
    """A hold for a minute with a small heartbeat notices a loss after a few of them, not after a third of its ttl."""
    lock, other, key, lost = harness.lock, harness.open_lock(), harness.new_key(), list[Any]()
    with lock.hold(key, ttl=60, heartbeat=_HEARTBEAT, on_lost=lost.append) as hold:
        assert other.release(hold.lease) is True
        assert eventually(lambda: hold.lost, _SOON), f"not noticed within {_SOON:g} s, with a heartbeat of {_HEARTBEAT}"
        assert eventually(lambda: len(lost) == 1, _SOON)


async def _follow(store: AsyncStore, scope: str) -> None:
    """Follow a log to the end of the patience, and one more time to be closed after the first entry."""
    found = [entry.value async for entry in store.follow(scope, "k", timeout=0.01)]
    assert found == ["a", "b"]
    iterator = store.follow(scope, "k", timeout=60)
    assert (await anext(iterator)).value == "a"
    await getattr(iterator, "aclose")()  # noqa: B009 - an async generator has it, and the protocol does not tell


async def _tasks_left(before: int) -> int:
    """Return how many tasks there are more than before, once those that are ending have had time to."""
    for _ in range(_TURNS):
        if len(asyncio.all_tasks()) <= before:
            break
        await asyncio.sleep(0.01)
    return len(asyncio.all_tasks()) - before


@scenario("follow.leaves-no-task", level="full")
def leaves_no_task(harness: Harness) -> None:
    """A follower of the asynchronous side leaves no task behind, after its timeout and when it is closed early."""
    scope = harness.new_scope()

    async def follow_again_and_again() -> None:
        async with harness.bare_store(asynchronous=True) as store:
            await store.append(scope, "k", ["a", "b"])
            await _follow(store, scope)
            before = len(asyncio.all_tasks())
            for _ in range(_FOLLOWERS):
                await _follow(store, scope)
            left = await _tasks_left(before)
            assert left <= 0, f"{left} tasks are left of {2 * _FOLLOWERS} followers"

    asyncio.run(follow_again_and_again())
