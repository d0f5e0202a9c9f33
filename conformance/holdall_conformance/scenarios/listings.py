"""Whole listings, page by page: a page may hold fewer than its limit, and a clause about names must not mind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdall import Page

__all__ = ["everything"]


def everything(listing: Callable[..., Page[Any]], *arguments: str, after: str | None = None) -> list[Any]:
    """Return the items of all pages of a listing, records as their keys.

    Args:
        listing: such as `store.keys`.
        arguments: its scope and prefix.
        after: where to begin.

    """
    found: list[Any] = []
    while True:
        page = listing(*arguments, after=after, limit=1000)
        found += [getattr(item, "key", item) for item in page.items]
        assert page.next is None or after is None or page.next > after, "the cursor does not advance"
        after = page.next
        if after is None:
            return found
