"""Followers of logs, in threads or in tasks."""

from __future__ import annotations

import asyncio
import threading

import holdall

NEVER = 300.0
"""Seconds after which a follower would look again by itself: longer than any test takes."""
_ENTRIES, _LOGS = 20, 4


class Follower:
    """Follows a log in a thread, on a handle of its own, until it has heard enough."""

    def __init__(self, kind, url, key, count, begin=0):
        self.heard, self.errors = [], []
        self._come = threading.Event()
        target = self._suspending if kind == "async" else self._blocking
        self._thread = threading.Thread(target=self._run, args=[target, url, key, count, begin])
        self._thread.start()

    def _run(self, target, *arguments):
        try:
            target(*arguments)
        except Exception as error:  # noqa: BLE001 - the test shows it
            self.errors.append(error)

    def _blocking(self, url, key, count, begin):
        with holdall.open_store(url) as store:
            for entry in store.follow("s", key, begin, timeout=60):
                self.heard.append(entry.value)
                if len(self.heard) == count:
                    return

    def _suspending(self, url, key, count, begin):
        async def main():
            async with holdall.open_async_store(url) as store:
                async for entry in store.follow("s", key, begin, timeout=60):
                    self.heard.append(entry.value)
                    if len(self.heard) == count:
                        return

        asyncio.run(main())

    def join(self):
        self._thread.join(120)
        assert not self._thread.is_alive()
        assert self.errors == []
        return self.heard


def append_to_all(store):
    for number in range(_ENTRIES):
        for log in range(_LOGS):
            store.append("s", f"log{log}", [number])


def hear_everything(kind, url, store, count):
    """Append to some logs, and make sure that each of so many followers hears all of one."""
    wanted = list(range(_ENTRIES))
    if kind == "sync":
        followers = [Follower(kind, url, f"log{number % _LOGS}", _ENTRIES) for number in range(count)]
        append_to_all(store)
        for follower in followers:
            assert follower.join() == wanted
        return

    async def follow(store, number):
        heard = []
        async for entry in store.follow("s", f"log{number % _LOGS}", timeout=60):
            heard.append(entry.value)
            if len(heard) == _ENTRIES:
                return heard
        return heard

    async def main():
        async with holdall.open_async_store(url) as following:
            tasks = [asyncio.create_task(follow(following, number)) for number in range(count)]
            await asyncio.to_thread(append_to_all, store)
            assert await asyncio.gather(*tasks) == [wanted] * count

    asyncio.run(main())
