"""Backends put together from parts, and opened through holdall or as wrapped handles."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import holdall
from holdall import Capabilities, hookimpl, plugins
from holdall.spi import Adapter, Connection, Target
from holdall_conformance.broken.plain_lock import PlainLock
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.rooms import FileRoom, MemoryRoom, Room
from holdall_conformance.broken.wrapping import WrappedAsyncLock, WrappedAsyncStore, WrappedLock, WrappedStore

__all__ = ["CAPABILITIES", "Design"]

CAPABILITIES = Capabilities(
    persistent=False,
    cross_process=False,
    cross_host=False,
    durable_tokens=False,
    atomic_commit=True,
    max_commit_operations=100,
    native_follow=False,
    expiry_clock="boot",
    expiry_margin=0.01,
    min_ttl=0.01,
    max_scope_bytes=128,
    max_key_bytes=512,
    max_value_bytes=2**20,
    max_batch_entries=1_000,
    max_batch_bytes=3 * 2**20,
)
"""The least that every backend must take, within one process."""

_registering = threading.Lock()
_registered: set[str] = set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A backend, by its parts; those that are not named do everything right.

    Attributes:
        name: names it in URLs.
        room: where the state lives.
        store: what the records and logs do.
        lock: what the leases and flags do.
        wrappers: handles put before holdall's own, by what they wrap: "store", "lock", "async_store", "async_lock".
        declares: capabilities that it declares other than usual.

    """

    name: str
    room: type[Room] = MemoryRoom
    store: type[PlainStore] = PlainStore
    lock: type[PlainLock] = PlainLock
    wrappers: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict[str, Callable[[Any], Any]])
    declares: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def open(self, what: str, folder: Path, settings: Mapping[str, Any]) -> Any:
        """Return a handle.

        Args:
            what: "store", "lock", "async_store" or "async_lock".
            folder: all handles that are given the same one share their storage.
            settings: such as a timeout.

        """
        self._register()
        url = f"{self._scheme}://{str(folder).encode().hex() or 'here'}"
        handle = getattr(holdall, f"open_{what}")(url, **settings)
        if what not in self.wrappers:
            return handle
        wrapped = self.wrappers[what](handle)
        wrapped.url = url
        return wrapped

    def simplified(self) -> Design:
        """Return the same design with every part as it should be."""
        bases: dict[str, Callable[[Any], Any]] = {"store": WrappedStore, "lock": WrappedLock}
        bases |= {"async_store": WrappedAsyncStore, "async_lock": WrappedAsyncLock}
        room: type[Room] = next(kind for kind in self.room.__mro__ if kind in {MemoryRoom, FileRoom})
        wrappers = {what: bases[what] for what in self.wrappers}
        return Design(name=f"{self.name}-mended", room=room, wrappers=wrappers)

    @property
    def capabilities(self) -> Capabilities:
        """What the backend declares."""
        shared = dict.fromkeys(("persistent", "cross_process", "durable_tokens"), self.room.shared)
        return replace(CAPABILITIES, **{**shared, **self.declares})

    @property
    def _scheme(self) -> str:
        return f"broken-{self.name}"

    def _register(self) -> None:
        with _registering:
            if self._scheme not in _registered:
                plugins.register(_Plugin(self._scheme, self))
                _registered.add(self._scheme)

    async def connect(self, target: Target) -> Connection:
        """Put the parts together on the storage that a URL names."""
        place = target.url.authority
        room = self.room("" if place == "here" else bytes.fromhex(place).decode())

        async def close() -> None:
            room.close()

        return Connection(
            store=self.store(room, target.environment),
            lock=self.lock(room, target.environment),
            capabilities=self.capabilities,
            close=close,
        )


class _Plugin:
    """Brings a design as an adapter."""

    def __init__(self, scheme: str, design: Design) -> None:
        self._scheme = scheme
        self._design = design

    @hookimpl
    def holdall_adapter(self) -> Adapter:
        """Return the description of the adapter."""
        return Adapter(
            name=self._scheme,
            schemes=(self._scheme,),
            summary="A backend of the conformance kit's own.",
            capabilities=self._design.capabilities,
            io=self._design.room.io,
            connect=self._design.connect,
        )
