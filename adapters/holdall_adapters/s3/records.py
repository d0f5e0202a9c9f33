"""Records on S3: a read and a conditional write, or the write alone where this handle knows what is there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from holdall.errors import HoldallError
from holdall.rules import check_fence, check_version, raised_mark
from holdall.spi import ABSENT, ANY, DeleteRequest, PutRequest
from holdall_adapters.aws.service import bounded
from holdall_adapters.s3.cells import Keep, Seen, Write
from holdall_adapters.s3.listings import S3Listings
from holdall_adapters.s3.record_bodies import RecordState

__all__ = ["S3Records"]

_Seen = Seen[RecordState]
_Step = Write[RecordState] | Keep


class S3Records(S3Listings):
    """Every operation on records."""

    def _found(self, seen: _Seen, scope: str, key: str) -> tuple[RecordState, str | None]:
        """Return what is there, and its version if it is alive."""
        state = seen.state or RecordState(scope, key)
        return state, state.live(self.times.past())

    async def _clear_sight(self, ttl: float | None) -> None:
        """Narrow the bounds of the server's time before something is written that expires by it."""
        if ttl is not None and self.times.is_vague():
            await self.bucket.get(self.names.layout)

    @bounded
    async def put(self, request: PutRequest) -> None:
        """Write a record."""
        await self._put(request, is_new=request.expect is ABSENT)

    async def _put(self, request: PutRequest, *, is_new: bool) -> None:
        await self._clear_sight(request.ttl)

        async def decide(seen: _Seen) -> _Step:
            state, live = self._found(seen, request.scope, request.key)
            check_fence(state.mark, request.fence)
            check_version(request.expect, live)
            expires = None if request.ttl is None else self.times.now() + request.ttl
            mark = raised_mark(state.mark, request.fence)
            return Write(RecordState(request.scope, request.key, request.version, request.payload, expires, mark), None)

        name = self.names.record(request.scope, request.key)
        await self.records.change("put", name, request.version, decide, is_new=is_new)

    @bounded
    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        """Set a new expiry: the whole record is read and written again."""
        await self._clear_sight(ttl)

        async def decide(seen: _Seen) -> _Step:
            state, live = self._found(seen, scope, key)
            check_fence(state.mark, fence)
            if live is None:
                return _sealed(state, fence, result=False)
            expires = None if ttl is None else self.times.now() + ttl
            return Write(state._replace(expires=expires, mark=raised_mark(state.mark, fence)), result=True)

        mine = self.environment.new_id()
        return bool(await self.records.change("touch", self.names.record(scope, key), mine, decide, whole=True))

    @bounded
    async def delete(self, request: DeleteRequest) -> bool:
        """Delete a record; its grave keeps the mark, and the ids of the last writes."""

        async def decide(seen: _Seen) -> _Step:
            state, live = self._found(seen, request.scope, request.key)
            check_fence(state.mark, request.fence)
            check_version(request.expect, live)
            if live is None:
                return _sealed(state, request.fence, result=False)
            mark = raised_mark(state.mark, request.fence)
            return Write(RecordState(request.scope, request.key, mark=mark), result=True)

        mine = self.environment.new_id()
        return bool(await self.records.change("delete", self.names.record(request.scope, request.key), mine, decide))

    @bounded
    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        """Raise the mark of a record, and return its version at that moment."""

        async def decide(seen: _Seen) -> _Step:
            state, live = self._found(seen, scope, key)
            check_fence(state.mark, fence)
            if state.mark == fence:
                return Keep(live)
            return Write(state._replace(mark=fence), live)

        mine = self.environment.new_id()
        found: str | None = await self.records.change("seal", self.names.record(scope, key), mine, decide, whole=True)
        return found

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        """Write records, some beside each other, each first as if there were none: most of many are new."""
        with self.bucket.in_time():
            ended = await self.bucket.each([partial(self._put, request, is_new=True) for request in requests])
        _raise_first(ended, [request.key for request, end in zip(requests, ended, strict=True) if end is None])

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        """Delete records, some beside each other."""
        with self.bucket.in_time():
            ended = await self.bucket.each([partial(self.delete, DeleteRequest(scope, key, ANY, None)) for key in keys])
        _raise_first(ended, [key for key, end in zip(keys, ended, strict=True) if isinstance(end, bool)])
        return sum(end is True for end in ended)


def _sealed(state: RecordState, fence: int | None, *, result: Any) -> _Step:
    """Return what a fenced write does that finds nothing: it raises the mark."""
    if fence is None or fence == state.mark:
        return Keep(result)
    return Write(state._replace(mark=fence), result)


def _raise_first(ended: Sequence[object], done: Sequence[str]) -> None:
    for end in ended:
        if isinstance(end, Exception):
            if isinstance(end, HoldallError):
                end.done = tuple(done)
            raise end
