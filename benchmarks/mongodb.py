"""Latency of MongoDB operations beside bare PyMongo doing the same work, both in the same run.

    python benchmarks/mongodb.py [--url mongodb://...] [--quick] [--json]

The floor is what a careful user would write by hand: one client, majority writes, conditions judged by the server, with
versions, expiry and marks in the documents, and JSON in and out. Without a URL a server is started as the tests do it.
The ratio is what counts; times are of whatever machine this runs on.
"""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import Any

import orjson
import pymongo
from beside import KEYS, READ, cases, main, measure
from embedded import VALUE

import holdall

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests import servers

LIVE = {"$or": [{"x": None}, {"$expr": {"$gt": [{"$toLong": "$x"}, {"$toLong": "$$NOW"}]}}]}


def _id() -> str:
    return os.urandom(16).hex()


async def _done(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result


class PyMongo:
    """Bare PyMongo, of either kind: records, a log of one document a batch, and leases."""

    def __init__(self, client: Any) -> None:
        database = client.get_database(
            "floor",
            write_concern=pymongo.WriteConcern(w="majority", j=True),
            read_concern=pymongo.read_concern.ReadConcern("majority"),
        )
        self.client = client
        self.records, self.heads, self.entries, self.leases = (database[name] for name in ("r", "h", "e", "k"))
        self.versions: dict[int, str] = {}

    async def prepare(self) -> None:
        await _done(self.records.create_index([("s", 1), ("k", 1)], unique=True))
        await _done(self.entries.create_index([("i", 1), ("e", 1)], unique=True))
        await _done(self.heads.update_one({"_id": "log"}, {"$setOnInsert": {"n": 0}}, upsert=True))
        await _done(self.leases.update_one({"_id": "k"}, {"$setOnInsert": {"t": 0, "w": None}}, upsert=True))

    async def put(self, number: int, session: Any = None) -> None:
        self.versions[number] = _id()
        change = {"$set": {"p": orjson.dumps(VALUE), "v": self.versions[number], "x": None}}
        name = {"s": "s", "k": f"k{number}"}
        await _done(self.records.update_one(name, change, upsert=True, session=session))

    async def swap(self, number: int) -> None:
        expect, self.versions[number] = self.versions[number], _id()
        wanted = {"s": "s", "k": f"k{number}", "v": expect, **LIVE}
        change = {"$set": {"p": orjson.dumps(VALUE), "v": self.versions[number], "x": None}}
        if (await _done(self.records.update_one(wanted, change))).modified_count != 1:
            raise RuntimeError

    async def get(self, number: int) -> Any:
        found = await _done(self.records.find_one({"s": "s", "k": f"k{number}", **LIVE}, {"_id": 0, "p": 1, "v": 1}))
        return orjson.loads(found["p"]), found["v"]

    async def append(self, count: int, session: Any = None) -> None:
        """Take positions in the head, and write the batch under them."""
        head = await _done(self.heads.find_one_and_update({"_id": "log"}, {"$inc": {"n": count}}, session=session))
        batch = b"\n".join([orjson.dumps(VALUE) for _ in range(count)])
        document = {"i": "log", "e": head["n"] + count, "p": batch}
        await _done(self.entries.insert_one(document, session=session))

    async def read(self, start: int) -> list[Any]:
        cursor = self.entries.find({"i": "log", "e": {"$gt": start}}, {"_id": 0, "p": 1}).sort("e", 1).limit(READ)
        found: list[Any] = []
        for batch in await _done(cursor.to_list(None)):
            found += [orjson.loads(line) for line in batch["p"].split(b"\n")]
            if len(found) >= READ:
                break
        return found[:READ]

    async def pair(self) -> None:
        nonce = _id()
        free = {"$or": [{"w": None}, {"$expr": {"$lte": [{"$toLong": "$x"}, {"$toLong": "$$NOW"}]}}]}
        until = {"$add": ["$$NOW", 60_000]}
        taken = [{"$set": {"w": nonce, "t": {"$add": ["$t", 1]}, "x": until}}]
        if await _done(self.leases.find_one_and_update({"_id": "k", **free}, taken)) is None:
            raise RuntimeError
        await _done(self.leases.update_one({"_id": "k", "w": nonce}, {"$set": {"w": None}}))

    async def commit(self, number: int) -> None:
        """Two records and an entry in one transaction."""
        session = await _done(self.client.start_session())
        try:
            await _done(session.start_transaction())
            await self.put(number % KEYS, session)
            await self.put((number + 1) % KEYS, session)
            await self.append(1, session)
            await _done(session.commit_transaction())
        finally:
            await _done(session.end_session())


async def sync_side(url: str, rounds: int) -> list[dict[str, Any]]:
    with (
        pymongo.MongoClient(url) as client,
        holdall.open_store(url) as store,
        holdall.open_lock(store) as lock,
    ):
        floor = PyMongo(client)
        await floor.prepare()
        return await measure("mongodb, sync", cases(store, lock, floor), rounds)


async def async_side(url: str, rounds: int) -> list[dict[str, Any]]:
    async with (
        pymongo.AsyncMongoClient(url) as client,
        holdall.open_async_store(url) as store,
        holdall.open_async_lock(store) as lock,
    ):
        floor = PyMongo(client)
        await floor.prepare()
        return await measure("mongodb, async", cases(store, lock, floor), rounds)


if __name__ == "__main__":
    main("MongoDB beside bare PyMongo", (sync_side, async_side), servers.mongodb)
