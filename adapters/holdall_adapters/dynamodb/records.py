"""Records: one request for what goes well; why something did not is told by what is there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from holdall.errors import Conflict, Fenced, HoldallError, OutcomeUnknown
from holdall.rules import check_fence, check_version
from holdall.spi import ABSENT, ANY, DeleteRequest, PutRequest
from holdall_adapters.aws.errors import Refused
from holdall_adapters.aws.service import bounded
from holdall_adapters.dynamodb import names, record_changes
from holdall_adapters.dynamodb.changes import Change
from holdall_adapters.dynamodb.listings import DynamoListings
from holdall_adapters.dynamodb.parts import PART
from holdall_adapters.dynamodb.record_changes import BRIEF, INLINE, Found, found_in
from holdall_adapters.lost_replies import Unsettled

if TYPE_CHECKING:
    from holdall.values import Expect
    from holdall_adapters.dynamodb.names import Key

__all__ = ["DynamoRecords"]


class DynamoRecords(DynamoListings):
    """Every operation on records."""

    def _record(self, request: PutRequest | DeleteRequest) -> Key:
        return names.record(request.scope, request.key, self.shards)

    async def look(self, key: Key) -> Found:
        """Return what is known of a record, without its value."""
        past = self.times.past()
        return found_in(await self.table.get(key, *BRIEF), past)

    async def _change(self, key: Key, change: Change, settling: Unsettled) -> Found | None:
        """Change a record; None if that was done, else what is there."""
        past = self.times.past()
        try:
            await self.table.update(key, change)
        except Refused as refusal:
            return await self.look(key) if refusal.item is None else found_in(refusal.item, past)
        except OutcomeUnknown:
            settling.is_lost = True
            return await self.look(key)
        settling.is_applied = True
        return None

    @bounded
    async def put(self, request: PutRequest) -> None:
        """Write a record: one request if nothing speaks against it, and none twice that could undo another write."""
        await self.enter(b"s", request.scope)
        await self._clear_sight(request.ttl)
        key = self._record(request)
        is_large = len(request.payload) > INLINE
        found = await self.look(key) if is_large else Found()
        payload: bytes | int = request.payload
        if is_large:
            payload = await self.parts.write(request.version, key, request.payload)
        with Unsettled("put") as settling:
            async for _ in self.table.turns():
                change = record_changes.put(
                    request.version, payload, request.expect, request.ttl, request.fence, found, self.times
                )
                replaced, epoch = found, found.epoch
                refused = await self._change(key, change, settling)
                if refused is None or request.version in (refused.version, refused.previous):
                    return await self._clean_up(replaced)
                found = refused
                await self._judge(request, found, settling, is_large=is_large)
                if is_large and found.epoch != epoch:  # a sweep took the parts for orphans
                    payload = await self.parts.write(request.version, key, request.payload)
            raise settling.hopeless()

    async def _judge(self, request: PutRequest, found: Found, settling: Unsettled, *, is_large: bool) -> None:
        """Raise what speaks against a put; its parts are of no use then, unless it may be under way."""
        try:
            if settling.is_lost and not isinstance(request.expect, str):
                raise settling.unknown()
            judge(found, request.fence, request.expect, settling)
        except HoldallError as error:
            if is_large and not isinstance(error, OutcomeUnknown):
                await self.parts.remove([(request.version, -(-len(request.payload) // PART))])
            raise

    async def _clean_up(self, replaced: Found) -> None:
        if replaced.parts and replaced.version is not None:
            await self.parts.remove([(replaced.version, replaced.parts)])

    async def _clear_sight(self, ttl: float | None) -> None:
        """Narrow the bounds of the server's time before something is written that expires by it."""
        if ttl is not None and self.times.is_vague():
            await self.table.get(names.LAYOUT, "pk")

    @bounded
    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        """Set a new expiry."""
        await self._clear_sight(ttl)
        name, write_id, found = names.record(scope, key, self.shards), self.environment.new_id(), Found()
        with Unsettled("touch") as settling:
            async for _ in self.table.turns():
                change = record_changes.touch(write_id, ttl, fence, found, self.times)
                refused = await self._change(name, change, settling)
                if refused is None or refused.touched == write_id:
                    return True
                found = refused
                if settling.is_lost:
                    raise settling.unknown()
                check_fence(found.mark, fence)
                if found.live is None and await self._sealed_no_record(name, fence, found, settling):
                    return False
            raise settling.hopeless()

    async def _sealed_no_record(self, key: Key, fence: int | None, found: Found, settling: Unsettled) -> bool:
        """Raise the mark of a record that is not there, if there is a fence; tell whether it still was not."""
        if fence is None:
            return True
        change = record_changes.same(record_changes.seal(fence), found)
        refused = await self._change(key, change, settling)
        if refused is None:
            return True
        return refused.mark == fence and (refused.version, refused.expires) == (found.version, found.expires)

    @bounded
    async def delete(self, request: DeleteRequest) -> bool:
        """Delete a record; its grave keeps the mark, and the id of the write."""
        return await self._delete(request, self.environment.new_id())

    async def _delete(self, request: DeleteRequest, write_id: str) -> bool:
        key = self._record(request)
        found = await self.look(key) if request.expect is ABSENT else Found()
        with Unsettled("delete") as settling:
            async for _ in self.table.turns():
                if request.expect is not ABSENT:
                    change = record_changes.delete(write_id, request.expect, request.fence, found, self.times)
                    replaced, refused = found, await self._change(key, change, settling)
                    if refused is None or write_id in (refused.version, refused.previous):
                        await self._clean_up(replaced)
                        return True
                    found = refused
                    if settling.is_lost and not isinstance(request.expect, str):
                        raise settling.unknown()
                judge(found, request.fence, request.expect, settling)
                if found.live is None and await self._sealed_no_record(key, request.fence, found, settling):
                    return False
                if request.expect is ABSENT:
                    found = await self.look(key)
            raise settling.hopeless()

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        """Write records, some beside each other."""
        with self.table.in_time():
            await self.enter(b"s", requests[0].scope)
            ended = await self.table.each([partial(self.put, request) for request in requests])
        done = tuple(request.key for request, end in zip(requests, ended, strict=True) if end is None)
        _raise_first(ended, done)

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        """Delete records, some beside each other."""
        with self.table.in_time():
            doomed = [partial(self.delete, DeleteRequest(scope, key, ANY, None)) for key in keys]
            ended = await self.table.each(doomed)
        _raise_first(ended, tuple(key for key, end in zip(keys, ended, strict=True) if isinstance(end, bool)))
        return sum(end is True for end in ended)

    @bounded
    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        """Raise the mark of a record."""
        await self.enter(b"s", scope)
        name = names.record(scope, key, self.shards)
        with Unsettled("seal") as settling:
            async for _ in self.table.turns():
                past = self.times.past()
                try:
                    item = await self.table.update(name, record_changes.seal(fence), "ALL_NEW")
                except (Refused, OutcomeUnknown) as error:
                    settling.is_lost = settling.is_lost or isinstance(error, OutcomeUnknown)
                    found = await self.look(name)
                else:
                    found = found_in(item, past)
                check_fence(found.mark, fence)
                if found.mark == fence:
                    return found.live
            raise settling.hopeless()


def judge(found: Found, fence: int | None, expect: Expect, settling: Unsettled) -> None:
    """Refuse a write on what was found; after a lost reply only what is sure.

    Raises:
        Conflict: something else is there than was expected.
        Fenced: the mark is above the fence.
        OutcomeUnknown: a reply was lost, and this does not tell whether the write was applied.

    """
    try:
        check_fence(found.mark, fence)
        check_version(expect, found.live)
    except (Fenced, Conflict) as error:
        if settling.is_lost and (isinstance(error, Fenced) or found.previous != expect):
            raise settling.unknown() from error
        raise


def _raise_first(ended: Sequence[object], done: tuple[str, ...]) -> None:
    for end in ended:
        if isinstance(end, Exception):
            if isinstance(end, HoldallError):
                end.done = done
            raise end
