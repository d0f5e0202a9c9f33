"""Broken between two steps that should be one: right as long as nobody else is at work."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import copy
from typing import Any, ClassVar, Literal

from holdall import Appended
from holdall.spi import AppendRequest, DeleteRequest, LogRequest, PutRequest, StoredRecord
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.rooms import MemoryRoom
from holdall_conformance.broken.state import Log, Record


class WaitingRoom(MemoryRoom):
    """Memory whose users await something between two turns."""

    io: ClassVar[Literal["none", "blocking", "suspending"]] = "suspending"


@broken("checks-then-puts", "concurrency")
class ChecksThenPuts(PlainStore):
    """Compares the version in one step and writes in another."""

    async def put(self, request: PutRequest) -> None:
        with self.room.turn() as space:
            self.check(space, request.scope, request.key, request.expect, request.fence)
        await self.pause()
        with self.room.turn(write=True) as space:
            self.apply_put(space, request)


@broken("checks-then-puts-async", "concurrency", side="async", room=WaitingRoom)
class ChecksThenPutsAsync(ChecksThenPuts):
    """Compares the version, awaits something, and writes."""


@broken("checks-then-creates", "concurrency")
class ChecksThenCreates(ChecksThenPuts):
    """Looks whether there is a record in one step and creates it in another."""

    async def put(self, request: PutRequest) -> None:
        if isinstance(request.expect, str):
            await PlainStore.put(self, request)
        else:
            await super().put(request)


@broken("checks-then-deletes", "concurrency")
class ChecksThenDeletes(PlainStore):
    """Looks whether there is a record in one step and deletes it in another."""

    async def delete(self, request: DeleteRequest) -> bool:
        with self.room.turn() as space:
            there = self.check(space, request.scope, request.key, request.expect, request.fence) is not None
        await self.pause()
        with self.room.turn(write=True) as space:
            self.apply_delete(space, request)
        return there


@broken("last-writer-wins-append", "concurrency")
class LastWriterWinsAppend(PlainStore):
    """Reads the whole log, adds to it, and writes it back over what others added meanwhile."""

    async def append(self, request: AppendRequest) -> Appended:
        with self.room.turn(write=True) as space:
            found = self.check_append(space, request)
            if found is not None:
                return found
            before = copy.deepcopy(self.log_at(space, request.scope, request.key))
        await self.pause()
        with self.room.turn(write=True) as space:
            self.keep_log(space, request.scope, request.key, before)
            return self.apply_append(space, request)


@broken("counts-then-appends", "concurrency")
class CountsThenAppends(PlainStore):
    """Finds the next position in one step and puts the entries there in another."""

    async def append(self, request: AppendRequest) -> Appended:
        with self.room.turn() as space:
            found = self.check_append(space, request)
            start = 0 if (head := self.log_at(space, request.scope, request.key).head()) is None else head.length
        if found is not None:
            return found
        await self.pause()
        with self.room.turn(write=True) as space:
            result = self.apply_append(space, request)
            return Appended(start, result.count, result.head._replace(length=start + result.count))


@broken("appends-one-by-one", "concurrency", "crash")
class AppendsOneByOne(PlainStore):
    """Appends the entries of a batch one by one, so that others come between and readers see half of it."""

    async def append(self, request: AppendRequest) -> Appended:
        with self.room.turn() as space:
            found = self.check_append(space, request)
        if found is not None:
            return found
        first, *rest = request.payloads
        with self.room.turn(write=True) as space:
            result = self.apply_append(space, request._replace(payloads=[first]))
        for payload in rest:
            await self.pause()
            with self.room.turn(write=True) as space:
                last = self.apply_append(space, request._replace(payloads=[payload], batch_id=None))
                result = Appended(result.start, result.count + 1, last.head)
        return result


@broken("looks-up-the-id-then-appends", "concurrency", "batches")
class LooksUpTheIdThenAppends(PlainStore):
    """Looks for the batch id in one step and appends in another, so that two retries both append."""

    async def append(self, request: AppendRequest) -> Appended:
        with self.room.turn() as space:
            found = self.check_append(space, request)
        if found is not None:
            return found
        await self.pause()
        with self.room.turn(write=True) as space:
            return self.apply_append(space, request)


@broken("truncates-a-copy", "concurrency")
class TruncatesACopy(PlainStore):
    """Reads a log, shortens it, and writes it back over what others appended meanwhile."""

    async def truncate(self, request: LogRequest, before: int) -> int:
        with self.room.turn() as space:
            log = copy.deepcopy(self.check_log(space, request))
            count = self.shorten(log, before)
        await self.pause()
        with self.room.turn(write=True) as space:
            self.keep_log(space, request.scope, request.key, log)
        return count


@broken("drops-what-comes-later", "concurrency")
class DropsWhatComesLater(PlainStore):
    """Decides to drop a log in one step and drops whatever is there in another."""

    async def drop(self, request: LogRequest) -> bool:
        with self.room.turn() as space:
            there = self.check_log(space, request).incarnation is not None
        await self.pause()
        with self.room.turn(write=True) as space:
            self.keep_log(space, request.scope, request.key, Log(mark=request.fence or 0))
        return there


@broken("checks-the-fence-then-writes", "concurrency")
class ChecksTheFenceThenWrites(PlainStore):
    """Compares the token in one step and appends in another, so that a seal may come between."""

    async def append(self, request: AppendRequest) -> Appended:
        with self.room.turn() as space:
            self.check_fence(self.log_at(space, request.scope, request.key).mark, request.fence)
        await self.pause()
        return await super().append(request._replace(fence=None))


@broken("writes-value-then-version", "concurrency")
class WritesValueThenVersion(PlainStore):
    """Writes the value in one step and its version in another."""

    async def put(self, request: PutRequest) -> None:
        with self.room.turn(write=True) as space:
            before = self.check(space, request.scope, request.key, request.expect, request.fence)
            self.apply_put(space, request if before is None else request._replace(version=before))
        await self.pause()
        with self.room.turn(write=True) as space:
            record = self.record_at(space, request.scope, request.key)
            record.version = request.version


@broken("reads-are-behind", "concurrency", "records")
class ReadsAreBehind(PlainStore):
    """Reads from a replica that gets every fourth write of a record at once, and the others with it."""

    def stored(self, key: str, record: Record) -> StoredRecord | None:
        return super().stored(key, record)

    async def get(self, scope: str, key: str) -> StoredRecord | None:
        with self.room.turn() as space:
            old = space.notes.get((scope, key))
            return self.stored(key, self.record_at(space, scope, key) if old is None else old)

    def keep(self, space: Any, scope: str, key: str, record: Record) -> None:
        count = space.notes[scope, key, "writes"] = space.notes.get((scope, key, "writes"), 0) + 1
        if count % 4:
            space.notes.setdefault((scope, key), copy.copy(self.record_at(space, scope, key)))
        else:
            space.notes.pop((scope, key), None)
        super().keep(space, scope, key, record)


@broken("sweep-takes-what-is-being-written", "concurrency")
class SweepTakesWhatIsBeingWritten(PlainStore):
    """Sweeps the drafts of writes that are under way along with those that crashes left behind."""

    async def put(self, request: PutRequest) -> None:
        draft = object()
        with self.room.turn(write=True) as space:
            self.check(space, request.scope, request.key, request.expect, request.fence)
            space.notes[draft] = request
        await self.pause()
        with self.room.turn(write=True) as space:
            if space.notes.pop(draft, None) is not None:
                self.check(space, request.scope, request.key, request.expect, request.fence)
                self.apply_put(space, request)

    async def sweep(self) -> int:
        with self.room.turn(write=True) as space:
            space.notes.clear()
        return await super().sweep()


@broken("sweep-takes-new-logs", "concurrency")
class SweepTakesNewLogs(PlainStore):
    """Sweeps the chunks of a batch whose head is not written yet."""

    async def append(self, request: AppendRequest) -> Appended:
        draft = object()
        with self.room.turn(write=True) as space:
            space.notes[draft] = request
        await self.pause()
        with self.room.turn(write=True) as space:
            kept = space.notes.pop(draft, None) is not None
            found = self.check_append(space, request)
            if found is not None:
                return found
            result = self.apply_append(space, request)
            if not kept:
                log = self.log_at(space, request.scope, request.key)
                del log.payloads[-result.count :]
            return result

    async def sweep(self) -> int:
        with self.room.turn(write=True) as space:
            space.notes.clear()
        return await super().sweep()
