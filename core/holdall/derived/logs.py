"""Logs over a backend: a head with a bounded tail, committed by compare-and-set, and immutable chunks behind it.

Before an append commits a head whose tail has become long, it writes the first batches of the committed tail as a
chunk, and what is to be remembered of their batch ids. A crash in between leaves a chunk that the next append writes
again, the same; whoever reads takes each position once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdall.derived.access import Access, Decision, Settle, Unchanged, lost
from holdall.derived.layout import (
    BATCH,
    CHUNK,
    LOG,
    batch_key,
    chunk_end,
    chunk_key,
    named,
    part_prefix,
    split_named,
)
from holdall.derived.log_state import (
    Batch,
    LogState,
    Remembered,
    decode_chunk,
    decode_remembered,
    decode_state,
    encode_chunk,
)
from holdall.derived.records import scopes_of
from holdall.errors import AlreadyExists, Corrupt, HoldallError
from holdall.rules import (
    KEPT_BATCHES,
    check_batch,
    check_fence,
    check_head,
    check_start,
    kept_position,
    raised_mark,
)
from holdall.spi import ANY, AppendRequest, LogRequest, StoredEntries, StoredPage
from holdall.values import Appended, Head

if TYPE_CHECKING:
    from holdall.derived.clock import Clock
    from holdall.spi import BackendItem

_CHUNKS = 16
_REREADS = 8


class DerivedLogs:
    """Every operation on logs."""

    def __init__(self, access: Access, clock: Clock) -> None:
        self._access = access
        self._clock = clock
        self._new_id = access.environment.new_id

    async def append(self, request: AppendRequest) -> Appended:
        """Append a batch."""
        key = named(LOG, request.scope, request.key)
        grown = LogState()

        async def decide(item: BackendItem | None) -> Decision | Unchanged:
            nonlocal grown
            state = _state(item)
            repeated = await self._repeated(state, request)
            if repeated is not None:
                return Unchanged(repeated)
            check_fence(state.mark, request.fence)
            check_head(request.expect, state.head())
            grown = await self._grow(state, request)
            return Decision(grown.encode(request.write_id), grown.tail[-1].result(grown.incarnation or ""))

        def settle(item: BackendItem | None) -> bool:
            return _settle_append(_state(item), grown, request.write_id)

        result: Appended = await self._access.replace(key, decide, settle)
        return result

    async def _repeated(self, state: LogState, request: AppendRequest) -> Appended | None:
        if request.batch_id is None or state.incarnation is None:
            return None
        batch = state.find_batch(request.batch_id)
        if batch is not None:
            found = Remembered.of(request.scope, request.key, batch)
        elif state.batches > len(state.tail):
            item = await self._access.get(batch_key(state.incarnation, request.batch_id))
            if item is None:
                return None
            found = decode_remembered(item.payload)
        else:
            return None
        again = request.digest or ""
        return check_batch(found.start, found.entries, found.digest, state.incarnation, found.first, again)

    async def _grow(self, state: LogState, request: AppendRequest) -> LogState:
        shorter, leaving = state.spilled()
        if leaving and state.incarnation is not None:
            end = chunk_key(state.incarnation, leaving[-1].end)
            await self._access.put_new(end, encode_chunk(request.scope, request.key, leaving))
            await self._remember(state.incarnation, request.scope, request.key, leaving)
        grown = shorter.grown(request.write_id, request.payloads, request.batch_id, request.digest)
        return _marked(grown, raised_mark(state.mark, request.fence))

    async def _remember(self, incarnation: str, scope: str, key: str, batches: Sequence[Batch]) -> None:
        for batch in batches:
            if batch.batch_id is not None:
                where = batch_key(incarnation, batch.batch_id)
                await self._access.put_new(where, Remembered.of(scope, key, batch).encode())

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        """Return entries from a position on."""
        for _ in range(_REREADS):
            item = await self._access.get(named(LOG, scope, key))
            state = _state(item)
            head = state.head()
            if head is None:
                return StoredEntries(None, start, [])
            check_start(start, head)
            end = head.length if limit is None else min(head.length, start + limit)
            payloads = await self._collect(state, start, end, max_bytes)
            if payloads is not None:
                return StoredEntries(head, start, payloads)
        message = "entries of the log are missing between its chunks"
        raise Corrupt(message)

    async def _collect(self, state: LogState, start: int, end: int, max_bytes: int | None) -> list[bytes] | None:
        """Return entries of chunks and tail; None if the log changed under the reader."""
        payloads: list[bytes] = []
        size = 0
        while start + len(payloads) < min(end, state.base):
            position = start + len(payloads)
            found = await self._chunks_from(state, position)
            if not found:
                return None
            payloads += found
            size += sum(map(len, found))
            if max_bytes is not None and size >= max_bytes:
                end = min(end, start + len(payloads))
        tail = [payload for batch in state.tail for payload in batch.payloads]
        payloads += tail[max(0, start + len(payloads) - state.base) :]
        return _cut(payloads[: max(0, end - start)], max_bytes)

    async def _chunks_from(self, state: LogState, position: int) -> list[bytes]:
        incarnation = state.incarnation or ""
        prefix, behind = part_prefix(CHUNK, incarnation), chunk_key(incarnation, position)
        payloads: list[bytes] = []
        for item in await self._access.scan(prefix, behind, _CHUNKS):
            _, _, start, lines = decode_chunk(item.payload)
            here = position + len(payloads)
            if start > here:
                break
            payloads += lines[here - start :]
        return payloads[: state.base - position]

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        """Return the last entries."""
        for _ in range(_REREADS):
            state = _state(await self._access.get(named(LOG, scope, key)))
            start = max(state.first, state.length - count)
            payloads = await self._collect(state, start, state.length, None)
            if payloads is not None:
                return StoredEntries(state.head(), start, payloads)
        message = "entries of the log are missing between its chunks"
        raise Corrupt(message)

    async def head(self, scope: str, key: str) -> Head | None:
        """Return the head of a log."""
        return _state(await self._access.get(named(LOG, scope, key))).head()

    async def truncate(self, request: LogRequest, before: int) -> int:
        """Forget entries: the head first, then the chunks that it leaves behind; `sweep` forgets old batch ids."""
        write = self._new_id()
        kept: LogState = LogState()

        async def decide(item: BackendItem | None) -> Decision | Unchanged:
            nonlocal kept
            state = _checked(item, request)
            head = state.head()
            if head is None:
                return _mark_only(state, request.fence, write, result=0)
            position = kept_position(head, before)
            gone = sum(batch.end <= position for batch in state.tail)
            await self._remember(head.incarnation, request.scope, request.key, state.tail[:gone])
            kept = _marked(state.without(gone), raised_mark(state.mark, request.fence), first=position)
            return Decision(kept.encode(write), position - head.first)

        settle = _settle_by_nonce(write, "truncate")
        result: int = await self._access.replace(named(LOG, request.scope, request.key), decide, settle)
        if kept.incarnation is not None:
            with contextlib.suppress(HoldallError):  # it is done; what is left of the chunks is for `sweep`
                await self._forget_chunks(kept.incarnation, kept)
        return result

    async def forget_parts(self, incarnation: str, state: LogState) -> int:
        """Remove the chunks and remembered batches of an incarnation that its log does not need; return how many."""
        return await self._forget_chunks(incarnation, state) + await self._forget_batches(incarnation, state)

    async def _forget_chunks(self, incarnation: str, state: LogState) -> int:
        count = 0
        async for item in self._access.items(part_prefix(CHUNK, incarnation)):
            if state.incarnation == incarnation and chunk_end(item.key) > state.first:
                break
            await self._access.delete(item.key, ANY)
            count += 1
        return count

    async def _forget_batches(self, incarnation: str, state: LogState) -> int:
        count = 0
        async for item in self._access.items(part_prefix(BATCH, incarnation)):
            batch = decode_remembered(item.payload)
            gone = batch.start + batch.entries <= state.first and batch.number <= state.batches - KEPT_BATCHES
            if state.incarnation != incarnation or gone:
                await self._access.delete(item.key, ANY)
                count += 1
        return count

    async def drop(self, request: LogRequest) -> bool:
        """Delete a log: its head first, or all of it but the mark, then its chunks."""
        write = self._new_id()
        dropped: str | None = None

        async def decide(item: BackendItem | None) -> Decision | Unchanged:
            nonlocal dropped
            state = _checked(item, request)
            dropped = state.incarnation
            mark = raised_mark(state.mark, request.fence)
            if state.incarnation is None:
                return _mark_only(state, request.fence, write, result=False)
            return Decision(LogState(mark=mark).encode(write) if mark else None, result=True)

        settle = _settle_by_nonce(write, "drop")
        result = await self._access.replace(named(LOG, request.scope, request.key), decide, settle)
        if dropped is not None:
            with contextlib.suppress(HoldallError):  # it is done; what is left of the chunks is for `sweep`
                await self.forget_parts(dropped, LogState())
        return bool(result)

    async def logs(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""
        behind = None if after is None else named(LOG, scope, after)
        items = await self._access.scan(named(LOG, scope, prefix), behind, limit + 1)
        keys = [split_named(item.key)[1] for item in items[:limit] if _state(item).incarnation is not None]
        return StoredPage(keys, split_named(items[limit - 1].key)[1] if len(items) > limit else None)

    async def log_scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes."""

        async def is_live(item: BackendItem) -> bool:
            return _state(item).incarnation is not None

        return await scopes_of(self._access, LOG, is_live, (prefix, after, limit))

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        """Create a log that begins at a position."""

        async def decide(item: BackendItem | None) -> Decision:
            state = _state(item)
            if state.incarnation is not None:
                message = "there is such a log: drop it before it is restored"
                raise AlreadyExists(message)
            restored = LogState(incarnation=write_id, first=first, length=first, mark=state.mark)
            if payloads:
                restored = restored.grown(write_id, payloads, None, None)
            return Decision(restored.encode(write_id), restored.head())

        def settle(item: BackendItem | None) -> bool:
            if _state(item).incarnation == write_id:
                return True
            raise lost("restore")

        head: Head = await self._access.replace(named(LOG, scope, key), decide, settle)
        return head

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        """Raise the mark of a log."""
        write = self._new_id()

        async def decide(item: BackendItem | None) -> Decision | Unchanged:
            state = _state(item)
            check_fence(state.mark, fence)
            return Decision(_marked(state, fence).encode(write), state.head())

        settle = _settle_by_nonce(write, "seal")
        head: Head | None = await self._access.replace(named(LOG, scope, key), decide, settle)
        return head


def _state(item: BackendItem | None) -> LogState:
    return LogState() if item is None else decode_state(item.payload)[0]


def _checked(item: BackendItem | None, request: LogRequest) -> LogState:
    state = _state(item)
    check_fence(state.mark, request.fence)
    check_head(request.expect, state.head())
    return state


def _marked(state: LogState, mark: int, first: int | None = None) -> LogState:
    kept = state.first if first is None else first
    return LogState(state.incarnation, kept, state.length, mark, state.batches, state.tail, state.recent)


def _mark_only(state: LogState, fence: int | None, write: str, *, result: Any) -> Decision | Unchanged:
    mark = raised_mark(state.mark, fence)
    return Unchanged(result) if mark == state.mark else Decision(LogState(mark=mark).encode(write), result)


def _settle_append(state: LogState, grown: LogState, write_id: str) -> bool:
    """Tell whether an append was applied: its id stays known while no more than a window of batches followed."""
    if write_id in state.recent or any(batch.write_id == write_id for batch in state.tail):
        return True
    since = state.batches - grown.batches + 1
    if state.incarnation == grown.incarnation and since <= len(state.tail) + len(state.recent):
        return False
    raise lost("append")


def _settle_by_nonce(write: str, what: str) -> Settle:
    def settle(item: BackendItem | None) -> bool:
        if item is not None and decode_state(item.payload)[1] == write:
            return True
        raise lost(what)

    return settle


def _cut(payloads: list[bytes], max_bytes: int | None) -> list[bytes]:
    if max_bytes is None:
        return payloads
    total = 0
    for count, payload in enumerate(payloads, 1):
        total += len(payload)
        if total >= max_bytes:
            return payloads[:count]
    return payloads
