"""Records over a backend: one item each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdall.derived.access import Access, Decision, Settle, Unchanged, lost
from holdall.derived.envelope import Envelope, decode_envelope
from holdall.derived.layout import RECORD, behind_scope, named, scope_prefix, split_named
from holdall.errors import HoldallError
from holdall.rules import check_fence, check_version, raised_mark
from holdall.spi import ANY, DeleteRequest, PutRequest, StoredPage, StoredRecord

if TYPE_CHECKING:
    from holdall.derived.clock import Clock, Moment
    from holdall.spi import BackendItem

_NO_VERSION = "0" * 32
_NO_RECORD = Envelope(_NO_VERSION, _NO_VERSION, None, 0, None)
_SCOPE_STEP = 50


class DerivedRecords:
    """Every operation on records, by reading and compare-and-set on the record's item."""

    def __init__(self, access: Access, clock: Clock) -> None:
        self._access = access
        self._clock = clock
        self._new_id = access.environment.new_id

    async def get(self, scope: str, key: str) -> StoredRecord | None:
        """Return a live record."""
        moment = self._clock.moment()

        async def judge(item: BackendItem | None) -> StoredRecord | None:
            return None if item is None else await _stored(key, decode_envelope(item.payload), moment)

        return await self._access.look(named(RECORD, scope, key), moment, judge)

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        """Return live records in the order asked."""
        return [await self.get(scope, key) for key in keys]

    async def put(self, request: PutRequest) -> None:
        """Write a record."""
        moment = self._clock.moment()

        async def decide(item: BackendItem | None) -> Decision:
            found = _envelope(item)
            check_fence(found.mark, request.fence)
            if request.expect is not ANY:
                check_version(request.expect, await _live_version(found, moment))
            expires = None if request.ttl is None else await moment.now() + request.ttl
            mark = raised_mark(found.mark, request.fence)
            return Decision(Envelope(request.version, request.version, expires, mark, request.payload).encode(), None)

        def settle(item: BackendItem | None) -> bool:
            if _envelope(item).version == request.version:
                return True
            raise lost("put")

        await self._access.replace(named(RECORD, request.scope, request.key), decide, settle, moment)

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        """Set a new expiry."""
        write, moment = self._new_id(), self._clock.moment()

        async def decide(item: BackendItem | None) -> Decision | Unchanged:
            found = _envelope(item)
            check_fence(found.mark, fence)
            mark = raised_mark(found.mark, fence)
            if await _live_version(found, moment) is None:
                if mark == found.mark:
                    return Unchanged(result=False)
                return Decision(found._replace(write=write, mark=mark).encode(), result=False)
            expires = None if ttl is None else await moment.now() + ttl
            return Decision(found._replace(write=write, expires=expires, mark=mark).encode(), result=True)

        settle = _settle_by_write(write, "touch")
        return bool(await self._access.replace(named(RECORD, scope, key), decide, settle, moment))

    async def delete(self, request: DeleteRequest) -> bool:
        """Delete a record; a mark stays as an item without a value."""
        write, moment = self._new_id(), self._clock.moment()

        async def decide(item: BackendItem | None) -> Decision | Unchanged:
            found = _envelope(item)
            check_fence(found.mark, request.fence)
            version = await _live_version(found, moment)
            check_version(request.expect, version)
            mark = raised_mark(found.mark, request.fence)
            existed = version is not None
            if mark:
                return Decision(Envelope(write, write, None, mark, None).encode(), existed)
            return Unchanged(existed) if item is None else Decision(None, existed)

        settle = _settle_by_write(write, "delete")
        return bool(await self._access.replace(named(RECORD, request.scope, request.key), decide, settle, moment))

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        """Write records one by one."""
        done: list[str] = []
        try:
            for request in requests:
                await self.put(request)
                done.append(request.key)
        except HoldallError as error:
            error.done = tuple(done)
            raise

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        """Delete records one by one."""
        done: list[str] = []
        count = 0
        try:
            for key in keys:
                count += await self.delete(DeleteRequest(scope, key, ANY, None))
                done.append(key)
        except HoldallError as error:
            error.done = tuple(done)
            raise
        return count

    async def scan(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[StoredRecord]:
        """Return a page of live records; what has expired makes a page shorter."""
        behind = None if after is None else named(RECORD, scope, after)
        moment = self._clock.moment()
        await moment.begin()
        items = await self._access.scan(named(RECORD, scope, prefix), behind, limit + 1)
        rows: list[StoredRecord] = []
        for item in items[:limit]:
            key = split_named(item.key)[1]
            stored = await _stored(key, decode_envelope(item.payload), moment)
            if stored is None and moment.doubtful:
                stored = await self.get(scope, key)
            if stored is not None:
                rows.append(stored)
        return StoredPage(rows, split_named(items[limit - 1].key)[1] if len(items) > limit else None)

    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""
        page = await self.scan(scope, prefix, after, limit)
        return StoredPage([row.key for row in page.rows], page.next)

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes, leaping from one to the next."""

        async def is_live(item: BackendItem) -> bool:
            found = decode_envelope(item.payload)
            return found.payload is not None and (
                found.expires is None or await self.get(*split_named(item.key)) is not None
            )

        return await scopes_of(self._access, RECORD, is_live, (prefix, after, limit))

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        """Raise the mark of a record."""
        write, moment = self._new_id(), self._clock.moment()

        async def decide(item: BackendItem | None) -> Decision | Unchanged:
            found = _envelope(item)
            check_fence(found.mark, fence)
            version = await _live_version(found, moment)
            if found.mark == fence:
                return Unchanged(version)
            return Decision(found._replace(write=write, mark=fence).encode(), version)

        version: str | None = await self._access.replace(
            named(RECORD, scope, key), decide, _settle_by_write(write, "seal"), moment
        )
        return version


async def scopes_of(access: Access, kind: bytes, is_live: Any, wanted: tuple[str, str | None, int]) -> StoredPage[str]:
    """Return a page of the scopes that hold a live item, leaping from one scope to the next.

    Args:
        access: the backend.
        kind: `RECORD` or `LOG`.
        is_live: an async function that tells whether an item counts.
        wanted: prefix, after and limit of the page.

    """
    prefix, after, limit = wanted
    found: list[str] = []
    behind = None if after is None else behind_scope(kind, after)
    while True:
        items = await access.scan(scope_prefix(kind, prefix), behind, _SCOPE_STEP)
        if not items:
            return StoredPage(found, None)
        behind = items[-1].key
        for item in items:
            scope = split_named(item.key)[0]
            if (found and scope == found[-1]) or not await is_live(item):
                continue
            if len(found) == limit:
                return StoredPage(found, found[-1])
            found.append(scope)
        if found and split_named(behind)[0] == found[-1]:
            behind = behind_scope(kind, found[-1])


async def _stored(key: str, found: Envelope, moment: Moment) -> StoredRecord | None:
    if found.payload is None:
        return None
    if found.expires is None:
        return StoredRecord(key, found.payload, found.version, None)
    left = await moment.left(found.expires)
    return StoredRecord(key, found.payload, found.version, left) if left > 0 else None


async def _live_version(found: Envelope, moment: Moment) -> str | None:
    if found.payload is None or (found.expires is not None and await moment.left(found.expires) <= 0):
        return None
    return found.version


def _envelope(item: BackendItem | None) -> Envelope:
    return _NO_RECORD if item is None else decode_envelope(item.payload)


def _settle_by_write(write: str, what: str) -> Settle:
    def settle(item: BackendItem | None) -> bool:
        if _envelope(item).write == write[:16]:
            return True
        raise lost(what)

    return settle
