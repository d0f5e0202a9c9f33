"""What leaves the head of a log: segments, the markers of batch ids, and indexes of old segments.

Whatever is written here before the head is either immutable and named by nobody yet, or says what is true already.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from holdall_adapters.s3.log_bodies import Batch, LogState, Reference, index_body, marker_body, segment_body
from holdall_adapters.s3.log_readers import S3LogReaders

__all__ = ["FULL", "Moved", "S3LogSegments"]

FULL = 64 * 1024
"""Bytes of a tail from which on it goes into a segment."""
_SMALL, _LARGE = 16, 768 * 1024
"""So many segments in a row that are smaller than so many bytes are written as one."""
_MOST_NAMED, _INDEXED = 64, 32
"""More segments than that in a head, and so many of them go into an index."""


class Moved(NamedTuple):
    """A head from which batches were moved, and what to delete if it is written, or if it is not."""

    state: LogState
    replaced: tuple[str, ...] = ()
    made: tuple[str, ...] = ()


class S3LogSegments(S3LogReaders):
    """Moves batches out of heads."""

    async def moved(self, state: LogState, batch: Batch) -> Moved:
        """Return a head with another batch, after moving its tail into a segment if it is full; large batches go along.

        Args:
            state: the head.
            batch: the batch.

        """
        length, batches = state.length + batch.entries, state.batches + 1
        grown = state._replace(length=length, batches=batches)
        if state.size + len(batch.payload) < FULL:
            return Moved(grown._replace(tail=(*state.tail, batch)))
        await self._mark(state)
        is_large = len(batch.payload) >= FULL
        members = (*state.tail, batch) if is_large else state.tail
        if not members:
            return Moved(grown._replace(tail=(batch,)))
        left: tuple[Batch, ...] = () if is_large else (batch,)
        end, last = (length, batches) if is_large else (state.length, state.batches)
        reference = await self._write_segment(state, state.base, members, end, last)
        fresh = ((state.length, batch._replace(payload=b"")),) if is_large and batch.hashed is not None else ()
        segments = (*state.segments, reference)
        moved = Moved(
            grown._replace(tail=left, base=end, fresh=fresh, segments=segments),
            made=(self._name(state, reference),),
        )
        return await self._indexed(await self._merged(moved))

    def _name(self, state: LogState, reference: Reference) -> str:
        return self.names.segment(state.incarnation or "", reference.end, reference.nonce)

    async def _write_segment(
        self, state: LogState, start: int, batches: Sequence[Batch], end: int, last: int
    ) -> Reference:
        body = segment_body(state, start, batches)
        reference = Reference(end, self.environment.new_id()[:16], last, len(body))
        await self.bucket.put_always(self._name(state, reference), body)
        return reference

    async def _mark(self, state: LogState) -> None:
        """Write the markers of all batches with ids that the log has, and that have none yet."""
        hashed = [*state.fresh, *((position, batch) for position, batch in state.placed() if batch.hashed is not None)]
        await self.bucket.together([partial(self._write_marker, state, *each) for each in hashed])

    async def _write_marker(self, state: LogState, position: int, batch: Batch) -> None:
        name = self.names.marker(state.incarnation or "", batch.hashed or "")
        await self.bucket.put_always(name, marker_body(state, position, batch))

    async def _merged(self, moved: Moved) -> Moved:
        """Write the last segments as one, if there are many small ones."""
        state, small = moved.state, 0
        for reference in reversed(state.segments):
            if reference.size >= _LARGE:
                break
            small += 1
        if small < _SMALL:
            return moved
        doomed = state.segments[-small:]
        segments = await self.segments(state, doomed)
        batches = [batch for segment in segments for batch in segment.batches]
        merged = await self._write_segment(state, segments[0].start, batches, doomed[-1].end, doomed[-1].last)
        names, made = tuple(self._name(state, each) for each in doomed), (*moved.made, self._name(state, merged))
        return Moved(state._replace(segments=(*state.segments[:-small], merged)), names, made)

    async def _indexed(self, moved: Moved) -> Moved:
        """Move the names of the oldest segments into an index, if there are many."""
        state = moved.state
        if len(state.segments) <= _MOST_NAMED:
            return moved
        old, segments = state.segments[:_INDEXED], state.segments[_INDEXED:]
        body = index_body(state, old)
        reference = Reference(old[-1].end, self.environment.new_id()[:16], old[-1].last, len(body))
        name = self.names.index(state.incarnation or "", reference.end, reference.nonce)
        await self.bucket.put_always(name, body)
        state = state._replace(segments=segments, indexes=(*state.indexes, reference))
        return Moved(state, moved.replaced, (*moved.made, name))

    def deleting(self, names: Iterable[str]) -> Callable[[], Awaitable[None]]:
        """Return what deletes objects, and does not mind if that fails: what is left is for `sweep`."""
        doomed = tuple(names)

        async def delete() -> None:
            await self.bucket.each([partial(self.bucket.remove, name) for name in doomed])

        return delete

    async def forget(self, state: LogState, doomed: Sequence[Reference], indexes: Sequence[Reference]) -> None:
        """Delete segments, with the markers of their batches, and indexes with what they name."""
        incarnation = state.incarnation or ""
        if indexes:
            named = await self.references(state._replace(indexes=tuple(indexes), segments=()), -1)
            doomed = [*named, *doomed]
        names = [self._name(state, each) for each in doomed]
        for segment in await self.segments(state, doomed):
            names += [self.names.marker(incarnation, each.hashed) for each in segment.batches if each.hashed]
        names += [self.names.index(incarnation, each.end, each.nonce) for each in indexes]
        await self.deleting(names)()

    async def remove_life(self, incarnation: str) -> int:
        """Delete what is left of a life of a log; return how many objects there were."""
        count = 0
        for kind in ("b", "s", "i"):
            found = await self.bucket.names(self.names.life(kind, incarnation))
            await self.deleting(each.name for each in found)()
            count += len(found)
        return count
