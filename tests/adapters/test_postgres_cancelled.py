"""Operations that are cancelled at random moments leave no transaction open, no connection lost, and nothing torn."""

from __future__ import annotations

import asyncio
import random

import pytest

import holdall
from holdall_adapters.postgres.connections.pools import MOST_CONNECTIONS
from tests.adapters.cancelling import SCOPE, cancelled_at_random, is_whole

psycopg = pytest.importorskip("psycopg")

CANCELLED = 500


def backends(connection, name):
    rows = connection.execute(
        "SELECT pid, state FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()", [name]
    ).fetchall()
    return dict(rows)


@pytest.mark.parametrize("through", ["postgres", "pgbouncer"])
def test_500_cancellations(postgres_url, pgbouncer_url, postgres_database, through):
    name, chance = postgres_database.rpartition("/")[2], random.Random(500)
    url = postgres_database if through == "postgres" else f"{pgbouncer_url.rpartition('/')[0]}/{name}"

    async def main():
        async with holdall.open_async_store(url) as store, holdall.open_async_lock(store) as lock:
            await store.ping()
            assert await cancelled_at_random(store, lock, chance, CANCELLED) >= CANCELLED
            with psycopg.connect(postgres_url, autocommit=True) as connection:
                await none_is_in_transaction(connection)
            # The pool is whole: as many as it holds get one at once, and use it.
            async with asyncio.timeout(30):
                await asyncio.gather(*(store.put(SCOPE, f"whole{n}", n) for n in range(3 * MOST_CONNECTIONS)))
            await is_whole(store)

    async def none_is_in_transaction(connection):
        for _ in range(100):
            states = set(backends(connection, name).values())
            if not any(state and state.startswith(("idle in transaction", "active")) for state in states):
                return
            await asyncio.sleep(0.05)
        pytest.fail(f"backends are left: {states}")

    asyncio.run(main())
    if through == "postgres":
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            for _ in range(100):
                if not backends(connection, name):
                    return
                asyncio.run(asyncio.sleep(0.05))
            pytest.fail(f"connections are left: {backends(connection, name)}")
