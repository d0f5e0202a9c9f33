"""No connection is open while the process forks.

SQLite keeps one table of file locks a process. A child inherits it, believes that it holds what the parent holds, and
takes no lock of its own: writes of both are lost without an error, and a mutex that some thread held at the fork is
held for ever. So before a fork whatever runs is let finish, and every connection is closed; the parent opens them anew.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Protocol

from holdall.errors import ForkedHandle

__all__ = ["gate"]

_PATIENCE = 60.0


class Closeable(Protocol):
    """What is closed before a fork."""

    def close_idle(self) -> None:
        """Close the connections that nobody uses."""
        ...


class ForkGate:
    """Counts the connections in use, and lets a fork wait for them."""

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._busy = 0
        self._forking = False
        self._spoilt = False
        self._databases: weakref.WeakSet[Closeable] = weakref.WeakSet()

    def watch(self, database: Closeable) -> None:
        """Close the idle connections of a database before every fork."""
        with self._changed:
            self._databases.add(database)

    def enter(self) -> None:
        """Begin to use a connection.

        Raises:
            ForkedHandle: this process was forked while a connection was in use for too long to wait for it.

        """
        with self._changed:
            while self._forking:
                self._changed.wait()
            if self._spoilt:
                message = (
                    "this process was forked while SQLite was busy: start processes by spawn, or fork when all is quiet"
                )
                raise ForkedHandle(message)
            self._busy += 1

    def leave(self) -> None:
        """End the use of a connection."""
        with self._changed:
            self._busy -= 1
            if self._forking:
                self._changed.notify_all()

    def before(self) -> None:
        """Wait until no connection is in use, close all, and let nobody open one."""
        self._changed.acquire()
        self._forking = True
        self._changed.wait_for(lambda: self._busy == 0, _PATIENCE)
        for database in list(self._databases):
            database.close_idle()

    def after_in_parent(self) -> None:
        """Go on."""
        self._forking = False
        self._changed.notify_all()
        self._changed.release()

    def after_in_child(self) -> None:
        """Go on; the threads that used connections are not in the child."""
        self._changed = threading.Condition(threading.Lock())
        self._spoilt = self._spoilt or self._busy > 0
        self._busy = 0
        self._forking = False


gate = ForkGate()
register: Callable[..., None] = os.register_at_fork
register(before=gate.before, after_in_parent=gate.after_in_parent, after_in_child=gate.after_in_child)
