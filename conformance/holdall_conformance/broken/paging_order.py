"""Broken in what is listed, in which order."""
# ruff: noqa: D102, PLR2004 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from holdall import Page, Record
from holdall.spi import StoredPage, StoredRecord
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Space
from holdall_conformance.broken.wrapping import WrappedStore

Row = TypeVar("Row")


@broken("scan-of-stale-values", "paging", "records")
class ScanOfStaleValues(PlainStore):
    """Lists records with the values that they had when they were made, as an index does that nobody updates."""

    def live(self, space: Space, scope: str, prefix: str, after: str | None) -> Iterable[StoredRecord]:
        for row in super().live(space, scope, prefix, after):
            yield row._replace(payload=space.notes.setdefault((scope, row.key), row.payload))


@broken("listing-late", "paging", "records")
class ListingLate(PlainStore):
    """Lists what there was before the last write, as an index does that lags behind."""

    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        page = await super().keys(scope, prefix, after, limit)
        with self.room.turn(write=True) as space:
            before, space.notes[scope, "now"] = space.notes.get((scope, "now")), page.rows
        return page if before is None or prefix or after else replace(page, rows=before)


@broken("scopes-repeat", "paging")
class ScopesRepeat(PlainStore):
    """Lists a scope again for every hundred of its records."""

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        page = await super().scopes(prefix, after, limit)
        with self.room.turn() as space:
            rows = [name for name in page.rows for _ in range(1 + len(space.records.get(name, {})) // 100)]
        return replace(page, rows=rows[:limit], next=page.next if len(rows) <= limit else rows[limit - 1])


@broken("marks-are-listed", "paging", "fencing")
class MarksAreListed(PlainStore):
    """Lists the scopes of records of which only the mark is left."""

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        with self.room.turn() as space:
            return self.page(self.names(space.records, prefix, after), limit, str)


@broken("marks-hide-the-rest", "paging")
class MarksHideTheRest(PlainStore):
    """Gives up a listing after fifty names that lead to nothing."""

    def live(self, space: Space, scope: str, prefix: str, after: str | None) -> Iterable[StoredRecord]:
        records = space.records.get(scope, {})
        missed = 0
        for key in self.names(records, prefix, after):
            row = self.stored(key, records[key])
            missed = missed + 1 if row is None else 0
            if missed > 50:
                return
            if row is not None:
                yield row


@broken("log-scopes-of-records", "paging")
class LogScopesOfRecords(PlainStore):
    """Lists scopes that hold records among those that hold logs."""

    async def log_scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        with self.room.turn() as space:
            kept = {**space.logs, **space.records}
            return self.page(self.names(kept, prefix, after), limit, str)


@broken("dropped-logs-are-listed", "paging")
class DroppedLogsAreListed(PlainStore):
    """Lists logs of which only the mark is left."""

    def live_logs(self, space: Space, scope: str, prefix: str, after: str | None) -> Iterator[str]:
        return iter(self.names(space.logs.get(scope, {}), prefix, after))


@broken("iterates-over-one-page", "paging")
class IteratesOverOnePage(WrappedStore):
    """Iterates over the records of the first page."""

    def iter_records(self, scope: str, prefix: str = "", *, after: str | None = None) -> Iterator[Record]:
        return iter(self.inner.scan(scope, prefix, after=after).items)


@broken("iterator-ignores-the-cursor", "paging")
class IteratorIgnoresTheCursor(WrappedStore):
    """Iterates over keys from the beginning, wherever one asked it to begin."""

    def iter_keys(self, scope: str, prefix: str = "", *, after: str | None = None) -> Iterator[str]:
        found: Iterator[str] = self.inner.iter_keys(scope, prefix, after=None if after else after)
        return found


@broken("scan-mixes-pages", "paging")
class ScanMixesPages(WrappedStore):
    """Gives the records of a page in the order in which threads fetched them."""

    def scan(self, scope: str, prefix: str = "", **named: Any) -> Page[Record]:
        page: Page[Record] = self.inner.scan(scope, prefix, **named)
        return Page([*page.items[1::2], *page.items[::2]], page.next)


@broken("limit-of-zero-is-all", "paging")
class LimitOfZeroIsAll(WrappedStore):
    """Takes a limit of 0 for none."""

    def keys(self, scope: str, prefix: str = "", *, after: str | None = None, limit: Any = 1000) -> Page[str]:
        page: Page[str] = self.inner.keys(scope, prefix, after=after, limit=limit or 10**9)
        return page


@broken("empty-page-goes-on", "paging")
class EmptyPageGoesOn(WrappedStore):
    """Says of a listing that found nothing that there is more."""

    def keys(self, scope: str, prefix: str = "", **named: Any) -> Page[str]:
        page: Page[str] = self.inner.keys(scope, prefix, **named)
        return page if page.items else Page([], "\U0010ffff")
