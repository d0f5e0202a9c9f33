"""A server: runs statements and transactions on connections of a pool, and tries again what is safe to."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from holdall.errors import OutcomeUnknown, StoreTimeout, Unavailable
from holdall_adapters.postgres.connections.patience import Silent, keep_within
from holdall_adapters.postgres.errors import Contended, is_cut_off, translated

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.postgres.connections.connecting import Statement

__all__ = ["Pool", "Row", "Server", "Session", "Ways"]

Result = TypeVar("Result")
Row = tuple[Any, ...]
_ATTEMPTS = 4
_FIRST_DELAY, _LAST_DELAY = 0.01, 0.1
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"


class Pool(Protocol):
    """Where connections come from."""

    async def take(self, deadline: float) -> Any:
        """Return a connection that nobody else uses."""
        ...

    async def give(self, connection: Any) -> None:
        """Give it back."""
        ...

    async def close(self) -> None:
        """End all connections."""
        ...


class Ways(Protocol):
    """How connections of one kind are made and used."""

    async def connect(self, deadline: float) -> Any:
        """Return a connection in autocommit."""
        ...

    async def execute(self, connection: Any, statement: str, parameters: Mapping[str, Any]) -> list[Row]:
        """Run a statement, and return its rows."""
        ...

    async def execute_all(self, connection: Any, statements: Sequence[Statement]) -> list[list[Row]]:
        """Run statements in one round trip, and return the rows of each."""
        ...

    async def hear(self, connection: Any, seconds: float) -> None:
        """Wait for a notice."""
        ...


class Session:
    """A transaction under way: its statements.

    Attributes:
        begun: the rows of each statement that it began with.

    """

    def __init__(self, server: Server, connection: Any, begun: Sequence[list[Row]]) -> None:
        self._server = server
        self._connection = connection
        self.begun = begun

    async def run(self, statement: str, parameters: Mapping[str, Any]) -> list[Row]:
        """Run a statement and return its rows; a failure leaves nothing of the transaction."""
        return await self._server.execute(self._connection, statement, parameters, writing=False)


class Server:
    """A server, and the way to it.

    Args:
        psycopg: the module.
        pool: where connections come from.
        ways: how connections are used.
        environment: sleeping, clock and randomness.
        timeout: seconds that bound every call.

    """

    def __init__(self, psycopg: Any, pool: Pool, ways: Ways, environment: Environment, timeout: float) -> None:
        self._failures = (psycopg.Error, Silent)
        self._pool = pool
        self._ways = ways
        self._environment = environment
        self.timeout = timeout

    async def run(
        self, statement: str, parameters: Mapping[str, Any], *, writing: bool = True, deadline: float | None = None
    ) -> list[Row]:
        """Run a statement by itself, and return its rows; one that was surely not applied is tried again.

        Args:
            statement: the statement.
            parameters: its parameters, by name.
            writing: whether it writes, so that a lost connection leaves its outcome open.
            deadline: a moment of the boot clock that it must be done by; by default the timeout from now.

        Raises:
            OutcomeUnknown: the reply to a write was lost.
            StoreTimeout: it took too long, and was not applied.
            Unavailable: it was not applied.

        """
        until = deadline or self.now() + self.timeout
        return await self.patiently(lambda: self._run_once(statement, parameters, until, writing=writing), until)

    def now(self) -> float:
        """Return the boot clock in seconds."""
        return self._environment.boot_time()

    async def run_read(self, statement: str, parameters: Mapping[str, Any]) -> list[Row]:
        """Run a statement that only reads, and return its rows."""
        return await self.run(statement, parameters, writing=False)

    async def _run_once(
        self, statement: str, parameters: Mapping[str, Any], deadline: float, *, writing: bool
    ) -> list[Row]:
        connection = await self._take(deadline)
        try:
            return await self.execute(connection, statement, parameters, writing=writing)
        finally:
            await self._give(connection)

    async def patiently(self, call: Callable[[], Awaitable[Result]], deadline: float) -> Result:
        """Call again and again where others are in the way, and a few times where the server is not there.

        Args:
            call: what to call.
            deadline: a moment of the boot clock after which it is not called again.

        Raises:
            Unavailable: it never succeeded.

        """
        delay, attempts = _FIRST_DELAY, _ATTEMPTS
        while True:
            try:
                return await call()
            except Unavailable as error:
                attempts -= 0 if isinstance(error, Contended) else 1
                wait = delay * (0.5 + self._environment.random())
                if not attempts or self.now() + wait >= deadline:
                    raise
            await self._environment.sleep(wait)
            delay = min(delay * 3, _LAST_DELAY)

    async def execute(
        self, connection: Any, statement: str, parameters: Mapping[str, Any], *, writing: bool
    ) -> list[Row]:
        """Run a statement on a connection, and return its rows; errors are those of holdall.

        Raises:
            Duplicate: a unique index refused it.

        """
        try:
            return await self._ways.execute(connection, statement, parameters)
        except self._failures as error:
            raise self._translated(error, connection, writing=writing) from error

    def _translated(self, error: Exception, connection: Any, *, writing: bool) -> Exception:
        if is_cut_off(error):
            connection.pgconn.finish()
        return translated(error, writing=writing)

    async def _begin(self, connection: Any, statements: Sequence[Statement]) -> list[list[Row]]:
        if not statements:
            await self.execute(connection, _BEGIN, {}, writing=False)
            return []
        try:
            return (await self._ways.execute_all(connection, [(_BEGIN, {}), *statements]))[1:]
        except self._failures as error:
            raise self._translated(error, connection, writing=False) from error

    async def _take(self, deadline: float) -> Any:
        try:
            connection = await self._pool.take(deadline)
        except self._failures as error:
            message = "no connection to the server could be had in time"
            raise Unavailable(message) from error
        keep_within(connection, deadline, self._environment.boot_time)
        return connection

    async def _give(self, connection: Any) -> None:
        keep_within(connection, None, self._environment.boot_time)
        await self._pool.give(connection)

    @contextlib.asynccontextmanager
    async def transaction(self, *statements: Statement, deadline: float | None = None) -> AsyncGenerator[Session]:
        """Give a transaction: committed at the end of the block, rolled back when it raises.

        Args:
            statements: what it begins with, in one round trip.
            deadline: a moment of the boot clock that it must be done by; by default the timeout from now.

        Raises:
            Duplicate: a unique index refused one of them.
            OutcomeUnknown: the reply to the commit was lost.

        """
        connection = await self._take(deadline or self.now() + self.timeout)
        try:
            try:
                yield Session(self, connection, await self._begin(connection, statements))
            except Exception:
                await self._roll_back(connection)
                raise
            await self.execute(connection, "COMMIT", {}, writing=True)
        except BaseException:
            if connection.pgconn.transaction_status != 0:
                connection.pgconn.finish()  # cancelled: the server rolls back
            raise
        finally:
            await self._give(connection)

    async def _roll_back(self, connection: Any) -> None:
        if not connection.closed:
            with contextlib.suppress(Unavailable, StoreTimeout, OutcomeUnknown):
                await self.execute(connection, "ROLLBACK", {}, writing=False)

    async def close(self) -> None:
        """Give back what is held."""
        await self._pool.close()
