"""Broken where what is large is written in parts, so that readers see some of them."""
# ruff: noqa: D102, PLR2004 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from holdall import ANY, Appended
from holdall.spi import AppendRequest, DeleteRequest, PutRequest, StoredRecord, WriteRequest
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Space


@broken("large-values-in-two-parts", "concurrency")
class LargeValuesInTwoParts(PlainStore):
    """Writes a value of more than 64 KiB in two parts under one name, so that readers mix it with the one before."""

    async def put(self, request: PutRequest) -> None:
        await super().put(request)
        payload, half = request.payload, len(request.payload) // 2
        with self.room.turn(write=True) as space:
            record = self.record_at(space, request.scope, request.key)
            parts: dict[str, bytes] = space.notes.setdefault("parts", {})
            before = parts.get(request.key, b"")
            parts[request.key] = payload
            if len(payload) < 65_000 or len(before) != len(payload) or record.version != request.version:
                return
            record.payload = payload[:half] + before[half:]
        await self.pause()
        with self.room.turn(write=True) as space:
            if (record := self.record_at(space, request.scope, request.key)).version == request.version:
                record.payload = payload


class _InChunks(PlainStore):
    """Appends a batch chunk by chunk."""

    def chunks(self, payloads: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
        """Split the payloads of a batch."""
        yield payloads

    async def append(self, request: AppendRequest) -> Appended:
        first, *others = self.chunks(request.payloads)
        result = await super().append(request._replace(payloads=first))
        for chunk in others:
            await self.pause()
            last = await super().append(request._replace(payloads=chunk, batch_id=None, expect=ANY))
            result = Appended(result.start, result.count + len(chunk), last.head)
        return result


@broken("batches-by-the-hundred", "concurrency")
class BatchesByTheHundred(_InChunks):
    """Appends a batch of more than a hundred entries a hundred at a time."""

    def chunks(self, payloads: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
        return (payloads[start : start + 100] for start in range(0, len(payloads), 100))


@broken("batches-of-many-bytes-in-chunks", "concurrency")
class BatchesOfManyBytesInChunks(_InChunks):
    """Appends a batch of more than 400 KB in chunks of five entries, as many as one item holds."""

    def chunks(self, payloads: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
        size = 5 if sum(map(len, payloads)) > 400_000 else len(payloads)
        return (payloads[start : start + size] for start in range(0, len(payloads), size))


@broken("commits-by-twenty-five", "concurrency")
class CommitsByTwentyFive(PlainStore):
    """Applies a commit of more than 25 operations 25 at a time, as many as one request takes."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        results: list[Any] = []
        for start in range(0, len(requests), 25):
            results += await super().commit(requests[start : start + 25])
            await self.pause()
        return results


@broken("put-many-deletes-first", "concurrency")
class PutManyDeletesFirst(PlainStore):
    """Deletes in one step what put_many replaces, and writes in another."""

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        for request in requests:
            await self.delete(DeleteRequest(request.scope, request.key, ANY, None))
        await self.pause()
        await super().put_many(requests)


@broken("put-many-undone-for-a-moment", "concurrency")
class PutManyUndoneForAMoment(PlainStore):
    """Gives back for a moment what put_many has replaced, as a rollback of its first try does that comes too late."""

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        with self.room.turn() as space:
            before = [self.record_at(space, request.scope, request.key) for request in requests]
        await super().put_many(requests)
        await self.pause()
        with self.room.turn(write=True) as space:
            for request, record in zip(requests, before, strict=True):
                self.keep(space, request.scope, request.key, record)
        await self.pause()
        await super().put_many(requests)


@broken("replaced-leaves-the-index", "concurrency")
class ReplacedLeavesTheIndex(PlainStore):
    """Takes a record that is replaced out of the index in one step and puts it back in another."""

    async def put(self, request: PutRequest) -> None:
        place = "hidden", request.scope, request.key
        with self.room.turn(write=True) as space:
            self.check(space, request.scope, request.key, request.expect, request.fence)
            space.notes[place] = True
        await self.pause()
        with self.room.turn(write=True) as space:
            space.notes.pop(place, None)
            self.check(space, request.scope, request.key, request.expect, request.fence)
            self.apply_put(space, request)

    def live(self, space: Space, scope: str, prefix: str, after: str | None) -> Iterable[StoredRecord]:
        rows = super().live(space, scope, prefix, after)
        return (row for row in rows if ("hidden", scope, row.key) not in space.notes)
