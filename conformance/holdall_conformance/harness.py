"""What a scenario works with: ways to open the backend again and again, and scopes of its own."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, Any, Self, cast

import holdall
from holdall_conformance.bridge import BridgedLock, BridgedStore, LoopThread

if TYPE_CHECKING:
    from holdall import Capabilities, Lock, Store

__all__ = ["Harness"]

_SHORT_TTL = 0.05
_SLACK = 0.02


class Harness:
    """One backend, given by its URL.

    Attributes:
        url: the URL; whoever opens it again, also in another process, finds the same storage.
        asynchronous: whether the handles are those of the asynchronous side, behind a synchronous face.

    """

    def __init__(self, url: str, *, asynchronous: bool = False) -> None:
        self.url = url
        self.asynchronous = asynchronous
        self._closing = contextlib.ExitStack()
        self._thread: LoopThread | None = None
        self._store: Store | None = None
        self._lock: Lock | None = None

    def __enter__(self) -> Self:
        """Return the harness."""
        if self.asynchronous:
            self._thread = LoopThread()
            self._closing.callback(self._thread.stop)
        return self

    def __exit__(self, *_: object) -> None:
        """Close every handle that was opened."""
        self._closing.close()

    def open_store(self, **settings: Any) -> Store:
        """Open another handle on the store; it is closed with the harness."""
        if self._thread is None:
            return self._closing.enter_context(holdall.open_store(self.url, **settings))
        bridged = BridgedStore(holdall.open_async_store(self.url, **settings), self._thread)
        return cast("Store", self._closing.enter_context(bridged))

    def open_lock(self, **settings: Any) -> Lock:
        """Open another handle on the lock; it is closed with the harness."""
        if self._thread is None:
            return self._closing.enter_context(holdall.open_lock(self.url, **settings))
        bridged = BridgedLock(holdall.open_async_lock(self.url, **settings), self._thread)
        return cast("Lock", self._closing.enter_context(bridged))

    def share_lock(self, store: Store) -> Lock:
        """Open a lock that shares the connection of a store; it is closed with the harness."""
        if self._thread is None:
            return self._closing.enter_context(holdall.open_lock(store))
        bridged = BridgedLock(holdall.open_async_lock(self.bare(store)), self._thread)
        return cast("Lock", self._closing.enter_context(bridged))

    @staticmethod
    def bare(handle: Any) -> Any:
        """Return the handle itself, without the synchronous face of an asynchronous one."""
        return handle.inner if isinstance(handle, BridgedStore | BridgedLock) else handle

    @property
    def short_ttl(self) -> float:
        """The shortest ttl that leaves time for a few operations, in seconds."""
        return max(self.capabilities.min_ttl, _SHORT_TTL)

    def occupy(self, seconds: float) -> None:
        """Keep the program busy: block the event loop where there is one, otherwise the thread."""
        if self._thread is None:
            time.sleep(seconds)
        else:
            self._thread.run(_block(seconds))

    def outlast(self, ttl: float) -> None:
        """Wait until what was written before with a ttl must have expired."""
        time.sleep(ttl + self.capabilities.expiry_margin + _SLACK)

    @property
    def store(self) -> Store:
        """A handle on the store, opened once."""
        if self._store is None:
            self._store = self.open_store()
        return self._store

    @property
    def lock(self) -> Lock:
        """A handle on the lock, opened once."""
        if self._lock is None:
            self._lock = self.open_lock()
        return self._lock

    @property
    def capabilities(self) -> Capabilities:
        """What the backend declares."""
        return self.store.capabilities

    def new_scope(self) -> str:
        """Return a scope that nobody else uses."""
        return f"kit-{os.urandom(8).hex()}"

    def new_key(self) -> str:
        """Return a key that nobody else uses."""
        return f"key-{os.urandom(8).hex()}"


async def _block(seconds: float) -> None:
    time.sleep(seconds)  # noqa: ASYNC251 - blocking the loop is the point
