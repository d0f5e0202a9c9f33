"""Guards: one process and thread at a time changes what a name stands for.

A guard is an advisory lock (`flock`) on one of 1,024 small files a kind, chosen by the name. The kernel frees it when
its process ends. The files are never removed: somebody might wait for a lock on one that nobody else can find.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import zlib
from typing import TYPE_CHECKING, Self

from holdall.errors import ForkedHandle, StoreTimeout

if TYPE_CHECKING:
    from types import TracebackType

    from holdall.spi import Environment
    from holdall_adapters.file.disk import Disk
    from holdall_adapters.file.files import Place

__all__ = ["Guard", "Guards", "guard_name"]

_GUARDS = 1_024
_FIRST_WAIT, _LONGEST_WAIT = 0.0005, 0.008


class _Held:
    """The descriptors that hold a guard: a forked child has copies, and must not keep the guards of its parent."""

    def __init__(self) -> None:
        self.descriptors: set[int] = set()
        self.forks = 0

    def before_fork(self) -> None:
        """Tell who is opening a guard that its descriptor may have a copy."""
        self.forks += 1

    def in_child(self) -> None:
        """Close the copies; to unlock them would unlock the parent's."""
        for descriptor in self.descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self.descriptors = set()


_held = _Held()
os.register_at_fork(before=_held.before_fork, after_in_child=_held.in_child)


class Guards:
    """The guards of a store."""

    def __init__(self, disk: Disk, environment: Environment, timeout: float) -> None:
        self._disk = disk
        self._environment = environment
        self._timeout = timeout

    def of(self, place: Place, timeout: float | None = None) -> Guard:
        """Return the guard of a file.

        Args:
            place: where the file is; there are guards for the first folder of its way.
            timeout: seconds to wait, if other than those of the store.

        """
        patience = self._timeout if timeout is None else timeout
        name = "/".join((*place.way, place.name))
        return Guard(self._disk, self._environment, place.way[0], name, patience)


def guard_name(name: str) -> str:
    """Return which of the guards stands for a name.

    Args:
        name: any text; two names may share a guard.

    """
    return f"{zlib.crc32(name.encode()) % _GUARDS:03x}"


class Guard:
    """Holds a guard in an `async with` block."""

    __slots__ = ("_descriptor", "_disk", "_environment", "_kind", "_name", "_pid", "_timeout")

    def __init__(self, disk: Disk, environment: Environment, kind: str, name: str, timeout: float) -> None:
        self._disk = disk
        self._environment = environment
        self._kind = kind
        self._name = guard_name(name)
        self._timeout = timeout
        self._descriptor = -1

    async def __aenter__(self) -> Self:
        """Wait for the guard.

        Raises:
            StoreTimeout: others kept it until the time was up.

        """
        deadline = self._environment.boot_time() + self._timeout
        self._pid = os.getpid()
        while not await self._try(deadline):
            pass
        return self

    async def _try(self, deadline: float) -> bool:
        forks = _held.forks
        self._descriptor = self._disk.open_guard(self._kind, self._name)
        _held.descriptors.add(self._descriptor)
        if _held.forks != forks:
            self._close()
            return False
        try:
            await self._wait(deadline)
            current = self._disk.is_guard(self._kind, self._name, self._descriptor)
        except BaseException:
            self._close()
            raise
        if not current:
            self._close()
        return current

    async def _wait(self, deadline: float) -> None:
        longest = _FIRST_WAIT
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            if self._environment.boot_time() >= deadline:
                message = "another process or thread worked on the same name until the time was up"
                raise StoreTimeout(message)
            await self._environment.sleep(longest * self._environment.random())
            longest = min(longest * 2, _LONGEST_WAIT)

    def check(self) -> None:
        """Make sure that this is still the process that took the guard.

        Raises:
            ForkedHandle: it was forked in the midst of an operation.

        """
        if os.getpid() != self._pid:
            message = "this process was forked in the midst of an operation: nothing was changed here"
            raise ForkedHandle(message)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Free the guard, also where a forked child has a copy of the descriptor."""
        if os.getpid() == self._pid:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            self._close()

    def _close(self) -> None:
        _held.descriptors.discard(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = -1

    def __del__(self) -> None:
        """Free a guard whose taking a signal handler interrupted."""
        if self._descriptor in _held.descriptors and os.getpid() == self._pid:
            self._close()
