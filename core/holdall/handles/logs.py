"""The operations on logs: checks and encoding in front of a `StoreDriver`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from holdall.codec import decode, digest, encode
from holdall.environment import new_id
from holdall.errors import Corrupt, InvalidArgument, InvalidValue
from holdall.handles.arguments import (
    check_count,
    check_expect_head,
    check_fence_argument,
    check_size,
    kind_of,
)
from holdall.handles.records import RecordOperations
from holdall.spi import AppendRequest, LogRequest, StoredEntries
from holdall.values import ANY, Appended, Entries, Entry, ExpectHead, Fence, Head, Lease, Page

_NOT_ENTRIES: tuple[type, ...] = (str, bytes, bytearray, Mapping, set, frozenset)
"""What can be iterated and yet is no batch: one value, or values without an order."""


class LogOperations(RecordOperations):
    """Every operation on logs that is one call of the driver."""

    async def append(
        self,
        scope: str,
        key: str,
        entries: Iterable[Any],
        *,
        expect: ExpectHead = ANY,
        fence: Fence = None,
        batch_id: str | None = None,
    ) -> Appended:
        """As `Store.append`."""
        return await self._driver.append(self._append_request(scope, key, entries, expect, fence, batch_id))

    async def read(self, scope: str, key: str, start: int = 0, limit: int | None = None) -> Entries:
        """As `Store.read`."""
        scope, key = self._names.pair(scope, key)
        most = None if limit is None else check_count(limit, "limit")
        return _entries(await self._driver.read(scope, key, check_count(start, "start"), most, None))

    async def read_chunk(self, scope: str, key: str, start: int, limit: int, max_bytes: int) -> Entries:
        """Return a bounded part of a log: what the iterators are made of."""
        scope, key = self._names.pair(scope, key)
        return _entries(await self._driver.read(scope, key, check_count(start, "start"), limit, max_bytes))

    async def tail(self, scope: str, key: str, count: int) -> Entries:
        """As `Store.tail`."""
        scope, key = self._names.pair(scope, key)
        return _entries(await self._driver.tail(scope, key, check_count(count, "count")))

    async def head(self, scope: str, key: str) -> Head | None:
        """As `Store.head`."""
        scope, key = self._names.pair(scope, key)
        return await self._driver.head(scope, key)

    async def truncate(
        self, scope: str, key: str, before: int, *, expect: ExpectHead = ANY, fence: Fence = None
    ) -> int:
        """As `Store.truncate`."""
        request = self._log_request(scope, key, expect, fence)
        return await self._driver.truncate(request, check_count(before, "before"))

    async def drop(self, scope: str, key: str, *, expect: ExpectHead = ANY, fence: Fence = None) -> bool:
        """As `Store.drop`."""
        return await self._driver.drop(self._log_request(scope, key, expect, fence))

    async def logs(self, scope: str, prefix: str = "", *, after: str | None = None, limit: int = 1000) -> Page[str]:
        """As `Store.logs`."""
        names = self._names
        scope, prefix, after = names.scope(scope), names.prefix(prefix), names.after(after)
        page = await self._driver.logs(scope, prefix, after, check_count(limit, "limit", 1))
        return Page(page.rows, page.next)

    async def log_scopes(self, prefix: str = "", *, after: str | None = None, limit: int = 1000) -> Page[str]:
        """As `Store.log_scopes`."""
        prefix, after = self._names.prefix(prefix), self._names.after(after)
        page = await self._driver.log_scopes(prefix, after, check_count(limit, "limit", 1))
        return Page(page.rows, page.next)

    async def restore_log(self, scope: str, key: str, first: int, entries: Iterable[Any]) -> Head:
        """As `Store.restore_log`."""
        scope, key = self._names.pair(scope, key)
        payloads = self._payloads(_listed(entries))
        return await self._driver.restore_log(scope, key, check_count(first, "first"), payloads, new_id())

    async def seal(self, scope: str, key: str, fence: Lease | int, *, log: bool = False) -> Head | str | None:
        """As `Store.seal`."""
        scope, key = self._names.pair(scope, key)
        token = check_fence_argument(fence)
        if token is None:
            message = "fence must be a Lease or its token: sealing without one means nothing"
            raise InvalidArgument(message)
        if log:
            return await self._driver.seal_log(scope, key, token)
        return await self._driver.seal(scope, key, token)

    def _append_request(
        self, scope: str, key: str, entries: Iterable[Any], expect: Any, fence: Any, batch_id: Any
    ) -> AppendRequest:
        scope, key = self._names.pair(scope, key)
        expect, token, batch_id = check_expect_head(expect), check_fence_argument(fence), self._names.batch_id(batch_id)
        values = _listed(entries)
        if not values:
            message = "entries must hold at least one entry: an empty batch has no position"
            raise InvalidArgument(message)
        payloads = self._payloads(values)
        print_of = None if batch_id is None else digest(values)
        return AppendRequest(scope, key, payloads, new_id(), expect, token, batch_id, print_of)

    def _payloads(self, values: list[Any]) -> list[bytes]:
        limits = self._capabilities
        check_size("batch (entries)", len(values), limits.max_batch_entries)
        payloads: list[bytes] = []
        total = 0
        for number, value in enumerate(values):
            payloads.append(_encode_entry(number, value))
            total += len(payloads[-1])
            if len(payloads[-1]) > limits.max_value_bytes:
                check_size(f"entry {number} (bytes of JSON)", len(payloads[-1]), limits.max_value_bytes)
        check_size("batch (bytes of JSON)", total, limits.max_batch_bytes)
        return payloads

    def _log_request(self, scope: str, key: str, expect: Any, fence: Any) -> LogRequest:
        scope, key = self._names.pair(scope, key)
        return LogRequest(scope, key, check_expect_head(expect), check_fence_argument(fence))


def _encode_entry(number: int, value: Any) -> bytes:
    try:
        return encode(value)
    except InvalidValue as error:
        message = f"entry {number}: {error.message}"
        raise InvalidValue(message, error.path) from error


def _listed(entries: Any) -> list[Any]:
    if isinstance(entries, _NOT_ENTRIES) or not hasattr(entries, "__iter__"):
        message = f"entries must be several entries in their order, not a {kind_of(entries)}: make a list of it"
        raise InvalidArgument(message)
    return list(entries)


def _entry(position: int, payload: bytes) -> Entry:
    try:
        return Entry(position, decode(payload))
    except Corrupt as error:
        message = f"the entry at position {position} cannot be read: {error.message}"
        raise Corrupt(message) from error


def _entries(stored: StoredEntries) -> Entries:
    found = (_entry(position, payload) for position, payload in enumerate(stored.payloads, stored.start))
    return Entries(found, stored.head)
