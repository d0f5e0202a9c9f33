"""Writes on MongoDB, from their first command until it is known what came of them, within one timeout."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

from holdall.errors import OutcomeUnknown
from holdall_adapters.lost_replies import SHARE, Unsettled
from holdall_adapters.mongodb.errors import Duplicate

if TYPE_CHECKING:
    from holdall_adapters.mongodb.connection import Deployment

__all__ = ["Settling"]

Result = TypeVar("Result")


class Settling(Unsettled):
    """A write, from its first command until it is known what came of it, within one timeout.

    Args:
        deployment: the deployment.
        what: what is written, such as "put".

    """

    def __init__(self, deployment: Deployment, what: str) -> None:
        Unsettled.__init__(self, what)
        self._deployment = deployment
        self._bound: Any = deployment.bounded(1)
        self._is_first = True

    async def _run(self, command: Callable[[], Awaitable[Result]]) -> Result:
        if not self._is_first:
            result = await command()
        else:
            self._is_first = False
            with self._deployment.bounded(SHARE):
                result = await command()
        self.is_applied = self.is_applied or bool(result)
        return result

    async def send(self, command: Callable[[], Awaitable[Result | None]]) -> Result | None:
        """Run a writing command; None if its reply was lost, or if another made the document at the same moment."""
        try:
            return await self._run(command)
        except Duplicate:
            return None
        except OutcomeUnknown:
            self.is_lost = True
            return None

    async def send_twice(self, command: Callable[[], Awaitable[Result]]) -> Result:
        """Run a command that may run twice, and once more if its reply was lost, or if another was there first."""
        try:
            return await self._run(command)
        except Duplicate:
            return await command()
        except OutcomeUnknown:
            self.is_lost = True
            return await command()

    def __enter__(self) -> Self:
        """Begin."""
        self._bound.__enter__()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """End the time, and turn what says that nothing was applied into what is true after a lost reply.

        Raises:
            OutcomeUnknown: something was or may be applied, and the server could not be asked any more.

        """
        self._bound.__exit__(None, None, None)
        Unsettled.__exit__(self, kind, error, traceback)
