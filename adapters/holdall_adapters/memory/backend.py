"""Memory as a `Backend` of five primitives: what the derived parts are proven on."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdall.spi import ABSENT, ANY, BackendItem, Mismatch, Tag

if TYPE_CHECKING:
    from holdall_adapters.memory.port import Space

__all__ = ["MemoryBackend"]


class MemoryBackend:
    """One ordered keyspace in memory; a payload is its own tag."""

    def __init__(self, space: Space) -> None:
        self._space = space

    async def get(self, key: bytes) -> BackendItem | None:
        """Return what is under a key."""
        with self._space.mutex:
            payload = self._space.items.get(key)
        return None if payload is None else BackendItem(key, payload, payload)

    async def put(self, key: bytes, payload: bytes, expect: Tag) -> Tag:
        """Write if the key is as expected."""
        with self._space.mutex:
            self._check(key, expect)
            if key not in self._space.items:
                bisect.insort(self._space.item_keys, key)
            self._space.items[key] = payload
        return payload

    async def delete(self, key: bytes, expect: Tag) -> None:
        """Delete if the key is as expected."""
        with self._space.mutex:
            self._check(key, expect)
            if self._space.items.pop(key, None) is not None:
                del self._space.item_keys[bisect.bisect_left(self._space.item_keys, key)]

    def _check(self, key: bytes, expect: Tag) -> None:
        current = self._space.items.get(key)
        if expect is ANY or (current is None if expect is ABSENT else current == expect):
            return
        raise Mismatch

    async def scan(self, prefix: bytes, after: bytes | None, limit: int) -> Sequence[BackendItem]:
        """Return items in order."""
        with self._space.mutex:
            keys, items = self._space.item_keys, self._space.items
            start = bisect.bisect_left(keys, prefix)
            if after is not None:
                start = max(start, bisect.bisect_right(keys, after))
            found = (key for key in keys[start : start + limit] if key.startswith(prefix))
            return [BackendItem(key, items[key], items[key]) for key in found]

    async def close(self) -> None:
        """Hold nothing, give back nothing."""
