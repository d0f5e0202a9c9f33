"""A small adapter for tests: Postgres as a `Backend`, one table of keys and payloads, one statement a primitive.

Everything is derived from it, so that lies of the port and of the derived parts can be told here, and found by the kit.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any

import psycopg
import psycopg_pool

from holdall import hookimpl, plugins
from holdall.errors import Unavailable
from holdall.keys import prefix_end
from holdall.spi import ABSENT, ANY, Adapter, BackendItem, Environment, Mismatch, Tag
from holdall_adapters.postgres import CAPABILITIES
from holdall_adapters.postgres.errors import translated

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


class SmallServer:
    """A server, and the pool of connections to it; a pool of the caller's is left open."""

    def __init__(self, psycopg: Any, pool: Any, timeout: float, *, owns_pool: bool) -> None:
        self._psycopg = psycopg
        self._pool = pool
        self._timeout = timeout
        self._owns_pool = owns_pool

    @classmethod
    def connect(cls, psycopg: Any, pools: Any, address: str, timeout: float) -> SmallServer:
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
        except psycopg.Error as error:
            raise translated(error, writing=writing) from error
        finally:
            self._pool.putconn(connection)

    def _take(self) -> Any:
        try:
            return self._pool.getconn(self._timeout)
        except psycopg.Error as error:
            message = "no connection to the server could be had in time"
            raise Unavailable(message) from error

    def create(self) -> None:
        """Make the table if it is not there, one process at a time."""
        connection = self._take()
        try:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SCHEMA_LOCK,))
                connection.execute(_SCHEMA)
        except psycopg.Error as error:
            raise translated(error, writing=False) from error
        finally:
            self._pool.putconn(connection)

    def close(self) -> None:
        """Close the pool, unless it is the caller's."""
        if self._owns_pool:
            self._pool.close()


_MOST_ROWS = 2**31 - 1

_GET = "SELECT key, payload, tag FROM holdall_items WHERE key = %s"
_PUT = """INSERT INTO holdall_items (key, payload, tag) VALUES (%s, %s, %s)
    ON CONFLICT (key) DO UPDATE SET payload = excluded.payload, tag = excluded.tag"""
_PUT_NEW = "INSERT INTO holdall_items (key, payload, tag) VALUES (%s, %s, %s) ON CONFLICT (key) DO NOTHING"
_REPLACE = "UPDATE holdall_items SET payload = %s, tag = %s WHERE key = %s AND tag = %s"
_DELETE = "DELETE FROM holdall_items WHERE key = %s"
_DELETE_TAGGED = "DELETE FROM holdall_items WHERE key = %s AND tag = %s"
_SCAN = "SELECT key, payload, tag FROM holdall_items WHERE key >= %s AND key > %s"
_NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"


class SmallBackend:
    """A `Backend` over one table; tags are random."""

    def __init__(self, server: SmallServer, environment: Environment) -> None:
        self._server = server
        self._environment = environment

    async def get(self, key: bytes) -> BackendItem | None:
        """Return what is under a key."""
        _, rows = self._server.run(_GET, (key,), writing=False)
        return BackendItem(*rows[0]) if rows else None

    async def put(self, key: bytes, payload: bytes, expect: Tag) -> Tag:
        """Write if the key is as expected."""
        tag = self._environment.new_id()
        if expect is ANY or expect is ABSENT:
            statement = _PUT if expect is ANY else _PUT_NEW
            count, _ = self._server.run(statement, (key, payload, tag), writing=True)
        else:
            count, _ = self._server.run(_REPLACE, (payload, tag, key, expect), writing=True)
        if count != 1:
            raise Mismatch
        return tag

    async def delete(self, key: bytes, expect: Tag) -> None:
        """Delete if the key is as expected."""
        if expect is ANY:
            self._server.run(_DELETE, (key,), writing=True)
            return
        count, _ = self._server.run(_DELETE_TAGGED, (key, expect), writing=True)
        if count != 1:
            raise Mismatch

    async def scan(self, prefix: bytes, after: bytes | None, limit: int) -> Sequence[BackendItem]:
        """Return items in order; bytea sorts as unsigned bytes."""
        parameters: list[Any] = [prefix, after or b""]
        end = prefix_end(prefix)
        bound = "" if end is None else " AND key < %s"
        parameters += [] if end is None else [end]
        _, rows = self._server.run(
            f"{_SCAN}{bound} ORDER BY key LIMIT %s", (*parameters, min(limit, _MOST_ROWS)), writing=False
        )
        return [BackendItem(*row) for row in rows]

    async def now(self) -> float:
        """Return the server's clock in seconds."""
        _, rows = self._server.run(_NOW, (), writing=False)
        return float(rows[0][0])

    async def close(self) -> None:
        """Close the connections."""
        self._server.close()


async def open_backend(target):
    address = "postgresql" + target.url.text[len(target.url.scheme) :]
    server = SmallServer.connect(psycopg, psycopg_pool, address, target.timeout)
    server.create()
    return SmallBackend(server, target.environment)


@contextlib.contextmanager
def registered() -> Iterator[None]:
    """Let URLs of the scheme smallpostgres be opened."""

    class Plugin:
        @hookimpl
        def holdall_adapter(self):
            return Adapter(
                name="smallpostgres",
                schemes=("smallpostgres",),
                summary="-",
                capabilities=replace(CAPABILITIES, atomic_commit=False, max_commit_operations=1, native_follow=False),
                backend=open_backend,
            )

    plugin = Plugin()
    plugins.register(plugin)
    yield
    plugins.unregister(plugin)
