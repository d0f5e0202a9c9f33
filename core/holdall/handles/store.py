"""The handles on a store: `StoreHandle` is a `Store`, `AsyncStoreHandle` an `AsyncStore`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Self

from holdall.capabilities import Capabilities
from holdall.drive import drive, drive_iterator
from holdall.environment import BlockingEnvironment, SuspendingEnvironment
from holdall.errors import Unsupported
from holdall.handles import composite
from holdall.handles.binding import bind
from holdall.handles.link import AsyncLink, Handle, Locating, SyncLink
from holdall.handles.operations import OPERATIONS, StoreOperations
from holdall.handles.transaction import Buffer, DrivenTransaction
from holdall.spi import Connection
from holdall.values import Entry, Fence, Record


def _operations(connection: Connection, link: SyncLink | AsyncLink) -> StoreOperations:
    if connection.store is None:
        message = f"adapter {link.adapter!r} has no store"
        raise Unsupported(message)
    return StoreOperations(link.prepared(connection.store), connection.capabilities)


class _AwaitableFace:
    """A synchronous store whose operations are awaited without ever suspending."""

    def __init__(self, store: StoreHandle) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._store, name)

        async def call(*arguments: Any, **named: Any) -> Any:
            return method(*arguments, **named)

        return call


class StoreHandle(Handle[SyncLink]):
    """A synchronous store; its operations are bound below."""

    def __init__(self, link: SyncLink) -> None:
        self._link = link
        connection = link.connection
        if connection is None:
            message = "a synchronous link is connected from the beginning"
            raise RuntimeError(message)
        self._operations = _operations(connection, link)
        self._capabilities = connection.capabilities
        self._environment = BlockingEnvironment()
        self._face = _AwaitableFace(self)

    @property
    def link(self) -> SyncLink:
        """The way to the storage, for a lock that shares it."""
        return self._link

    @property
    def capabilities(self) -> Capabilities:
        """What the backend can do."""
        return self._capabilities

    def update(
        self, scope: str, key: str, function: Callable[[Any], Any], *, ttl: float | None = None, fence: Fence = None
    ) -> Record:
        """As `Store.update`."""
        with Locating(self.adapter, "update", scope, key):
            composite.check_callable(function, asynchronous=False)
            patience = self._link.opening.timeout
            return drive(composite.update(self._face, self._environment, patience, scope, key, function, ttl, fence))

    def transaction(self, function: Callable[[Any], Any], *, attempts: int = 10) -> Any:
        """As `Store.transaction`."""
        with Locating(self.adapter, "transaction"):
            composite.check_callable(function, asynchronous=False)
            return drive(composite.transaction(self._face, self._environment, function, attempts, DrivenTransaction))

    def iter_records(self, scope: str, prefix: str = "", *, after: str | None = None) -> Iterator[Record]:
        """As `Store.iter_records`."""
        place = Locating(self.adapter, "iter_records", scope)
        return drive_iterator(place.each(composite.iter_records(self._face, scope, prefix, after)))

    def iter_keys(self, scope: str, prefix: str = "", *, after: str | None = None) -> Iterator[str]:
        """As `Store.iter_keys`."""
        place = Locating(self.adapter, "iter_keys", scope)
        return drive_iterator(place.each(composite.iter_keys(self._face, scope, prefix, after)))

    def iter_entries(self, scope: str, key: str, start: int = 0) -> Iterator[Entry]:
        """As `Store.iter_entries`."""
        place = Locating(self.adapter, "iter_entries", scope, key)
        return drive_iterator(place.each(composite.iter_entries(self._face, scope, key, start)))

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: float | None = None) -> Iterator[Entry]:
        """As `Store.follow`."""
        place = Locating(self.adapter, "follow", scope, key)
        entries = composite.follow(
            self._face, self._environment, scope, key, start, timeout, lambda: self._link.connection
        )
        return drive_iterator(place.each(entries))

    def close(self) -> None:
        """As `Store.close`."""
        self._link.close()

    def __enter__(self) -> Self:
        """Return the store itself."""
        self._link.check()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the handle."""
        self.close()


class AsyncStoreHandle(Handle[AsyncLink]):
    """An asynchronous store; its operations are bound below."""

    def __init__(self, link: AsyncLink) -> None:
        self._link = link
        self._operations: StoreOperations | None = None
        self._environment = SuspendingEnvironment()

    @property
    def link(self) -> AsyncLink:
        """The way to the storage, for a lock that shares it."""
        return self._link

    @property
    def capabilities(self) -> Capabilities:
        """What the backend can do; before the first operation, what the adapter declares without having asked it."""
        connection = self._link.connection
        return self._link.opening.adapter.capabilities if connection is None else connection.capabilities

    async def _connect(self) -> StoreOperations:
        self._operations = _operations(await self._link.connect(), self._link)
        return self._operations

    async def update(
        self, scope: str, key: str, function: Callable[[Any], Any], *, ttl: float | None = None, fence: Fence = None
    ) -> Record:
        """As `Store.update`."""
        with Locating(self.adapter, "update", scope, key):
            composite.check_callable(function, asynchronous=True)
            patience = self._link.opening.timeout
            return await composite.update(self, self._environment, patience, scope, key, function, ttl, fence)

    async def transaction(self, function: Callable[[Any], Any], *, attempts: int = 10) -> Any:
        """As `Store.transaction`."""
        with Locating(self.adapter, "transaction"):
            composite.check_callable(function, asynchronous=True)
            return await composite.transaction(self, self._environment, function, attempts, _as_it_is)

    def iter_records(self, scope: str, prefix: str = "", *, after: str | None = None) -> AsyncIterator[Record]:
        """As `Store.iter_records`."""
        return Locating(self.adapter, "iter_records", scope).each(composite.iter_records(self, scope, prefix, after))

    def iter_keys(self, scope: str, prefix: str = "", *, after: str | None = None) -> AsyncIterator[str]:
        """As `Store.iter_keys`."""
        return Locating(self.adapter, "iter_keys", scope).each(composite.iter_keys(self, scope, prefix, after))

    def iter_entries(self, scope: str, key: str, start: int = 0) -> AsyncIterator[Entry]:
        """As `Store.iter_entries`."""
        return Locating(self.adapter, "iter_entries", scope, key).each(composite.iter_entries(self, scope, key, start))

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: float | None = None) -> AsyncIterator[Entry]:
        """As `Store.follow`."""
        entries = composite.follow(self, self._environment, scope, key, start, timeout, self._link.waiting_connection)
        return Locating(self.adapter, "follow", scope, key).each(entries)

    async def close(self) -> None:
        """As `Store.close`."""
        await self._link.close()

    async def __aenter__(self) -> Self:
        """Return the store itself, connected."""
        self._link.check()
        await self._connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the handle."""
        await self.close()


def _as_it_is(buffer: Buffer) -> Buffer:
    return buffer


bind(StoreHandle, StoreOperations, OPERATIONS, asynchronous=False)
bind(AsyncStoreHandle, StoreOperations, OPERATIONS, asynchronous=True)
