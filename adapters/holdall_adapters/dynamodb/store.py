"""The native store of the DynamoDB adapter: records and logs, and what concerns both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdall.errors import ConfigError
from holdall.rules import commit_single
from holdall.spi import WriteRequest
from holdall_adapters.aws.service import bounded
from holdall_adapters.dynamodb import names
from holdall_adapters.dynamodb.sweeping import DynamoSweeping

__all__ = ["DynamoStore"]


class DynamoStore(DynamoSweeping):
    """A `StoreDriver` on one table."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        """Apply all or none."""
        return await (commit_single(self, requests) if len(requests) == 1 else self.commit_together(requests))

    @bounded
    async def describe(self) -> Mapping[str, str]:
        """Reach the table and say what it is."""
        item = await self.table.get(names.LAYOUT)
        if item is None:
            message = f"table {self.table.name} has nothing of holdall's in it any more"
            raise ConfigError(message)
        return {
            "storage": "DynamoDB",
            "table": self.table.name,
            "layout": f"version {item['version']['N']}, {item['shards']['N']} shards",
            "reads": "strongly consistent",
        }
