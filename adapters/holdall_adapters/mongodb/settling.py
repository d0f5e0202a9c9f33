"""Writes on MongoDB, from their first command until it is known what came of them, within one timeout."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

from holdall.errors import OutcomeUnknown, StoreTimeout
from holdall.rules import check_fence
from holdall_adapters.lost_replies import ATTEMPTS, SHARE, Unsettled
from holdall_adapters.mongodb.errors import Busy, Duplicate

if TYPE_CHECKING:
    from holdall_adapters.mongodb.connection import Deployment

__all__ = ["Settling", "sealed"]

Result = TypeVar("Result")

_FIRST_DELAY, _LAST_DELAY = 0.001, 0.1


class Settling(Unsettled):
    """A write, from its first command until it is known what came of it, within one timeout.

    Args:
        deployment: the deployment.
        what: what is written, such as "put".

    Attributes:
        was_busy: whether another write was in the way of one of its commands, which then ran again.

    """

    def __init__(self, deployment: Deployment, what: str) -> None:
        Unsettled.__init__(self, what)
        self._deployment = deployment
        self._bound: Any = deployment.bounded(1)
        self._is_first = True
        self.was_busy = False
        self._deadline = deployment.environment.boot_time() + deployment.timeout * SHARE

    async def _patiently(self, command: Callable[[], Awaitable[Result]]) -> Result:
        """Run a command, and again while another write is in its way."""
        environment, delay = self._deployment.environment, _FIRST_DELAY
        while True:
            try:
                return await self._run(command)
            except Busy as error:
                self.was_busy = True
                if environment.boot_time() + delay >= self._deadline:
                    message = "another write was in the way until the time was up"
                    raise StoreTimeout(message) from error
            await environment.sleep(delay * (0.5 + environment.random()))
            delay = min(delay * 2, _LAST_DELAY)

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
            return await self._patiently(command)
        except Duplicate:
            return None
        except OutcomeUnknown:
            self.is_lost = True
            return None

    async def send_twice(self, command: Callable[[], Awaitable[Result]]) -> Result:
        """Run a command that may run twice, and once more if its reply was lost, or if another was there first."""
        try:
            return await self._patiently(command)
        except Duplicate:
            return await self._patiently(command)
        except OutcomeUnknown:
            self.is_lost = True
            return await self._patiently(command)

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


async def sealed(
    deployment: Deployment,
    collection: str,
    wanted: Mapping[str, Any],
    pipeline: Sequence[Mapping[str, Any]],
    shown: Mapping[str, Any],
    fence: int,
) -> dict[str, Any]:
    """Raise the mark of a document, and return what it is at that very moment.

    One command does both: who looked afterwards might find the mark of another, and take a seal for refused that was
    not, and that others have met.

    Args:
        deployment: the deployment.
        collection: the collection.
        wanted: leads to the document.
        pipeline: raises the mark.
        shown: what to return of it.
        fence: the token.

    Raises:
        Fenced: the mark is above it.
        OutcomeUnknown: a reply was lost, and the mark is above it now.

    """
    with Settling(deployment, "seal") as settling:
        for _ in range(ATTEMPTS):
            found = await settling.send(lambda: deployment.changed(collection, wanted, pipeline, shown))
            if found is None:
                continue
            if settling.is_lost and found.get("m", 0) > fence:
                raise settling.unknown()
            check_fence(found.get("m", 0), fence)
            return found
        raise settling.hopeless()
