"""An adapter with an async driver of its own: its calls suspend, and a handle belongs to one event loop."""

from __future__ import annotations

import asyncio
import time

import pytest

import holdall
from holdall import Conflict, WrongLoop, hookimpl, plugins
from holdall.spi import Adapter
from holdall_adapters.memory import CAPABILITIES
from holdall_adapters.memory.backend import MemoryBackend
from holdall_adapters.memory.port import space_named


class Suspending(MemoryBackend):
    """Memory behind a network: every call lets the loop go on, unless nobody runs one."""

    def __init__(self, space, suspending):
        super().__init__(space)
        self.suspending = suspending

    async def _travel(self):
        if self.suspending:
            await asyncio.sleep(0.0005)

    async def get(self, key):
        await self._travel()
        return await super().get(key)

    async def put(self, key, payload, expect):
        await self._travel()
        return await super().put(key, payload, expect)

    async def scan(self, prefix, after, limit):
        await self._travel()
        return await super().scan(prefix, after, limit)


@pytest.fixture(autouse=True)
def _adapter():
    async def open_backend(target):
        return Suspending(space_named(f"suspending-{target.url.authority}"), target.suspending)

    class Plugin:
        @hookimpl
        def holdall_adapter(self):
            name = "suspending"
            return Adapter(
                name=name,
                schemes=(name,),
                summary="-",
                capabilities=CAPABILITIES,
                io="suspending",
                backend=open_backend,
            )

    plugin = Plugin()
    plugins.register(plugin)
    yield
    plugins.unregister(plugin)


def test_operations_interleave_on_the_loop():
    async def main():
        async with holdall.open_async_store("suspending://interleave") as store:
            increments = [store.update("s", "n", lambda value: (value or 0) + 1) for _ in range(20)]
            await asyncio.gather(*increments)
            assert (await store.get("s", "n")).value == 20
            appends = [store.append("s", "log", [number] * 3, batch_id=str(number)) for number in range(20)]
            starts = sorted(appended.start for appended in await asyncio.gather(*appends))
            assert starts == list(range(0, 60, 3))
            with pytest.raises(Conflict):
                await store.put("s", "n", 1, expect=holdall.ABSENT)

    asyncio.run(main())


def test_the_synchronous_side_blocks_instead():
    with holdall.open_store("suspending://sync") as store:
        store.put("s", "k", 1)
        assert store.get("s", "k").value == 1


def test_a_second_loop_is_refused_at_once():
    store = holdall.open_async_store("suspending://loops")

    async def use():
        await store.put("s", "k", 1)

    asyncio.run(use())
    with pytest.raises(WrongLoop):
        asyncio.run(use())


def test_leases_are_renewed_while_the_loop_is_blocked():
    async def main():
        async with holdall.open_async_lock("suspending://lock") as lock, lock.hold("k", ttl=0.5) as hold:
            time.sleep(1.2)  # noqa: ASYNC251 - the loop is blocked on purpose
            assert not hold.lost

    asyncio.run(main())


def test_cancelled_operations_leave_the_handle_usable():
    async def main():
        async with holdall.open_async_store("suspending://cancel") as store:
            for number in range(200):
                task = asyncio.ensure_future(store.put("s", str(number), number))
                await asyncio.sleep(0.0002 * (number % 7))
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            await store.put("s", "last", 1)
            for record in [record async for record in store.iter_records("s")]:
                assert record.key == "last" or record.value == int(record.key)

    asyncio.run(main())
