"""Broken in what becomes of batch ids."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import hashlib

from holdall import ANY, Appended, BatchMismatch, Conflict, Head
from holdall.spi import AppendRequest, LogRequest, WriteRequest
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Log, Remembered, Space


@broken("ids-forgotten", "batches")
class IdsForgotten(PlainStore):
    """Appends a batch again that comes again."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        return super().check_append(space, request._replace(batch_id=None))


@broken("id-for-any-entries", "batches")
class IdForAnyEntries(PlainStore):
    """Takes other entries with a known batch id for a repetition."""

    def repeated(self, before: Remembered, request: AppendRequest) -> Appended:
        return before.result


@broken("repetition-refused", "batches")
class RepetitionRefused(PlainStore):
    """Raises an error for a batch id that comes again, as a unique index does."""

    def repeated(self, before: Remembered, request: AppendRequest) -> Appended:
        message = "this batch id is taken"
        raise BatchMismatch(message)


@broken("repetition-tells-the-head-now", "batches")
class RepetitionTellsTheHeadNow(PlainStore):
    """Returns for a repeated batch the head that the log has now."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        found = super().check_append(space, request)
        head = self.log_at(space, request.scope, request.key).head()
        return found if found is None or head is None else Appended(found.start, found.count, head)


@broken("id-after-expectation", "batches")
class IdAfterExpectation(PlainStore):
    """Checks the expectation before the batch id, so that a retry conflicts with itself."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        self.check_head(request.expect, self.log_at(space, request.scope, request.key).head())
        return super().check_append(space, request)


@broken("id-after-fence", "batches")
class IdAfterFence(PlainStore):
    """Checks the fence before the batch id."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        self.check_fence(self.log_at(space, request.scope, request.key).mark, request.fence)
        return super().check_append(space, request)


@broken("refusal-remembers-the-id", "batches")
class RefusalRemembersTheId(PlainStore):
    """Remembers the id of a batch that was refused, so that its retry succeeds without appending."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        log = self.log_at(space, request.scope, request.key)
        try:
            return super().check_append(space, request)
        except Conflict:
            head = log.head()
            if request.batch_id is not None and head is not None:
                result = Appended(head.length, len(request.payloads), head)
                log.remembered[request.batch_id] = Remembered(log.batches, request.digest or "", result)
            raise


@broken("ids-of-all-logs", "batches")
class IdsOfAllLogs(PlainStore):
    """Keeps batch ids for all logs of a scope together."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        others = [log.remembered.get(request.batch_id or "") for log in space.logs.get(request.scope, {}).values()]
        known = [other for other in others if other is not None]
        return known[0].result if known else super().check_append(space, request)


@broken("last-id-only", "batches")
class LastIdOnly(PlainStore):
    """Remembers the id of the last batch only."""

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        self.log_at(space, request.scope, request.key).remembered.clear()
        return super().apply_append(space, request)


@broken("hundred-ids", "batches")
class HundredIds(PlainStore):
    """Remembers the last hundred ids of a log."""

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        result = super().apply_append(space, request)
        remembered = self.log_at(space, request.scope, request.key).remembered
        for old in list(remembered)[:-100]:
            del remembered[old]
        return result


@broken("truncate-forgets-ids", "batches")
class TruncateForgetsIds(PlainStore):
    """Forgets with a truncate the ids of the batches that are gone."""

    def shorten(self, log: Log, before: int) -> int:
        count = super().shorten(log, before)
        for batch_id, batch in list(log.remembered.items()):
            if batch.result.start + batch.result.count <= log.first:
                del log.remembered[batch_id]
        return count


@broken("truncate-forgets-all-ids", "batches")
class TruncateForgetsAllIds(PlainStore):
    """Forgets with a truncate every batch id, also those of entries that are kept."""

    def shorten(self, log: Log, before: int) -> int:
        log.remembered.clear()
        return super().shorten(log, before)


@broken("half-truncated-batch-forgotten", "batches")
class HalfTruncatedBatchForgotten(PlainStore):
    """Forgets the id of a batch of which a truncate cut off the beginning."""

    def shorten(self, log: Log, before: int) -> int:
        count = super().shorten(log, before)
        for batch_id, batch in list(log.remembered.items()):
            if batch.result.start < log.first < batch.result.start + batch.result.count:
                del log.remembered[batch_id]
        return count


@broken("drop-keeps-ids", "batches")
class DropKeepsIds(PlainStore):
    """Knows the ids of a log that was dropped in the one that takes its place."""

    async def drop(self, request: LogRequest) -> bool:
        with self.room.turn() as space:
            remembered = self.log_at(space, request.scope, request.key).remembered
        there = await super().drop(request)
        with self.room.turn(write=True) as space:
            space.notes[request.scope, request.key] = remembered
        return there

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        old = space.notes.get((request.scope, request.key), {}).get(request.batch_id)
        return super().check_append(space, request) if old is None else self.repeated(old, request)


@broken("sweep-forgets-ids", "batches")
class SweepForgetsIds(PlainStore):
    """Forgets batch ids in a sweep."""

    async def sweep(self) -> int:
        with self.room.turn(write=True) as space:
            for logs in space.logs.values():
                for log in logs.values():
                    log.remembered.clear()
        return await super().sweep()


class _OtherIds(PlainStore):
    """Takes some ids for others."""

    def known_as(self, batch_id: str) -> str:
        return batch_id

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        return super().check_append(space, self.renamed(request))

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        return super().apply_append(space, self.renamed(request))

    def renamed(self, request: AppendRequest) -> AppendRequest:
        return request if request.batch_id is None else request._replace(batch_id=self.known_as(request.batch_id))


@broken("ids-fold-case", "batches")
class IdsFoldCase(_OtherIds):
    """Takes batch ids that differ in case for one."""

    def known_as(self, batch_id: str) -> str:
        return batch_id.lower()


@broken("ids-cut", "batches")
class IdsCut(_OtherIds):
    """Compares the first 32 characters of batch ids."""

    def known_as(self, batch_id: str) -> str:
        return batch_id[:32]


@broken("ids-stripped", "batches")
class IdsStripped(_OtherIds):
    """Strips spaces from batch ids."""

    def known_as(self, batch_id: str) -> str:
        return batch_id.strip() or batch_id


@broken("digest-of-bytes", "batches")
class DigestOfBytes(PlainStore):
    """Compares the bytes of a repeated batch, in which fields may stand in another order."""

    def digested(self, request: AppendRequest) -> AppendRequest:
        return request._replace(digest=hashlib.sha256(b"\n".join(request.payloads)).hexdigest())

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        return super().check_append(space, self.digested(request))

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        return super().apply_append(space, self.digested(request))


@broken("digest-of-the-count", "batches")
class DigestOfTheCount(PlainStore):
    """Compares of a repeated batch only how many entries it has."""

    def repeated(self, before: Remembered, request: AppendRequest) -> Appended:
        if before.result.count == len(request.payloads):
            return before.result
        return super().repeated(before, request)


@broken("digest-of-the-first-entry", "batches")
class DigestOfTheFirstEntry(PlainStore):
    """Compares of a repeated batch only the first entry."""

    def repeated(self, before: Remembered, request: AppendRequest) -> Appended:
        return before.result if before.number < 0 else self._compared(before, request)

    def _compared(self, before: Remembered, request: AppendRequest) -> Appended:
        with self.room.turn() as space:
            log = self.log_at(space, request.scope, request.key)
            at = before.result.start - log.first
            same = at >= 0 and log.payloads[at] == request.payloads[0]
        return before.result if same else super().repeated(before, request)


@broken("repetition-raises-the-mark", "batches", "fencing")
class RepetitionRaisesTheMark(PlainStore):
    """Raises the mark for a batch that is only repeated."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        found = super().check_append(space, request)
        if found is not None and request.fence is not None:
            log = self.log_at(space, request.scope, request.key)
            log.mark = max(log.mark, request.fence)
        return found


@broken("ids-ignored-in-commits", "batches", "commits")
class IdsIgnoredInCommits(PlainStore):
    """Appends a batch again that is repeated in a commit."""

    def check_one(self, space: Space, request: WriteRequest) -> object:
        return super().check_one(
            space, request._replace(batch_id=None) if isinstance(request, AppendRequest) else request
        )


@broken("equal-batches-once", "batches")
class EqualBatchesOnce(PlainStore):
    """Takes a batch without an id for a repetition if it equals the one before."""

    def check_append(self, space: Space, request: AppendRequest) -> Appended | None:
        log = self.log_at(space, request.scope, request.key)
        count = len(request.payloads)
        if request.batch_id is None and request.expect is ANY and log.payloads[-count:] == list(request.payloads):
            end = log.first + len(log.payloads)
            return Appended(end - count, count, Head(log.first, end, log.incarnation or ""))
        return super().check_append(space, request)
