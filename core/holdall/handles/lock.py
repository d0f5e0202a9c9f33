"""The handles on a lock: `LockHandle` is a `Lock`, `AsyncLockHandle` an `AsyncLock`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

from holdall.capabilities import Capabilities
from holdall.drive import drive
from holdall.environment import BlockingEnvironment, SuspendingEnvironment
from holdall.errors import Unsupported
from holdall.handles import leases
from holdall.handles.binding import bind
from holdall.handles.heartbeat import Heartbeat
from holdall.handles.hold import AsyncHeldLease, HeldLease, HoldSettings
from holdall.handles.leases import OPERATIONS, LockOperations
from holdall.handles.link import AsyncLink, Handle, Locating, SyncLink
from holdall.handles.tasks import finished_or_undone
from holdall.spi import Connection
from holdall.values import Lease

AnyLink = TypeVar("AnyLink", SyncLink, AsyncLink)


def _operations(connection: Connection, link: SyncLink | AsyncLink) -> LockOperations:
    if connection.lock is None:
        message = f"adapter {link.adapter!r} has no lock"
        raise Unsupported(message)
    return LockOperations(link.prepared(connection.lock), connection.capabilities, link.opening.timeout)


class _LockHandle(Handle[AnyLink]):
    """What the two lock handles have in common."""

    def __init__(self, link: AnyLink, *, owns_link: bool) -> None:
        self._link = link
        self._owns_link = owns_link
        self._heartbeat = Heartbeat(link.opening, lambda: link.connection)

    @property
    def capabilities(self) -> Capabilities:
        """What the backend can do."""
        connection = self._link.connection
        return self._link.opening.adapter.capabilities if connection is None else connection.capabilities

    def beating(self) -> Heartbeat:
        """Return what keeps the leases of this handle alive."""
        return self._heartbeat

    def forked(self) -> bool:
        """Return whether this is a child of the process that opened the handle."""
        return self._link.forked()


class LockHandle(_LockHandle[SyncLink]):
    """A synchronous lock; its operations are bound below."""

    def __init__(self, link: SyncLink, *, owns_link: bool = True) -> None:
        super().__init__(link, owns_link=owns_link)
        connection = link.connection
        if connection is None:
            message = "a synchronous link is connected from the beginning"
            raise RuntimeError(message)
        self._operations = _operations(connection, link)
        self._environment = BlockingEnvironment()

    def acquire(self, key: str, *, ttl: float = 60, timeout: float | None, owner: str | None = None) -> Lease:
        """As `Lock.acquire`."""
        with Locating(self.adapter, "acquire", None, key):
            return drive(leases.acquire(_Face(self), self._environment, key, ttl, timeout, owner))

    def hold(
        self,
        key: str,
        *,
        ttl: float = 60,
        heartbeat: float | None = None,
        timeout: float | None = 0,
        stop_flag: str | None = None,
        on_lost: Callable[[Any], object] | None = None,
    ) -> HeldLease:
        """As `Lock.hold`."""
        with Locating(self.adapter, "hold", None, key):
            settings = HoldSettings.checked(self.capabilities, key, ttl, heartbeat, timeout, stop_flag)
        return HeldLease(self, settings, on_lost)

    def close(self) -> None:
        """As `Lock.close`."""
        if self.forked():
            return
        self._heartbeat.close()
        if self._owns_link:
            self._link.close()

    def __enter__(self) -> Self:
        """Return the lock itself."""
        self._link.check()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the handle."""
        self.close()


class _Face:
    """A synchronous lock whose operations are awaited without ever suspending."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    async def try_acquire(self, key: str, **named: Any) -> Any:
        """As `Lock.try_acquire`."""
        return self._lock.try_acquire(key, **named)

    async def holder(self, key: str) -> Any:
        """As `Lock.holder`."""
        return self._lock.holder(key)


class _Undoing:
    """An asynchronous lock that releases what a cancelled task acquired."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    async def try_acquire(self, key: str, **named: Any) -> Any:
        """As `AsyncLock.try_acquire`."""
        return await finished_or_undone(self._lock.try_acquire(key, **named), self._release)

    async def _release(self, lease: Lease | None) -> None:
        if lease is not None:
            await self._lock.release(lease)

    async def holder(self, key: str) -> Any:
        """As `AsyncLock.holder`."""
        return await self._lock.holder(key)


class AsyncLockHandle(_LockHandle[AsyncLink]):
    """An asynchronous lock; its operations are bound below."""

    def __init__(self, link: AsyncLink, *, owns_link: bool = True) -> None:
        super().__init__(link, owns_link=owns_link)
        self._operations: LockOperations | None = None
        self._environment = SuspendingEnvironment()

    async def _connect(self) -> LockOperations:
        self._operations = _operations(await self._link.connect(), self._link)
        return self._operations

    async def acquire(self, key: str, *, ttl: float = 60, timeout: float | None, owner: str | None = None) -> Lease:
        """As `Lock.acquire`."""
        with Locating(self.adapter, "acquire", None, key):
            return await leases.acquire(_Undoing(self), self._environment, key, ttl, timeout, owner)

    def hold(
        self,
        key: str,
        *,
        ttl: float = 60,
        heartbeat: float | None = None,
        timeout: float | None = 0,
        stop_flag: str | None = None,
        on_lost: Callable[[Any], object] | None = None,
    ) -> AsyncHeldLease:
        """As `Lock.hold`."""
        with Locating(self.adapter, "hold", None, key):
            settings = HoldSettings.checked(self.capabilities, key, ttl, heartbeat, timeout, stop_flag)
        return AsyncHeldLease(self, settings, on_lost)

    async def close(self) -> None:
        """As `Lock.close`."""
        if self.forked():
            return
        self._heartbeat.close()
        if self._owns_link:
            await self._link.close()

    async def __aenter__(self) -> Self:
        """Return the lock itself, connected."""
        self._link.check()
        await self._connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the handle."""
        await self.close()


bind(LockHandle, LockOperations, OPERATIONS, asynchronous=False)
bind(AsyncLockHandle, LockOperations, OPERATIONS, asynchronous=True)
