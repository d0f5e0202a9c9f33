"""A strict stand-in for the storage behind a `Backend`: a dict in order, compare-and-set, and nothing else.

It is as weak as the contract of `holdall.spi.Backend` allows: it has no revisions, so the payload itself is the tag,
and a state that comes back is not told from the first.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

from holdall.spi import ABSENT, ANY, BackendItem, Mismatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdall.spi import Tag

__all__ = ["StandIn"]


class StandIn:
    """Items by key, in order.

    Attributes:
        items: the payload under each key.

    """

    def __init__(self) -> None:
        self.items: dict[bytes, bytes] = {}
        self._order: list[bytes] = []

    def get(self, key: bytes) -> BackendItem | None:
        """Return what is under a key.

        Args:
            key: the key.

        """
        payload = self.items.get(key)
        return None if payload is None else BackendItem(key, payload, payload)

    def put(self, key: bytes, payload: bytes, expect: Tag) -> Tag:
        """Write if the key is as expected, and return the new tag.

        Args:
            key: the key.
            payload: what to put under it.
            expect: `ANY`, `ABSENT` or a tag.

        """
        self._check(key, expect)
        if key not in self.items:
            bisect.insort(self._order, key)
        self.items[key] = payload
        return payload

    def delete(self, key: bytes, expect: Tag) -> None:
        """Delete if the key is as expected.

        Args:
            key: the key.
            expect: `ANY` or a tag.

        """
        self._check(key, expect)
        if self.items.pop(key, None) is not None:
            del self._order[bisect.bisect_left(self._order, key)]

    def _check(self, key: bytes, expect: Tag) -> None:
        if expect is ANY:
            return
        found = self.items.get(key)
        if (found is not None) if expect is ABSENT else (found != expect):
            raise Mismatch

    def scan(self, prefix: bytes, after: bytes | None, limit: int) -> Sequence[BackendItem]:
        """Return items in order.

        Args:
            prefix: what their keys begin with.
            after: they lie behind this key.
            limit: the most to return.

        """
        start = bisect.bisect_left(self._order, prefix)
        if after is not None:
            start = max(start, bisect.bisect_right(self._order, after))
        found: list[BackendItem] = []
        for key in self._order[start : start + limit]:
            if not key.startswith(prefix):
                break
            found.append(BackendItem(key, self.items[key], self.items[key]))
        return found
