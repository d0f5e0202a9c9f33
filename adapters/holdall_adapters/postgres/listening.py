"""Waits for appends by LISTEN, on connections of its own, while somebody follows.

An append tells of itself only if it sees a follower, since NOTIFY makes writers wait for each other. One that looked
before the follower was there is missed, so whoever waits here looks again after a while all the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from holdall.errors import HoldallError
from holdall_adapters.postgres.connections.patience import Silent, keep_within
from holdall_adapters.postgres.log_statements import name_of_log

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall.values import Head
    from holdall_adapters.postgres.server import Ways
    from holdall_adapters.postgres.tables import Tables

__all__ = ["Listeners"]

_MOST = 16
_LOOK = 2.0
"""Seconds after which one who waits looks again."""
_ALIVE = 30.0
"""Seconds for which a follower counts as one, unless it comes again."""


class _Listener:
    """A connection that listens to one log."""

    def __init__(self, connection: Any, log: bytes, name: str) -> None:
        self.connection = connection
        self.log = log
        self.parameters = {"log": log, "follower": name, "alive": _ALIVE}
        self.came = float("-inf")


class Listeners:
    """Connections that listen, a few at most; those that wait for nothing are kept for whoever follows the same log.

    Args:
        psycopg: the module.
        ways: how connections are made and used.
        tables: the names of the tables.
        environment: clock and ids.
        timeout: seconds that bound every statement.
        head_of: returns the head of a log.

    """

    def __init__(
        self,
        psycopg: Any,
        ways: Ways,
        tables: Tables,
        environment: Environment,
        timeout: float,
        head_of: Callable[[str, str], Awaitable[Head | None]],
    ) -> None:
        self._failures = (psycopg.Error, Silent, HoldallError)
        self._ways = ways
        self._environment = environment
        self._timeout = timeout
        self._head_of = head_of
        self._channel = tables.channel
        self._idle: list[_Listener] = []
        self._all: set[_Listener] = set()
        self._closed = False
        self._come = f"""INSERT INTO {tables.followers} (log, follower, until)
            VALUES (%(log)s, %(follower)s, clock_timestamp() + make_interval(secs => %(alive)s))
            ON CONFLICT (log, follower) DO UPDATE SET until = excluded.until"""
        self._clear = f"DELETE FROM {tables.followers} WHERE until <= clock_timestamp()"

    async def wait(self, scope: str, key: str, position: int, seconds: float) -> bool:
        """Wait until a log may be longer, or until it is time to look again.

        Args:
            scope: its scope.
            key: its key.
            position: how long it was.
            seconds: the longest wait.

        Returns:
            Whether there was a way to wait.

        """
        log = name_of_log(scope, key)
        listener = None
        try:
            listener = self._pop(log) or await self._new(log)
            if listener is None:
                return False
            await self._show(listener)
            head = await self._head_of(scope, key)
            if head is None or head.length <= position:
                await self._hear(listener, min(seconds, _LOOK))
        except self._failures:
            self._discard(listener)
            return False
        except BaseException:
            self._discard(listener)
            raise
        self._push(listener)
        return True

    def _pop(self, log: bytes) -> _Listener | None:
        """Return one that listens to a log and waits for nothing at present."""
        while True:
            found = next((idle for idle in list(self._idle) if idle.log == log), None)
            if found is None or self._taken(found):
                return found

    def _taken(self, listener: _Listener) -> bool:
        """Take an idle one; False if another thread was faster."""
        try:
            self._idle.remove(listener)
        except ValueError:
            return False
        return True

    def _push(self, listener: _Listener) -> None:
        self._idle.append(listener)
        if self._closed or listener.connection.closed:
            self._discard(listener)

    def _discard(self, listener: _Listener | None) -> None:
        if listener is not None:
            self._taken(listener)
            listener.connection.pgconn.finish()
            self._all.discard(listener)

    async def _new(self, log: bytes) -> _Listener | None:
        """Return one more; one that listens to another log, and is idle, makes room."""
        if len(self._all) >= _MOST:
            idle = next(iter(list(self._idle)), None)
            if idle is not None and self._taken(idle):
                self._discard(idle)
        if self._closed or len(self._all) >= _MOST:
            return None
        connection = await self._ways.connect(self._environment.boot_time() + self._timeout)
        listener = _Listener(connection, log, self._environment.new_id())
        self._all.add(listener)
        try:
            await self._ways.execute(connection, f'LISTEN "{self._channel}{log.hex()}"', {})
        except BaseException:
            self._discard(listener)
            raise
        return listener

    async def _show(self, listener: _Listener) -> None:
        """Let those who append see that somebody listens, now and then."""
        now = self._environment.boot_time()
        if now - listener.came > _ALIVE / 3:
            listener.came = now
            keep_within(listener.connection, now + self._timeout, self._environment.boot_time)
            await self._ways.execute(listener.connection, self._clear, {})
            await self._ways.execute(listener.connection, self._come, listener.parameters)

    async def _hear(self, listener: _Listener, seconds: float) -> None:
        end = self._environment.boot_time() + seconds
        keep_within(listener.connection, end + self._timeout, self._environment.boot_time)
        await self._ways.hear(listener.connection, seconds)

    def close(self) -> None:
        """End all that wait for nothing at present; the others end when they have waited."""
        self._closed = True
        for listener in list(self._idle):
            if self._taken(listener):
                self._discard(listener)
