"""Appends: one request on a log that this handle has seen, for a batch of any size below 64 KB.

The request says in which life of the log, and from which base on, it may happen; while that base stands, the head knows
the id of every write since. So a copy of it that comes late is refused, and what came of it can always be told.
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

from holdall.errors import Conflict, Fenced, HoldallError
from holdall.rules import check_batch, check_fence, check_head
from holdall.spi import ABSENT, ANY, AppendRequest
from holdall.values import Appended, Head
from holdall_adapters.aws.errors import TooBig
from holdall_adapters.aws.service import bounded
from holdall_adapters.dynamodb import log_changes, names
from holdall_adapters.dynamodb.log_readers import Name, placed_in
from holdall_adapters.dynamodb.log_state import Element, LogState, state_of
from holdall_adapters.dynamodb.log_writers import FULL, DynamoLogWriters
from holdall_adapters.lost_replies import Unsettled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdall.values import ExpectHead

__all__ = ["OVERFULL", "DynamoLogs", "hashed_id"]

OVERFULL = 200 * 1024
"""Bytes above which nothing more goes into a tail before it was moved; an item ends at 400 KB."""
_TRIES = 60
"""How often an append is sent: whoever moves batches out of the tail is in the way of all who have not seen it."""


class DynamoLogs(DynamoLogWriters):
    """Every operation on logs."""

    @bounded
    async def append(self, request: AppendRequest) -> Appended:
        """Append a batch: one request if nothing speaks against it, and one before if it has a batch id."""
        name, hashed = (request.scope, request.key), hashed_id(request.batch_id)
        await self.enter(b"t", request.scope)
        with Unsettled("append") as settling:
            seen = self._seen.get(name)
            if seen is None or not _may_hold(request, seen):
                seen = await self.state(name)
            element, epoch = None, seen.epoch
            for _ in range(_TRIES):
                if seen.size > OVERFULL:
                    seen = await self._emptied(name)
                repeated = await self._repeated(request, hashed, seen)
                if repeated is not None:
                    return await self._leave(element, repeated)
                await self._judge_append(request, seen, element)
                if element is None or (element.parts and seen.epoch != epoch):  # a sweep took the parts for orphans
                    epoch = seen.epoch
                    element = await self.element(
                        name, request.write_id, request.payloads, seen.first, hashed, request.digest
                    )
                element = element._replace(first=seen.first)
                change = log_changes.append(element, request.expect, request.fence, seen)
                try:
                    item, found = await self._change_log(name, change, settling, "ALL_NEW")
                except TooBig:
                    seen = await self._emptied(name)
                    continue
                if item is not None:
                    return await self._done(name, element, seen, state_of(item))
                self._remember(name, found)
                place = await self._place_of(request.write_id, seen, found, settling)
                if place is not None:
                    await self.own_parts(element)
                    return place
                if settling.is_lost and not _goes_on(seen, found):
                    raise settling.unknown()
                seen = found
            raise settling.hopeless()

    async def _emptied(self, name: Name) -> LogState:
        """Move batches out of a tail, and return what is there then."""
        await self.move(name, await self.state(name))
        return await self.state(name)

    async def _leave(self, element: Element | None, appended: Appended) -> Appended:
        """Return what was appended before, without the parts that were written for it now."""
        if element is not None and element.parts:
            await self.parts.remove([(element.write_id, element.parts)])
        return appended

    async def _done(self, name: Name, element: Element, seen: LogState, state: LogState) -> Appended:
        """Return the result of an append, after moving batches if the tail is full."""
        self._remember(name, state)
        await self.own_parts(element)
        if state.size >= FULL and (state.size - element.size < FULL or state.size >= 2 * FULL):
            with contextlib.suppress(HoldallError):  # what was asked for is done; whoever comes next moves what is left
                await self.move(name, state)
        start = state.length - element.entries
        return Appended(start, element.entries, Head(seen.first, state.length, state.incarnation or ""))

    async def _place_of(self, write_id: str, seen: LogState, found: LogState, settling: Unsettled) -> Appended | None:
        """Return where a batch is, if it is there though its request was refused or lost."""
        place = _among(found.placed(), write_id, found)
        if place is not None or not settling.is_lost or found.incarnation is None or found.base == seen.base:
            return place
        low, high = names.at_length(seen.base + 1), names.at_length(found.base)
        chunks = await self.table.query_all(names.chunks(found.incarnation), low, high)
        return _among(placed_in(chunks), write_id, found)

    async def _repeated(self, request: AppendRequest, hashed: bytes | None, seen: LogState) -> Appended | None:
        """Return the result of a batch that was appended before, as far as the log was seen."""
        if hashed is None or seen.incarnation is None:
            return None
        again = request.digest or "-"
        for position, each in seen.placed():
            if each.hashed == hashed:
                return check_batch(position, each.entries, each.digest or "-", seen.incarnation, each.first, again)
        if not seen.base:
            return None
        marker = await self.table.get(names.batch_marker(seen.incarnation, hashed))
        if marker is None:
            return None
        start, count, first = (int(marker[field]["N"]) for field in ("start", "n", "fst"))
        return check_batch(start, count, marker["dig"]["S"], seen.incarnation, first, again)

    async def _judge_append(self, request: AppendRequest, seen: LogState, element: Element | None) -> None:
        """Raise what speaks against an append; its parts are of no use then."""
        try:
            check_fence(seen.mark, request.fence)
            check_head(request.expect, seen.head)
        except (Conflict, Fenced):
            if element is not None and element.parts:
                await self.parts.remove([(element.write_id, element.parts)])
            raise


def hashed_id(batch_id: str | None) -> bytes | None:
    """Return a batch id as it is stored: hashed, always.

    Args:
        batch_id: the batch id, or None.

    """
    return None if batch_id is None else hashlib.sha256(batch_id.encode()).digest()


def _may_hold(request: AppendRequest, seen: LogState) -> bool:
    """Tell whether an append may be allowed by what was seen last; others may have written since."""
    expect: ExpectHead = request.expect
    if seen.mark and request.fence is not None and request.fence < seen.mark:
        return False
    if expect is ANY:
        return True
    if expect is ABSENT or expect == 0 or seen.head is None:
        return seen.head is None and (expect is ABSENT or expect == 0)
    return expect == seen.head if isinstance(expect, Head) else expect == seen.length


def _goes_on(seen: LogState, found: LogState) -> bool:
    """Tell whether a write is sure to be found, if it was applied: in the same life, or in the first after none."""
    if seen.incarnation is None:
        return found.version == seen.version
    return found.incarnation == seen.incarnation


def _among(placed: Iterable[tuple[int, Element]], write_id: str, state: LogState) -> Appended | None:
    for position, element in placed:
        if element.write_id == write_id:
            end = position + element.entries
            return Appended(position, element.entries, Head(element.first, end, state.incarnation or ""))
    return None
