"""The five primitives on LMDB.

LMDB's keys end at 511 bytes, those of holdall do not, so a key is cut in two at a fixed place::

    h HEAD             ->  NODE       the first 510 bytes of a key; a node is a number, big-endian
    i NODE REST        ->  payload    what is behind them, up to 502 bytes

One rule for all keys, long or short: a cut that is always at the same place loses nothing and keeps the order, because
keys with different heads sort as their heads do, and keys with the same head are neighbours under its node. A head is
there as long as one of its items is, so a scan never walks past empty nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from holdall.spi import ABSENT, ANY, BackendItem, Mismatch, Tag

if TYPE_CHECKING:
    import lmdb

    from holdall.spi import Environment
    from holdall_lmdb.environment import Folder

__all__ = ["LmdbBackend"]

Result = TypeVar("Result")

_HEAD, _ITEM = b"h", b"i"
_CUT = 510
_NODE_BYTES = 8


class LmdbBackend:
    """A `Backend` in one folder; a payload is its own tag, since holdall never writes one twice under a key."""

    def __init__(self, folder: Folder, environment: Environment, timeout: float) -> None:
        self._folder = folder
        self._environment = environment
        self._timeout = timeout
        self._closed = False

    async def get(self, key: bytes) -> BackendItem | None:
        """Return what is under a key."""
        payload = await self._run(lambda view: _get(view, key), writing=False)
        return None if payload is None else BackendItem(key, payload, payload)

    async def put(self, key: bytes, payload: bytes, expect: Tag) -> Tag:
        """Write if the key is as expected."""
        await self._run(lambda view: _put(view, key, payload, expect), writing=True)
        return payload

    async def delete(self, key: bytes, expect: Tag) -> None:
        """Delete if the key is as expected."""
        await self._run(lambda view: _delete(view, key, expect), writing=True)

    async def scan(self, prefix: bytes, after: bytes | None, limit: int) -> Sequence[BackendItem]:
        """Return items in order."""
        return await self._run(lambda view: _scan(view, prefix, after, limit), writing=False)

    async def close(self) -> None:
        """Give the folder back, once."""
        if not self._closed:
            self._closed = True
            self._folder.release()

    async def _run(self, work: Callable[[lmdb.Transaction[bytes]], Result], *, writing: bool) -> Result:
        return await self._folder.run(work, self._environment, self._timeout, writing=writing)


def _get(view: lmdb.Transaction[bytes], key: bytes) -> bytes | None:
    node = view.get(_HEAD + key[:_CUT])
    return None if node is None else view.get(_ITEM + node + key[_CUT:])


def _put(view: lmdb.Transaction[bytes], key: bytes, payload: bytes, expect: Tag) -> None:
    _check(view, key, expect)
    node = view.get(_HEAD + key[:_CUT])
    if node is None:
        node = _new_node(view)
        view.put(_HEAD + key[:_CUT], node)
    view.put(_ITEM + node + key[_CUT:], payload)


def _delete(view: lmdb.Transaction[bytes], key: bytes, expect: Tag) -> None:
    _check(view, key, expect)
    node = view.get(_HEAD + key[:_CUT])
    if node is not None and view.delete(_ITEM + node + key[_CUT:]) and not _has_items(view, node):
        view.delete(_HEAD + key[:_CUT])


def _check(view: lmdb.Transaction[bytes], key: bytes, expect: Tag) -> None:
    """Refuse a write, inside of its own transaction, unless the key is as expected."""
    if expect is ANY:
        return
    payload = _get(view, key)
    if payload is not None if expect is ABSENT else payload != expect:
        raise Mismatch


def _new_node(view: lmdb.Transaction[bytes]) -> bytes:
    """Return a node that no head has: one above the highest, which the last item of all has."""
    cursor = view.cursor()
    highest = int.from_bytes(_node_of(cursor.key())) if cursor.last() and cursor.key().startswith(_ITEM) else 0
    return (highest + 1).to_bytes(_NODE_BYTES)


def _node_of(item: bytes) -> bytes:
    return item[len(_ITEM) : len(_ITEM) + _NODE_BYTES]


def _has_items(view: lmdb.Transaction[bytes], node: bytes) -> bool:
    cursor = view.cursor()
    return cursor.set_range(_ITEM + node) and cursor.key().startswith(_ITEM + node)


def _scan(view: lmdb.Transaction[bytes], prefix: bytes, after: bytes | None, limit: int) -> list[BackendItem]:
    start = prefix if after is None else max(prefix, after + b"\x00")
    found: list[BackendItem] = []
    for key, payload in _items_from(view, start):
        if len(found) == limit or not key.startswith(prefix):
            break
        found.append(BackendItem(key, payload, payload))
    return found


def _items_from(view: lmdb.Transaction[bytes], start: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Iterate over keys and payloads from a key on, in order."""
    heads, items = view.cursor(), view.cursor()
    there = heads.set_range(_HEAD + start[:_CUT])
    while there and heads.key().startswith(_HEAD):
        head, node = heads.key()[len(_HEAD) :], _ITEM + heads.value()
        rest = start[_CUT:] if head == start[:_CUT] else b""
        under = items.set_range(node + rest)
        while under and items.key().startswith(node):
            yield head + items.key()[len(node) :], items.value()
            under = items.next()
        there = heads.next()
