"""A service of AWS: single requests, patient with throttling, bounded in time together, and several at once."""

from __future__ import annotations

import contextlib
import contextvars
import functools
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from holdall.errors import StoreTimeout
from holdall_adapters.aws.connections.together import together
from holdall_adapters.aws.errors import Throttled

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.aws.connections.clients import Client

__all__ = ["Service", "bounded"]

Result = TypeVar("Result")
Method = TypeVar("Method", bound=Callable[..., Coroutine[Any, Any, Any]])

_FIRST_DELAY, _LAST_DELAY = 0.01, 0.5
_BESIDE = 16
_TURNS, _AT_ONCE = 2_000, 1
_FIRST_PAUSE, _LAST_PAUSE = 0.005, 0.04
_deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar("holdall_aws_deadline", default=None)


def bounded(method: Method) -> Method:
    """Bound all requests of an operation by the timeout, together.

    Args:
        method: the operation, of something that has a `service`.

    """

    @functools.wraps(method)
    async def run(self: Any, /, *arguments: Any, **named_ones: Any) -> Any:
        service: Service = self.service
        with service.in_time():
            return await method(self, *arguments, **named_ones)

    return cast("Method", run)


class Turns:
    """The numbers of tries, with pauses once some have failed, in which others get their turn.

    The pauses stay short: long ones would only let those go first who come anew, and have waited for nothing yet. It is
    no generator, since an event loop would keep one that is left early, and with it the client, until later.

    Args:
        environment: has sleeping and randomness.

    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._turn = -1

    def __aiter__(self) -> Self:
        """Return itself."""
        return self

    async def __anext__(self) -> int:
        """Return the next number, after a pause."""
        self._turn += 1
        if self._turn >= _TURNS:
            raise StopAsyncIteration
        if self._turn > _AT_ONCE:
            delay = min(_LAST_PAUSE, _FIRST_PAUSE * 2 ** min(self._turn - _AT_ONCE, 8))
            await self._environment.sleep(delay * self._environment.random())
        return self._turn


class Service:
    """A service.

    Args:
        client: the way to it.
        environment: has the boot clock, sleeping and randomness.
        timeout: seconds that bound an operation.

    """

    def __init__(self, client: Client, environment: Environment, timeout: float) -> None:
        self.client = client
        self.environment = environment
        self.timeout = timeout

    @contextlib.contextmanager
    def in_time(self, seconds: float | None = None) -> Generator[None]:
        """Bound all requests within, together; those that are bounded already by what is left for them at the most.

        Args:
            seconds: the bound; by default the timeout.

        """
        until = self.environment.boot_time() + (self.timeout if seconds is None else seconds)
        token = _deadline.set(min(until, _deadline.get() or until))
        try:
            yield
        finally:
            _deadline.reset(token)

    def turns(self) -> Turns:
        """Return the numbers of tries, with pauses once some have failed."""
        return Turns(self.environment)

    async def call(self, name: str, *, writing: bool, **arguments: Any) -> dict[str, Any]:
        """Run one request, again where the service asks for that.

        Args:
            name: the method of the client.
            writing: whether it writes, so that a lost reply leaves its outcome open.
            arguments: those of the method.

        Raises:
            Refused: a condition did not hold.
            StoreTimeout: the time was up before it was sent.

        """
        until, delay = _deadline.get(), _FIRST_DELAY
        if until is None:
            until = self.environment.boot_time() + self.timeout
        while True:
            left = until - self.environment.boot_time()
            if left <= 0:
                message = "the time was up before the request could be sent"
                raise StoreTimeout(message)
            try:
                return await self.client.call(name, arguments, writing=writing, timeout=left)
            except Throttled:
                if self.environment.boot_time() + delay >= until:
                    raise
            await self.environment.sleep(delay * (0.5 + self.environment.random()))
            delay = min(2 * delay, _LAST_DELAY)

    async def together(self, work: Sequence[Callable[[], Awaitable[Result]]]) -> list[Result]:
        """Do several things beside each other and return what they came to; the first error is raised at the end."""
        results: list[Result] = []
        for result in await self.each(work):
            if isinstance(result, Exception):
                raise result
            results.append(result)
        return results

    async def each(self, work: Sequence[Callable[[], Awaitable[Result]]]) -> list[Result | Exception]:
        """Do several things beside each other and return what each came to, errors too."""
        return await together(work, _BESIDE, suspending=self.client.suspending) if work else []
