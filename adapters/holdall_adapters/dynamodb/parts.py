"""What is too large for one item: split over several, which are never changed, under the id of the write.

An index entry is written before the parts and deleted after them, so that a sweep finds what a crash left.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from holdall.errors import HoldallError
from holdall_adapters.dynamodb import names
from holdall_adapters.dynamodb.names import Key

if TYPE_CHECKING:
    from holdall_adapters.aws.times import Times
    from holdall_adapters.dynamodb.table import Table

__all__ = ["PART", "Parts"]

PART = 380_000
"""Bytes of a part: an item ends at 400 KB, its names included."""


class Parts:
    """The parts of large values and batches.

    Args:
        table: the table.
        times: tells when an entry of the index was written.

    """

    def __init__(self, table: Table, times: Times) -> None:
        self._table = table
        self._times = times

    async def write(self, write_id: str, owner: Key, payload: bytes) -> int:
        """Write parts and return how many there are.

        Args:
            write_id: the id of the write.
            owner: the key of the item that is to refer to them.
            payload: all of it.

        """
        index = {**names.orphan(write_id), "opk": owner["pk"], "osk": owner["sk"], "at": names.N(self._times.now())}
        await self._table.put(index)
        pieces = [payload[start : start + PART] for start in range(0, len(payload), PART)]
        await self._table.put_all(
            [{**names.part(write_id, number), "val": names.B(piece)} for number, piece in enumerate(pieces)]
        )
        return len(pieces)

    async def read(self, wanted: Mapping[str, int]) -> dict[str, bytes]:
        """Return payloads by the ids of their writes; one of which a part is missing is not among them.

        Args:
            wanted: how many parts each has.

        """
        keys = {write_id: [names.part(write_id, number) for number in range(n)] for write_id, n in wanted.items()}
        found = await self._table.get_all([key for each in keys.values() for key in each])
        payloads: dict[str, bytes] = {}
        for write_id, each in keys.items():
            items = [found.get((key["pk"]["B"], key["sk"]["B"])) for key in each]
            if all(items):
                payloads[write_id] = b"".join(item["val"]["B"] for item in items if item)
        return payloads

    async def remove(self, doomed: Iterable[tuple[str, int]]) -> None:
        """Delete parts and then their entries in the index; what cannot be deleted now is left for a sweep.

        Args:
            doomed: ids of writes, and how many parts each has.

        """
        with contextlib.suppress(HoldallError):
            for write_id, count in doomed:
                await self.remove_one(write_id, count)

    async def remove_one(self, write_id: str, count: int) -> None:
        """Delete the parts of a write, and its entry in the index last."""
        await self._table.remove_all([names.part(write_id, number) for number in range(count)])
        await self._table.remove_all([names.orphan(write_id)])

    async def settled(self, write_id: str) -> None:
        """Note that what refers to the parts is stored and will see to them."""
        with contextlib.suppress(HoldallError):
            await self._table.remove_all([names.orphan(write_id)])

    async def count(self, write_id: str) -> int:
        """Return how many parts of a write there are, for a sweep."""
        key = names.part(write_id, 0)
        return len(await self._table.query_all(key["pk"]["B"], b"\x00", names.LAST, "pk", "sk"))
