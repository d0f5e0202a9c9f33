"""Operations that are cancelled at random moments, and what must hold afterwards."""

from __future__ import annotations

import asyncio

import holdall
from holdall import Append, Check, Delete, HoldallError, Put

SCOPE = "cancelled"


def operations(store, lock, chance, number):
    """Return what may be cancelled; each leaves pairs that must be equal, and logs whose batches must be whole."""
    key = f"k{chance.randrange(8)}"
    pair = [Put(SCOPE, f"left-{key}", number), Put(SCOPE, f"right-{key}", number)]
    logs = [Append(SCOPE, f"log-left-{key}", [number] * 3), Append(SCOPE, f"log-right-{key}", [number] * 3)]

    async def hold():
        async with lock.hold(f"lease-{number}", ttl=60):
            await store.put(SCOPE, key, number)

    async def follow():
        async for _ in store.follow(SCOPE, f"log-{key}", 0, timeout=0.2):
            pass

    async def transact():
        async def work(transaction):
            found = await transaction.get(SCOPE, key)
            transaction.put(SCOPE, key, number if found is None else found.value)
            transaction.put(SCOPE, f"left-{key}", number)
            transaction.put(SCOPE, f"right-{key}", number)

        await store.transaction(work, attempts=20)

    return [
        lambda: store.get(SCOPE, key),
        lambda: store.put(SCOPE, key, number, ttl=60),
        lambda: store.update(SCOPE, key, lambda value: number),
        lambda: store.delete(SCOPE, key),
        lambda: store.touch(SCOPE, key, 60),
        lambda: store.put_many(SCOPE, {f"many{n}": number for n in range(20)}),
        lambda: store.delete_many(SCOPE, [f"many{n}" for n in range(20)]),
        lambda: store.scan(SCOPE),
        lambda: store.append(SCOPE, f"log-{key}", [number] * 3),
        lambda: store.append(SCOPE, f"log-{key}", [number] * 3, batch_id=f"b{number}"),
        lambda: store.read(SCOPE, f"log-{key}"),
        lambda: store.drop(SCOPE, f"dropped-{key}"),
        lambda: store.append(SCOPE, f"dropped-{key}", [number] * 3),
        lambda: store.commit(pair),
        lambda: store.commit([*pair, *logs]),
        lambda: store.commit([*pair, Delete(SCOPE, f"absent-{number}"), Check(SCOPE, f"absent-{key}", holdall.ABSENT)]),
        lambda: lock.try_acquire(f"lease-{number}", ttl=60),
        lambda: store.sweep(),
        transact,
        hold,
        follow,
    ]


async def cancelled_at_random(store, lock, chance, count):
    """Run operations, four at a time, and cancel each after a moment, until so many were; return how many."""
    cancelled = number = 0
    while cancelled < count:
        number += 1
        chosen = [chance.choice(operations(store, lock, chance, number)) for _ in range(4)]
        tasks = [asyncio.create_task(_awaited(call())) for call in chosen]
        for task in tasks:
            for _ in range(chance.choice([0, 0, 1, 2, 3, 5, 8])):
                await asyncio.sleep(0)
            await asyncio.sleep(chance.choice([0, 0, 0.001, 0.003]))
            cancelled += task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError | HoldallError):
                raise outcome
    return cancelled


async def _awaited(result):
    return await result


async def is_whole(store):
    """Check that what belongs together is there together."""
    for n in range(8):
        left, right = await store.get_many(SCOPE, [f"left-k{n}", f"right-k{n}"])
        assert (left and left.value) == (right and right.value)
        for name in (f"log-k{n}", f"dropped-k{n}", f"log-left-k{n}", f"log-right-k{n}"):
            entries = await store.read(SCOPE, name)
            assert [entry.position for entry in entries] == list(range(len(entries)))
            values = [entry.value for entry in entries]
            assert len(values) % 3 == 0
            assert values[::3] == values[1::3] == values[2::3]
        heads = [await store.head(SCOPE, f"log-{side}-k{n}") for side in ("left", "right")]
        assert (heads[0] and heads[0].length) == (heads[1] and heads[1].length)
