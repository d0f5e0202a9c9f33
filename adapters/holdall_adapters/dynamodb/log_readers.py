"""What reads logs: the head in one request, what left it in pages of 1 MB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from holdall.errors import Corrupt, StoreTimeout
from holdall.rules import check_start
from holdall.spi import StoredEntries, StoredPage
from holdall.values import Head
from holdall_adapters.aws.service import bounded
from holdall_adapters.dynamodb import names
from holdall_adapters.dynamodb.listings import DynamoListings
from holdall_adapters.dynamodb.log_state import Element, LogState, elements_of, state_of
from holdall_adapters.dynamodb.names import LAST
from holdall_adapters.dynamodb.parts import PART
from holdall_adapters.lost_replies import ATTEMPTS

__all__ = ["DynamoLogReaders", "Name", "placed_in"]

Name = tuple[str, str]
_BRIEF = ("inc", "len", "fst", "bas", "nb", "mark", "epoch", "ver", "prev")
_AT_ONCE = 8 * 2**20
"""Bytes of large batches that are fetched at once."""


class DynamoLogReaders(DynamoListings):
    """The operations that read logs."""

    async def state(self, name: Name, *, brief: bool = False) -> LogState:
        """Return the head of a log, on request without its tail."""
        key = names.log(*name, self.shards)
        return state_of(await self.table.get(key, *(_BRIEF if brief else ())))

    @bounded
    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        """Return entries from a position on: those in chunks, and those in the head."""

        def begin(head: Head) -> int:
            check_start(start, head)
            return start

        return await self._read((scope, key), begin, limit, max_bytes) or StoredEntries(None, start, [])

    @bounded
    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        """Return the last entries."""

        def begin(head: Head) -> int:
            return max(head.first, head.length - count)

        return await self._read((scope, key), begin, None, None) or StoredEntries(None, 0, [])

    async def _read(
        self, name: Name, begin: Callable[[Head], int], limit: int | None, max_bytes: int | None
    ) -> StoredEntries | None:
        """Return entries from where they begin, as the log was at one moment; None where there is no log."""
        for _ in range(ATTEMPTS):
            state = await self.state(name)
            if state.head is None:
                return None
            start = begin(state.head)
            taken = _Taken(
                start, state.length - start if limit is None else min(limit, state.length - start), max_bytes
            )
            if await self._take(state, taken):
                return StoredEntries(state.head, start, taken.payloads)
            if (await self.state(name, brief=True)).is_same(state):
                message = f"entries of the log are missing after {taken.position}: restore the table from a backup"
                raise Corrupt(message)
        message = "the log was truncated again and again while it was read"
        raise StoreTimeout(message)

    async def _take(self, state: LogState, taken: _Taken) -> bool:
        """Take entries out of chunks and the tail; tell whether none is missing between them."""
        while taken.wants_more() and taken.position < state.base:
            low, partition = names.at_length(taken.position + 1), names.chunks(state.incarnation or "")
            chunks, _ = await self.table.query(partition, low, LAST * 8, taken.pages())
            if not chunks or not await self._take_placed(placed_in(chunks), taken):
                return False
        if not taken.wants_more():
            return True
        return await self._take_placed([*state.placed()], taken) and (taken.is_done() or taken.has_enough())

    async def _take_placed(self, batches: Sequence[tuple[int, Element]], taken: _Taken) -> bool:
        """Take what is wanted out of batches; tell whether they go on where those before ended."""
        waiting = [each for each in batches if each[0] + each[1].entries > taken.position]
        while waiting and taken.wants_more():
            group = _group(waiting)
            wanted = {element.write_id: element.parts for _, element in group if element.payload is None}
            large = await self.parts.read(wanted) if wanted else {}
            for position, element in group:
                payload = large.get(element.write_id) if element.payload is None else element.payload
                if payload is None or position > taken.position:
                    return not taken.wants_more()
                taken.take(position, payload)
            waiting = waiting[len(group) :]
        return True

    @bounded
    async def head(self, scope: str, key: str) -> Head | None:
        """Return the head of a log."""
        return (await self.state((scope, key), brief=True)).head

    @bounded
    async def logs(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""
        page = await self._page(self._logs_of(scope), prefix, after, limit, ("pk", "sk", "inc"), lambda _: 0)
        return StoredPage([item["sk"]["B"].decode() for item in page.rows], page.next)

    def _logs_of(self, scope: str) -> list[bytes]:
        return [names.logs(scope, shard) for shard in range(self.shards)]

    @bounded
    async def log_scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes."""
        return await self.scopes_in(b"t", self._has_log, prefix, after, limit)

    async def _has_log(self, scope: str) -> bool:
        for partition in self._logs_of(scope):
            if await self.has_one(partition, "attribute_exists(#inc)", lambda item: "inc" in item):
                return True
        return False


def placed_in(chunks: Sequence[dict[str, Any]]) -> list[tuple[int, Element]]:
    """Return the batches of chunks with their positions.

    Args:
        chunks: the chunks as items, in order.

    """
    placed: list[tuple[int, Element]] = []
    for chunk in chunks:
        elements = elements_of(chunk["els"]["L"])
        position = int.from_bytes(chunk["sk"]["B"], "big") - sum(element.entries for element in elements)
        for element in elements:
            placed.append((position, element))
            position += element.entries
    return placed


def _group(batches: Sequence[tuple[int, Element]]) -> Sequence[tuple[int, Element]]:
    """Return as many batches from the beginning as are to be fetched at once."""
    room = _AT_ONCE
    for number, (_, element) in enumerate(batches):
        room -= element.parts * PART
        if room < 0:
            return batches[: max(1, number)]
    return batches


class _Taken:
    """Entries as they are taken out of batches, from a position on."""

    def __init__(self, start: int, wanted: int, max_bytes: int | None) -> None:
        self.position = start
        self.payloads: list[bytes] = []
        self._wanted = wanted
        self._room = max_bytes

    def pages(self) -> int | None:
        """Return how many chunks to look at, None for a whole page."""
        return 4 if self._wanted - len(self.payloads) <= 16 else None  # noqa: PLR2004 - a few entries lie in few chunks

    def has_enough(self) -> bool:
        """Tell whether the bytes are used up, and there is an entry at least."""
        return self._room is not None and self._room <= 0 and bool(self.payloads)

    def is_done(self) -> bool:
        """Tell whether all that was wanted is there."""
        return len(self.payloads) >= self._wanted

    def wants_more(self) -> bool:
        """Tell whether there is room for another entry."""
        return not self.is_done() and not self.has_enough()

    def take(self, start: int, payload: bytes) -> None:
        """Take what is wanted out of a batch that begins at a position."""
        for entry in payload.split(b"\n")[self.position - start :]:
            if not self.wants_more():
                return
            self.payloads.append(entry)
            self.position += 1
            if self._room is not None:
                self._room -= len(entry)
