"""Broken in a forked child."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import os
import threading
from typing import Any, ClassVar

import holdall
from holdall_conformance.broken.holds import PassingHold
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.rooms import FileRoom
from holdall_conformance.broken.wrapping import WrappedLock, WrappedStore


@broken("fork-hangs", "fork")
class ForkHangs(WrappedStore):
    """Guards every operation with a lock that a thread may have held at the moment of a fork."""

    turn: ClassVar[threading.Lock] = threading.Lock()

    def called(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        with self.turn:
            return super().called(name, arguments, named)


class _Reopening(WrappedStore):
    """Opens another handle in a forked child."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.process = os.getpid()

    def again(self) -> Any:
        return holdall.open_store(self.url)

    def called(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if os.getpid() != self.process:
            self.process = os.getpid()
            self.inner = self.again()
        return super().called(name, arguments, named)


@broken("fork-writes-to-a-copy", "fork", room=FileRoom)
class ForkWritesToACopy(_Reopening):
    """Goes on in a forked child with a copy of its own, in which what it writes is lost."""

    def again(self) -> Any:
        return holdall.open_store("memory://")


@broken("fork-reads-on", "fork", room=FileRoom)
class ForkReadsOn(_Reopening):
    """Reads on in a forked child, and refuses to write."""

    def called(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if os.getpid() != self.process and name == "get":
            return self.again().get(*arguments, **named)
        return self.inner.__class__.__dict__[name](self.inner, *arguments, **named)


class _ReleasedByChildren(PassingHold):
    url = ""

    def __init__(self, inner: Any, lock: Any) -> None:
        super().__init__(inner, lock)
        self.process = os.getpid()

    def __exit__(self, kind: object, error: object, traceback: object) -> bool | None:
        if os.getpid() != self.process:
            with holdall.open_lock(self.url) as lock:
                lock.release(self.inner.lease)
        return super().__exit__(kind, error, traceback)


@broken("fork-releases-the-hold", "fork", room=FileRoom)
class ForkReleasesTheHold(WrappedLock):
    """Releases the lease of its parent when a forked child leaves the block."""

    def hold(self, key: str, **settings: Any) -> Any:
        hold = _ReleasedByChildren(self.inner.hold(key, **settings), self.inner)
        hold.url = self.url
        return hold


class _KeptByChildren(PassingHold):
    def __init__(self, inner: Any, lock: Any) -> None:
        super().__init__(inner, lock)
        self.process = os.getpid()

    @property
    def lost(self) -> bool:
        return os.getpid() == self.process and bool(self.inner.lost)


@broken("fork-keeps-the-hold", "fork")
class ForkKeepsTheHold(WrappedLock):
    """Lets a forked child believe that it holds the lease of its parent."""

    def hold(self, key: str, **settings: Any) -> Any:
        return _KeptByChildren(self.inner.hold(key, **settings), self.inner)


@broken("fork-raises-anything", "fork")
class ForkRaisesAnything(WrappedStore):
    """Raises an error of its own for a handle that came with a fork."""

    def called(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        try:
            return super().called(name, arguments, named)
        except holdall.ForkedHandle as error:
            message = "the connection is bad"
            raise OSError(message) from error
