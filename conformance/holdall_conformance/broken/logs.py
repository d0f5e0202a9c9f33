"""Broken in what a log is."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Sequence

from holdall import ABSENT, ANY, Appended, Conflict, Head
from holdall.spi import AppendRequest, LogRequest, StoredEntries
from holdall.values import ExpectHead
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Log, Space


@broken("truncate-renumbers", "logs")
class TruncateRenumbers(PlainStore):
    """Counts positions from 0 again after a truncate."""

    def shorten(self, log: Log, before: int) -> int:
        count = super().shorten(log, before)
        log.first = 0
        return count


@broken("truncate-to-nothing-drops", "logs")
class TruncateToNothingDrops(PlainStore):
    """Forgets a log of which no entry is left."""

    def keep_log(self, space: Space, scope: str, key: str, log: Log) -> None:
        gone = log.first and not log.payloads
        super().keep_log(space, scope, key, Log(mark=log.mark) if gone else log)


@broken("truncate-keeps-one-less", "logs")
class TruncateKeepsOneLess(PlainStore):
    """Forgets the entry at the position too, not only those below it."""

    async def truncate(self, request: LogRequest, before: int) -> int:
        return await super().truncate(request, before + 1)


@broken("truncate-beyond-the-end", "logs")
class TruncateBeyondTheEnd(PlainStore):
    """Begins at any position that truncate is given, also behind the end."""

    def shorten(self, log: Log, before: int) -> int:
        count = super().shorten(log, before)
        if log.incarnation is not None:
            log.first = max(log.first, before)
        return count


@broken("truncate-ignores-expect", "logs")
class TruncateIgnoresExpect(PlainStore):
    """Truncates whatever head there is."""

    async def truncate(self, request: LogRequest, before: int) -> int:
        return await super().truncate(request._replace(expect=ANY), before)


@broken("drop-ignores-expect", "logs")
class DropIgnoresExpect(PlainStore):
    """Drops whatever head there is."""

    async def drop(self, request: LogRequest) -> bool:
        return await super().drop(request._replace(expect=ANY))


@broken("truncate-returns-the-position", "logs")
class TruncateReturnsThePosition(PlainStore):
    """Returns from truncate where the log begins, not how much was forgotten."""

    async def truncate(self, request: LogRequest, before: int) -> int:
        await super().truncate(request, before)
        head = await self.head(request.scope, request.key)
        return 0 if head is None else head.first


@broken("reads-from-the-first-kept", "logs")
class ReadsFromTheFirstKept(PlainStore):
    """Begins at the first kept position if an earlier one was asked for, and says nothing."""

    def check_start(self, start: int, head: Head) -> None:
        return


@broken("forgotten-is-empty", "logs")
class ForgottenIsEmpty(PlainStore):
    """Reads nothing where a position was asked for that is forgotten."""

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        head = await self.head(scope, key)
        if head is not None and start < head.first:
            return StoredEntries(head, start, [])
        return await super().read(scope, key, start, limit, max_bytes)


@broken("tail-backwards", "logs")
class TailBackwards(PlainStore):
    """Gives the last entries with the newest first."""

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        found = await super().tail(scope, key, count)
        return found._replace(payloads=found.payloads[::-1])


@broken("tail-of-one-less", "logs")
class TailOfOneLess(PlainStore):
    """Leaves the newest entry out of a tail."""

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        found = await super().tail(scope, key, count + 1)
        return found._replace(payloads=found.payloads[:-1]) if len(found.payloads) > 1 else found


@broken("reads-a-thousand", "logs")
class ReadsAThousand(PlainStore):
    """Reads a thousand entries at the most where no limit was given."""

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        return await super().read(scope, key, start, 1_000 if limit is None else limit, max_bytes)


@broken("orders-positions-as-text", "logs")
class OrdersPositionsAsText(PlainStore):
    """Sorts entries by the text of their positions, so that 10 comes before 9."""

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        found = await super().read(scope, key, start, limit, None)
        order = sorted(range(len(found.payloads)), key=lambda index: str(found.start + index))
        return found._replace(payloads=[found.payloads[index] for index in order])


@broken("length-of-what-is-kept", "logs")
class LengthOfWhatIsKept(PlainStore):
    """Tells as the length how many entries are kept."""

    async def head(self, scope: str, key: str) -> Head | None:
        head = await super().head(scope, key)
        return None if head is None else head._replace(length=head.length - head.first)


@broken("one-incarnation", "logs")
class OneIncarnation(PlainStore):
    """Gives every log the same incarnation, so that a head from before a drop still counts."""

    def new_incarnation(self) -> str:
        return "0"


@broken("incarnation-changes-with-truncate", "logs")
class IncarnationChangesWithTruncate(PlainStore):
    """Gives a log another incarnation when it is truncated."""

    def shorten(self, log: Log, before: int) -> int:
        count = super().shorten(log, before)
        if count:
            log.incarnation = self.new_incarnation()
        return count


@broken("appends-whatever-the-length", "logs", "concurrency")
class AppendsWhateverTheLength(PlainStore):
    """Appends although the length is another than expected."""

    def check_head(self, expect: ExpectHead, head: Head | None) -> None:
        if not isinstance(expect, int):
            super().check_head(expect, head)


@broken("head-is-only-its-length", "logs")
class HeadIsOnlyItsLength(PlainStore):
    """Compares of an expected head the length only."""

    def check_head(self, expect: ExpectHead, head: Head | None) -> None:
        super().check_head(expect.length if isinstance(expect, Head) else expect, head)


@broken("head-is-length-and-incarnation", "logs")
class HeadIsLengthAndIncarnation(PlainStore):
    """Does not compare the first position of an expected head."""

    def check_head(self, expect: ExpectHead, head: Head | None) -> None:
        if isinstance(expect, Head) and head is not None:
            expect = expect._replace(first=head.first)
        super().check_head(expect, head)


@broken("truncated-to-nothing-is-absent", "logs")
class TruncatedToNothingIsAbsent(PlainStore):
    """Takes a log that was truncated to nothing for absent where ABSENT is expected."""

    def check_head(self, expect: ExpectHead, head: Head | None) -> None:
        empty = head is not None and head.first == head.length
        super().check_head(expect, None if empty and expect is ABSENT else head)


@broken("zero-of-an-emptied-log", "logs")
class ZeroOfAnEmptiedLog(PlainStore):
    """Lets a write in that expects the length 0 of a log of which nothing is kept."""

    def check_head(self, expect: ExpectHead, head: Head | None) -> None:
        empty = head is not None and head.first == head.length
        if not (empty and expect == 0 and isinstance(expect, int)):
            super().check_head(expect, head)


@broken("conflict-without-head", "logs", "errors")
class ConflictWithoutHead(PlainStore):
    """Raises Conflict without the head that is there."""

    def check_head(self, expect: ExpectHead, head: Head | None) -> None:
        try:
            super().check_head(expect, head)
        except Conflict as conflict:
            raise Conflict(conflict.message) from None


@broken("dropped-log-goes-on", "logs")
class DroppedLogGoesOn(PlainStore):
    """Numbers the entries of a log that was dropped on from where it ended."""

    async def drop(self, request: LogRequest) -> bool:
        head = await self.head(request.scope, request.key)
        there = await super().drop(request)
        with self.room.turn(write=True) as space:
            space.notes[request.scope, request.key] = 0 if head is None else head.length
        return there

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        log = self.log_at(space, request.scope, request.key)
        if log.incarnation is None:
            log.first = space.notes.get((request.scope, request.key), 0)
            log.incarnation = self.new_incarnation()
            self.keep_log(space, request.scope, request.key, log)
        return super().apply_append(space, request)


@broken("restore-overwrites", "logs")
class RestoreOverwrites(PlainStore):
    """Restores over a log that is there."""

    def check_new(self, log: Log) -> None:
        return


@broken("restore-at-zero", "logs")
class RestoreAtZero(PlainStore):
    """Restores every log from position 0 on."""

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        return await super().restore_log(scope, key, 0, payloads, write_id)


@broken("restore-of-nothing-makes-nothing", "logs")
class RestoreOfNothingMakesNothing(PlainStore):
    """Makes no log where none of its entries is left."""

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        if not payloads:
            return Head(first, first, write_id)
        return await super().restore_log(scope, key, first, payloads, write_id)
