"""Operations that are cancelled at random moments leave no transaction open, and nothing torn."""

from __future__ import annotations

import asyncio
import random

import pytest

import holdall
from tests.adapters.cancelling import SCOPE, cancelled_at_random, is_whole

pytest.importorskip("pymongo")

pytestmark = [
    pytest.mark.usefixtures("sockets_of_pymongo"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


CANCELLED = 200


def test_200_cancellations(mongodb_database):
    async def main():
        async with (
            holdall.open_async_store(mongodb_database, timeout=30) as store,
            holdall.open_async_lock(store) as lock,
        ):
            await store.ping()
            assert await cancelled_at_random(store, lock, random.Random(200), CANCELLED) >= CANCELLED
            # A transaction that was left open would keep these waiting for a minute.
            names = [f"{side}-k{n}" for n in range(8) for side in ("left", "right")]
            async with asyncio.timeout(30):
                await asyncio.gather(*(store.put("after", name, 1) for name in names))
                for n in range(8):
                    pair = [holdall.Put(SCOPE, f"{side}-k{n}", "last") for side in ("left", "right")]
                    await store.commit(pair)
            await is_whole(store)

    asyncio.run(main())
