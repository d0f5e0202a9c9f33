"""Writes on Postgres, from their first statement until it is known what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdall.errors import OutcomeUnknown
from holdall_adapters.lost_replies import SHARE, Unsettled

if TYPE_CHECKING:
    from holdall_adapters.postgres.server import Row, Server

__all__ = ["Settling", "send_twice"]


class Settling(Unsettled):
    """A write, from its first statement until it is known what came of it, within one timeout.

    Args:
        server: the server.
        what: what is written, such as "put".
        timeout: seconds that bound all of it, by default those of the server.

    """

    def __init__(self, server: Server, what: str, timeout: float | None = None) -> None:
        Unsettled.__init__(self, what)
        self._server = server
        begin, seconds = server.now(), timeout or server.timeout
        self._first, self._deadline = begin + seconds * SHARE, begin + seconds

    def deadline(self) -> float:
        """Return until when the next statement that writes may take."""
        deadline, self._first = self._first, self._deadline
        return deadline

    async def send(self, statement: str, parameters: Mapping[str, Any]) -> list[Row]:
        """Run the writing statement; no rows if its reply was lost."""
        try:
            return await self._server.run(statement, parameters, deadline=self.deadline())
        except OutcomeUnknown:
            self.is_lost = True
            return []

    async def send_twice(self, statement: str, parameters: Mapping[str, Any]) -> list[Row]:
        """Run a statement that may run twice, and once more if its reply was lost."""
        try:
            return await self._server.run(statement, parameters, deadline=self.deadline())
        except OutcomeUnknown:
            self.is_lost = True
            return await self._server.run(statement, parameters, deadline=self._deadline)

    async def look(self, statement: str, parameters: Mapping[str, Any]) -> list[Row]:
        """Run a statement that reads."""
        return await self._server.run(statement, parameters, writing=False, deadline=self._deadline)


async def send_twice(server: Server, what: str, statement: str, parameters: Mapping[str, Any]) -> list[Row]:
    """Run a statement that may run twice, and once more if its reply was lost.

    Args:
        server: the server.
        what: what is written, such as "touch".
        statement: the statement.
        parameters: its parameters, by name.

    Raises:
        OutcomeUnknown: the second reply was lost too.

    """
    with Settling(server, what) as settling:
        return await settling.send_twice(statement, parameters)
