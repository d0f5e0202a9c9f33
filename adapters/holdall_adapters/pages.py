"""Cutting a sorted listing into pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from holdall.spi import StoredPage

__all__ = ["page", "page_of_found"]

Row = TypeVar("Row")
_MOST_LOOKED_AT = 10
"""How many names a page looks at, for each that it may hold, before it ends short."""
_MOST_BYTES = 8 * 2**20


def page(rows: Iterator[Row], limit: int, name: Callable[[Row], str]) -> StoredPage[Row]:
    """Return the first rows as a page; `next` tells whether there are more.

    Args:
        rows: the rows in order.
        limit: the most the page may hold.
        name: gives the name of a row, for `next`.

    """
    found: list[Row] = []
    for row in rows:
        if len(found) == limit:
            return StoredPage(found, name(found[-1]))
        found.append(row)
    return StoredPage(found, None)


def page_of_found(
    names: Iterator[str], limit: int, find: Callable[[str], Row | None], size: Callable[[Row], int] = lambda _: 0
) -> StoredPage[Row]:
    """Return a page of what is found under names, short where most of them lead to nothing, or to much.

    Args:
        names: the names in order.
        limit: the most the page may hold.
        find: returns what belongs to a name, or None.
        size: returns the bytes of what was found.

    """
    found: list[Row] = []
    last, room = None, _MOST_BYTES
    for looked_at, name in enumerate(names):
        if len(found) == limit or looked_at == limit * _MOST_LOOKED_AT or room <= 0:
            return StoredPage(found, last)
        row = find(name)
        if row is not None:
            found.append(row)
            room -= size(row)
        last = name
    return StoredPage(found, None)
