"""Connections and pools that the caller lends: left open, and given back as they were.

holdall works in autocommit. A connection that is not is put into it for the time of a statement, unless a transaction
of the caller's is open on it: holdall never writes inside of that. Both sides of psycopg have the same methods, so what
stands here serves both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdall.errors import ConfigError, Unavailable
from holdall_adapters.postgres.connections.rooms import Room, awaited, finished

__all__ = ["LentConnection", "LentPool"]

_IDLE = 0
"""PQTRANS_IDLE."""
_MANUAL = "holdall_manual"
_SHORTEST = 0.001
"""Seconds; a pool takes 0 for no bound."""


async def _switch(connection: Any) -> None:
    """Put a connection into autocommit, and note whether it was not.

    Raises:
        ConfigError: a transaction is open on it.

    """
    setattr(connection, _MANUAL, False)
    if not connection.closed and connection.pgconn.transaction_status != _IDLE:
        message = "a transaction of yours is open on the connection that holdall was given: end it first"
        raise ConfigError(message)
    setattr(connection, _MANUAL, not connection.autocommit)
    if connection.autocommit:
        return
    try:
        await awaited(connection.set_autocommit(True))
    except BaseException:  # cancelled, perhaps when that was done already
        await _switch_back(connection)
        raise


async def _switch_back(connection: Any) -> None:
    if getattr(connection, _MANUAL, False) and not connection.closed:
        await finished(connection.set_autocommit(False))


class LentPool:
    """A pool of the caller's."""

    def __init__(self, pool: Any, clock: Callable[[], float]) -> None:
        self._pool = pool
        self._clock = clock

    async def take(self, deadline: float) -> Any:
        """Return a connection in autocommit.

        Args:
            deadline: when it must be there.

        """
        connection = await awaited(self._pool.getconn(max(_SHORTEST, deadline - self._clock())))
        try:
            await _switch(connection)
        except BaseException:
            await finished(self._pool.putconn(connection))
            raise
        return connection

    async def give(self, connection: Any) -> None:
        """Give it back."""
        try:
            await _switch_back(connection)
        finally:
            await finished(self._pool.putconn(connection))

    async def close(self) -> None:
        """Leave the pool open."""


class LentConnection:
    """A connection of the caller's, for one statement after the other: its room has one place."""

    def __init__(self, connection: Any, room: Room) -> None:
        self._connection = connection
        self._room = room

    async def take(self, deadline: float) -> Any:
        """Return the connection, in autocommit.

        Args:
            deadline: when it must be there.

        """
        if not await self._room.enter(deadline):
            message = "the connection that holdall was given was busy until the time was up"
            raise Unavailable(message)
        try:
            await _switch(self._connection)
        except BaseException:
            self._room.leave()
            raise
        return self._connection

    async def give(self, connection: Any) -> None:
        """Give it back."""
        try:
            await _switch_back(connection)
        finally:
            self._room.leave()

    async def close(self) -> None:
        """Leave the connection open."""
