"""What reads logs: the head in one request, and the segments that hold what left it, several at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from holdall.errors import Corrupt, StoreTimeout
from holdall.rules import check_start
from holdall.spi import StoredEntries, StoredPage
from holdall.values import Head
from holdall_adapters.aws.service import bounded
from holdall_adapters.lost_replies import ATTEMPTS
from holdall_adapters.s3.cells import Cells
from holdall_adapters.s3.log_bodies import LOG, Batch, LogState, Reference, Segment, index_of, segment_of
from holdall_adapters.s3.records import S3Records

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.aws.times import Times
    from holdall_adapters.s3.bucket import Bucket, Listed
    from holdall_adapters.s3.names import Names

__all__ = ["Gone", "S3LogReaders"]

_MOST_KNOWN = 256
_AT_ONCE = 16
_BYTES_AT_ONCE = 16 * 2**20
_MOST_KEPT = 8 * 2**20
"""Bytes of segments that a handle remembers."""


class Gone(Exception):
    """A segment is not there any more."""


class S3LogReaders(S3Records):
    """The operations that read logs."""

    def __init__(self, bucket: Bucket, names: Names, times: Times, environment: Environment) -> None:
        S3Records.__init__(self, bucket, names, times, environment)
        self.logs_cells: Cells[LogState] = Cells(bucket, LOG, _MOST_KNOWN)
        self._bodies: dict[str, bytes] = {}

    async def state(self, scope: str, key: str) -> LogState:
        """Return the head of a log with its tail."""
        return (await self.logs_cells.look(self.names.log(scope, key))).state or LogState(scope, key)

    @bounded
    async def head(self, scope: str, key: str) -> Head | None:
        """Return the head of a log."""
        return (await self.state(scope, key)).head

    @bounded
    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        """Return entries from a position on."""

        def begin(head: Head) -> int:
            check_start(start, head)
            return start

        return await self._read(scope, key, begin, limit, max_bytes) or StoredEntries(None, start, [])

    @bounded
    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        """Return the last entries."""

        def begin(head: Head) -> int:
            return max(head.first, head.length - count)

        return await self._read(scope, key, begin, None, None) or StoredEntries(None, 0, [])

    async def _read(
        self, scope: str, key: str, begin: Callable[[Head], int], limit: int | None, max_bytes: int | None
    ) -> StoredEntries | None:
        """Return entries from where they begin, as the log was at one moment; None where there is no log."""
        for _ in range(ATTEMPTS):
            state = await self.state(scope, key)
            if state.head is None:
                return None
            start = begin(state.head)
            wanted = max(0, state.length - start if limit is None else min(limit, state.length - start))
            taken = _Taken(start, wanted, max_bytes)
            try:
                await self._take(state, taken)
            except Gone as error:
                if await self.state(scope, key) == state:
                    message = f"entries of the log are missing after {taken.position}: restore the bucket from a backup"
                    raise Corrupt(message) from error
                continue
            return StoredEntries(state.head, start, taken.payloads)
        message = "the log was truncated again and again while it was read"
        raise StoreTimeout(message)

    async def _take(self, state: LogState, taken: _Taken) -> None:
        """Take entries out of the segments, and then out of the tail."""
        if taken.position < state.base:
            waiting = [each for each in await self.references(state, taken.position) if each.end > taken.position]
            while waiting and taken.wants_more():
                group = _group(waiting, taken)
                for segment in await self.segments(state, group):
                    taken.take_all(segment.placed())
                waiting = waiting[len(group) :]
        taken.take_all(state.placed())

    async def references(self, state: LogState, position: int) -> list[Reference]:
        """Return the segments that hold what lies behind a position, in order."""
        incarnation = state.incarnation or ""
        wanted = [each for each in state.indexes if each.end > position]
        names = [self.names.index(incarnation, each.end, each.nonce) for each in wanted]
        indexes = await self.bucket.together([partial(self._body, name) for name in names])
        named = [each for name, body in zip(names, indexes, strict=True) for each in index_of(name, body)]
        return named + list(state.segments)

    async def segments(self, state: LogState, references: Sequence[Reference]) -> list[Segment]:
        """Return segments."""
        incarnation = state.incarnation or ""
        names = [self.names.segment(incarnation, each.end, each.nonce) for each in references]
        bodies = await self.bucket.together([partial(self._body, name) for name in names])
        return [segment_of(name, body) for name, body in zip(names, bodies, strict=True)]

    async def _body(self, name: str) -> bytes:
        """Return what never changes under its name: what was read last is kept, for whoever reads on in it."""
        body = self._bodies.get(name)
        if body is None:
            stored = await self.bucket.get(name)
            if stored is None:
                raise Gone(name)
            body = stored.body
            kept = {**self._bodies, name: body}
            while sum(map(len, kept.values())) > _MOST_KEPT:
                kept.pop(next(iter(kept)))
            self._bodies = kept  # other threads have the old one whole
        return body

    @bounded
    async def logs(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""

        async def key_of(_: Listed, key: str) -> str:
            return key

        return await self.page_of("l", scope, prefix, after, limit, key_of)

    @bounded
    async def log_scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes."""
        return await self.scopes_in("l", prefix, after, limit)


def _group(waiting: Sequence[Reference], taken: _Taken) -> Sequence[Reference]:
    """Return as many segments from the beginning as are to be fetched at once, at least one."""
    room, end = taken.room(), taken.end()
    for number, each in enumerate(waiting[:_AT_ONCE]):
        room -= each.size
        if room < 0 or each.end >= end:
            return waiting[: number + 1]
    return waiting[:_AT_ONCE]


class _Taken:
    """Entries as they are taken out of batches, from a position on."""

    def __init__(self, start: int, wanted: int, max_bytes: int | None) -> None:
        self.position = start
        self.payloads: list[bytes] = []
        self._wanted = wanted
        self._left = max_bytes

    def room(self) -> int:
        """Return how many bytes to fetch at once."""
        return _BYTES_AT_ONCE if self._left is None else max(0, min(self._left, _BYTES_AT_ONCE))

    def end(self) -> int:
        """Return the position before which everything wanted lies."""
        return self.position + self._wanted - len(self.payloads)

    def wants_more(self) -> bool:
        """Tell whether there is room for another entry."""
        has_enough = self._left is not None and self._left <= 0 and bool(self.payloads)
        return len(self.payloads) < self._wanted and not has_enough

    def take_all(self, placed: Iterable[tuple[int, Batch]]) -> None:
        """Take what is wanted out of batches that follow each other.

        Raises:
            Gone: they do not go on where those before ended.

        """
        for start, batch in placed:
            if not self.wants_more():
                return
            if start > self.position:
                raise Gone
            if start + batch.entries > self.position:
                self._take(batch.payload.split(b"\n")[self.position - start : -1])

    def _take(self, entries: Sequence[bytes]) -> None:
        for entry in entries:
            if not self.wants_more():
                return
            self.payloads.append(entry)
            self.position += 1
            if self._left is not None:
                self._left -= len(entry)
