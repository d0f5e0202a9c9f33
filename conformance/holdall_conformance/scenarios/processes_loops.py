"""Event loops, cancellation, and the end of an interpreter."""

from __future__ import annotations

import asyncio
import random
import threading
from typing import Any

from holdall import AsyncStore, Put, WrongLoop
from holdall.clock import boot_time
from holdall_conformance.children import PATIENCE, Child, Children
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.processes_loops_work import works_blocked

_WORK = "holdall_conformance.scenarios.processes_loops_work"
_CANCELLED, _AT_ONCE, _NORMAL = 500, 25, 50
_MOST_ATTEMPTS = 20_000
_KEYS = 20


async def _use(store: AsyncStore, scope: str, key: str) -> str:
    """Use a handle, and say whether it worked; anything but working and `WrongLoop` is an error."""
    try:
        await asyncio.wait_for(store.put(scope, key, key), PATIENCE)
        record = await asyncio.wait_for(store.get(scope, key), PATIENCE)
    except WrongLoop:
        return "wrong loop"
    assert record is not None
    assert record.value == key
    return "works"


async def _close(store: AsyncStore) -> None:
    try:
        await store.close()
    except WrongLoop:
        return


@scenario("processes.loops-in-a-row", level="full")
def loops_in_a_row(harness: Harness) -> None:
    """One async handle used from two event loops in a row works, or raises WrongLoop at once."""
    store, scope = harness.bare_store(asynchronous=True), harness.new_scope()
    assert asyncio.run(_use(store, scope, "first")) == "works"
    started = boot_time()
    assert asyncio.run(_use(store, scope, "second")) in {"works", "wrong loop"}
    assert boot_time() - started < PATIENCE / 2
    asyncio.run(_close(store))


@scenario("processes.loops-at-once", level="full")
def loops_at_once(harness: Harness) -> None:
    """One async handle used from the loops of two threads at once works, or raises WrongLoop at once."""
    store, scope = harness.bare_store(asynchronous=True), harness.new_scope()
    outcomes: list[set[str]] = []
    together = threading.Barrier(2, timeout=PATIENCE)

    async def use(name: str) -> None:
        together.wait()
        outcomes.append({await _use(store, scope, f"{name}-{number}") for number in range(50)})

    threads = [threading.Thread(target=lambda name=name: asyncio.run(use(name)), daemon=True) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "a thread hangs"
    assert len(outcomes) == 2
    assert {"works"} in outcomes
    assert outcomes[0] | outcomes[1] <= {"works", "wrong loop"}
    asyncio.run(_close(store))


class _Storm:
    """Operations that are cancelled at random moments, and what each may have left."""

    def __init__(self, store: AsyncStore, scope: str, *, commits: bool, chance: random.Random) -> None:
        self.store, self.scope = store, scope
        self.kinds = ["put", "append", "get", "update", *(["commit"] if commits else [])]
        self.chance = chance
        self.cancelled = self.attempts = self.acknowledged_updates = 0
        self.acknowledged: dict[str, int] = {}
        self.batches: dict[int, int] = {}
        self.typical = 0.002

    async def _operate(self, number: int) -> None:
        store, scope, key = self.store, self.scope, f"k{number % _KEYS}"
        match self.kinds[number % len(self.kinds)]:
            case "put":
                await store.put(scope, key, [number, str(number) * 50])
                self.acknowledged[key] = max(number, self.acknowledged.get(key, -1))
            case "append":
                size = 1 + number % 7
                batch_id = str(number) if number % 3 else None
                appended = await store.append(scope, "log", [[number, size]] * size, batch_id=batch_id)
                self.batches[number] = appended.start
            case "get":
                await store.get(scope, key)
            case "update":
                await store.update(scope, "count", lambda value: (value or 0) + 1)
                self.acknowledged_updates += 1
            case _:
                pair = [Put(scope, f"pair-{name}-{number % _KEYS}", number) for name in "ab"]
                await store.commit(pair)

    async def _cancel_one(self, number: int) -> None:
        patience = self.chance.uniform(0, 2 * self.typical)
        if number % 2:
            task = asyncio.ensure_future(self._operate(number))
            if number % 8 > 1:  # otherwise it is cancelled before it begins: the one way where operations never wait
                await asyncio.sleep(patience)
            task.cancel()
            (result,) = await asyncio.gather(task, return_exceptions=True)
            cancelled = isinstance(result, asyncio.CancelledError)
            if isinstance(result, Exception):
                raise result
        else:
            try:
                async with asyncio.timeout(patience) as limit:
                    await self._operate(number)
                assert not limit.expired(), "an operation swallowed its cancellation"
                cancelled = False
            except TimeoutError:
                cancelled = True
        self.cancelled += cancelled

    async def rage(self) -> None:
        """Go on until enough operations were really cancelled; the moments follow how long they take."""
        while self.cancelled < _CANCELLED:
            assert self.attempts < _MOST_ATTEMPTS, "hardly anything could be cancelled"
            before, numbers = self.cancelled, range(self.attempts, self.attempts + _AT_ONCE)
            self.attempts += _AT_ONCE
            await asyncio.gather(*map(self._cancel_one, numbers))
            self.typical *= 0.7 if self.cancelled - before < _AT_ONCE / 2 else 1.3

    async def calm(self) -> None:
        """Do operations that nobody cancels."""
        for number in range(_NORMAL):
            await asyncio.wait_for(self.store.put(self.scope, f"calm{number}", number), PATIENCE)
            record = await asyncio.wait_for(self.store.get(self.scope, f"calm{number}"), PATIENCE)
            assert record is not None
            assert record.value == number
        for number in range(self.attempts, self.attempts + 2 * len(self.kinds)):
            await asyncio.wait_for(self._operate(number), PATIENCE)
        self.attempts += 2 * len(self.kinds)

    async def check(self) -> None:
        """Check that every cancelled write is there as a whole or not at all."""
        for index in range(_KEYS):
            record = await self.store.get(self.scope, f"k{index}")
            if record is not None:
                assert record.value[1] == str(record.value[0]) * 50
                assert record.value[0] % _KEYS == index
            assert record is not None or f"k{index}" not in self.acknowledged
            pair = await self.store.get_many(self.scope, [f"pair-a-{index}", f"pair-b-{index}"])
            assert len({None if half is None else half.value for half in pair}) == 1
        count = await self.store.get(self.scope, "count")
        counted = 0 if count is None else count.value
        assert self.acknowledged_updates <= counted <= self.attempts / len(self.kinds) + 1
        self._check_batches(await self.store.read(self.scope, "log"))

    def _check_batches(self, entries: Any) -> None:
        found: dict[int, int] = {}
        position = 0
        while position < len(entries):
            number, size = entries[position].value
            assert number not in found
            assert [entry.value for entry in entries[position : position + size]] == [[number, size]] * size
            found[number] = position
            position += size
        assert self.batches.items() <= found.items()


@scenario("cancellation.storm", level="full")
def cancellation_storm(harness: Harness) -> None:
    """After 500 cancelled operations the handle works, nothing holds the others up, and no cancelled write is torn."""
    scope = harness.new_scope()

    async def storm() -> None:
        async with harness.bare_store(asynchronous=True) as store:
            raging = _Storm(store, scope, commits=harness.capabilities.atomic_commit, chance=harness.chance)
            await raging.rage()
            await raging.calm()
            if harness.capabilities.cross_process:
                await asyncio.to_thread(_write_elsewhere, harness, scope)
            await raging.check()
            assert raging.cancelled >= _CANCELLED

    asyncio.run(storm())


def _write_elsewhere(harness: Harness, scope: str) -> None:
    """Write in another process, with little patience, while the handle of the storm is open and idle."""
    with Children(harness) as children:
        child = children.start(f"{_WORK}:write_at_once", scope)
        assert child.hear() == "written"
        child.finish()


@scenario("processes.blocked-body-keeps-hold", level="full")
def blocked_body_keeps_hold(harness: Harness) -> None:
    """An event loop that is blocked for two ttl, or a body that computes for as long, does not lose its hold."""
    capabilities = harness.capabilities
    ttl = max(1.5 if capabilities.persistent else 0.6, capabilities.min_ttl)
    if harness.asynchronous:
        asyncio.run(works_blocked(harness, harness.new_key(), ttl))
        return
    with harness.lock.hold(harness.new_key(), ttl=ttl, timeout=PATIENCE) as hold:
        end, total = boot_time() + 2 * ttl, 0
        while boot_time() < end:
            total += sum(range(1_000))
        assert not hold.lost
        assert hold.remaining > 0
        assert harness.lock.holder(hold.lease.key) is not None


def _ended(harness: Harness, function: str, *arguments: Any) -> Child:
    """Run a child that must come to a clean end by itself."""
    with Children(harness, asynchronous=False) as children:
        child = children.start(f"{_WORK}:{function}", harness.asynchronous, *arguments)
        assert child.hear() == "ready"
        child.finish(PATIENCE / 2)
    return child


@scenario("processes.exit-while-holding", level="full")
def exit_while_holding(harness: Harness) -> None:
    """An interpreter that ends while it holds leases and has work pending does not hang; the keys become free."""
    key, capabilities = harness.new_key(), harness.capabilities
    ttl = max(0.5, capabilities.min_ttl)
    _ended(harness, "exit_holding", key, ttl)
    if capabilities.cross_process:
        ended = boot_time()
        lease = harness.lock.acquire(key, ttl=PATIENCE, timeout=PATIENCE)
        assert lease.token >= 2
        assert boot_time() < ended + PATIENCE / 2


@scenario("processes.abandoned-handles", level="full")
def abandoned_handles(harness: Harness) -> None:
    """Handles and holds that are thrown away without being closed leave no thread and no warning."""
    _ended(harness, "abandon", harness.new_key())
