"""Where connections wait for their next statement: pools of holdall's own.

The pool of psycopg_pool makes one connection after the other: while one is being made to a server that is silent,
nobody gets any, for as long as libpq waits, which costs leases. Here everybody makes their own, within their own
deadline.
"""

from __future__ import annotations

import os
import select
import weakref
from collections import deque
from typing import Any

from holdall.errors import Unavailable
from holdall_adapters.postgres.connections.connecting import Blocking, Suspending
from holdall_adapters.postgres.connections.rooms import Room

__all__ = ["MOST_CONNECTIONS", "OwnPool"]

MOST_CONNECTIONS = 8
_IDLE = 0
"""PQTRANS_IDLE."""


def _usable(connection: Any) -> bool:
    """Tell whether a connection that waited is still there.

    A server says nothing to it unless it ends it, or its settings were changed; either way another one is better.
    """
    if connection.closed or connection.pgconn.transaction_status != _IDLE:
        return False
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    return not poll.poll(0)


def _finish_all(waiting: deque[Any], pid: int) -> None:
    """End the connections of a pool that was thrown away, unless they are those of the process that forked this one."""
    while waiting and os.getpid() == pid:
        waiting.pop().pgconn.finish()


class _Idle:
    """Connections that wait, the one used last first."""

    def __init__(self) -> None:
        self._waiting: deque[Any] = deque()
        self.closed = False
        weakref.finalize(self, _finish_all, self._waiting, os.getpid()).atexit = False

    def pop(self) -> Any:
        """Return one that is still there, or None."""
        while True:
            try:
                connection = self._waiting.pop()
            except IndexError:
                return None
            if _usable(connection):
                return connection
            connection.pgconn.finish()

    def push(self, connection: Any) -> None:
        """Keep one, unless it is closed or in the middle of something."""
        if self.closed or connection.closed or connection.pgconn.transaction_status != _IDLE:
            connection.pgconn.finish()
            return
        self._waiting.append(connection)
        if self._is_closed():  # meanwhile
            self.close()

    def _is_closed(self) -> bool:
        return self.closed

    def close(self) -> None:
        """End all."""
        self.closed = True
        while self._waiting:
            try:
                self._waiting.pop().pgconn.finish()
            except IndexError:
                return


class OwnPool:
    """Connections of holdall's own, as many at once as there is room for.

    Args:
        connector: makes them.
        room: that for `MOST_CONNECTIONS`.

    """

    def __init__(self, connector: Blocking | Suspending, room: Room) -> None:
        self._connector = connector
        self._room = room
        self._idle = _Idle()

    async def take(self, deadline: float) -> Any:
        """Return a connection that nobody else uses.

        Args:
            deadline: when it must be there.

        Raises:
            Unavailable: there is none.

        """
        if not await self._room.enter(deadline):
            message = f"all {MOST_CONNECTIONS} connections of the pool were busy until the time was up"
            raise Unavailable(message)
        try:
            return self._idle.pop() or await self._connector.connect(deadline)
        except BaseException:
            self._room.leave()
            raise

    async def give(self, connection: Any) -> None:
        """Give it back; never suspends, so that a cancelled task gives it back too."""
        self._idle.push(connection)
        self._room.leave()

    async def close(self) -> None:
        """End all connections; those in use end when they are given back."""
        self._idle.close()
