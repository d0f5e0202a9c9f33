"""Logs of a plain backend, in steps that a broken one can replace one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from holdall import AlreadyExists, Appended, Head
from holdall.rules import KEPT_BATCHES, check_batch, check_head, check_start, kept_position, raised_mark
from holdall.spi import AppendRequest, LogRequest, StoredEntries, StoredPage
from holdall_conformance.broken.plain_records import PlainRecords
from holdall_conformance.broken.state import Log, Remembered, Space

if TYPE_CHECKING:
    from holdall.values import ExpectHead

__all__ = ["PlainLogs"]


class PlainLogs(PlainRecords):
    """The half of a store that keeps logs."""

    def log_at(self, space: Space, scope: str, key: str) -> Log:
        """Return what is kept, or a new log that is not kept yet."""
        inside, name = self.place(scope, key)
        return space.logs.get(inside, {}).get(name) or Log()

    def keep_log(self, space: Space, scope: str, key: str, log: Log) -> None:
        """Keep a log; one without incarnation and mark is forgotten."""
        inside, name = self.place(scope, key)
        logs = space.logs.setdefault(inside, {})
        logs[name] = log
        if log.incarnation is None and not log.mark:
            del logs[name]
        if not logs:
            del space.logs[inside]

    def check_head(self, expect: ExpectHead, head: Head | None) -> None:
        """Refuse a head that is not there."""
        check_head(expect, head)

    async def append(self, request: AppendRequest) -> Appended:
        """Append a batch."""
        with self.room.turn(write=True) as space:
            return self.check_append(space, request) or self.apply_append(space, request)

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        """Refuse a batch, return the first result of one that is repeated, or None."""
        log = self.log_at(space, request.scope, request.key)
        before = log.remembered.get(request.batch_id) if request.batch_id else None
        if before is not None:
            return self.repeated(before, request)
        self.check_fence(log.mark, request.fence)
        self.check_head(request.expect, log.head())
        return None

    def repeated(self, before: Remembered, request: AppendRequest) -> Appended:
        """Return the first result of a batch that comes again."""
        first, head = before.result, before.result.head
        again = request.digest or ""
        return check_batch(first.start, first.count, before.digest, head.incarnation, head.first, again)

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        """Append a batch that was checked."""
        log = self.log_at(space, request.scope, request.key)
        log.mark = raised_mark(log.mark, request.fence)
        result = self.extend(log, request.payloads)
        if request.batch_id is not None:
            log.remembered[request.batch_id] = Remembered(log.batches, request.digest or "", result)
        self.keep_log(space, request.scope, request.key, log)
        return result

    def extend(self, log: Log, payloads: Sequence[bytes]) -> Appended:
        """Put payloads at the end of a log."""
        if log.incarnation is None:
            log.incarnation = self.new_incarnation()
        start = log.first + len(log.payloads)
        log.payloads.extend(map(self.kept, payloads))
        log.batches += 1
        return Appended(start, len(payloads), Head(log.first, start + len(payloads), log.incarnation))

    def new_incarnation(self) -> str:
        """Return the id of a log that is new."""
        return self.environment.new_id()

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        """Return entries from a position on."""
        with self.room.turn() as space:
            log = self.log_at(space, scope, key)
            head = log.head()
            if head is None:
                return StoredEntries(None, start, [])
            self.check_start(start, head)
            begin = max(0, start - log.first)
            found = log.payloads[begin : None if limit is None else begin + limit]
            first = log.first + begin
        return StoredEntries(head, first, found if max_bytes is None else list(bounded(found, max_bytes)))

    def check_start(self, start: int, head: Head) -> None:
        """Refuse to read what was forgotten."""
        check_start(start, head)

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        """Return the last entries."""
        with self.room.turn() as space:
            log = self.log_at(space, scope, key)
            begin = max(0, len(log.payloads) - count)
            return StoredEntries(log.head(), log.first + begin, log.payloads[begin:])

    async def head(self, scope: str, key: str) -> Head | None:
        """Return the head of a log."""
        with self.room.turn() as space:
            return self.log_at(space, scope, key).head()

    def check_log(self, space: Space, request: LogRequest) -> Log:
        """Refuse a truncate or drop, or return the log."""
        log = self.log_at(space, request.scope, request.key)
        self.check_fence(log.mark, request.fence)
        self.check_head(request.expect, log.head())
        return log

    async def truncate(self, request: LogRequest, before: int) -> int:
        """Forget entries."""
        with self.room.turn(write=True) as space:
            log = self.check_log(space, request)
            log.mark = raised_mark(log.mark, request.fence)
            count = self.shorten(log, before)
            self.keep_log(space, request.scope, request.key, log)
            return count

    def shorten(self, log: Log, before: int) -> int:
        """Forget entries below a position, and the ids of batches that are gone and old; return how many entries."""
        head = log.head()
        if head is None:
            return 0
        count = kept_position(head, before) - head.first
        del log.payloads[:count]
        log.first += count
        for batch_id, batch in list(log.remembered.items()):
            gone = batch.result.start + batch.result.count <= log.first
            if gone and batch.number <= log.batches - KEPT_BATCHES:
                del log.remembered[batch_id]
        return count

    async def drop(self, request: LogRequest) -> bool:
        """Delete a log."""
        with self.room.turn(write=True) as space:
            log = self.check_log(space, request)
            self.keep_log(space, request.scope, request.key, Log(mark=raised_mark(log.mark, request.fence)))
            return log.incarnation is not None

    def live_logs(self, space: Space, scope: str, prefix: str, after: str | None) -> Iterator[str]:
        """Iterate over the keys of the logs of a scope."""
        logs = space.logs.get(self.place(scope, "")[0], {})
        return (key for key in self.names(logs, prefix, after) if logs[key].incarnation is not None)

    async def logs(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""
        with self.room.turn() as space:
            return self.page(self.live_logs(space, scope, prefix, after), limit, str)

    async def log_scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes."""
        with self.room.turn() as space:
            names: Iterable[str] = self.names(space.logs, prefix, after)
            return self.page((name for name in names if any(self.live_logs(space, name, "", None))), limit, str)

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        """Create a log that begins at a position."""
        with self.room.turn(write=True) as space:
            log = self.log_at(space, scope, key)
            self.check_new(log)
            restored = Log(incarnation=write_id, first=first, mark=log.mark)
            self.keep_log(space, scope, key, restored)
            return self.extend(restored, payloads).head

    def check_new(self, log: Log) -> None:
        """Refuse to restore over a log."""
        if log.incarnation is not None:
            message = "there is such a log: drop it before it is restored"
            raise AlreadyExists(message)

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        """Raise the mark of a log."""
        with self.room.turn(write=True) as space:
            log = self.log_at(space, scope, key)
            self.check_fence(log.mark, fence)
            log.mark = raised_mark(log.mark, fence)
            self.keep_log(space, scope, key, log)
            return log.head()


def bounded(payloads: Sequence[bytes], max_bytes: int) -> Iterator[bytes]:
    """Iterate over payloads until they are more than some bytes; at least one."""
    total = 0
    for payload in payloads:
        yield payload
        total += len(payload)
        if total >= max_bytes:
            return
