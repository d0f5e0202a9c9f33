"""Broken in how listings are ordered, cut and continued."""
# ruff: noqa: D102, PLR2004 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from holdall import Page, Record
from holdall.spi import StoredPage, StoredRecord
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Space
from holdall_conformance.broken.wrapping import WrappedStore

Row = TypeVar("Row")


@broken("page-cut-by-bytes", "paging")
class PageCutByBytes(PlainStore):
    """Ends a page after a mebibyte, and says that this was all."""

    def page(self, rows: Iterable[Row], limit: int, name: Callable[[Row], str]) -> StoredPage[Row]:
        found = super().page(rows, limit, name)
        total = 0
        for index, row in enumerate(found.rows):
            total += len(row.payload) if isinstance(row, StoredRecord) else 0
            if total > 2**20 and index:
                return StoredPage(found.rows[:index], None)
        return found


@broken("page-cut-at-thousand", "paging")
class PageCutAtThousand(PlainStore):
    """Lists a thousand names at the most, and says that these were all."""

    def page(self, rows: Iterable[Row], limit: int, name: Callable[[Row], str]) -> StoredPage[Row]:
        found = super().page(rows, limit, name)
        return found if len(found.rows) <= 1_000 else StoredPage(found.rows[:1_000], None)


@broken("page-of-one-more", "paging")
class PageOfOneMore(PlainStore):
    """Puts one item more on a page than its limit."""

    def page(self, rows: Iterable[Row], limit: int, name: Callable[[Row], str]) -> StoredPage[Row]:
        return super().page(rows, limit + 1, name)


@broken("large-page-is-the-last", "paging")
class LargePageIsTheLast(PlainStore):
    """Takes a page of more than 500 items for the last one."""

    def page(self, rows: Iterable[Row], limit: int, name: Callable[[Row], str]) -> StoredPage[Row]:
        found = super().page(rows, limit, name)
        return replace(found, next=None) if found.next is not None and len(found.rows) > 500 else found


@broken("page-without-living-is-the-last", "paging", "expiry")
class PageWithoutLivingIsTheLast(PlainStore):
    """Takes a page on which everything has expired for the end."""

    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        with self.room.turn() as space:
            records = space.records.get(scope, {})
            looked_at = self.names(records, prefix, after)[:limit]
            living = [key for key in looked_at if self.is_live(records[key])]
            return StoredPage(living, looked_at[-1] if living and len(looked_at) == limit else None)


@broken("cursor-is-an-offset", "paging")
class CursorIsAnOffset(PlainStore):
    """Continues after as many keys as there were up to the cursor, whatever was deleted meanwhile."""

    def page(self, rows: Iterable[Row], limit: int, name: Callable[[Row], str]) -> StoredPage[Row]:
        found = super().page(rows, limit, name)
        return found

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        found = super().names(kept, prefix, None)
        return found if after is None else found[int(after) :] if after.isdigit() else super().names(kept, prefix, after)

    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        page = await super().keys(scope, prefix, after, limit)
        seen = int(after) if after is not None and after.isdigit() else 0
        return page if page.next is None else replace(page, next=f"{seen + limit:09}")


@broken("cursor-must-exist", "paging")
class CursorMustExist(PlainStore):
    """Begins anew if the key of the cursor is gone."""

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        return super().names(kept, prefix, after if after in kept else None)


@broken("cursor-gone-ends", "paging")
class CursorGoneEnds(PlainStore):
    """Ends a listing if the key of the cursor is gone."""

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        return super().names(kept, prefix, after) if after is None or after in kept else []


@broken("cursor-included", "paging")
class CursorIncluded(PlainStore):
    """Lists the key of the cursor once more."""

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        found = super().names(kept, prefix, after)
        return [after, *found] if after in kept and after is not None and after.startswith(prefix) else found


@broken("next-skips-one", "paging")
class NextSkipsOne(PlainStore):
    """Gives as the next cursor the first key of the next page, which is then passed over."""

    def page(self, rows: Iterable[Row], limit: int, name: Callable[[Row], str]) -> StoredPage[Row]:
        found = super().page(rows, limit + 1, name)
        if len(found.rows) <= limit:
            return found
        return StoredPage(found.rows[:limit], name(found.rows[limit]))


@broken("cursor-forgets-the-prefix", "paging", "keys")
class CursorForgetsThePrefix(PlainStore):
    """Looks at the prefix on the first page only."""

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        return super().names(kept, prefix if after is None else "", after)


@broken("cursor-before-the-prefix", "paging", "keys")
class CursorBeforeThePrefix(PlainStore):
    """Finds nothing if the cursor lies before the prefix."""

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        return [] if after is not None and after < prefix else super().names(kept, prefix, after)


class _Ordered(PlainStore):
    """Sorts names by something else than their code points, and continues by it."""

    def rank(self, name: str) -> Any:
        return name

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        found = sorted((name for name in kept if name.startswith(prefix)), key=self.rank)
        return [name for name in found if after is None or self.rank(name) > self.rank(after)]


@broken("order-of-utf16", "paging")
class OrderOfUtf16(_Ordered):
    """Sorts names by their UTF-16, as Java and JavaScript do."""

    def rank(self, name: str) -> Any:
        return name.encode("utf-16-be")


@broken("order-of-a-language", "paging")
class OrderOfALanguage(_Ordered):
    """Sorts names without regard to case, then by case, as the collation of a language does."""

    def rank(self, name: str) -> Any:
        return name.casefold(), name


@broken("order-of-numbers", "paging")
class OrderOfNumbers(_Ordered):
    """Sorts names that are numbers by their value."""

    def rank(self, name: str) -> Any:
        return (0, int(name), name) if name.isascii() and name.isdigit() else (1, 0, name)


@broken("order-of-length", "paging")
class OrderOfLength(_Ordered):
    """Sorts short names before long ones, as a length in front of the key does."""

    def rank(self, name: str) -> Any:
        return len(name), name


@broken("order-of-writing", "paging")
class OrderOfWriting(PlainStore):
    """Lists logs in the order in which they were made."""

    def live_logs(self, space: Space, scope: str, prefix: str, after: str | None) -> Iterator[str]:
        living = set(super().live_logs(space, scope, prefix, after))
        return (key for key in space.logs.get(scope, {}) if key in living)


@broken("listing-backwards", "paging")
class ListingBackwards(PlainStore):
    """Lists the keys of a page backwards."""

    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        page = await super().keys(scope, prefix, after, limit)
        return replace(page, rows=page.rows[::-1])


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
        found: Iterator[str] = self.inner.iter_keys(scope, prefix, after=None)
        return found if after != "" else found


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
