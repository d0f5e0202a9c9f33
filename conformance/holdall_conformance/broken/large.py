"""Broken from some number or size on: right as long as there is little."""
# ruff: noqa: D102, PLR2004 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdall.spi import LogRequest, PutRequest, StoredEntries, StoredPage, StoredRecord
from holdall_conformance.broken.plain_logs import bounded
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Log, Space


@broken("logs-up-to-a-thousand", "paging")
class LogsUpToAThousand(PlainStore):
    """Lists of a scope with more than a thousand logs the first thousand, as many as one request gives."""

    def live_logs(self, space: Space, scope: str, prefix: str, after: str | None) -> Iterator[str]:
        known = set(list(super().live_logs(space, scope, "", None))[:1000])
        return (key for key in super().live_logs(space, scope, prefix, after) if key in known)


@broken("log-scopes-up-to-a-thousand", "paging")
class LogScopesUpToAThousand(PlainStore):
    """Lists a thousand scopes of logs under a prefix, as many as one request gives."""

    async def log_scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        known = await super().log_scopes(prefix, None, 1000)
        found = await super().log_scopes(prefix, after, limit)
        rows = [name for name in found.rows if name in set(known.rows)]
        return StoredPage(rows, found.next if len(rows) == len(found.rows) else None)


@broken("scopes-of-a-sample", "paging")
class ScopesOfASample(PlainStore):
    """Leaves out of a listing of scopes what lies behind a thousand others, as a group with a limit does."""

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        known = await super().scopes(prefix, None, 1000)
        found = await super().scopes(prefix, after, limit)
        rows = [name for name in found.rows if name in set(known.rows)]
        return StoredPage(rows, found.next if len(rows) == len(found.rows) else None)


@broken("cursor-behind-the-prefix", "paging")
class CursorBehindThePrefix(PlainStore):
    """Begins anew where the cursor lies behind everything that has the prefix."""

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        beyond = after is not None and after > prefix and not after.startswith(prefix)
        return super().names(kept, prefix, None if beyond else after)


@broken("cursor-of-logs-forgets-the-prefix", "paging")
class CursorOfLogsForgetsThePrefix(PlainStore):
    """Lists logs behind a cursor that does not have the prefix whether or not they have it."""

    def live_logs(self, space: Space, scope: str, prefix: str, after: str | None) -> Iterator[str]:
        outside = after is not None and not after.startswith(prefix)
        return super().live_logs(space, scope, "" if outside else prefix, after)


@broken("get-many-up-to-sixteen-mebibytes", "paging")
class GetManyUpToSixteenMebibytes(PlainStore):
    """Leaves out of get_many what goes beyond 16 MiB, and takes it for absent, as a batch of one request does."""

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        found = list(await super().get_many(scope, keys))
        total = 0
        for place, record in enumerate(found):
            total += 0 if record is None else len(record.payload)
            if total > 2**24:
                found[place] = None
        return found


@broken("put-many-up-to-four-mebibytes", "paging")
class PutManyUpToFourMebibytes(PlainStore):
    """Writes of put_many what fits into 4 MiB, and forgets what the request gave back as not done."""

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        total, fitting = 0, list[PutRequest]()
        for request in requests:
            total += len(request.payload)
            if total <= 2**22:
                fitting.append(request)
        await super().put_many(fitting)


@broken("limits-up-to-a-thousand", "logs")
class LimitsUpToAThousand(PlainStore):
    """Reads a thousand entries where more were asked for by a limit."""

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        return await super().read(scope, key, start, None if limit is None else min(limit, 1000), max_bytes)


@broken("tails-up-to-a-thousand", "logs")
class TailsUpToAThousand(PlainStore):
    """Gives the last thousand entries where a longer tail was asked for."""

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        return await super().tail(scope, key, min(count, 1000))


@broken("truncates-up-to-a-thousand", "logs")
class TruncatesUpToAThousand(PlainStore):
    """Forgets a thousand entries at the most in one truncate."""

    def shorten(self, log: Log, before: int) -> int:
        return super().shorten(log, min(before, log.first + 1000))


@broken("truncate-tells-of-one-chunk", "logs")
class TruncateTellsOfOneChunk(PlainStore):
    """Forgets by the hundred, and tells of the last hundred only."""

    async def truncate(self, request: LogRequest, before: int) -> int:
        count = await super().truncate(request, before)
        return count if count <= 100 else count % 100 or 100


@broken("reads-up-to-eight-mebibytes", "logs")
class ReadsUpToEightMebibytes(PlainStore):
    """Ends a read after 8 MiB, as if that were the end of the log."""

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        found = await super().read(scope, key, start, limit, max_bytes)
        return StoredEntries(found.head, found.start, list(bounded(found.payloads, 2**23)))
