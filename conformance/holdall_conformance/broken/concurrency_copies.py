"""Broken where something is read, changed and written back over what others wrote meanwhile."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import copy
from collections.abc import Sequence

from holdall import Appended, Head
from holdall.spi import AppendRequest, DeleteRequest, LogRequest, PutRequest, StoredPage
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Log, Record, Space


@broken("touches-a-copy", "concurrency")
class TouchesACopy(PlainStore):
    """Reads a record, gives it another end, and writes it back over what others put meanwhile."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        with self.room.turn() as space:
            before = copy.copy(self.record_at(space, scope, key))
        await self.pause()
        with self.room.turn(write=True) as space:
            if before.payload is not None and self.record_at(space, scope, key).payload is not None:
                self.keep(space, scope, key, before)
        return await super().touch(scope, key, ttl, fence)


@broken("touch-brings-back", "concurrency")
class TouchBringsBack(PlainStore):
    """Looks whether a record is there in one step, and writes it with its new end even if it is deleted meanwhile."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        with self.room.turn() as space:
            before = copy.copy(self.record_at(space, scope, key))
        await self.pause()
        with self.room.turn(write=True) as space:
            if self.is_live(before) and self.record_at(space, scope, key).payload is None:
                self.keep(space, scope, key, before)
        return await super().touch(scope, key, ttl, fence)


@broken("seals-a-copy", "concurrency")
class SealsACopy(PlainStore):
    """Reads a record, raises its mark, and writes it back over what others put meanwhile."""

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        with self.room.turn() as space:
            before = copy.copy(self.record_at(space, scope, key))
        await self.pause()
        with self.room.turn(write=True) as space:
            self.keep(space, scope, key, before)
        return await super().seal(scope, key, fence)


@broken("seals-a-copy-of-a-log", "concurrency")
class SealsACopyOfALog(PlainStore):
    """Reads a log, raises its mark, and writes it back over what others appended meanwhile."""

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        with self.room.turn() as space:
            before = copy.deepcopy(self.log_at(space, scope, key))
        await self.pause()
        with self.room.turn(write=True) as space:
            self.keep_log(space, scope, key, before)
        return await super().seal_log(scope, key, fence)


@broken("put-carries-an-old-mark", "concurrency", "fencing")
class PutCarriesAnOldMark(PlainStore):
    """Reads the mark in one step and writes the record with it in another, so that a seal in between is undone."""

    async def put(self, request: PutRequest) -> None:
        with self.room.turn() as space:
            mark = self.record_at(space, request.scope, request.key).mark
        await self.pause()
        with self.room.turn(write=True) as space:
            self.check(space, request.scope, request.key, request.expect, request.fence)
            self.apply_put(space, request)
            self.record_at(space, request.scope, request.key).mark = max(mark, request.fence or 0)


@broken("drop-leaves-an-old-mark", "concurrency", "fencing")
class DropLeavesAnOldMark(PlainStore):
    """Reads the mark of a log in one step and leaves it in place of the log in another."""

    async def drop(self, request: LogRequest) -> bool:
        with self.room.turn() as space:
            mark = self.log_at(space, request.scope, request.key).mark
        await self.pause()
        with self.room.turn(write=True) as space:
            there = self.check_log(space, request).incarnation is not None
            self.keep_log(space, request.scope, request.key, Log(mark=max(mark, request.fence or 0)))
            return there


@broken("sweeps-by-an-old-list", "concurrency", "expiry")
class SweepsByAnOldList(PlainStore):
    """Lists what has expired in one step, and removes it in another, whatever was written there meanwhile."""

    async def sweep(self) -> int:
        with self.room.turn() as space:
            doomed = [
                (scope, key)
                for scope, records in space.records.items()
                for key, record in records.items()
                if record.payload is not None and not self.is_live(record)
            ]
        await self.pause()
        with self.room.turn(write=True) as space:
            for scope, key in doomed:
                self.keep(space, scope, key, Record(mark=self.record_at(space, scope, key).mark))
        return len(doomed) + await super().sweep()


@broken("delete-many-counts-first", "concurrency")
class DeleteManyCountsFirst(PlainStore):
    """Counts in one step which records there are, and deletes them in another."""

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        with self.room.turn() as space:
            count = sum(self.version_at(space, scope, key) is not None for key in keys)
        await self.pause()
        await super().delete_many(scope, keys)
        return count


@broken("scope-in-one-document", "concurrency")
class ScopeInOneDocument(PlainStore):
    """Keeps the records of a scope in one document, and writes it back whole over what others put there meanwhile."""

    async def put(self, request: PutRequest) -> None:
        with self.room.turn() as space:
            document = copy.deepcopy(space.records.get(request.scope, {}))
            before = self.record_at(space, request.scope, request.key).version
        await self.pause()
        with self.room.turn(write=True) as space:
            if self.record_at(space, request.scope, request.key).version == before:  # its own place it does compare
                space.records[request.scope] = document
        await super().put(request)


@broken("scope-unlisted-late", "concurrency")
class ScopeUnlistedLate(PlainStore):
    """Looks in one step whether a scope is empty now, and takes it from the list of scopes in another."""

    async def delete(self, request: DeleteRequest) -> bool:
        there = await super().delete(request)
        with self.room.turn() as space:
            empty = not any(self.live(space, request.scope, "", None))
        await self.pause()
        with self.room.turn(write=True) as space:
            if empty:
                space.notes["unlisted", request.scope] = True
        return there

    def apply_put(self, space: Space, request: PutRequest) -> None:
        space.notes.pop(("unlisted", request.scope), None)
        super().apply_put(space, request)

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        with self.room.turn() as space:
            listed = [
                name
                for name in self.names(space.records, prefix, after)
                if ("unlisted", name) not in space.notes and any(self.live(space, name, "", None))
            ]
            return self.page(listed, limit, str)


@broken("names-of-logs-in-one-list", "concurrency")
class NamesOfLogsInOneList(PlainStore):
    """Keeps the names of a scope's logs in a list, and writes it back over the names that others added meanwhile."""

    async def append(self, request: AppendRequest) -> Appended:
        with self.room.turn() as space:
            listed = frozenset(space.notes.get(request.scope, ()))
        if request.key not in listed:
            await self.pause()
            with self.room.turn(write=True) as space:
                space.notes[request.scope] = listed | {request.key}
        return await super().append(request)

    async def logs(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        with self.room.turn() as space:
            listed = space.notes.get(scope, ())
            return self.page((key for key in self.live_logs(space, scope, prefix, after) if key in listed), limit, str)


@broken("looks-then-restores", "concurrency", "logs")
class LooksThenRestores(PlainStore):
    """Looks in one step whether there is such a log, and restores it in another."""

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        with self.room.turn() as space:
            self.check_new(self.log_at(space, scope, key))
        await self.pause()
        with self.room.turn(write=True) as space:
            restored = Log(incarnation=write_id, first=first, mark=self.log_at(space, scope, key).mark)
            self.keep_log(space, scope, key, restored)
            return self.extend(restored, payloads).head
