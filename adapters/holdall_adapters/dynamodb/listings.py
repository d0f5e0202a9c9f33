"""Records as they are read: one, several, and pages of them, merged over the shards of a scope."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from holdall.errors import Corrupt, StoreTimeout
from holdall.spi import StoredPage, StoredRecord
from holdall_adapters.aws.service import bounded
from holdall_adapters.dynamodb import names
from holdall_adapters.dynamodb.names import LAST
from holdall_adapters.dynamodb.parts import PART, Parts
from holdall_adapters.dynamodb.record_changes import found_in
from holdall_adapters.dynamodb.table import Item
from holdall_adapters.lost_replies import ATTEMPTS

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.aws.times import Times
    from holdall_adapters.dynamodb.names import Key
    from holdall_adapters.dynamodb.table import Table

__all__ = ["DynamoListings", "Merge", "span"]

_ROUNDS = 4
_MOST_ROWS = 10_000
_MOST_BYTES = 8 * 2**20
_MOST_SCOPES = 10_000
_ALIVE_RECORD = "attribute_exists(#ver) AND attribute_not_exists(#gone)"


def span(prefix: str, after: str | None) -> tuple[bytes, bytes]:
    """Return the first and the last sort key of names that begin with a prefix and lie behind another one.

    Args:
        prefix: what they begin with.
        after: the name behind which they lie, or None.

    """
    low = prefix.encode() or b"\x00"
    if after is not None:
        low = max(low, after.encode() + b"\x00")
    return low, prefix.encode() + LAST


class Merge:
    """Items of several partitions in the order of their sort keys, fetched some at a time.

    Args:
        table: the table.
        partitions: the partitions.
        low: the first sort key.
        high: the last one.
        limit: how many items are wanted, about.
        shown: the attributes to fetch, all if none are named.

    """

    def __init__(
        self, table: Table, partitions: Sequence[bytes], low: bytes, high: bytes, limit: int, shown: Sequence[str]
    ) -> None:
        self._table = table
        self._span = low, high
        self._limit = -(-limit // len(partitions)) + 8
        self._shown = shown
        self._waiting: dict[bytes, list[Item]] = {partition: [] for partition in partitions}
        self._next: dict[bytes, Key | None] = dict.fromkeys(partitions)
        self._ended: set[bytes] = set()
        self._rounds = 0

    async def take(self) -> list[Item] | None:
        """Return the items that come next, in order; None after the last of them, or when it took too long."""
        lacking = [each for each, items in self._waiting.items() if not items and each not in self._ended]
        if lacking:
            if self._rounds == _ROUNDS:
                return None
            self._rounds += 1
            await self._table.together([partial(self._fetch, each) for each in lacking])
        bounds = [items[-1]["sk"]["B"] for each, items in self._waiting.items() if each not in self._ended and items]
        if any(not items for each, items in self._waiting.items() if each not in self._ended):
            return []
        found: list[Item] = []
        for partition, items in self._waiting.items():
            ready = [item for item in items if not bounds or item["sk"]["B"] <= min(bounds)]
            self._waiting[partition] = items[len(ready) :]
            found += ready
        return sorted(found, key=lambda item: item["sk"]["B"]) if found or not self.is_over() else None

    async def _fetch(self, partition: bytes) -> None:
        items, after = await self._table.query(
            partition, *self._span, self._limit, *self._shown, after=self._next[partition]
        )
        self._waiting[partition] = items
        self._next[partition] = after
        if after is None:
            self._ended.add(partition)

    def is_over(self) -> bool:
        """Tell whether everything was taken."""
        return len(self._ended) == len(self._waiting) and not any(self._waiting.values())


class DynamoListings:
    """The operations that read records."""

    def __init__(self, table: Table, shards: int, times: Times, environment: Environment) -> None:
        self.table = table
        self.shards = shards
        self.times = times
        self.environment = environment
        self.parts = Parts(table, times)
        self._entered: set[tuple[bytes, str]] = set()

    @property
    def service(self) -> Table:
        """The table, whose requests are bounded together."""
        return self.table

    async def enter(self, kind: bytes, scope: str) -> None:
        """Put a scope into a catalogue, before anything is written in it; entries are never deleted."""
        if (kind, scope) in self._entered:
            return
        await self.table.put(dict(names.catalogue(kind, scope, self.shards)))
        if len(self._entered) >= _MOST_SCOPES:
            self._entered.clear()
        self._entered.add((kind, scope))

    @bounded
    async def get(self, scope: str, key: str) -> StoredRecord | None:
        """Return a live record."""
        seen: str | None = None
        for _ in range(ATTEMPTS):
            past = self.times.past()
            item = await self.table.get(names.record(scope, key, self.shards))
            found = found_in(item, past)
            if item is None or found.live is None:
                return None
            payloads = await self._payloads([item])
            if found.live in payloads:
                return self._stored(item, payloads[found.live])
            if seen == found.live:
                message = "parts of the value are missing: restore the table from a backup"
                raise Corrupt(message)
            seen = found.live
        message = "the record was written again and again while it was read"
        raise StoreTimeout(message)

    async def _payloads(self, items: Sequence[Item]) -> dict[str, bytes]:
        """Return values by their versions; one whose parts are not all there is not among them."""
        inline = {item["ver"]["S"]: item["val"]["B"] for item in items if "val" in item}
        wanted = {item["ver"]["S"]: int(item["parts"]["N"]) for item in items if "parts" in item}
        return inline | await self.parts.read(wanted) if wanted else inline

    def _stored(self, item: Item, payload: bytes) -> StoredRecord:
        left = self.times.left(float(item["exp"]["N"])) if "exp" in item else None
        return StoredRecord(item["sk"]["B"].decode(), payload, item["ver"]["S"], left)

    @bounded
    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        """Return live records in the order asked."""
        past, wanted = self.times.past(), list(dict.fromkeys(keys))
        found = await self.table.get_all([names.record(scope, key, self.shards) for key in wanted])
        live = [item for item in found.values() if found_in(item, past).live is not None]
        stored = {record.key: record for record in await self._all_stored(scope, live)}
        return [stored.get(key) for key in keys]

    async def _all_stored(self, scope: str, items: Sequence[Item]) -> list[StoredRecord]:
        """Return live records with their values; one that was overwritten meanwhile is read again."""
        payloads, stored = await self._payloads(items), list[StoredRecord]()
        for item in items:
            payload = payloads.get(item["ver"]["S"])
            record = await self.get(scope, item["sk"]["B"].decode()) if payload is None else self._stored(item, payload)
            stored.extend([] if record is None else [record])
        return stored

    @bounded
    async def scan(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[StoredRecord]:
        """Return a page of live records, up to a bound of bytes."""
        page = await self._page(self._records_of(scope), prefix, after, limit, (), _size)
        return StoredPage(await self._all_stored(scope, page.rows), page.next)

    def _records_of(self, scope: str) -> list[bytes]:
        return [names.records(scope, shard) for shard in range(self.shards)]

    @bounded
    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""
        shown = ("pk", "sk", "ver", "gone", "exp")
        page = await self._page(self._records_of(scope), prefix, after, limit, shown, _no_size)
        return StoredPage([item["sk"]["B"].decode() for item in page.rows], page.next)

    async def _page(
        self,
        partitions: Sequence[bytes],
        prefix: str,
        after: str | None,
        limit: int,
        shown: Sequence[str],
        size: Callable[[Item], int],
    ) -> StoredPage[Item]:
        """Return a page of live items of partitions, short where there is much that is dead, or large."""
        limit, past = min(limit, _MOST_ROWS), self.times.past()
        merge = Merge(self.table, partitions, *span(prefix, after), limit + 1, shown)
        rows, room, last = list[Item](), _MOST_BYTES, after
        while (items := await merge.take()) is not None:
            for item in items:
                if len(rows) == limit or room <= 0:
                    return StoredPage(rows, last)
                if _is_live(item, past):
                    rows.append(item)
                    room -= size(item)
                last = item["sk"]["B"].decode()
        return StoredPage(rows, None if merge.is_over() else last)

    @bounded
    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes."""
        return await self.scopes_in(b"s", self._has_record, prefix, after, limit)

    async def scopes_in(
        self,
        kind: bytes,
        is_alive: Callable[[str], Awaitable[bool]],
        prefix: str,
        after: str | None,
        limit: int,
    ) -> StoredPage[str]:
        """Return a page of a catalogue: scopes in which something lives, each of which is looked into."""
        limit = min(limit, _MOST_ROWS)
        catalogue = [names.catalogue_partition(kind, shard) for shard in range(self.shards)]
        page = await self._page(catalogue, prefix, after, limit, ("pk", "sk"), _no_size)
        scopes = [item["sk"]["B"].decode() for item in page.rows]
        alive = await self.table.together([partial(is_alive, scope) for scope in scopes])
        return StoredPage([scope for scope, is_one in zip(scopes, alive, strict=True) if is_one], page.next)

    async def _has_record(self, scope: str) -> bool:
        past = self.times.past()
        for partition in self._records_of(scope):
            if await self.has_one(partition, _ALIVE_RECORD, lambda item: found_in(item, past).live is not None):
                return True
        return False

    async def has_one(self, partition: bytes, alive: str, is_alive: Callable[[Item], bool]) -> bool:
        """Tell whether a partition has an item that is alive.

        Args:
            partition: the partition.
            alive: an expression that holds for such items.
            is_alive: tells it of an item for which it holds.

        """
        after: Key | None = None
        shown = ("pk", "sk", "ver", "gone", "exp", "inc")
        for limit in _growing():
            items, after = await self.table.query(partition, b"\x00", LAST, limit, *shown, alive=alive, after=after)
            if any(map(is_alive, items)):
                return True
            if after is None:
                return False
        return False


def _growing() -> Iterator[int | None]:
    yield 4
    while True:
        yield None


def _is_live(item: Mapping[str, Any], past: float) -> bool:
    """Tell whether an item lives: a record, the head of a log, or an entry of a catalogue."""
    if item["pk"]["B"][:1] == b"r":
        return found_in(dict(item), past).live is not None
    return item["pk"]["B"][:1] != b"l" or "inc" in item


def _size(item: Item) -> int:
    return len(item["val"]["B"]) if "val" in item else int(item["parts"]["N"]) * PART


def _no_size(_: Item) -> int:
    return 0
