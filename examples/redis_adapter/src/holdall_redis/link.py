"""Connections of a handle: one request at a time on each, once, with one answer.

The clients of the driver are not used, because a client does not tell whether a request was sent before a connection
broke, and sends it again by itself: a compare-and-set whose answer was lost would then be refused because of its own
first try. Here a connection is made, or found to be in order, before anything is sent on it, and one whose answer was
not read to its end (an error, a timeout, a cancelled task) is closed, so nobody reads the answer to another's request.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Protocol

import redis.asyncio
import redis.backoff
import redis.exceptions
import redis.retry

from holdall.errors import StoreTimeout
from holdall_redis.errors import no_answer, not_connected, refused

__all__ = ["BlockingLink", "Link", "SuspendingLink"]

_MOST_CONNECTIONS = 8
_TAKEN = "all connections of the handle were taken until the time was up"
_FAILURES = (redis.exceptions.RedisError, OSError, asyncio.IncompleteReadError)


class Link(Protocol):
    """A way to the server."""

    async def request(self, *command: bytes | str | int, writing: bool = False) -> Any:
        """Send a command and return the answer.

        Args:
            command: its name and its arguments.
            writing: whether it may write.

        Raises:
            HoldallError: as the table in `errors` says.

        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


def settings_of(address: Mapping[str, Any], timeout: float | None) -> dict[str, Any]:
    """Return the driver's settings of a connection.

    Args:
        address: host, port, database, user and password.
        timeout: seconds to wait for the server, or None if somebody else looks after that.

    """
    return {
        **address,
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "decode_responses": False,
        "protocol": 2,
        "retry": redis.retry.Retry(redis.backoff.NoBackoff(), 0),
    }


class BlockingLink:
    """Connections for threads."""

    def __init__(self, address: Mapping[str, Any], timeout: float) -> None:
        self._settings = settings_of(address, timeout)
        self._timeout = timeout
        self._places = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        self._idle: list[redis.Connection] = []
        self._closed = False

    async def request(self, *command: bytes | str | int, writing: bool = False) -> Any:
        """Send a command and return the answer, as `Link` says."""
        if not self._places.acquire(timeout=self._timeout):
            raise StoreTimeout(_TAKEN)
        try:
            try:
                connection = self._connection()
            except _FAILURES as error:
                raise not_connected(error) from error
            return self._ask(connection, command, writing=writing)
        finally:
            self._places.release()

    def _connection(self) -> redis.Connection:
        while self._idle:
            connection = self._idle.pop()
            with contextlib.suppress(*_FAILURES):
                if not connection.can_read():
                    return connection
            connection.disconnect()  # the server has closed it meanwhile
        connection = redis.Connection(**self._settings)
        connection.connect()
        return connection

    def _ask(self, connection: redis.Connection, command: tuple[bytes | str | int, ...], *, writing: bool) -> Any:
        in_order = False
        try:
            connection.send_command(*command)
            answer = connection.read_response()
            in_order = True
        except redis.exceptions.ResponseError as error:
            in_order = True
            raise refused(error, writing=writing) from error
        except _FAILURES as error:
            raise no_answer(error, writing=writing) from error
        finally:
            if in_order and not self._closed:
                self._idle.append(connection)
            else:
                connection.disconnect()
        return answer

    async def close(self) -> None:
        """Close all connections."""
        self._closed = True
        while self._idle:
            self._idle.pop().disconnect()


class SuspendingLink:
    """Connections for the tasks of one event loop."""

    def __init__(self, address: Mapping[str, Any], timeout: float) -> None:
        # Without timeouts of the driver's: it uses asyncio.wait_for, which swallows cancellations up to Python 3.11.
        self._settings = settings_of(address, None)
        self._timeout = timeout
        self._places = asyncio.BoundedSemaphore(_MOST_CONNECTIONS)
        self._idle: list[redis.asyncio.Connection] = []
        self._keeper: AsyncGenerator[None] | None = None
        self._closed = False

    async def request(self, *command: bytes | str | int, writing: bool = False) -> Any:
        """Send a command and return the answer, as `Link` says."""
        try:
            async with asyncio.timeout(self._timeout):
                await self._places.acquire()
        except TimeoutError as error:
            raise StoreTimeout(_TAKEN) from error
        try:
            try:
                connection = await self._connection()
            except _FAILURES as error:
                raise not_connected(error) from error
            return await self._ask(connection, command, writing=writing)
        finally:
            self._places.release()

    async def _connection(self) -> redis.asyncio.Connection:
        while self._idle:
            connection = self._idle.pop()
            with contextlib.suppress(*_FAILURES):
                if not await connection.can_read():
                    return connection
            await connection.disconnect(nowait=True)
        if self._keeper is None:
            self._keeper = _closing(self._idle)
            await anext(self._keeper)
        connection = redis.asyncio.Connection(**self._settings)
        try:
            async with asyncio.timeout(self._timeout):
                await connection.connect()
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        return connection

    async def _ask(
        self, connection: redis.asyncio.Connection, command: tuple[bytes | str | int, ...], *, writing: bool
    ) -> Any:
        in_order = False
        try:
            async with asyncio.timeout(self._timeout):
                await connection.send_command(*command)
                answer = await connection.read_response()
            in_order = True
        except redis.exceptions.ResponseError as error:
            in_order = True
            raise refused(error, writing=writing) from error
        except _FAILURES as error:
            raise no_answer(error, writing=writing) from error
        finally:
            if in_order and not self._closed:
                self._idle.append(connection)
            else:
                await connection.disconnect(nowait=True)
        return answer

    async def close(self) -> None:
        """Close all connections."""
        self._closed = True
        if self._keeper is not None:
            await self._keeper.aclose()


async def _closing(idle: list[redis.asyncio.Connection]) -> AsyncGenerator[None]:
    """Close the connections of a handle that nobody closes.

    A loop ends the asynchronous generators that are thrown away, and at its own end all that are left.
    """
    try:
        yield
    finally:
        while idle:
            await idle.pop().disconnect(nowait=True)
