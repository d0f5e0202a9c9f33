"""Latency of S3 operations beside bare boto3 and aiobotocore doing the same work, both in the same run.

    python benchmarks/s3.py [--url s3://bucket/prefix?...] [--quick] [--json]

The floor is what a careful user would write by hand: an object a record, replaced under If-Match; a log of an object a
batch, named by its position and written under If-None-Match; a lease that is an object which is made and deleted; and
JSON in and out. Without a URL a server is started as the tests do it. The ratio is what counts; times are of whatever
machine this runs on.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from pathlib import Path
from typing import Any

import orjson
from aiobotocore.session import AioSession
from beside import READ, cases, main, measure
from embedded import VALUE

import holdall

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests import servers
from tests.adapters.aws_tools import arguments_of, bare_client
from tests.adapters.s3_tools import bucket_of

AT_ONCE = 16


class Bare:
    """A bare client, of either kind."""

    def __init__(self, client: Any, bucket: str) -> None:
        self.client = client
        self.bucket = bucket
        self.folder = f"floor-{os.urandom(8).hex()}"
        self.tags: dict[int, str] = {}
        self.end = 0

    async def call(self, name: str, key: str, **arguments: Any) -> Any:
        result = getattr(self.client, name)(Bucket=self.bucket, Key=f"{self.folder}/{key}", **arguments)
        return await result if inspect.isawaitable(result) else result

    async def put(self, number: int) -> None:
        self.tags[number] = (await self.call("put_object", f"r/{number}", Body=orjson.dumps(VALUE)))["ETag"]

    async def swap(self, number: int) -> None:
        body, tag = orjson.dumps([os.urandom(16).hex(), VALUE]), self.tags[number]
        self.tags[number] = (await self.call("put_object", f"r/{number}", Body=body, IfMatch=tag))["ETag"]

    async def body(self, key: str) -> bytes:
        reply = (await self.call("get_object", key))["Body"]
        found = reply.read()
        return await found if inspect.isawaitable(found) else found

    async def get(self, number: int) -> Any:
        return orjson.loads(await self.body(f"r/{number}"))

    async def append(self, count: int) -> None:
        lines = b"\n".join([orjson.dumps(VALUE) for _ in range(count)])
        await self.call("put_object", f"e/{self.end:012}", Body=lines, IfNoneMatch="*")
        self.end += count

    async def read(self, start: int) -> list[Any]:
        """Find the objects, and fetch them one after the other, or some at once where they can be awaited."""
        place = f"{self.folder}/e/"
        result = self.client.list_objects_v2(Bucket=self.bucket, Prefix=place, StartAfter=f"{place}{start - 1:012}")
        listed = (await result if inspect.isawaitable(result) else result)["Contents"]
        keys = [each["Key"].removeprefix(f"{self.folder}/") for each in listed]
        entries: list[Any] = []
        while keys and len(entries) < READ:
            for body in await asyncio.gather(*(self.body(key) for key in keys[:AT_ONCE])):
                entries += map(orjson.loads, body.split(b"\n"))
            keys = keys[AT_ONCE:]
        return entries[:READ]

    async def pair(self) -> None:
        tag = (await self.call("put_object", "k", Body=os.urandom(16), IfNoneMatch="*"))["ETag"]
        await self.call("delete_object", "k", IfMatch=tag)

    async def commit(self, number: int) -> None:
        raise NotImplementedError


async def sync_side(url: str, rounds: int) -> list[dict[str, Any]]:
    client = bare_client(url)
    with holdall.open_store(url) as store, holdall.open_lock(store) as lock:
        rows = await measure("s3, sync", cases(store, lock, Bare(client, bucket_of(url))), rounds)
    client.close()
    return rows


async def async_side(url: str, rounds: int) -> list[dict[str, Any]]:
    async with (
        AioSession().create_client("s3", **arguments_of(url)) as client,
        holdall.open_async_store(url) as store,
        holdall.open_async_lock(store) as lock,
    ):
        return await measure("s3, async", cases(store, lock, Bare(client, bucket_of(url))), rounds)


if __name__ == "__main__":
    main("S3 beside bare boto3 and aiobotocore", (sync_side, async_side), servers.s3)
