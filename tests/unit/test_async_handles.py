"""Asynchronous handles: what runs where, closing at the wrong moment, and cancelled holds."""

from __future__ import annotations

import asyncio
import threading

import pytest

import holdall
from holdall import ClosedHandle, ConfigError


async def workers_end():
    """Wait until no handle of this test has a thread; every test closes what it opens."""
    for _ in range(2_000):
        if not [thread for thread in threading.enumerate() if thread.name == "holdall-worker"]:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("a worker thread goes on")


@pytest.fixture(params=["memory://{}", "sqlite:///{}/x.db?durability=relaxed"])
def url(request, tmp_path):
    return request.param.format(tmp_path if "sqlite" in request.param else tmp_path.name)


def test_arguments_are_read_by_the_caller_before_it_goes_on(url):
    async def main():
        seen = []

        def entries():
            for number in range(3):
                seen.append(threading.current_thread())
                yield number

        async with holdall.open_async_store(url) as store:
            await store.append("s", "log", entries())
            value = {"n": 1}
            writing = asyncio.ensure_future(store.put("s", "k", value))
            await asyncio.sleep(0)
            value["n"] = 2
            await writing
            assert (await store.get("s", "k")).value == {"n": 1}
        assert set(seen) == {threading.main_thread()}

    asyncio.run(main())


def test_closing_while_it_connects_hangs_nobody(url):
    async def main():
        for _ in range(20):
            store = holdall.open_async_store(url)
            writing = [asyncio.ensure_future(store.put("s", str(number), number)) for number in range(3)]
            await asyncio.sleep(0)
            await store.close()
            for outcome in await asyncio.wait_for(asyncio.gather(*writing, return_exceptions=True), 10):
                assert isinstance(outcome, str | ClosedHandle), outcome
            with pytest.raises(ClosedHandle):
                await store.get("s", "0")

    asyncio.run(main())


def test_a_cancelled_hold_leaves_no_lease(url):
    async def enter(lock, number):
        async with lock.hold(f"k{number}", ttl=60):
            await asyncio.sleep(0)

    async def main():
        async with holdall.open_async_lock(url) as lock:
            await lock.held("warm")
            for number in range(60):
                task = asyncio.ensure_future(enter(lock, number))
                for _ in range(number % 6):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            await asyncio.sleep(0.3)
            assert [number for number in range(60) if await lock.held(f"k{number}")] == []

    asyncio.run(main())


def test_a_thread_that_cannot_start_is_an_error_once(tmp_path, monkeypatch):
    start, failures = threading.Thread.start, ["holdall-worker"]

    def failing(self):
        if self.name in failures:
            failures.remove(self.name)
            raise RuntimeError("can't start new thread")
        start(self)

    async def main():
        async with asyncio.timeout(20):
            store = holdall.open_async_store(f"sqlite:///{tmp_path}/x.db")
            with pytest.raises(RuntimeError, match="start new thread"):
                await store.put("s", "k", 1)
            await store.put("s", "k", 2)
            assert (await store.get("s", "k")).value == 2
            await store.close()

    monkeypatch.setattr(threading.Thread, "start", failing)
    asyncio.run(main())


def test_closing_that_is_cancelled_still_closes(tmp_path):
    async def main():
        store = holdall.open_async_store(f"sqlite:///{tmp_path}/x.db?durability=relaxed")
        await store.put("s", "k", 1)
        writing = [asyncio.ensure_future(store.put("s", str(number), number)) for number in range(50)]
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(store.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.gather(closing, *writing, return_exceptions=True)
        await workers_end()

    asyncio.run(main())


def test_a_handle_that_does_not_open_leaves_no_thread(tmp_path):
    async def main():
        store = holdall.open_async_store(f"sqlite:///{tmp_path}/missing/x.db")
        for _ in range(3):
            with pytest.raises(ConfigError):
                await store.get("s", "k")
            await workers_end()
        (tmp_path / "missing").mkdir()
        assert await store.get("s", "k") is None
        await store.close()
        await workers_end()

    asyncio.run(main())
