"""Broken in one of several ways to do the same with logs: the others are right."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdall import Appended, Conflict, Entry, Head
from holdall.rules import KEPT_BATCHES
from holdall.spi import AppendRequest, CheckLogRequest, LogRequest, StoredEntries, WriteRequest
from holdall_conformance.broken.plain_logs import bounded
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Log, Space
from holdall_conformance.broken.ways_records import rounded
from holdall_conformance.broken.wrapping import WrappedStore


@broken("entries-round-ints", "values")
class EntriesRoundInts(PlainStore):
    """Rounds large ints in the entries of logs, and not in records."""

    async def append(self, request: AppendRequest) -> Any:
        return await super().append(request._replace(payloads=list(map(rounded, request.payloads))))


@broken("restore-rounds-ints", "values", "logs")
class RestoreRoundsInts(PlainStore):
    """Rounds large ints in the entries of a log that is restored, and not in those that are appended."""

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        return await super().restore_log(scope, key, first, list(map(rounded, payloads)), write_id)


@broken("folds-case-of-logs", "keys")
class FoldsCaseOfLogs(PlainStore):
    """Takes logs whose keys differ in case for one, and records not."""

    def log_at(self, space: Space, scope: str, key: str) -> Log:
        return super().log_at(space, scope, key.lower())

    def keep_log(self, space: Space, scope: str, key: str, log: Log) -> None:
        super().keep_log(space, scope, key.lower(), log)


@broken("prefix-of-logs-contains", "keys", "paging")
class PrefixOfLogsContains(PlainStore):
    """Finds logs whose names hold the prefix anywhere, and records as it should."""

    def live_logs(self, space: Space, scope: str, prefix: str, after: str | None) -> Iterator[str]:
        return (key for key in super().live_logs(space, scope, "", after) if prefix in key)


@broken("prefix-of-log-scopes-contains", "keys", "paging")
class PrefixOfLogScopesContains(PlainStore):
    """Finds scopes of logs whose names hold the prefix anywhere, and those of records as it should."""

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        found = super().names(kept, "", after)
        with self.room.turn() as space:
            anywhere = kept is space.logs
        return [name for name in found if (prefix in name if anywhere else name.startswith(prefix))]


@broken("sweep-drops-emptied-logs", "logs", "records")
class SweepDropsEmptiedLogs(PlainStore):
    """Sweeps logs that were truncated to nothing."""

    def sweep_records(self, space: Space) -> int:
        for scope, logs in list(space.logs.items()):
            for key, log in list(logs.items()):
                if not log.payloads:
                    self.keep_log(space, scope, key, Log(mark=log.mark))
        return super().sweep_records(space)


@broken("one-id-less-is-kept", "batches")
class OneIdLessIsKept(PlainStore):
    """Remembers after a truncate the last 999 batch ids."""

    def shorten(self, log: Log, before: int) -> int:
        count = super().shorten(log, before)
        for batch_id, batch in list(log.remembered.items()):
            gone = batch.result.start + batch.result.count <= log.first
            if gone and batch.number <= log.batches - KEPT_BATCHES + 1:
                del log.remembered[batch_id]
        return count


@broken("refused-commit-raises-marks", "commits", "fencing")
class RefusedCommitRaisesMarks(PlainStore):
    """Raises the marks of the operations of a commit before the one that is refused."""

    def check_one(self, space: Space, request: WriteRequest) -> Any:
        found = super().check_one(space, request)
        fence = getattr(request, "fence", None)
        if fence is not None and not isinstance(request, AppendRequest):
            record = self.record_at(space, request.scope, request.key)
            record.mark = max(record.mark, fence)
            self.keep(space, request.scope, request.key, record)
        return found


@broken("refused-commit-remembers-ids", "commits", "batches")
class RefusedCommitRemembersIds(PlainStore):
    """Remembers the ids of batches of a commit that is then refused, so that its retry appends nothing."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        try:
            return await super().commit(requests)
        except Conflict:
            with self.room.turn(write=True) as space:
                for request in requests:
                    if isinstance(request, AppendRequest) and request.batch_id is not None:
                        space.notes[request.scope, request.key, request.batch_id] = True
            raise

    def check_one(self, space: Space, request: WriteRequest) -> Any:
        if isinstance(request, AppendRequest) and (request.scope, request.key, request.batch_id) in space.notes:
            count = len(request.payloads)
            return Appended(0, count, Head(0, count, request.write_id))
        return super().check_one(space, request)


@broken("refused-truncate-raises-the-mark", "fencing")
class RefusedTruncateRaisesTheMark(PlainStore):
    """Raises the mark of a log with a truncate or drop that is then refused for its expectation."""

    def check_log(self, space: Space, request: LogRequest) -> Log:
        log = self.log_at(space, request.scope, request.key)
        self.check_fence(log.mark, request.fence)
        log.mark = max(log.mark, request.fence or 0)
        self.keep_log(space, request.scope, request.key, log)
        return super().check_log(space, request)


@broken("follow-takes-what-comes-next", "follow")
class FollowTakesWhatComesNext(WrappedStore):
    """Gives to who follows from a position that is yet to come whatever is appended next."""

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: Any = None) -> Iterator[Entry]:
        head = self.inner.head(scope, key) if type(start) is int and start > 0 else None
        beyond = head is not None and start > head.length
        begin = head.length if beyond and head else start
        followed: Iterator[Entry] = self.inner.follow(scope, key, begin, timeout=timeout)
        return followed


@broken("chunk-without-large-entry", "logs", "limits")
class ChunkWithoutLargeEntry(PlainStore):
    """Passes over an entry that alone is larger than the part of a log that an iterator asks for."""

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        found = await super().read(scope, key, start, limit, max_bytes)
        if max_bytes is None or not found.payloads or len(found.payloads[0]) < max_bytes:
            return found
        return await self.read(scope, key, start + 1, limit, max_bytes)


@broken("restored-empty-begins-at-zero", "logs")
class RestoredEmptyBeginsAtZero(PlainStore):
    """Lets a log that is restored without entries begin at 0."""

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        return await super().restore_log(scope, key, first if payloads else 0, payloads, write_id)


@broken("conflict-tells-a-dropped-head", "logs", "errors")
class ConflictTellsADroppedHead(PlainStore):
    """Names as the current head of a conflict that of a log which is dropped."""

    async def drop(self, request: LogRequest) -> bool:
        before = await self.head(request.scope, request.key)
        there = await super().drop(request)
        with self.room.turn(write=True) as space:
            space.notes[request.scope, request.key] = before
        return there

    async def append(self, request: AppendRequest) -> Any:
        try:
            return await super().append(request)
        except Conflict as conflict:
            if conflict.current is not None:
                raise
            with self.room.turn() as space:
                message = "it has another head"
                raise Conflict(message, space.notes.get((request.scope, request.key))) from None


@broken("drop-compares-the-incarnation", "logs")
class DropComparesTheIncarnation(PlainStore):
    """Compares of a head that a drop expects the incarnation only, so that what came meanwhile goes along."""

    async def drop(self, request: LogRequest) -> bool:
        head = await self.head(request.scope, request.key)
        same = isinstance(request.expect, Head) and head is not None and request.expect.incarnation == head.incarnation
        return await super().drop(request._replace(expect=head) if same and head is not None else request)


@broken("check-of-length-holds", "commits", "logs")
class CheckOfLengthHolds(PlainStore):
    """Takes a check of a log's length in a commit for fulfilled, and compares heads only."""

    def check_one(self, space: Space, request: WriteRequest) -> Any:
        if isinstance(request, CheckLogRequest) and isinstance(request.expect, int):
            return self.log_at(space, request.scope, request.key).head()
        return super().check_one(space, request)


@broken("limit-is-an-end", "logs")
class LimitIsAnEnd(PlainStore):
    """Counts the limit of a read from the first kept position, not from the one that was asked for."""

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        head = await self.head(scope, key)
        if head is None or limit is None or max_bytes is not None or start < head.first:
            return await super().read(scope, key, start, limit, max_bytes)
        return await super().read(scope, key, start, max(0, limit - (start - head.first)), max_bytes)


@broken("tail-of-four-mebibytes", "logs")
class TailOfFourMebibytes(PlainStore):
    """Gives of a tail what fits into four mebibytes from its beginning on."""

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        found = await super().tail(scope, key, count)
        return StoredEntries(found.head, found.start, list(bounded(found.payloads, 2**22)))
