"""Cutting a sorted listing into pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from holdall.spi import StoredPage

__all__ = ["page"]

Row = TypeVar("Row")


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
