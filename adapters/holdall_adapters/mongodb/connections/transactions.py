"""Transactions, from their beginning to their end."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from holdall_adapters.connections.going_on import awaited
from holdall_adapters.mongodb.errors import InTheWay, translated

__all__ = ["Transaction"]


class Transaction:
    """A transaction that is under way.

    Args:
        pymongo: the module.

    Attributes:
        session: the session of the driver, once it was begun.

    """

    def __init__(self, pymongo: Any) -> None:
        self._pymongo = pymongo
        self._given_up = False
        self.session: Any = None

    def give_up(self) -> None:
        """Note that nobody waits for it any more: then nothing follows but its end."""
        self._given_up = True

    def check(self) -> None:
        """Go no further if nobody waits for it any more.

        Raises:
            InTheWay: so it is.

        """
        if self._given_up:
            message = "nobody waits for the transaction any more"
            raise InTheWay(message)

    async def run(self, client: Any, work: Callable[[Transaction], Awaitable[Any]]) -> None:
        """Begin, do work, and commit it; or abort.

        Args:
            client: the client.
            work: is given the transaction, for all its commands.

        Raises:
            InTheWay: another transaction was in the way, and nothing was applied.
            OutcomeUnknown: the reply to the commit was lost.

        """
        self.session = await awaited(client.start_session())
        try:
            await self._begin()
            await self._within(work)
        finally:
            await awaited(self.session.end_session())

    async def _begin(self) -> None:
        begun = self.session.start_transaction(
            read_concern=self._pymongo.read_concern.ReadConcern("snapshot"),
            write_concern=self._pymongo.WriteConcern(w="majority", j=True),
            read_preference=self._pymongo.ReadPreference.PRIMARY,
        )
        if inspect.isawaitable(begun):
            await begun

    async def _within(self, work: Callable[[Transaction], Awaitable[Any]]) -> None:
        try:
            await work(self)
            self.check()
        except BaseException:
            if self.session.in_transaction:
                await awaited(self.session.abort_transaction())
            raise
        try:
            await awaited(self.session.commit_transaction())
        except (self._pymongo.errors.PyMongoError, OSError) as error:
            raise translated(error, self._pymongo.errors, writing=True) from error
