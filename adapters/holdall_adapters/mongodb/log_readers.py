"""What reads logs in MongoDB: the head, and the chunks of what was moved out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdall.errors import Corrupt, StoreTimeout
from holdall.rules import check_start
from holdall.spi import StoredEntries, StoredPage
from holdall.values import Head
from holdall_adapters.lost_replies import ATTEMPTS
from holdall_adapters.mongodb.listings import between

if TYPE_CHECKING:
    from holdall_adapters.mongodb.connection import Deployment, Documents
    from holdall_adapters.mongodb.connections.transactions import Transaction

__all__ = ["BRIEF", "CHUNKS", "LOGS", "WHOLE", "MongoLogReaders", "Name", "head_of"]

LOGS, CHUNKS = "logs", "chunks"
BRIEF = {"_id": 0, "t": 0, "s": 0, "k": 0}
WHOLE = {"_id": 0, "s": 0, "k": 0}
Name = tuple[str, str]
_LIVING = {"i": {"$exists": True}}
_MOST_ROWS = 10_000
_MOST_BYTES = 8 * 2**20
"""Bytes of chunks that are taken at once: a batch may have as many, and sixteen chunks a batch each."""


class MongoLogReaders:
    """The operations that read logs."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment

    async def _head_document(
        self, name: Name, shown: Mapping[str, Any], within: Transaction | None = None
    ) -> dict[str, Any]:
        scope, key = name
        return await self._deployment.find_one(LOGS, {"s": scope, "k": key}, shown, within) or {}

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        """Return entries from a position on: those in chunks, and those in the head."""

        def begin(head: Head) -> int:
            check_start(start, head)
            return start

        return await self._read((scope, key), begin, limit, max_bytes) or StoredEntries(None, start, [])

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        """Return the last entries."""

        def begin(head: Head) -> int:
            return max(head.first, head.length - count)

        return await self._read((scope, key), begin, None, None) or StoredEntries(None, 0, [])

    async def _read(
        self, name: Name, begin: Callable[[Head], int], limit: int | None, max_bytes: int | None
    ) -> StoredEntries | None:
        """Return entries from where they begin, as the log was at one moment; None where there is no log."""
        with self._deployment.bounded():
            for _ in range(ATTEMPTS):
                found = await self._head_document(name, WHOLE)
                head = head_of(found)
                if head is None:
                    return None
                start = begin(head)
                payloads, complete = await self._entries(found, start, limit, max_bytes)
                if complete:
                    return StoredEntries(head, start, payloads)
                if head_of(await self._head_document(name, BRIEF)) == head:
                    message = f"entries of the log are missing after {start}: restore the database from a backup"
                    raise Corrupt(message)
        message = "the log was truncated again and again while it was read"
        raise StoreTimeout(message)

    async def _entries(
        self, found: Mapping[str, Any], start: int, limit: int | None, max_bytes: int | None
    ) -> tuple[list[bytes], bool]:
        """Return entries, and whether none is missing between them."""
        wanted = found["n"] - start if limit is None else min(limit, found["n"] - start)
        taken = _Taken(start, wanted, max_bytes)
        while taken.wants_more() and taken.position < found["b"]:
            chunks = await self._chunks(found["i"], taken.position)
            if not chunks:
                return taken.payloads, False
            for chunk in chunks:
                if not taken.take(chunk["t"]):
                    return taken.payloads, False
        complete = taken.take(found["t"]) if taken.wants_more() else True
        return taken.payloads, complete and (taken.has_enough() or taken.position >= start + wanted)

    async def _chunks(self, incarnation: str, position: int) -> Documents:
        wanted = {"i": incarnation, "e": {"$gt": position}}
        pipeline: list[dict[str, Any]] = [
            {"$match": wanted},
            {"$sort": {"i": 1, "e": 1}},
            {"$limit": 16},
            {"$project": {"t": 1}},
        ]
        return (await self._deployment.aggregate(CHUNKS, pipeline, _MOST_BYTES))[0]

    async def head(self, scope: str, key: str) -> Head | None:
        """Return the head of a log."""
        return head_of(await self._head_document((scope, key), BRIEF))

    async def logs(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""
        limit = min(limit, _MOST_ROWS)
        match = {"$match": {"s": scope, **between("k", prefix, after), **_LIVING}}
        pipeline: list[dict[str, Any]] = [
            match,
            {"$sort": {"s": 1, "k": 1}},
            {"$limit": limit + 1},
            {"$project": {"_id": 0, "k": 1}},
        ]
        documents, _ = await self._deployment.aggregate(LOGS, pipeline)
        names = [document["k"] for document in documents]
        return StoredPage(names[:limit], names[limit - 1] if len(names) > limit else None)


class _Taken:
    """Entries as they are taken out of batches, from a position on."""

    def __init__(self, start: int, wanted: int, max_bytes: int | None) -> None:
        self.position = start
        self.payloads: list[bytes] = []
        self._wanted = wanted
        self._room = max_bytes

    def has_enough(self) -> bool:
        """Tell whether the bytes are used up, and there is an entry at least."""
        return self._room is not None and self._room <= 0 and bool(self.payloads)

    def wants_more(self) -> bool:
        """Tell whether there is room for another entry."""
        return len(self.payloads) < self._wanted and not self.has_enough()

    def take(self, batches: Sequence[Mapping[str, Any]]) -> bool:
        """Take what is wanted out of batches in their order; tell whether they go on where the last ones ended."""
        for batch in batches:
            if batch["e"] <= self.position:
                continue
            if not self.wants_more():
                return True
            if batch["a"] > self.position:
                return False
            for entry in bytes(batch["p"]).split(b"\n")[self.position - batch["a"] :]:
                if not self.wants_more():
                    return True
                self.payloads.append(entry)
                self.position += 1
                if self._room is not None:
                    self._room -= len(entry)
        return True


def head_of(found: Mapping[str, Any]) -> Head | None:
    """Return the head that a document tells, None where there is no log.

    Args:
        found: the document, empty where there is none.

    """
    return Head(found["f"], found["n"], found["i"]) if "i" in found else None
