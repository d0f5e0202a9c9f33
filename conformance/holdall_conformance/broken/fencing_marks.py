"""Broken in what becomes of fencing marks: when they are raised, and how long they are kept."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdall import ANY, Append, Fenced, Head, Put
from holdall.rules import check_fence
from holdall.spi import DeleteRequest, LogRequest, PutRequest
from holdall.values import Expect
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Log, Record, Space
from holdall_conformance.broken.wrapping import WrappedStore


@broken("delete-forgets-the-mark", "fencing")
class DeleteForgetsTheMark(PlainStore):
    """Forgets the mark of a record that is deleted."""

    def apply_delete(self, space: Space, request: DeleteRequest) -> bool:
        there = super().apply_delete(space, request)
        self.keep(space, request.scope, request.key, Record())
        return there


@broken("delete-many-forgets-marks", "fencing")
class DeleteManyForgetsMarks(PlainStore):
    """Forgets the marks of records that are deleted by the dozen."""

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        count = await super().delete_many(scope, keys)
        with self.room.turn(write=True) as space:
            for key in keys:
                self.keep(space, scope, key, Record())
        return count


@broken("drop-forgets-the-mark", "fencing")
class DropForgetsTheMark(PlainStore):
    """Forgets the mark of a log that is dropped."""

    async def drop(self, request: LogRequest) -> bool:
        there = await super().drop(request)
        with self.room.turn(write=True) as space:
            self.keep_log(space, request.scope, request.key, Log())
        return there


@broken("expiry-forgets-the-mark", "fencing")
class ExpiryForgetsTheMark(PlainStore):
    """Forgets the mark of a record that has expired."""

    def record_at(self, space: Space, scope: str, key: str) -> Record:
        record = super().record_at(space, scope, key)
        return record if record.payload is None or self.is_live(record) else Record()


@broken("sweep-forgets-marks", "fencing")
class SweepForgetsMarks(PlainStore):
    """Sweeps the marks of expired records along with them."""

    def swept(self, record: Record) -> Record:
        return Record()


@broken("sweep-forgets-bare-marks", "fencing")
class SweepForgetsBareMarks(PlainStore):
    """Sweeps the marks of what was deleted."""

    def sweep_records(self, space: Space) -> int:
        for scope, records in list(space.records.items()):
            for key, record in list(records.items()):
                if record.payload is None:
                    self.keep(space, scope, key, Record())
        return super().sweep_records(space)


@broken("sweep-forgets-marks-of-logs", "fencing")
class SweepForgetsMarksOfLogs(PlainStore):
    """Sweeps the marks of dropped logs."""

    def sweep_records(self, space: Space) -> int:
        for scope, logs in list(space.logs.items()):
            for key, log in list(logs.items()):
                if log.incarnation is None:
                    self.keep_log(space, scope, key, Log())
        return super().sweep_records(space)


@broken("restore-forgets-the-mark", "fencing", "logs")
class RestoreForgetsTheMark(PlainStore):
    """Begins a restored log without the mark there was."""

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        head = await super().restore_log(scope, key, first, payloads, write_id)
        with self.room.turn(write=True) as space:
            self.log_at(space, scope, key).mark = 0
        return head


@broken("put-many-forgets-marks", "fencing")
class PutManyForgetsMarks(PlainStore):
    """Forgets the marks of records that are written by the dozen."""

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        await super().put_many(requests)
        with self.room.turn(write=True) as space:
            for request in requests:
                self.record_at(space, request.scope, request.key).mark = 0


@broken("refusal-raises-the-mark", "fencing")
class RefusalRaisesTheMark(PlainStore):
    """Raises the mark before it looks at the expectation, also for a write that is then refused."""

    def check(self, space: Space, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        record = self.record_at(space, scope, key)
        self.check_fence(record.mark, fence)
        record.mark = max(record.mark, fence or 0)
        self.keep(space, scope, key, record)
        return super().check(space, scope, key, expect, fence)


@broken("expectation-before-fence", "fencing")
class ExpectationBeforeFence(PlainStore):
    """Tells a stale holder of a conflict, and not that it is fenced off."""

    def check(self, space: Space, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        self.check_version(expect, self.version_at(space, scope, key))
        return super().check(space, scope, key, expect, fence)


@broken("seal-makes-a-record", "fencing", "paging")
class SealMakesARecord(PlainStore):
    """Makes an empty record of what is sealed and not there."""

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        version = await super().seal(scope, key, fence)
        if version is None:
            await self.put(PutRequest(scope, key, b"null", self.environment.new_id(), ANY, None, fence))
        return version


@broken("seal-makes-a-log", "fencing", "paging")
class SealMakesALog(PlainStore):
    """Makes an empty log of what is sealed and not there."""

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        head = await super().seal_log(scope, key, fence)
        with self.room.turn(write=True) as space:
            log = self.log_at(space, scope, key)
            log.incarnation = log.incarnation or self.new_incarnation()
        return head


@broken("seal-raises-nothing", "fencing")
class SealRaisesNothing(PlainStore):
    """Returns the version from seal and does not raise the mark."""

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        with self.room.turn() as space:
            self.check_fence(self.record_at(space, scope, key).mark, fence)
            return self.version_at(space, scope, key)


@broken("seal-of-absent-raises-nothing", "fencing")
class SealOfAbsentRaisesNothing(PlainStore):
    """Raises no mark where there is no log yet."""

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        return await super().seal_log(scope, key, fence) if await self.head(scope, key) is not None else None


@broken("seal-takes-any-token", "fencing")
class SealTakesAnyToken(PlainStore):
    """Lets a stale holder seal, and lowers the mark to its token."""

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        with self.room.turn(write=True) as space:
            record = self.record_at(space, scope, key)
            record.mark = fence
            self.keep(space, scope, key, record)
            return self.version_at(space, scope, key)


@broken("one-mark-for-a-scope", "fencing")
class OneMarkForAScope(PlainStore):
    """Keeps one mark for all records of a scope."""

    def check(self, space: Space, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        self.check_fence(max((one.mark for one in space.records.get(scope, {}).values()), default=0), fence)
        return super().check(space, scope, key, expect, fence)


@broken("one-mark-for-record-and-log", "fencing")
class OneMarkForRecordAndLog(PlainStore):
    """Keeps one mark for the record and the log of a name."""

    def check(self, space: Space, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        self.check_fence(self.log_at(space, scope, key).mark, fence)
        return super().check(space, scope, key, expect, fence)


@broken("fenced-without-mark", "fencing", "errors")
class FencedWithoutMark(PlainStore):
    """Raises Fenced with the stale token in place of the mark."""

    def check_fence(self, mark: int, fence: int | None) -> None:
        if fence is not None and fence < mark:
            message = "stale"
            raise Fenced(message, fence)


@broken("tokens-of-32-bits", "fencing")
class TokensOf32Bits(PlainStore):
    """Compares the lower 32 bits of tokens."""

    def check_fence(self, mark: int, fence: int | None) -> None:
        check_fence(mark % 2**32, None if fence is None else fence % 2**32)


@broken("tokens-as-text", "fencing")
class TokensAsText(PlainStore):
    """Compares tokens as text, so that 10 is below 9."""

    def check_fence(self, mark: int, fence: int | None) -> None:
        if fence is not None and mark and str(fence) < str(mark):
            message = "stale"
            raise Fenced(message, mark)


@broken("tokens-as-floats", "fencing")
class TokensAsFloats(PlainStore):
    """Compares tokens as floats, so that large ones are equal."""

    def check_fence(self, mark: int, fence: int | None) -> None:
        if fence is not None and float(fence) < float(mark):
            check_fence(mark, fence)


@broken("zero-is-no-fence", "fencing")
class ZeroIsNoFence(WrappedStore):
    """Takes 0 and False for an unfenced write."""

    def put(self, scope: str, key: str, value: Any, *, fence: Any = None, **named: Any) -> Any:
        return self.inner.put(scope, key, value, fence=fence or None, **named)


@broken("commit-fences-records-only", "fencing", "commits")
class CommitFencesRecordsOnly(WrappedStore):
    """Forgets the fences of puts where a commit appends too."""

    def commit(self, operations: Any) -> Any:
        operations = list(operations)
        if any(isinstance(one, Append) for one in operations):
            operations = [
                Put(one.scope, one.key, one.value, one.expect, one.ttl) if isinstance(one, Put) else one
                for one in operations
            ]
        return self.inner.commit(operations)


@broken("delete-of-absent-is-unfenced", "fencing")
class DeleteOfAbsentIsUnfenced(PlainStore):
    """Does not look at the token of a delete that finds nothing."""

    async def delete(self, request: DeleteRequest) -> bool:
        with self.room.turn() as space:
            there = self.version_at(space, request.scope, request.key) is not None
        return await super().delete(request if there else request._replace(fence=None))
