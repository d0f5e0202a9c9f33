"""The operations on records: checks and encoding in front of a `StoreDriver`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdall.codec import decode, encode
from holdall.environment import new_id
from holdall.errors import HoldallError, InvalidArgument
from holdall.handles.arguments import (
    Names,
    check_count,
    check_expect,
    check_fence_argument,
    check_size,
    check_ttl,
    kind_of,
)
from holdall.rules import concerning
from holdall.spi import DeleteRequest, PutRequest, StoredRecord
from holdall.values import ANY, Expect, Fence, Page, Record

if TYPE_CHECKING:
    from holdall.capabilities import Capabilities
    from holdall.spi import StoreDriver

_MAPPING: Any = Mapping
MANY = 1_000
"""How many records a driver is given at once by `put_many`, `delete_many` and `clear`."""


class RecordOperations:
    """Every operation on records that is one call of the driver."""

    def __init__(self, driver: StoreDriver, capabilities: Capabilities) -> None:
        self._driver = driver
        self._capabilities = capabilities
        self._names = Names(capabilities)

    async def get(self, scope: str, key: str) -> Record | None:
        """As `Store.get`."""
        scope, key = self._names.pair(scope, key)
        return _record(scope, await self._driver.get(scope, key))

    async def get_many(self, scope: str, keys: Iterable[str]) -> list[Record | None]:
        """As `Store.get_many`."""
        scope, wanted = self._names.scope(scope), self._keys(keys)
        if not wanted:
            return []
        return [_record(scope, stored) for stored in await self._driver.get_many(scope, wanted)]

    async def put(
        self,
        scope: str,
        key: str,
        value: Any,
        *,
        expect: Expect = ANY,
        ttl: float | None = None,
        fence: Fence = None,
    ) -> str:
        """As `Store.put`."""
        request = self._put_request(scope, key, value, expect, ttl, fence)
        await self._driver.put(request)
        return request.version

    async def touch(self, scope: str, key: str, ttl: float | None, *, fence: Fence = None) -> bool:
        """As `Store.touch`."""
        scope, key = self._names.pair(scope, key)
        return await self._driver.touch(scope, key, self._ttl(ttl), check_fence_argument(fence))

    async def delete(self, scope: str, key: str, *, expect: Expect = ANY, fence: Fence = None) -> bool:
        """As `Store.delete`."""
        return await self._driver.delete(self._delete_request(scope, key, expect, fence))

    async def put_many(self, scope: str, values: Mapping[str, Any], *, ttl: float | None = None) -> int:
        """As `Store.put_many`."""
        requests: list[PutRequest] = []
        for key, value in _items(values):
            with concerning(Named(scope, key)):
                requests.append(self._put_request(scope, key, value, ANY, ttl, None))
        done: list[str] = []
        for start in range(0, len(requests), MANY):
            chunk = requests[start : start + MANY]
            with _progress(done):
                await self._driver.put_many(chunk)
            done.extend(request.key for request in chunk)
        return len(done)

    async def delete_many(self, scope: str, keys: Iterable[str]) -> int:
        """As `Store.delete_many`."""
        scope, doomed = self._names.scope(scope), list(dict.fromkeys(self._keys(keys)))
        return await self._delete_all(scope, doomed, [])

    async def clear(self, scope: str) -> int:
        """As `Store.clear`."""
        scope, after, count = self._names.scope(scope), None, 0
        done: list[str] = []
        while True:
            with _progress(done):
                page = await self._driver.keys(scope, "", after, MANY)
            count += await self._delete_all(scope, page.rows, done)
            after = page.next
            if after is None:
                return count

    async def _delete_all(self, scope: str, keys: Sequence[str], done: list[str]) -> int:
        count = 0
        for start in range(0, len(keys), MANY):
            chunk = keys[start : start + MANY]
            with _progress(done):
                count += await self._driver.delete_many(scope, chunk)
            done.extend(chunk)
        return count

    async def scan(self, scope: str, prefix: str = "", *, after: str | None = None, limit: int = 100) -> Page[Record]:
        """As `Store.scan`."""
        names = self._names
        scope, prefix, after = names.scope(scope), names.prefix(prefix), names.after(after)
        page = await self._driver.scan(scope, prefix, after, check_count(limit, "limit", 1))
        return Page([_live(scope, stored) for stored in page.rows], page.next)

    async def keys(self, scope: str, prefix: str = "", *, after: str | None = None, limit: int = 1000) -> Page[str]:
        """As `Store.keys`."""
        names = self._names
        scope, prefix, after = names.scope(scope), names.prefix(prefix), names.after(after)
        page = await self._driver.keys(scope, prefix, after, check_count(limit, "limit", 1))
        return Page(page.rows, page.next)

    async def scopes(self, prefix: str = "", *, after: str | None = None, limit: int = 1000) -> Page[str]:
        """As `Store.scopes`."""
        prefix, after = self._names.prefix(prefix), self._names.after(after)
        page = await self._driver.scopes(prefix, after, check_count(limit, "limit", 1))
        return Page(page.rows, page.next)

    def _keys(self, keys: Iterable[str]) -> list[str]:
        if isinstance(keys, str | bytes) or not hasattr(keys, "__iter__"):
            message = f"keys must be several keys, not one {kind_of(keys)}: put it into a list"
            raise InvalidArgument(message)
        return [self._names.key(key) for key in keys]

    def _ttl(self, ttl: float | None) -> float | None:
        return None if ttl is None else check_ttl(ttl, self._capabilities.min_ttl)

    def _put_request(self, scope: str, key: str, value: Any, expect: Any, ttl: float | None, fence: Any) -> PutRequest:
        scope, key = self._names.pair(scope, key)
        expect, ttl, token = check_expect(expect), self._ttl(ttl), check_fence_argument(fence)
        payload = encode(value)
        if len(payload) > self._capabilities.max_value_bytes:
            check_size("value (bytes of JSON)", len(payload), self._capabilities.max_value_bytes)
        return PutRequest(scope, key, payload, new_id(), expect, ttl, token)

    def _delete_request(self, scope: str, key: str, expect: Any, fence: Any) -> DeleteRequest:
        scope, key = self._names.pair(scope, key)
        return DeleteRequest(scope, key, check_expect(expect), check_fence_argument(fence))


class Named(NamedTuple):
    """What an error is about."""

    scope: str
    key: str


def _items(values: Any) -> list[tuple[Any, Any]]:
    if not isinstance(values, _MAPPING):
        message = f"values must be a mapping of keys to values, not {kind_of(values)}"
        raise InvalidArgument(message)
    return list(values.items())


def _live(scope: str, stored: StoredRecord) -> Record:
    with concerning(Named(scope, stored.key)):
        return Record(scope, stored.key, decode(stored.payload), stored.version, stored.expires_in)


def _record(scope: str, stored: StoredRecord | None) -> Record | None:
    return None if stored is None else _live(scope, stored)


class _progress:  # noqa: N801 - reads as a statement
    """Notes on an error which keys were done before it, in the chunks before and in its own."""

    def __init__(self, done: list[str]) -> None:
        self._done = done

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, HoldallError):
            error.done = (*self._done, *error.done)
