"""Broken where something is written again: what was there before comes back."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Sequence

from holdall import Head
from holdall.spi import LogRequest, PutRequest, StoredEntries
from holdall.values import Expect
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Record, Space

_CHUNK = 2**16


def _chunks(payload: bytes | None) -> list[bytes]:
    return [payload[start : start + _CHUNK] for start in range(0, len(payload), _CHUNK)] if payload else []


@broken("shorter-keeps-old-chunks", "values")
class ShorterKeepsOldChunks(PlainStore):
    """Keeps the later chunks of 64 KiB when a value is replaced by a shorter one."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        before = _chunks(self.record_at(space, request.scope, request.key).payload)
        super().apply_put(space, request)
        fresh = _chunks(request.payload)
        if len(fresh) > 1:
            record = self.record_at(space, request.scope, request.key)
            record.payload = b"".join([*fresh, *before[len(fresh) :]])


@broken("delete-leaves-chunks", "values")
class DeleteLeavesChunks(PlainStore):
    """Leaves the later chunks of 64 KiB of what is deleted, and writes none where there is one already."""

    def keep(self, space: Space, scope: str, key: str, record: Record) -> None:
        if record.payload is None:
            space.notes[scope, key] = _chunks(self.record_at(space, scope, key).payload)
        super().keep(space, scope, key, record)

    def apply_put(self, space: Space, request: PutRequest) -> None:
        left: list[bytes] = space.notes.pop((request.scope, request.key), [])
        fresh = _chunks(request.payload)
        chunks = [left[at] if 0 < at < len(fresh) - 1 and at < len(left) else own for at, own in enumerate(fresh)]
        super().apply_put(space, request._replace(payload=b"".join(chunks)))


@broken("empty-log-keeps-its-tail", "values", "logs")
class EmptyLogKeepsItsTail(PlainStore):
    """Answers tail from a copy of the last entries, which is not emptied when the log is truncated to nothing."""

    async def truncate(self, request: LogRequest, before: int) -> int:
        last = await self.tail(request.scope, request.key, 5)
        count = await super().truncate(request, before)
        head = await self.head(request.scope, request.key)
        with self.room.turn(write=True) as space:
            if head is not None and head.first == head.length:
                space.notes[request.scope, request.key, head.incarnation] = list(last.payloads)
        return count

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        found = await super().tail(scope, key, count)
        with self.room.turn() as space:
            incarnation = None if found.head is None else found.head.incarnation
            left: list[bytes] = space.notes.get((scope, key, incarnation), [])
        missing = max(0, min(count - len(found.payloads), len(left), found.start))
        old = left[len(left) - missing :]
        return StoredEntries(found.head, found.start - missing, [*old, *found.payloads])


@broken("version-counter-of-eight-bits", "versions")
class VersionCounterOfEightBits(PlainStore):
    """Compares a counter of eight bits in place of versions, which begins anew after 256 writes."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        place = request.scope, request.key
        count = space.notes[place] = space.notes.get(place, 0) + 1
        space.notes[request.version] = (place, count % 256)
        super().apply_put(space, request)

    def check(self, space: Space, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        version = self.version_at(space, scope, key)
        known = space.notes.get(expect) if isinstance(expect, str) else None
        same = known is not None and known == space.notes.get(version)
        return super().check(space, scope, key, version if same and version is not None else expect, fence)


@broken("restored-knows-old-ids", "batches")
class RestoredKnowsOldIds(PlainStore):
    """Finds in a restored log the batch ids of the one that was dropped before it."""

    async def drop(self, request: LogRequest) -> bool:
        with self.room.turn() as space:
            known = dict(self.log_at(space, request.scope, request.key).remembered)
        there = await super().drop(request)
        with self.room.turn(write=True) as space:
            space.notes[request.scope, request.key] = known
        return there

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        head = await super().restore_log(scope, key, first, payloads, write_id)
        with self.room.turn(write=True) as space:
            self.log_at(space, scope, key).remembered.update(space.notes.pop((scope, key), {}))
        return head


@broken("below-restored-is-empty", "logs")
class BelowRestoredIsEmpty(PlainStore):
    """Knows of a log's first position from truncates only, and reads a restored one from any position below."""

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        head = await super().restore_log(scope, key, first, payloads, write_id)
        with self.room.turn(write=True) as space:
            space.notes[head.incarnation] = True
        return head

    async def truncate(self, request: LogRequest, before: int) -> int:
        count = await super().truncate(request, before)
        head = await self.head(request.scope, request.key)
        with self.room.turn(write=True) as space:
            if head is not None and count:
                space.notes.pop(head.incarnation, None)
        return count

    def check_start(self, start: int, head: Head) -> None:
        with self.room.turn() as space:
            restored = head.incarnation in space.notes
        super().check_start(max(start, head.first) if restored else start, head)
