"""No connection is open while the process forks.

SQLite keeps one table of file locks a process. A child inherits it, believes that it holds what the parent holds, and
takes no lock of its own: writes of both are lost without an error, and a mutex that some thread held at the fork is
held for ever. So before a fork whatever runs is let finish, and every connection is closed; the parent opens them anew.

Whoever uses a connection takes no lock here, so that a signal handler may use a store whenever it comes, or raise.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from typing import Protocol

from holdall.errors import ForkedHandle

__all__ = ["ForkGate", "Opening", "Usable", "gate"]

_PATIENCE = 60.0
_STEP = 0.0005


class Usable(Protocol):
    """A connection: `user` is the thread that uses it, or 0."""

    user: int

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


class Opening:
    """Stands for a connection that is being opened."""

    user = 0

    @property
    def closed(self) -> bool:
        """Whether the opening is over."""
        return self.user == 0

    def close(self) -> None:
        """Hold nothing, give back nothing."""


class ForkGate:
    """Knows every connection, and lets a fork wait for those in use."""

    def __init__(self) -> None:
        self._forking = False
        self._spoilt = False
        self._turn = threading.RLock()
        self._connections: weakref.WeakSet[Usable] = weakref.WeakSet()

    def watch(self, connection: Usable) -> None:
        """Close a connection before every fork; one that was thrown away is not remembered."""
        self._connections.add(connection)

    def wait(self) -> None:
        """Wait while the process forks.

        Raises:
            ForkedHandle: this process was forked while a connection was in use for too long to wait for it.

        """
        while self._forking:
            time.sleep(_STEP)
        if self._spoilt:
            message = "this process was forked while SQLite was busy: start it by spawn, or fork when all is quiet"
            raise ForkedHandle(message)

    def use(self, connection: Usable) -> bool:
        """Mark a connection as used; return False if a fork came first, so that it must be given back."""
        connection.user = threading.get_ident()
        if self._forking:
            connection.user = 0
            return False
        return True

    def before(self) -> None:
        """Wait until no other thread uses a connection, and close all that are not in use."""
        self._turn.acquire()
        self._forking = True
        deadline = time.monotonic() + _PATIENCE
        here = threading.get_ident()
        try:
            while any(each.user not in {0, here} for each in self._known()) and time.monotonic() < deadline:
                time.sleep(_STEP)
        finally:
            for connection in self._known():
                if not connection.user:
                    connection.close()

    def _known(self) -> list[Usable]:
        while True:
            try:
                return list(self._connections)
            except RuntimeError:
                continue  # another thread opened one while they were listed

    def after_in_parent(self) -> None:
        """Go on."""
        self._forking = False
        with contextlib.suppress(RuntimeError):  # a signal handler raised before the turn was taken
            self._turn.release()

    def after_in_child(self) -> None:
        """Go on; where a connection was open at the fork, SQLite cannot be trusted here any more."""
        self._spoilt = self._spoilt or not all(each.closed for each in self._known())
        self._turn = threading.RLock()
        self._forking = False


gate = ForkGate()
os.register_at_fork(before=gate.before, after_in_parent=gate.after_in_parent, after_in_child=gate.after_in_child)
