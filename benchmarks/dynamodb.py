"""Latency of DynamoDB operations beside bare boto3 and aiobotocore doing the same work, both in the same run.

    python benchmarks/dynamodb.py [--url dynamodb://Table?...] [--quick] [--json]

The floor is what a careful user would write by hand: one request an operation, with versions, expiry and marks in the
items, a row of entries for each append and a counter of their positions, and JSON in and out. Without a URL a server is
started as the tests do it. The ratio is what counts; times are of whatever machine this runs on.
"""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import Any

import orjson
from aiobotocore.session import AioSession
from beside import KEYS, READ, cases, main, measure
from embedded import VALUE

import holdall

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests import servers
from tests.adapters.aws_tools import arguments_of, bare_client

TABLE = "holdall-floor"
ROWS = 100


def _id() -> str:
    return os.urandom(16).hex()


def _key(partition: str, sort: str) -> dict[str, Any]:
    return {"pk": {"S": partition}, "sk": {"S": sort}}


class Bare:
    """A bare client, of either kind."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.versions: dict[int, str] = {}

    async def call(self, name: str, **arguments: Any) -> Any:
        result = getattr(self.client, name)(**arguments)
        return await result if inspect.isawaitable(result) else result

    async def make(self) -> None:
        if TABLE in (await self.call("list_tables"))["TableNames"]:
            return
        names = (("pk", "HASH"), ("sk", "RANGE"))
        await self.call(
            "create_table",
            TableName=TABLE,
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in names],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name, _ in names],
            BillingMode="PAY_PER_REQUEST",
        )

    async def update(self, key: dict[str, Any], change: str, **more: Any) -> Any:
        return await self.call("update_item", TableName=TABLE, Key=key, UpdateExpression=change, **more)

    def record(self, number: int) -> dict[str, Any]:
        self.versions[number] = _id()
        return {":v": {"B": orjson.dumps(VALUE)}, ":w": {"S": self.versions[number]}}

    async def put(self, number: int) -> None:
        values = self.record(number)
        await self.update(_key("r", f"k{number}"), "SET val = :v, ver = :w", ExpressionAttributeValues=values)

    async def swap(self, number: int) -> None:
        values = {":e": {"S": self.versions[number]}, **self.record(number)}
        await self.update(
            _key("r", f"k{number}"),
            "SET val = :v, ver = :w",
            ConditionExpression="ver = :e",
            ExpressionAttributeValues=values,
        )

    async def get(self, number: int) -> Any:
        found = await self.call("get_item", TableName=TABLE, Key=_key("r", f"k{number}"), ConsistentRead=True)
        return orjson.loads(found["Item"]["val"]["B"])

    async def reserve(self, count: int) -> int:
        values = {":n": {"N": str(count)}}
        found = await self.update(
            _key("l", "log"), "ADD len :n", ExpressionAttributeValues=values, ReturnValues="UPDATED_NEW"
        )
        return int(found["Attributes"]["len"]["N"])

    async def append(self, count: int) -> None:
        """Count positions, and put the entries as one item: it is not atomic, but what people write."""
        end = await self.reserve(count)
        lines = b"\n".join([orjson.dumps(VALUE) for _ in range(count)])
        await self.call("put_item", TableName=TABLE, Item={**_key("e", f"{end:012}"), "val": {"B": lines}})

    async def read(self, start: int) -> list[Any]:
        values = {":p": {"S": "e"}, ":s": {"S": f"{start:012}"}}
        entries: list[Any] = []
        after: dict[str, Any] = {}
        while len(entries) < READ:
            found = await self.call(
                "query",
                TableName=TABLE,
                KeyConditionExpression="pk = :p AND sk > :s",
                ExpressionAttributeValues=values,
                ConsistentRead=True,
                Limit=ROWS,
                **after,
            )
            for item in found["Items"]:
                entries += map(orjson.loads, item["val"]["B"].split(b"\n"))
            if "LastEvaluatedKey" not in found:
                break
            after = {"ExclusiveStartKey": found["LastEvaluatedKey"]}
        return entries[:READ]

    async def pair(self) -> None:
        nonce = {":n": {"S": _id()}}
        names = {"#t": "token"}
        await self.update(
            _key("k", "k"),
            "SET nonce = :n ADD #t :one",
            ConditionExpression="attribute_not_exists(nonce)",
            ExpressionAttributeNames=names,
            ExpressionAttributeValues={**nonce, ":one": {"N": "1"}},
            ReturnValues="ALL_NEW",
        )
        await self.update(
            _key("k", "k"), "REMOVE nonce", ConditionExpression="nonce = :n", ExpressionAttributeValues=nonce
        )

    async def commit(self, number: int) -> None:
        """Two records and an entry in one transaction, the position of the entry counted before."""
        end = await self.reserve(1)
        puts = [
            {"TableName": TABLE, "Item": {**_key("r", f"k{each % KEYS}"), "val": {"B": orjson.dumps(VALUE)}}}
            for each in (number, number + 1)
        ]
        puts.append({"TableName": TABLE, "Item": {**_key("e", f"{end:012}"), "val": {"B": orjson.dumps(VALUE)}}})
        await self.call("transact_write_items", TransactItems=[{"Put": put} for put in puts])


async def sync_side(url: str, rounds: int) -> list[dict[str, Any]]:
    client = bare_client(url)
    floor = Bare(client)
    await floor.make()
    with holdall.open_store(url) as store, holdall.open_lock(store) as lock:
        rows = await measure("dynamodb, sync", cases(store, lock, floor), rounds)
    client.close()
    return rows


async def async_side(url: str, rounds: int) -> list[dict[str, Any]]:
    async with (
        AioSession().create_client("dynamodb", **arguments_of(url)) as client,
        holdall.open_async_store(url) as store,
        holdall.open_async_lock(store) as lock,
    ):
        floor = Bare(client)
        await floor.make()
        return await measure("dynamodb, async", cases(store, lock, floor), rounds)


if __name__ == "__main__":
    main("DynamoDB beside bare boto3 and aiobotocore", (sync_side, async_side), servers.dynamodb)
