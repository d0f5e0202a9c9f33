"""The way to a table: single requests, patient with throttling, bounded in time together, strongly consistent."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdall_adapters.aws.errors import Refused
from holdall_adapters.aws.service import Service
from holdall_adapters.dynamodb.changes import Change, named
from holdall_adapters.dynamodb.names import Key

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.aws.connections.clients import Client

__all__ = ["Item", "Table"]

Item = dict[str, Any]

_FIRST_DELAY = 0.01
_MOST_GOT, _MOST_WRITTEN = 100, 25
_BATCH_BYTES = 8 * 2**20


class Table(Service):
    """A table.

    Args:
        client: the way to the service.
        name: the name of the table.
        environment: has the boot clock, sleeping and randomness.
        timeout: seconds that bound an operation.

    """

    def __init__(self, client: Client, name: str, environment: Environment, timeout: float) -> None:
        Service.__init__(self, client, environment, timeout)
        self.name = name

    async def get(self, key: Key, *shown: str) -> Item | None:
        """Return an item.

        Args:
            key: its key.
            shown: the attributes to return, all if none are named.

        """
        found = await self.call(
            "get_item", writing=False, TableName=self.name, Key=key, ConsistentRead=True, **_projection(shown)
        )
        return found.get("Item")

    async def update(self, key: Key, change: Change, returned: str = "NONE") -> Item:
        """Change an item, and return the attributes asked for.

        Args:
            key: its key.
            change: what to do.
            returned: such as "ALL_NEW".

        Raises:
            Refused: a condition did not hold.

        """
        reply = await self.call(
            "update_item",
            writing=True,
            TableName=self.name,
            Key=key,
            ReturnValues=returned,
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
            **change.arguments(),
        )
        found: Item = reply.get("Attributes", {})
        return found

    async def put(self, item: Item) -> None:
        """Put an item whose content its key decides, so that it may be put again."""
        await self.call("put_item", writing=False, TableName=self.name, Item=item)

    async def remove(self, key: Key, change: Change) -> bool:
        """Delete an item if the conditions of a change hold, and return whether they did."""
        try:
            await self.call("delete_item", writing=False, TableName=self.name, Key=key, **change.arguments())
        except Refused:
            return False
        return True

    async def query(
        self,
        partition: bytes,
        low: bytes,
        high: bytes,
        limit: int | None = None,
        *shown: str,
        alive: str | None = None,
        after: Key | None = None,
    ) -> tuple[list[Item], Key | None]:
        """Return items of a partition, in the order of their sort keys, and where more of them begin.

        Args:
            partition: the partition.
            low: the first sort key.
            high: the last one.
            limit: the most items to look at; without one, as many as a page of 1 MB holds.
            shown: the attributes to return, all if none are named.
            alive: an expression; only items for which it holds are returned.
            after: where the page before ended.

        """
        if low > high:
            return [], None
        condition = "#pk = :pk AND #sk BETWEEN :low AND :high"
        arguments: Item = _projection(shown)
        names = {**arguments.pop("ExpressionAttributeNames", {}), **named(condition, alive or "")}
        values = {":pk": {"B": partition}, ":low": {"B": low}, ":high": {"B": high}}
        optional = {"Limit": limit, "FilterExpression": alive, "ExclusiveStartKey": after}
        arguments |= {name: value for name, value in optional.items() if value is not None}
        reply = await self.call(
            "query",
            writing=False,
            TableName=self.name,
            ConsistentRead=True,
            KeyConditionExpression=condition,
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=values,
            **arguments,
        )
        return reply["Items"], reply.get("LastEvaluatedKey")

    async def query_all(self, partition: bytes, low: bytes, high: bytes, *shown: str) -> list[Item]:
        """Return all items of a part of a partition, as `query` does."""
        found, after = await self.query(partition, low, high, None, *shown)
        while after is not None:
            more, after = await self.query(partition, low, high, None, *shown, after=after)
            found += more
        return found

    async def get_all(self, keys: Sequence[Key], *shown: str) -> dict[tuple[bytes, bytes], Item]:
        """Return items by their keys, those that are there."""
        found: dict[tuple[bytes, bytes], Item] = {}
        for start in range(0, len(keys), _MOST_GOT):
            wanted: list[Any] = list(keys[start : start + _MOST_GOT])
            while wanted:
                request = {self.name: {"Keys": wanted, "ConsistentRead": True, **_projection(shown)}}
                reply = await self.call("batch_get_item", writing=False, RequestItems=request)
                for item in reply["Responses"].get(self.name, ()):
                    found[item["pk"]["B"], item["sk"]["B"]] = item
                left = reply.get("UnprocessedKeys", {}).get(self.name, {}).get("Keys", [])
                await self._wait_for_more(len(left) == len(wanted))
                wanted = left
        return found

    async def put_all(self, items: Sequence[Item]) -> None:
        """Put items whose content their keys decide, so that they may be put again."""
        await self._write_all([({"PutRequest": {"Item": item}}, _size(item)) for item in items])

    async def remove_all(self, keys: Sequence[Key]) -> None:
        """Delete items that nothing refers to any more."""
        await self._write_all([({"DeleteRequest": {"Key": key}}, 0) for key in keys])

    async def _write_all(self, requests: Sequence[tuple[Item, int]]) -> None:
        """Write in as few requests as may be, some beside each other."""
        batches: list[list[Item]] = []
        room = 0
        for request, size in requests:
            if not batches or len(batches[-1]) == _MOST_WRITTEN or size > room:
                batches.append([])
                room = _BATCH_BYTES
            batches[-1].append(request)
            room -= size
        if batches:
            await self.together([functools.partial(self._write_batch, batch) for batch in batches])

    async def _write_batch(self, batch: Sequence[Item]) -> None:
        left = list(batch)
        while left:
            reply = await self.call("batch_write_item", writing=False, RequestItems={self.name: left})
            unprocessed = reply.get("UnprocessedItems", {}).get(self.name, [])
            await self._wait_for_more(len(unprocessed) == len(left))
            left = unprocessed

    async def _wait_for_more(self, nothing_done: bool) -> None:  # noqa: FBT001 - it says why to wait
        if nothing_done:
            await self.environment.sleep(_FIRST_DELAY * (1 + self.environment.random()))


def _projection(shown: Sequence[str]) -> Item:
    if not shown:
        return {}
    names = {f"#{name}": name for name in shown}
    return {"ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}


def _size(item: Mapping[str, Any]) -> int:
    return sum(len(value["B"]) for value in item.values() if "B" in value)
