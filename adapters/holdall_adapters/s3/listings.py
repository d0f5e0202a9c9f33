"""Records as they are read: one, several, and pages of them. The size of an object tells a listing whether it lives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from holdall.spi import StoredPage, StoredRecord
from holdall_adapters.aws.service import bounded
from holdall_adapters.s3.bucket import PAGE
from holdall_adapters.s3.cells import ENDED, LASTING, Cells
from holdall_adapters.s3.names import beginning, decoded, encoded
from holdall_adapters.s3.record_bodies import RECORD, RecordState

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.aws.times import Times
    from holdall_adapters.s3.bucket import Bucket, Listed
    from holdall_adapters.s3.names import Names

__all__ = ["S3Listings", "class_of"]

Row = TypeVar("Row")

_MOST_LISTINGS = 4
_MOST_BYTES = 8 * 2**20
_MOST_ROWS = 10_000
_MOST_KNOWN = 10_000
_NEXT = "/~"
"""What lies behind everything in a folder, since no name begins so, and before the folder after it."""


def class_of(listed: Listed) -> int:
    """Return what the size of an object tells of it.

    Args:
        listed: the object.

    """
    return listed.size % 4


class S3Listings:
    """The operations that read records.

    Args:
        bucket: the bucket.
        names: the names of objects.
        times: the server's time.
        environment: makes ids.

    """

    def __init__(self, bucket: Bucket, names: Names, times: Times, environment: Environment) -> None:
        self.bucket = bucket
        self.names = names
        self.times = times
        self.environment = environment
        self.records: Cells[RecordState] = Cells(bucket, RECORD, _MOST_KNOWN)

    @property
    def service(self) -> Bucket:
        """The bucket, whose requests are bounded together."""
        return self.bucket

    @bounded
    async def get(self, scope: str, key: str) -> StoredRecord | None:
        """Return a live record."""
        return await self._record(key, self.names.record(scope, key))

    async def _record(self, key: str, name: str) -> StoredRecord | None:
        past = self.times.past()
        state = (await self.records.look(name)).state
        live = None if state is None else state.live(past)
        if state is None or live is None:
            return None
        left = None if state.expires is None else self.times.left(state.expires)
        return StoredRecord(key, state.payload or b"", live, left)

    @bounded
    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        """Return live records in the order asked."""
        asked = list(dict.fromkeys(keys))
        found = await self.bucket.together([partial(self._record, key, self.names.record(scope, key)) for key in asked])
        by_key = dict(zip(asked, found, strict=True))
        return [by_key[key] for key in keys]

    @bounded
    async def scan(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[StoredRecord]:
        """Return a page of live records."""

        async def record(listed: Listed, key: str) -> StoredRecord | None:
            return await self._record(key, listed.name)

        return await self.page_of("r", scope, prefix, after, limit, record, _MOST_BYTES)

    @bounded
    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys; those that may have expired are looked at."""

        async def living(listed: Listed, key: str) -> str | None:
            alive = class_of(listed) == LASTING or await self._record(key, listed.name) is not None
            return key if alive else None

        return await self.page_of("r", scope, prefix, after, limit, living)

    async def page_of(
        self,
        kind: str,
        scope: str,
        prefix: str,
        after: str | None,
        limit: int,
        row_of: Callable[[Listed, str], Awaitable[Row | None]],
        most_bytes: int | None = None,
    ) -> StoredPage[Row]:
        """Return a page of what lies in a folder: whatever is made of each object that is no grave."""
        folder = self.names.folder(kind, scope)
        start, limit = "" if after is None else folder + encoded(after), min(limit, _MOST_ROWS)
        rows: list[Row] = []
        for _ in range(_MOST_LISTINGS):
            page = await self.bucket.page(folder + beginning(prefix), start, _page_for(limit - len(rows)))
            alive = [each for each in page.objects if class_of(each) != ENDED]
            named = [(each, decoded(each.name[len(folder) :])) for each in alive]
            wanted = [each for each in named if each[1].startswith(prefix)]
            while wanted:
                group = _group(wanted, limit - len(rows), most_bytes)
                found = await self.bucket.together([partial(row_of, *each) for each in group])
                rows += [row for row in found if row is not None]
                wanted = wanted[len(group) :]
                if len(rows) >= limit or (most_bytes is not None and rows):
                    more = bool(wanted) or page.more
                    return StoredPage(rows, group[-1][1] if more else None)
            if not page.more or not page.objects:
                return StoredPage(rows, None)
            start = page.objects[-1].name
        return StoredPage(rows, decoded(start[len(folder) :]))

    @bounded
    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes that hold a live record."""
        return await self.scopes_in("r", prefix, after, limit)

    async def scopes_in(self, kind: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes with something alive in them; empty folders may be listed too."""
        root, limit = self.names.kind(kind), min(limit, _MOST_ROWS)
        start = "" if after is None else root + encoded(after) + _NEXT
        found: list[str] = []
        for _ in range(_MOST_LISTINGS):
            page = await self.bucket.page(root + beginning(prefix), start, _page_for(limit - len(found)), folders=True)
            named = [decoded(folder[len(root) : -1]) for folder in page.folders]
            wanted = [scope for scope in named if scope.startswith(prefix) and (after is None or scope > after)]
            while wanted:
                group, wanted = wanted[: _group_size(limit - len(found))], wanted[_group_size(limit - len(found)) :]
                alive = await self.bucket.together([partial(self._is_alive, kind, scope) for scope in group])
                for scope, lives in zip(group, alive, strict=True):
                    found += [scope] if lives else []
                    if len(found) == limit:
                        return StoredPage(found, scope if wanted or page.more or scope != group[-1] else None)
            if not page.more or not page.folders:
                return StoredPage(found, None)
            start = page.folders[-1][:-1] + _NEXT
        return StoredPage(found, decoded(start[len(root) : -len(_NEXT)]))

    async def _is_alive(self, kind: str, scope: str) -> bool:
        """Tell whether there is anything alive in a scope."""
        folder = self.names.folder(kind, scope)
        start, more = "", True
        while more:
            page = await self.bucket.page(folder, start, PAGE if start else 8)
            for each in page.objects:
                if class_of(each) == LASTING:
                    return True
                if class_of(each) != ENDED and await self._record("", each.name) is not None:
                    return True
            more = page.more and bool(page.objects)
            start = page.objects[-1].name if page.objects else ""
        return False


def _group(wanted: Sequence[tuple[Listed, str]], limit: int, most_bytes: int | None) -> Sequence[tuple[Listed, str]]:
    """Return as many objects from the beginning as are to be fetched at once, at least one."""
    room = most_bytes if most_bytes is not None else 0
    for number, (listed, _) in enumerate(wanted[:limit]):
        room -= listed.size
        if most_bytes is not None and room < 0:
            return wanted[: max(1, number)]
    return wanted[:limit]


def _page_for(limit: int) -> int:
    """Return how many names to ask for where so many are wanted: some may be of graves."""
    return min(PAGE, limit + limit // 4 + 8)


def _group_size(limit: int) -> int:
    return max(1, min(64, limit))
