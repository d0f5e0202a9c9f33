"""Makes connections to a server, each within a deadline, and uses them: those that block, and those that suspend."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from holdall.errors import ConfigError, Unavailable
from holdall_adapters.postgres.connections.patience import keep_within
from holdall_adapters.postgres.errors import refused

__all__ = ["Blocking", "Connector", "Statement", "Suspending"]

_SHARE = 0.7
_SETTINGS = {
    "default_transaction_isolation": "read committed",  # what the statements are made for
    "enable_seqscan": "off",  # a plan that the server keeps may be older than the table is large
    "jit": "off",  # no statement runs for long enough
}
_GREETING = f"""SELECT CASE WHEN pg_backend_pid() = %(pid)s THEN set_config('statement_timeout', %(timeout)s, false)
    {"".join(f" || set_config('{name}', '{value}', false)" for name, value in _SETTINGS.items())} END"""
"""Settings that belong to this connection, unless a pooler lies between: it names a process of its own."""
_LEAST_CONNECT_TIMEOUT = 2
_PREPARE_AFTER = 2
_Row = tuple[Any, ...]
Statement = tuple[str, Mapping[str, Any]]
"""A statement, and its parameters by name."""
_KEEPALIVES = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}


class Connector:
    """Makes connections in autocommit by one address.

    Args:
        psycopg: the module.
        address: a libpq URL or connection string.
        timeout: seconds that bound a statement, and a connection being made.
        clock: returns seconds.

    Raises:
        ConfigError: the address is none.

    Attributes:
        direct: whether the last connection led to the server itself, and not to a pooler.

    """

    def __init__(self, psycopg: Any, address: str, timeout: float, clock: Callable[[], float]) -> None:
        self.psycopg = psycopg
        self.address = address
        self.timeout = timeout
        self.clock = clock
        self.direct = False
        self.secret = _parsed(psycopg, address).get("password")

    def settings(self) -> dict[str, Any]:
        """Return what every connection is made with."""
        return {
            "autocommit": True,
            "prepare_threshold": None,
            "client_encoding": "utf8",
            "application_name": "holdall",
            "connect_timeout": max(_LEAST_CONNECT_TIMEOUT, round(self.timeout)),
            "tcp_user_timeout": max(1, round(self.timeout * 1000)),
            **_KEEPALIVES,
        }

    def greeting(self, connection: Any) -> tuple[str, dict[str, Any]]:
        """Return the first statement of a connection, and its parameters.

        Args:
            connection: a new connection.

        """
        # The server is to end a statement before nobody waits for it any more.
        timeout = str(max(1, round(self.timeout * _SHARE * 1000)))
        return _GREETING, {"pid": connection.info.backend_pid, "timeout": timeout}

    def note(self, connection: Any, greeted: _Row) -> None:
        """Note whether the server itself answered: only then statements that it keeps, and LISTEN, belong to this one.

        Args:
            connection: a new connection.
            greeted: what its first statement returned.

        """
        self.direct = greeted[0] is not None
        if self.direct:
            connection.prepare_threshold = _PREPARE_AFTER


class Blocking(Connector):
    """Connections that block."""

    async def connect(self, deadline: float) -> Any:
        """Return a connection in autocommit.

        Args:
            deadline: when it must be there; libpq itself takes two seconds at least before it gives up.

        Raises:
            ConfigError: the server refuses it, and would again.
            Unavailable: there is none.

        """
        attempt = _Attempt(lambda: self.psycopg.Connection.connect(self.address, **self.settings()))
        try:
            connection = attempt.result(deadline - self.clock())
        except self.psycopg.Error as error:
            raise refused(error, self.secret) from error
        keep_within(connection, deadline, self.clock)
        with closed_on_failure(connection):
            self.note(connection, connection.execute(*self.greeting(connection)).fetchone())
        return connection

    def _cursor(self, connection: Any) -> Any:
        """Return a plain cursor, whatever kind and rows a connection of the caller's is set to."""
        return self.psycopg.Cursor(connection, row_factory=self.psycopg.rows.tuple_row)

    async def execute(self, connection: Any, statement: str, parameters: Mapping[str, Any]) -> list[_Row]:
        """Run a statement, and return its rows."""
        cursor = self._cursor(connection).execute(statement, parameters, binary=True)
        return cursor.fetchall() if cursor.description else []

    async def execute_all(self, connection: Any, statements: Sequence[Statement]) -> list[list[_Row]]:
        """Run statements in one round trip, and return the rows of each; behind one that fails, none is run."""
        cursors: list[Any] = []
        with _first_failure() as failure, connection.pipeline(), failure:
            cursors = [self._cursor(connection).execute(*each, binary=True) for each in statements]
        return [cursor.fetchall() if cursor.description else [] for cursor in cursors]

    async def hear(self, connection: Any, seconds: float) -> None:
        """Wait for a notice."""
        for _ in connection.notifies(timeout=seconds, stop_after=1):
            pass


class Suspending(Connector):
    """Connections that suspend; as `Blocking` otherwise."""

    async def connect(self, deadline: float) -> Any:
        """Return a connection in autocommit."""
        try:
            async with asyncio.timeout(max(0.0, deadline - self.clock())):
                connection = await self.psycopg.AsyncConnection.connect(self.address, **self.settings())
        except self.psycopg.Error as error:
            raise refused(error, self.secret) from error
        except TimeoutError as error:
            raise _late() from error
        keep_within(connection, deadline, self.clock)
        with closed_on_failure(connection):
            cursor = await connection.execute(*self.greeting(connection))
            self.note(connection, await cursor.fetchone())
        return connection

    def _cursor(self, connection: Any) -> Any:
        """Return a plain cursor, whatever kind and rows a connection of the caller's is set to."""
        return self.psycopg.AsyncCursor(connection, row_factory=self.psycopg.rows.tuple_row)

    async def execute(self, connection: Any, statement: str, parameters: Mapping[str, Any]) -> list[_Row]:
        """Run a statement, and return its rows."""
        cursor = await self._cursor(connection).execute(statement, parameters, binary=True)
        return await cursor.fetchall() if cursor.description else []

    async def execute_all(self, connection: Any, statements: Sequence[Statement]) -> list[list[_Row]]:
        """Run statements in one round trip."""
        cursors: list[Any] = []
        with _first_failure() as failure:
            async with connection.pipeline():
                with failure:
                    for statement, given in statements:
                        cursors.append(await self._cursor(connection).execute(statement, given, binary=True))
        return [await cursor.fetchall() if cursor.description else [] for cursor in cursors]

    async def hear(self, connection: Any, seconds: float) -> None:
        """Wait for a notice."""
        async for _ in connection.notifies(timeout=seconds, stop_after=1):
            pass


def _parsed(psycopg: Any, address: str) -> dict[str, Any]:
    """Return the parts of an address; what is wrong with it may be a password, so nobody is told what it says."""
    try:
        parts: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(address)
        ports = str(parts.get("port", "")).split(",")
    except psycopg.Error:
        parts, ports = {}, ["none"]
    if not all(port.isdecimal() or not port for port in ports):
        message = "the URL is no address of a server: are the special characters of its password percent-encoded?"
        raise ConfigError(message)
    return parts


@contextlib.contextmanager
def closed_on_failure(connection: Any) -> Generator[None]:
    """Close a connection if the block raises, also where its task is cancelled.

    Args:
        connection: a connection of psycopg, of either kind.

    """
    try:
        yield
    except BaseException:
        connection.pgconn.finish()
        raise


class _Failure:
    """Keeps the error of a block from a pipeline, which would tell the log what came of it at its end."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        """Keep what is no cancellation."""
        self.error = error if isinstance(error, Exception) else None
        return self.error is not None


@contextlib.contextmanager
def _first_failure() -> Generator[_Failure]:
    """Give a keeper of errors, and raise the one it kept rather than what comes of it."""
    failure = _Failure()
    try:
        yield failure
    finally:
        if failure.error is not None:
            raise failure.error


def _late() -> Unavailable:
    return Unavailable("no connection to the server could be made in time")


class _Attempt:
    """A connection being made in a thread, which may take longer than anybody waits for it."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect
        self._done = threading.Event()
        self._turn = threading.Lock()
        self._abandoned = False
        self._connection: Any = None
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name="holdall-connecting", daemon=True).start()

    def _run(self) -> None:
        try:
            self._connection = self._connect()
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            self._error = error
        with self._turn:
            if self._abandoned and self._connection is not None:
                self._connection.close()
        self._done.set()

    def result(self, patience: float) -> Any:
        """Return the connection, or raise what came of it.

        Args:
            patience: seconds to wait.

        """
        try:
            self._done.wait(max(0.0, patience))
        finally:
            with self._turn:
                self._abandoned = not self._done.is_set() and self._connection is None and self._error is None
        if self._error is not None:
            raise self._error
        if self._connection is None:
            raise _late()
        return self._connection
