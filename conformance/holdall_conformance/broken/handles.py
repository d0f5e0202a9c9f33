"""Broken in what a handle is."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import asyncio
import itertools
import os
import threading
import time
from dataclasses import replace
from typing import Any, ClassVar

from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.wrapping import WrappedAsyncStore, WrappedLock, WrappedStore


@broken("can-be-copied", "handles")
class CanBeCopied(WrappedStore):
    """Lets itself be copied and pickled, into a handle that has no connection."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (None,)


@broken("close-does-nothing", "handles")
class CloseDoesNothing(WrappedStore):
    """Works on after it was closed."""

    def close(self) -> None:
        return


@broken("close-of-locks-does-nothing", "handles")
class CloseOfLocksDoesNothing(WrappedLock):
    """Works on after the lock was closed."""

    def close(self) -> None:
        return


@broken("close-twice-raises", "handles")
class CloseTwiceRaises(WrappedStore):
    """Raises an error when it is closed a second time."""

    closed = False

    def close(self) -> None:
        if self.closed:
            message = "closed already"
            raise RuntimeError(message)
        self.closed = True
        self.inner.close()


@broken("close-closes-all", "handles")
class CloseClosesAll(WrappedStore):
    """Shares one connection among all handles, and closes it with the first of them."""

    shared: ClassVar[dict[str, Any]] = {}

    def called(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        inner = self.shared.setdefault(self.url, self.inner)
        return getattr(inner, name)(*arguments, **named)


@broken("block-leaves-it-open", "handles")
class BlockLeavesItOpen(WrappedStore):
    """Stays open when its block ends."""

    def __exit__(self, *error: object) -> bool | None:
        return None


@broken("block-swallows-errors", "handles")
class BlockSwallowsErrors(WrappedStore):
    """Swallows what the body of its block raises."""

    def __exit__(self, *error: object) -> bool | None:
        super().__exit__(*error)
        return True


@broken("one-thread-at-a-time", "handles")
class OneThreadAtATime(WrappedStore):
    """Keeps the arguments of the current operation in the handle, where another thread overwrites them."""

    current: Any = None

    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        self.current = (scope, key, value, named)
        time.sleep(0.0002)
        scope, key, value, named = self.current
        return self.inner.put(scope, key, value, **named)


@broken("thread-that-opened-it", "handles")
class ThreadThatOpenedIt(WrappedStore):
    """Works only in the thread that opened it, as a bare connection of SQLite does."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.thread = threading.get_ident()

    def called(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if threading.get_ident() != self.thread:
            message = "objects created in a thread can only be used in that same thread"
            raise RuntimeError(message)
        return super().called(name, arguments, named)


@broken("opens-one-at-a-time", "handles")
class OpensOneAtATime(WrappedStore):
    """Cannot be opened by two threads at once."""

    opening: ClassVar[list[int]] = [0]

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.opening[0] += 1
        time.sleep(0.001)
        busy = self.opening[0] > 1
        self.opening[0] -= 1
        if busy:
            message = "table already exists"
            raise RuntimeError(message)


@broken("capabilities-change", "handles", "limits")
class CapabilitiesChange(WrappedStore):
    """Declares other limits in every handle."""

    numbers: ClassVar[Any] = itertools.count(1)

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.number = next(self.numbers)

    @property
    def capabilities(self) -> Any:
        return replace(self.inner.capabilities, max_commit_operations=100 - self.number % 7)


@broken("store-and-lock-disagree", "handles")
class StoreAndLockDisagree(WrappedLock):
    """Declares in the lock another clock than in the store."""

    @property
    def capabilities(self) -> Any:
        return replace(self.inner.capabilities, expiry_margin=5.0)


@broken("handle-without-name", "handles")
class HandleWithoutName(WrappedStore):
    """Does not tell the name of its adapter."""

    @property
    def adapter(self) -> Any:
        return ""


@broken("ping-without-answer", "records")
class PingWithoutAnswer(WrappedStore):
    """Returns nothing from ping and describe."""

    def ping(self) -> Any:
        return None

    def describe(self) -> Any:
        return {}


@broken("open-files-leak", "handles")
class OpenFilesLeak(WrappedStore):
    """Leaves a file open for every handle that was closed."""

    leaked: ClassVar[list[int]] = []

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.leaked.append(os.open(os.devnull, os.O_RDONLY))


@broken("threads-leak", "handles", "processes")
class ThreadsLeak(WrappedStore):
    """Leaves a thread running for every handle that was closed."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()


@broken("second-loop-hangs", "processes", "handles", side="async")
class SecondLoopHangs(WrappedAsyncStore):
    """Waits for ever when it is used from another event loop than its first."""

    loop: Any = None

    def called(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return self._called(name, arguments, named)

    async def _called(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        running = asyncio.get_running_loop()
        self.loop = self.loop or running
        if self.loop is not running:
            await running.create_future()
        return await super().called(name, arguments, named)
