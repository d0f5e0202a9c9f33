"""What a sweep removes: records that have expired, graves that are old, and what crashes left of logs and parts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from holdall_adapters.aws.errors import Refused
from holdall_adapters.aws.times import KEPT
from holdall_adapters.dynamodb import names
from holdall_adapters.dynamodb.changes import Change
from holdall_adapters.dynamodb.commits import DynamoCommits
from holdall_adapters.dynamodb.log_state import LogState, elements_of, state_of
from holdall_adapters.dynamodb.names import LAST, N, S
from holdall_adapters.dynamodb.record_changes import Found, found_in, same

if TYPE_CHECKING:
    from holdall_adapters.dynamodb.table import Item

__all__ = ["DynamoSweeping"]

_RECORD = ("pk", "sk", "ver", "prev", "exp", "gone", "mark", "parts")
_LOG = ("pk", "sk", "inc", "len", "fst", "bas", "nb", "mark", "ver", "gone", "trash")
_DIGITS = "0123456789abcdef"


class DynamoSweeping(DynamoCommits):
    """Sweeping: every request is bounded by itself."""

    async def sweep(self) -> int:
        """Remove what has expired and what crashes left; return how many items."""
        records = [
            partial(self._sweep_records, names.records(scope, shard))
            for scope in await self._catalogued(b"s")
            for shard in range(self.shards)
        ]
        logs = [
            partial(self._sweep_logs, names.logs(scope, shard))
            for scope in await self._catalogued(b"t")
            for shard in range(self.shards)
        ]
        orphans = [partial(self._sweep_orphans, digit) for digit in _DIGITS]
        return sum(await self.table.together([*records, *logs, *orphans]))

    async def _catalogued(self, kind: bytes) -> list[str]:
        scopes: list[str] = []
        for shard in range(self.shards):
            partition = names.catalogue_partition(kind, shard)
            items = await self.table.query_all(partition, b"\x00", LAST, "sk")
            scopes += [item["sk"]["B"].decode() for item in items]
        return scopes

    async def _sweep_logs(self, partition: bytes) -> int:
        items = await self.table.query_all(partition, b"\x00", LAST, *_LOG)
        return sum([await self._sweep_log(item) for item in items])

    async def _sweep_orphans(self, digit: str) -> int:
        items = await self.table.query_all(names.orphans(digit), b"\x00", LAST)
        return sum([await self._sweep_orphan(item) for item in items])

    async def _sweep_records(self, partition: bytes) -> int:
        past = self.times.past()
        items = await self.table.query_all(partition, b"\x00", LAST, *_RECORD)
        return sum([await self._sweep_record(item, past) for item in items])

    async def _sweep_record(self, item: Item, past: float) -> int:
        """Remove a record that has expired, or a grave that is old; what has a mark keeps it."""
        found, key = found_in(item, past), names.same_key(item)
        if found.version is None or found.live is not None:
            return 0
        if "gone" in item:
            is_old = not found.mark and float(item["gone"]["N"]) < past - KEPT
            if is_old:
                await self.table.remove(key, same(Change().equal("mark", None), found))
            return 0
        if found.mark:
            change = same(Change().remove("val", "parts", "exp", "ttl").set("gone", N(self.times.now())), found)
            return int(await self._swept(key, change, found))
        if await self.table.remove(key, same(Change().equal("mark", None), found)):
            await self._clean_up(found)
            return 1
        return 0

    async def _swept(self, key: Any, change: Change, found: Found) -> bool:
        try:
            await self.table.update(key, change)
        except Refused:
            return False
        await self._clean_up(found)
        return True

    async def _sweep_log(self, item: Item) -> int:
        """Remove what a truncate or drop left, and a grave that is old."""
        state, past = state_of(item), self.times.past()
        count = await self.forget(state) if state.head is not None and state.first else 0
        for life in item.get("trash", {}).get("SS", ()):
            incarnation, _, dropped = life.partition(" ")
            count += await self.remove_life(incarnation)
            if float(dropped) < past - KEPT:  # no writer that stood still meanwhile brings any of it back
                await self.table.update(names.same_key(item), Change().delete("trash", {"SS": [life]}))
        if state.head is None and "trash" not in item and "gone" in item and not state.mark:
            await self._remove_grave(item, past)
        return count

    async def _remove_grave(self, item: Item, past: float) -> None:
        if float(item["gone"]["N"]) < past - KEPT:
            change = Change().equal("inc", None).equal("mark", None).equal("ver", S(item["ver"]["S"]))
            await self.table.remove(names.same_key(item), change)

    async def _sweep_orphan(self, item: Item) -> int:
        """Remove parts that nothing refers to; a writer that stood still meanwhile is refused first."""
        if float(item["at"]["N"]) >= self.times.past() - KEPT:
            return 0
        write_id, owner = item["sk"]["B"].decode(), {"pk": item["opk"], "sk": item["osk"]}
        if await self._is_owned(write_id, owner):
            return 0
        await self.table.update(owner, Change().add("epoch", N(1)))
        if await self._is_owned(write_id, owner):
            return 0
        await self.parts.remove_one(write_id, await self.parts.count(write_id))
        return 1

    async def _is_owned(self, write_id: str, owner: Any) -> bool:
        """Tell whether a record or log refers to the parts of a write."""
        if owner["pk"]["B"][:1] == b"r":
            found = found_in(await self.table.get(owner, *_RECORD), 0.0)
            return found.version == write_id and found.parts > 0
        state = state_of(await self.table.get(owner))
        if any(element.write_id == write_id for element in state.tail):
            return True
        return state.incarnation is not None and await self._is_in_chunks(write_id, state)

    async def _is_in_chunks(self, write_id: str, state: LogState) -> bool:
        for chunk in await self.table.query_all(names.chunks(state.incarnation or ""), b"\x00", LAST * 8):
            if any(element.write_id == write_id for element in elements_of(chunk["els"]["L"])):
                return True
        return False
