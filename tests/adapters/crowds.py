"""A little of everything on a store and a lock, and many threads or tasks that share one."""

from __future__ import annotations

import asyncio
import threading

import holdall

MANY, ROUNDS = 50, 4


def use(store, lock):
    """Do a little of everything."""
    store.put("s", "used", 1)
    assert store.get("s", "used").value == 1
    store.append("s", "log", [1])
    store.commit([holdall.Put("s", "a", 1), holdall.Put("s", "b", 1)])
    with lock.hold("held"):
        assert lock.held("held")


async def use_suspending(store, lock):
    await store.put("s", "used", 1)
    assert (await store.get("s", "used")).value == 1
    await store.append("s", "log", [1])
    await store.commit([holdall.Put("s", "a", 1), holdall.Put("s", "b", 1)])
    async with lock.hold("held"):
        assert await lock.held("held")


def counted_in_threads(store, rounds=ROUNDS):
    """Count in threads, each in transactions that also use the store and a lease inside."""
    errors = []
    lock = holdall.open_lock(store)

    def work(number):
        try:
            for _ in range(rounds):
                store.append("s", f"log{number}", [1])

                def add(transaction):
                    value = transaction.get("s", "k").value
                    assert store.get("s", f"none{number}") is None
                    store.update("s", f"own{number}", lambda value: (value or 0) + 1)
                    assert next(store.follow("s", f"log{number}", timeout=0)).value == 1
                    transaction.put("s", "k", value + 1)

                store.transaction(add, attempts=10_000)
                with lock.hold(f"lease{number}"):
                    store.put("s", f"held{number}", 1)
        except Exception as error:  # noqa: BLE001 - the test shows it
            errors.append(error)

    threads = [threading.Thread(target=work, args=[number]) for number in range(MANY)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert errors == []
    assert not any(thread.is_alive() for thread in threads)
    lock.close()


async def counted_in_tasks(store, rounds=ROUNDS):
    lock = holdall.open_async_lock(store)

    async def work(number):
        for _ in range(rounds):
            await store.append("s", f"log{number}", [1])

            async def add(transaction):
                value = (await transaction.get("s", "k")).value
                assert await store.get("s", f"none{number}") is None
                await store.update("s", f"own{number}", lambda value: (value or 0) + 1)
                async for entry in store.follow("s", f"log{number}", timeout=0):
                    assert entry.value == 1
                transaction.put("s", "k", value + 1)

            await store.transaction(add, attempts=10_000)
            async with lock.hold(f"lease{number}"):
                await store.put("s", f"held{number}", 1)

    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        for number in range(MANY):
            group.create_task(work(number))
    await lock.close()
