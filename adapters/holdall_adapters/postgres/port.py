"""The way to a Postgres server: a pool of connections, one statement an operation."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import Any

from holdall.errors import Unavailable
from holdall_adapters.postgres.errors import translated

__all__ = ["Server"]

_MOST_CONNECTIONS = 8
_SCHEMA_LOCK = 0x686F6C64616C6C
_SCHEMA = """CREATE TABLE IF NOT EXISTS holdall_items (
    key bytea PRIMARY KEY, payload bytea NOT NULL, tag uuid NOT NULL)"""


def _impatient(psycopg: Any, timeout: float) -> Any:
    """Return a class of connections that give up, and close, when the server is silent for longer than the timeout.

    The server's own statement_timeout does not help where its reply gets lost.
    """

    class Impatient(psycopg.Connection):  # type: ignore[misc]
        def wait(self, generator: Any, *arguments: Any, **named: Any) -> Any:
            try:
                waiting: Any = super()
                return waiting.wait(_until(time.monotonic() + timeout, generator), *arguments, **named)
            except _Silent as error:
                self.pgconn.finish()
                raise psycopg.OperationalError(str(error)) from error

    return Impatient


class _Silent(Exception):
    """The server said nothing for too long."""


def _until(deadline: float, generator: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Pass on what a generator of psycopg waits for, and what is ready, until a moment on the monotonic clock."""
    try:
        wanted = next(generator)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() >= deadline:
                raise _Silent("the server did not answer in time")
            wanted = generator.send(ready)
    except StopIteration as end:
        return end.value


class Server:
    """A server, and the pool of connections to it; a pool of the caller's is left open."""

    def __init__(self, psycopg: Any, pool: Any, timeout: float, *, owns_pool: bool) -> None:
        self._psycopg = psycopg
        self._pool = pool
        self._timeout = timeout
        self._owns_pool = owns_pool

    @classmethod
    def connect(cls, psycopg: Any, pools: Any, address: str, timeout: float) -> Server:
        """Return a server by its address, with a pool of its own.

        Args:
            psycopg: the module.
            pools: the module psycopg_pool.
            address: a libpq URL.
            timeout: seconds that bound a statement, and the wait for a connection.

        Raises:
            Unavailable: the server cannot be reached, or refused the connection.

        """
        settings = {
            "autocommit": True,
            "prepare_threshold": None,
            "connect_timeout": max(2, round(timeout)),
            "tcp_user_timeout": round(timeout * 1000),
            "options": f"-c statement_timeout={max(1, round(timeout * 1000))}",
        }
        connections = _impatient(psycopg, timeout)
        try:
            connections.connect(address, **settings).close()
        except psycopg.Error as error:
            message = f"the server cannot be reached, or refused the connection ({type(error).__name__})"
            raise Unavailable(message) from error
        pool = pools.ConnectionPool(
            address,
            connection_class=connections,
            kwargs=settings,
            min_size=0,
            max_size=_MOST_CONNECTIONS,
            timeout=timeout,
            open=True,
        )
        return cls(psycopg, pool, timeout, owns_pool=True)

    def run(self, statement: str, parameters: Sequence[Any], *, writing: bool) -> tuple[int, list[tuple[Any, ...]]]:
        """Run a statement, and return how many rows it touched and the rows it returned.

        Args:
            statement: the statement.
            parameters: its parameters.
            writing: whether it writes, so that a lost connection leaves its outcome open.

        Raises:
            Unavailable: no connection could be had.

        """
        connection = self._take()
        try:
            cursor = connection.execute(statement, parameters, binary=True)
            return cursor.rowcount, cursor.fetchall() if cursor.description else []
        except self._psycopg.Error as error:
            raise translated(error, self._psycopg, writing=writing) from error
        finally:
            self._pool.putconn(connection)

    def _take(self) -> Any:
        try:
            return self._pool.getconn(self._timeout)
        except self._psycopg.Error as error:
            message = "no connection to the server could be had in time"
            raise Unavailable(message) from error

    def create(self) -> None:
        """Make the table if it is not there, one process at a time."""
        connection = self._take()
        try:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SCHEMA_LOCK,))
                connection.execute(_SCHEMA)
        except self._psycopg.Error as error:
            raise translated(error, self._psycopg, writing=False) from error
        finally:
            self._pool.putconn(connection)

    def close(self) -> None:
        """Close the pool, unless it is the caller's."""
        if self._owns_pool:
            self._pool.close()
