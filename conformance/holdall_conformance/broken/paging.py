"""Broken in how listings are ordered, cut and continued."""
# ruff: noqa: D102, PLR2004 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from holdall.spi import StoredPage, StoredRecord
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Space

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

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        found = super().names(kept, prefix, None)
        return (
            found if after is None else found[int(after) :] if after.isdigit() else super().names(kept, prefix, after)
        )

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
