"""What changes logs as a whole: moves out of the tail, truncates, drops, restores and seals."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from holdall.errors import AlreadyExists, HoldallError, OutcomeUnknown, TooLarge
from holdall.rules import KEPT_BATCHES, check_fence, check_head, kept_position
from holdall.spi import LogRequest
from holdall.values import Head
from holdall_adapters.aws.errors import Refused
from holdall_adapters.aws.service import bounded
from holdall_adapters.dynamodb import log_changes, names
from holdall_adapters.dynamodb.log_readers import DynamoLogReaders, Name
from holdall_adapters.dynamodb.log_state import Element, LogState, elements_of, encoded, moved, state_of
from holdall_adapters.dynamodb.names import LAST, B, N, S
from holdall_adapters.lost_replies import Unsettled

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.aws.times import Times
    from holdall_adapters.dynamodb.changes import Change
    from holdall_adapters.dynamodb.table import Item, Table

__all__ = ["FULL", "LARGE", "DynamoLogWriters"]

FULL = 16 * 1024
"""Bytes of a tail from which on its first batches are moved."""
LARGE = 64 * 1024
"""Bytes of a batch above which it goes into parts."""
_MOST_POSITIONS = 2**62
_MOST_SEEN = 10_000


class DynamoLogWriters(DynamoLogReaders):
    """The operations that change a log as a whole."""

    def __init__(self, table: Table, shards: int, times: Times, environment: Environment) -> None:
        DynamoLogReaders.__init__(self, table, shards, times, environment)
        self._seen: dict[Name, LogState] = {}

    def _remember(self, name: Name, state: LogState) -> None:
        """Keep what the next append starts from; batches are not kept."""
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        self._seen[name] = state._replace(tail=())

    async def _change_log(
        self, name: Name, change: Change, settling: Unsettled, returned: str = "NONE"
    ) -> tuple[Item | None, LogState]:
        """Change the head of a log; return what was asked for, or None and what is there."""
        key = names.log(*name, self.shards)
        try:
            item = await self.table.update(key, change, returned)
        except Refused as refusal:
            return None, await self.state(name) if refusal.item is None else state_of(refusal.item)
        except OutcomeUnknown:
            settling.is_lost = True
            return None, await self.state(name)
        settling.is_applied = True
        return item, LogState()

    async def move(self, name: Name, state: LogState) -> None:
        """Move the first batches of a tail into a chunk."""
        if state.incarnation is None or not state.tail:
            return
        elements = moved(state.tail)
        end = state.base + sum(element.entries for element in elements)
        await self._write_chunk(name, state, elements, end)
        try:
            await self.table.update(names.log(*name, self.shards), log_changes.let_go(elements, end, state))
        except Refused:
            found = await self.state(name)
            self._remember(name, found)
            if found.incarnation != state.incarnation or end <= found.first:  # it came too late for anybody
                await self.table.remove_all([names.chunk(state.incarnation, end)])
            return
        size = state.size - sum(element.size for element in elements)
        self._remember(name, state._replace(base=end, size=size))

    async def _write_chunk(self, name: Name, state: LogState, elements: Sequence[Element], end: int) -> None:
        """Write a chunk, after the markers of its batches."""
        incarnation, key = state.incarnation or "", names.log(*name, self.shards)
        ordinal = state.batches - len(state.tail)
        marked: list[Item] = []
        for number, (position, element) in enumerate(state.placed()):
            if number < len(elements) and element.hashed is not None:
                marked.append(_marker(incarnation, position, ordinal + number, element))
        if marked:
            await self.table.put_all(marked)
        chunk: Item = {"els": {"L": [encoded(element) for element in elements]}, "opk": key["pk"], "osk": key["sk"]}
        chunk["hi"] = N(ordinal + len(elements))
        await self.table.put({**names.chunk(incarnation, end), **chunk})

    @bounded
    async def truncate(self, request: LogRequest, before: int) -> int:
        """Forget entries: at once for everybody who reads, then chunk by chunk."""
        mine = self.environment.new_id()

        def change(seen: Head, state: LogState) -> Change:
            first, whole = kept_position(seen, before), before > seen.length
            return log_changes.truncate(mine, first, state, request.expect, request.fence, whole=whole)

        state, _ = await self._change_whole("truncate", request, change, mine, "NONE")
        if state.head is None:
            return 0
        first = kept_position(state.head, before)
        if first > state.first:
            with contextlib.suppress(HoldallError):  # it is done; what is left is for `sweep`
                await self.forget(state._replace(first=first))
        return first - state.first

    async def _change_whole(
        self,
        what: str,
        request: LogRequest,
        change: Callable[[Head, LogState], Change],
        write_id: str,
        returned: str,
    ) -> tuple[LogState, Item]:
        """Change a log that is there, and return what it was like; nothing where there is none, and that is fine."""
        name = (request.scope, request.key)
        state = await self.state(name, brief=True)
        with Unsettled(what) as settling:
            async for _ in self.table.turns():
                check_fence(state.mark, request.fence)
                check_head(request.expect, state.head)
                if state.head is None:
                    done, state = await self._sealed_no_log(name, request.fence, state, settling)
                    if done:
                        return LogState(), {}
                    continue
                item, found = await self._change_log(name, change(state.head, state), settling, returned)
                if item is not None or write_id in (found.version, found.previous):
                    self._seen.pop(name, None)
                    return state, item or {}
                if settling.is_lost:
                    raise settling.unknown()
                state = found
            raise settling.hopeless()

    async def _sealed_no_log(
        self, name: Name, fence: int | None, state: LogState, settling: Unsettled
    ) -> tuple[bool, LogState]:
        """Raise the mark of a log that is not there, if there is a fence; tell whether it still was not."""
        if fence is None:
            return True, state
        item, found = await self._change_log(name, log_changes.seal(fence, state), settling)
        return item is not None or (found.mark == fence and found.incarnation is None), found

    @bounded
    async def drop(self, request: LogRequest) -> bool:
        """Delete a log: at once for everybody, then its chunks."""
        mine, now = self.environment.new_id(), self.times.now()

        def change(_: Head, state: LogState) -> Change:
            return log_changes.drop(mine, now, state, request.expect, request.fence)

        state, item = await self._change_whole("drop", request, change, mine, "ALL_OLD")
        if state.incarnation is None:
            return False
        with contextlib.suppress(HoldallError):  # it is done; what is left is for `sweep`
            await self.remove_parts(elements_of(item.get("tail", {}).get("L", ())))
            await self.remove_life(state.incarnation)
        return True

    async def forget(self, state: LogState) -> int:
        """Delete the chunks below the beginning of a log whose batches need not be remembered; return how many."""
        low, high = names.at_length(0), names.at_length(state.first)
        chunks = await self.table.query_all(names.chunks(state.incarnation or ""), low, high)
        old = [chunk for chunk in chunks if int(chunk["hi"]["N"]) <= state.batches - KEPT_BATCHES]
        await self._remove_chunks(state.incarnation or "", old)
        return len(old)

    async def _remove_chunks(self, incarnation: str, chunks: Sequence[Item]) -> None:
        """Delete chunks, after what only they lead to."""
        elements = [element for chunk in chunks for element in elements_of(chunk["els"]["L"])]
        await self.remove_parts(elements)
        hashes = [element.hashed for element in elements if element.hashed is not None]
        await self.table.remove_all([names.batch_marker(incarnation, hashed) for hashed in hashes])
        await self.table.remove_all([names.same_key(chunk) for chunk in chunks])

    async def remove_parts(self, elements: Iterable[Element]) -> None:
        """Delete the parts of batches."""
        large = [(element.write_id, element.parts) for element in elements if element.payload is None]
        await self.table.remove_all([names.part(write_id, n) for write_id, count in large for n in range(count)])

    async def remove_life(self, incarnation: str) -> int:
        """Delete what is left of a log that was dropped; return how many chunks there were."""
        count, after = 0, None
        while True:
            chunks, after = await self.table.query(names.chunks(incarnation), b"\x00", LAST * 8, after=after)
            await self._remove_chunks(incarnation, chunks)
            count += len(chunks)
            if after is None:
                break
        left = await self.table.query_all(names.markers(incarnation), b"\x00", LAST * 33, "pk", "sk")
        await self.table.remove_all([names.same_key(item) for item in left])
        return count

    @bounded
    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        """Create a log that begins at a position."""
        if first > _MOST_POSITIONS:
            what = "log (positions)"
            raise TooLarge(what, _MOST_POSITIONS, first)
        name = (scope, key)
        await self.enter(b"t", scope)
        state, element = await self.state(name), None
        if payloads and state.incarnation is None:
            element = await self.element(name, write_id, payloads, first, None, None)
        with Unsettled("restore_log") as settling:
            async for _ in self.table.turns():
                if state.incarnation is None:
                    change = log_changes.restore(element, write_id, first, state)
                    done, state = await self._change_log(name, change, settling)
                    if done is not None or state.incarnation == write_id:
                        await self.own_parts(element)
                        return Head(first, first + len(payloads), write_id)
                if state.incarnation is not None:
                    if settling.is_lost:
                        raise settling.unknown()
                    message = "there is such a log: drop it before it is restored"
                    raise AlreadyExists(message)
            raise settling.hopeless()

    async def element(
        self, name: Name, write_id: str, payloads: Sequence[bytes], first: int, hashed: bytes | None, digest: str | None
    ) -> Element:
        """Return a batch, its entries written into parts before if they are many."""
        payload, parts = b"\n".join(payloads), 0
        if len(payload) > LARGE:
            parts = await self.parts.write(write_id, names.log(*name, self.shards), payload)
        return Element(write_id, len(payloads), None if parts else payload, parts, first, hashed, digest)

    async def own_parts(self, element: Element | None) -> None:
        """Note that the log sees to the parts of a batch from now on."""
        if element is not None and element.parts:
            await self.parts.settled(element.write_id)

    @bounded
    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        """Raise the mark of a log."""
        name = (scope, key)
        await self.enter(b"t", scope)
        with Unsettled("seal") as settling:
            async for _ in self.table.turns():
                item, found = await self._change_log(name, log_changes.seal(fence), settling, "ALL_NEW")
                state = found if item is None else state_of(item)
                check_fence(state.mark, fence)
                if state.mark == fence:
                    return state.head
            raise settling.hopeless()


def _marker(incarnation: str, position: int, ordinal: int, element: Element) -> dict[str, Any]:
    marker: dict[str, Any] = {"start": N(position), "n": N(element.entries), "ord": N(ordinal), "fst": N(element.first)}
    marker |= {"dig": S(element.digest or "-"), "i": B(bytes.fromhex(element.write_id))}
    return {**names.batch_marker(incarnation, element.hashed or b"\x00"), **marker}
