"""Operations made of several calls: update, transaction, iterators and follow.

They are written once over the awaitable face of a handle, so that a callback runs where its caller does, and waiting
blocks nobody else.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from holdall.clock import boot_time
from holdall.codec import decode, encode
from holdall.errors import Conflict, InvalidArgument, NotFound
from holdall.handles.arguments import check_count, check_seconds
from holdall.handles.transaction import Buffer
from holdall.values import ABSENT, Entry, Fence, Head, Record

if TYPE_CHECKING:
    from holdall.spi import Connection, Environment

_FIRST_DELAY, _LAST_DELAY, _GROWTH = 0.005, 0.25, 1.6
_FOLLOW_LAST_DELAY = 1.0
_CHUNK_ENTRIES, _CHUNK_BYTES = 5_000, 2**20
_PAGE_RECORDS, _PAGE_KEYS = 200, 1_000


class Backoff:
    """Jittered waits that grow: each between half and all of the present delay."""

    def __init__(self, environment: Environment, last: float = _LAST_DELAY) -> None:
        self._environment = environment
        self._last = last
        self._delay = _FIRST_DELAY

    def reset(self) -> None:
        """Begin again with the shortest wait."""
        self._delay = _FIRST_DELAY

    async def wait(self, most: float) -> None:
        """Wait once.

        Args:
            most: seconds that the wait may take.

        """
        delay = self._delay * (0.5 + self._environment.random() / 2)
        self._delay = min(self._delay * _GROWTH, self._last)
        await self._environment.sleep(max(0.0, min(delay, most)))


async def update(
    store: Any,
    environment: Environment,
    patience: float,
    scope: str,
    key: str,
    function: Callable[[Any], Any],
    ttl: float | None,
    fence: Fence,
) -> Record:
    """As `Store.update`; gives up with the last `Conflict` after `patience` seconds."""
    deadline, backoff = boot_time() + patience, Backoff(environment)
    while True:
        current = await store.get(scope, key)
        value = await _settled(function(None if current is None else current.value))
        try:
            version = await store.put(
                scope, key, value, expect=ABSENT if current is None else current.version, ttl=ttl, fence=fence
            )
        except Conflict:
            if boot_time() >= deadline:
                raise
            await backoff.wait(deadline - boot_time())
        else:
            return Record(scope, key, decode(encode(value)), version, ttl)


async def _settled(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result


async def transaction(
    store: Any, environment: Environment, function: Callable[[Any], Any], attempts: int, make: Callable[[Buffer], Any]
) -> Any:
    """As `Store.transaction`; `make` dresses a buffer as what the function is given."""
    left, backoff = check_count(attempts, "attempts", 1), Backoff(environment)
    while True:
        buffer = Buffer(store)
        result = await _settled(function(make(buffer)))
        operations = buffer.operations()
        try:
            if operations:
                await store.commit(operations)
        except Conflict:
            left -= 1
            if not left:
                raise
            await backoff.wait(_LAST_DELAY)
        else:
            return result


async def iter_records(store: Any, scope: str, prefix: str, after: str | None) -> AsyncIterator[Record]:
    """As `Store.iter_records`."""
    while True:
        page = await store.scan(scope, prefix, after=after, limit=_PAGE_RECORDS)
        for record in page.items:
            yield record
        after = page.next
        if after is None:
            return


async def iter_keys(store: Any, scope: str, prefix: str, after: str | None) -> AsyncIterator[str]:
    """As `Store.iter_keys`."""
    while True:
        page = await store.keys(scope, prefix, after=after, limit=_PAGE_KEYS)
        for key in page.items:
            yield key
        after = page.next
        if after is None:
            return


async def iter_entries(store: Any, scope: str, key: str, start: int) -> AsyncIterator[Entry]:
    """As `Store.iter_entries`: up to the length that the log has at the beginning."""
    seen: Head | None = None
    position = check_count(start, "start")
    while True:
        entries = await store.read_chunk(scope, key, position, _CHUNK_ENTRIES, _CHUNK_BYTES)
        _check_same(seen, entries.head)
        seen = seen or entries.head
        for entry in entries:
            if seen is not None and entry.position >= seen.length:
                return
            yield entry
        position += len(entries)
        if not entries:
            return


async def follow(
    store: Any,
    environment: Environment,
    scope: str,
    key: str,
    start: int,
    timeout: float | None,
    connection_of: Callable[[], Connection | None],
) -> AsyncIterator[Entry]:
    """As `Store.follow`: waits where the backend has a way to, else polls with waits that grow while nothing comes."""
    position, patience = check_count(start, "start"), check_seconds(timeout, "timeout")
    seen: Head | None = None
    backoff = Backoff(environment, _FOLLOW_LAST_DELAY)
    quiet_since = boot_time()
    while True:
        entries = await store.read_chunk(scope, key, position, _CHUNK_ENTRIES, _CHUNK_BYTES)
        _check_same(seen, entries.head)
        seen = entries.head
        for entry in entries:
            yield entry
        if entries:
            position += len(entries)
            quiet_since = boot_time()
            backoff.reset()
            continue
        left = quiet_since + patience - boot_time()
        if left <= 0:
            return
        if not await _told(connection_of(), scope, key, position, left):
            await backoff.wait(left)


async def _told(connection: Connection | None, scope: str, key: str, position: int, seconds: float) -> bool:
    """Wait until the backend tells that a log may be longer; return whether it has a way to."""
    if connection is None or connection.wait is None:
        return False
    return await connection.wait(scope, key, position, seconds)


def _check_same(seen: Head | None, now: Head | None) -> None:
    if seen is not None and (now is None or now.incarnation != seen.incarnation):
        message = "the log was dropped while it was being read"
        raise NotFound(message)


def check_callable(function: Any, *, asynchronous: bool) -> None:
    """Refuse what cannot be called.

    Args:
        function: what the caller passed.
        asynchronous: whether it may be a coroutine function.

    Raises:
        InvalidArgument: it cannot be called, or only by an asynchronous store.

    """
    if not asynchronous and inspect.iscoroutinefunction(function):
        message = "function is asynchronous, the store is not: use holdall.open_async_store, or a plain function"
        raise InvalidArgument(message)
    if not callable(function):
        message = f"function must be callable, not {type(function).__name__}"
        raise InvalidArgument(message)
