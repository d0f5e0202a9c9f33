"""Logs on S3: one conditional write of the head for an append, and one before where the tail is full."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from holdall.errors import AlreadyExists, HoldallError, TooLarge
from holdall.rules import KEPT_BATCHES, check_batch, check_fence, check_head, kept_position, raised_mark
from holdall.spi import AppendRequest, LogRequest
from holdall.values import Appended, Head
from holdall_adapters.aws.service import bounded
from holdall_adapters.s3.cells import Keep, Seen, Write
from holdall_adapters.s3.log_bodies import Batch, LogState, marker_of
from holdall_adapters.s3.log_readers import Gone
from holdall_adapters.s3.log_segments import S3LogSegments

__all__ = ["S3Logs"]

_MOST_POSITIONS = 2**62
_Seen = Seen[LogState]
_Step = Write[LogState] | Keep


class S3Logs(S3LogSegments):
    """Every operation on logs."""

    @bounded
    async def append(self, request: AppendRequest) -> Appended:
        """Append a batch."""
        hashed = None if request.batch_id is None else hashlib.sha256(request.batch_id.encode()).hexdigest()
        payload = b"".join([line + b"\n" for line in request.payloads])

        async def decide(seen: _Seen) -> _Step:
            state = seen.state or LogState(request.scope, request.key)
            repeated = await self._repeated(state, hashed, request)
            if repeated is not None:
                return Keep(repeated)
            check_fence(state.mark, request.fence)
            check_head(request.expect, state.head)
            incarnation = state.incarnation or request.write_id
            batch = Batch(request.write_id, len(request.payloads), state.first, hashed, request.digest, payload)
            marked = state._replace(incarnation=incarnation, mark=raised_mark(state.mark, request.fence))
            head = Head(state.first, state.length + batch.entries, incarnation)
            return await self._step(marked, batch, Appended(state.length, batch.entries, head))

        name = self.names.log(request.scope, request.key)
        appended: Appended = await self.logs_cells.change("append", name, request.write_id, decide)
        return appended

    async def _step(self, state: LogState, batch: Batch, result: Any) -> _Step:
        """Return the write that adds a batch; its segment is written before."""
        try:
            moved = await self.moved(state, batch)
        except Gone:  # segments were merged by another meanwhile: its write is refused, and then it looks again
            return Write(state, result)
        return Write(moved.state, result, self.deleting(moved.made), self.deleting(moved.replaced))

    async def _repeated(self, state: LogState, hashed: str | None, request: AppendRequest) -> Appended | None:
        """Return the result of a batch that was appended before."""
        if hashed is None or state.incarnation is None:
            return None
        again = request.digest or "-"
        for position, each in (*state.fresh, *state.placed()):
            if each.hashed == hashed:
                digest = each.digest or "-"
                return check_batch(position, each.entries, digest, state.incarnation, each.first, again)
        if not state.segments and not state.indexes:
            return None
        name = self.names.marker(state.incarnation, hashed)
        stored = await self.bucket.get(name)
        if stored is None:
            return None
        marker = marker_of(name, stored.body)
        digest = marker.digest or "-"
        return check_batch(marker.position, marker.entries, digest, state.incarnation, marker.first, again)

    async def _change_log(
        self, what: str, scope: str, key: str, write_id: str, decide: Callable[[LogState], Awaitable[_Step]]
    ) -> Any:
        async def decided(seen: _Seen) -> _Step:
            return await decide(seen.state or LogState(scope, key))

        return await self.logs_cells.change(what, self.names.log(scope, key), write_id, decided)

    @bounded
    async def truncate(self, request: LogRequest, before: int) -> int:
        """Forget entries: at once for everybody who reads, then segment by segment."""

        async def decide(state: LogState) -> _Step:
            check_fence(state.mark, request.fence)
            check_head(request.expect, state.head)
            if state.head is None:
                return _sealed(state, request.fence, 0)
            first, kept = kept_position(state.head, before), state.batches - KEPT_BATCHES
            doomed = [each for each in state.segments if each.end <= first and each.last <= kept]
            indexes = [each for each in state.indexes if each.end <= first and each.last <= kept]
            changed = state._replace(
                first=first,
                mark=raised_mark(state.mark, request.fence),
                segments=state.segments[len(doomed) :],
                indexes=state.indexes[len(indexes) :],
            )
            if changed == state:
                return Keep(0)

            async def forget() -> None:
                if doomed or indexes:
                    with contextlib.suppress(HoldallError, Gone):  # it is done; what is left is for `sweep`
                        await self.forget(state, doomed, indexes)

            return Write(changed, first - state.first, after=forget)

        mine = self.environment.new_id()
        return int(await self._change_log("truncate", request.scope, request.key, mine, decide))

    @bounded
    async def drop(self, request: LogRequest) -> bool:
        """Delete a log: at once for everybody, then its segments."""

        async def decide(state: LogState) -> _Step:
            check_fence(state.mark, request.fence)
            check_head(request.expect, state.head)
            incarnation = state.incarnation
            if incarnation is None:
                return _sealed(state, request.fence, result=False)

            async def remove() -> None:
                if state.segments or state.indexes:
                    with contextlib.suppress(HoldallError):  # it is done; what is left is for `sweep`
                        await self.remove_life(incarnation)

            mark = raised_mark(state.mark, request.fence)
            return Write(LogState(request.scope, request.key, mark=mark), result=True, after=remove)

        mine = self.environment.new_id()
        return bool(await self._change_log("drop", request.scope, request.key, mine, decide))

    @bounded
    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        """Create a log that begins at a position."""
        if first > _MOST_POSITIONS:
            what = "log (positions)"
            raise TooLarge(what, _MOST_POSITIONS, first)
        payload = b"".join([line + b"\n" for line in payloads])

        async def decide(state: LogState) -> _Step:
            if state.incarnation is not None:
                message = "there is such a log: drop it before it is restored"
                raise AlreadyExists(message)
            made = LogState(scope, key, write_id, length=first, first=first, base=first, mark=state.mark)
            head = Head(first, first + len(payloads), write_id)
            if not payloads:
                return Write(made, head)
            return await self._step(made, Batch(write_id, len(payloads), first, None, None, payload), head)

        head: Head = await self._change_log("restore_log", scope, key, write_id, decide)
        return head

    @bounded
    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        """Raise the mark of a log, and return its head at that moment."""

        async def decide(state: LogState) -> _Step:
            check_fence(state.mark, fence)
            return Keep(state.head) if state.mark == fence else Write(state._replace(mark=fence), state.head)

        head: Head | None = await self._change_log("seal", scope, key, self.environment.new_id(), decide)
        return head


def _sealed(state: LogState, fence: int | None, result: Any) -> _Step:
    """Return what a fenced write does that finds no log: it raises the mark."""
    if fence is None or fence == state.mark:
        return Keep(result)
    return Write(state._replace(mark=fence), result)
