"""Requests to a service of AWS, each sent once, and what their replies tell of the server's clock."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from holdall.errors import ClosedHandle, HoldallError, OutcomeUnknown, StoreTimeout, Unavailable
from holdall_adapters.aws.connections.left import mind
from holdall_adapters.aws.connections.making import Made, Making, credentials_of
from holdall_adapters.aws.connections.signing import sign_by
from holdall_adapters.aws.errors import Expired, Skewed, translated
from holdall_adapters.connections.going_on import GoingOn

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.aws.server_clock import ServerClock

__all__ = ["Client"]

_NO_CONTENT = 204


class Client:
    """A way to a service.

    Args:
        making: how clients are made.
        environment: has the boot clock.
        clock: learns from the replies.

    """

    def __init__(self, making: Making, environment: Environment, clock: ServerClock) -> None:
        making.check()
        self._making = making
        self._environment = environment
        self._clock = clock
        self._made: dict[float, Made] = {}
        self._old: list[Made] = []
        self._making_one = threading.Lock()
        self._making_another = asyncio.Lock()
        self._going_on = GoingOn(suspending=making.suspending)
        self._closed = False

    @property
    def suspending(self) -> bool:
        """Whether its requests are awaited."""
        return self._making.suspending

    async def open(self) -> None:
        """Make the client.

        Raises:
            ConfigError: the options do not lead to one.
            DriverMissing: the driver is not installed.

        """
        if self._making.suspending:
            made = await self._making.make_suspending(self._making.timeout)
            self._made[self._making.timeout] = made
            if made.context is not None:
                mind(made.client)
                sign_by(made.client, self._clock.about)
            return
        self._blocking(self._making.timeout)

    def _sends_once(self) -> bool:
        return all(made.sends_once for made in list(self._made.values()))

    def _blocking(self, timeout: float) -> Any:
        """Return a client that blocks no longer than a time, which botocore keeps for each client."""
        found = self._made.get(timeout)
        if found is None:
            with self._making_one:
                found = self._made.get(timeout) or self._making.make(timeout)
                if found.context is not None and timeout not in self._made:
                    sign_by(found.client, self._clock.about)
                self._made[timeout] = found
        return found.client

    async def call(
        self, name: str, arguments: Mapping[str, Any], *, writing: bool, timeout: float | None = None
    ) -> dict[str, Any]:
        """Run one request and return its reply.

        Args:
            name: the method of the client, such as "get_item".
            arguments: those of the method.
            writing: whether it writes, so that a lost reply leaves its outcome open.
            timeout: seconds that bound it, if they are fewer than usual.

        """
        bound = self._making.timeout if timeout is None else min(timeout, self._making.timeout)
        made = dict(self._made)
        try:
            return await self._asked(name, arguments, bound, writing=writing)
        except Expired:
            if not await self._make_anew(made):
                raise
        except Skewed:
            if not self._clock.known or self._making.is_client():
                raise
        return await self._asked(name, arguments, bound, writing=writing)

    async def _make_anew(self, expired: Mapping[float, Made]) -> bool:
        """Make clients with the credentials that are there now, once for all whose requests were refused together.

        Args:
            expired: the clients whose credentials have expired.

        Returns:
            Whether there are other clients now than those.

        """
        if self._making.given is not None or self._closed:
            return False
        if not self._making.suspending:
            with self._making_one:
                if self._uses(expired):
                    self._old += self._made.values()
                    self._made = {}
            return True
        async with self._making_another:
            if self._uses(expired):
                self._old += self._made.values()
                await self.open()
        return True

    def _uses(self, clients: Mapping[float, Made]) -> bool:
        """Tell whether one of certain clients is still in use."""
        return any(self._made.get(bound) is made for bound, made in clients.items())

    async def _asked(self, name: str, arguments: Mapping[str, Any], bound: float, *, writing: bool) -> dict[str, Any]:
        """Send one request and return its reply, or raise what it comes to."""
        sent = self._environment.boot_time()
        try:
            reply: dict[str, Any] = await self._sent(name, arguments, bound)
        except (HoldallError, MemoryError):
            raise
        except TimeoutError as error:
            raise _late(writing=writing) from error
        except Exception as error:
            self._look_at(getattr(error, "response", None), sent)
            raise translated(error, writing=writing, sent_once=self._sends_once()) from error
        if not _is_whole(reply):
            raise _cut(writing=writing)
        self._look_at(reply, sent)
        return reply

    async def _sent(self, name: str, arguments: Mapping[str, Any], bound: float) -> Any:
        if self._closed:
            message = "the handle was closed"
            raise ClosedHandle(message)
        if not self._making.suspending:
            reply = getattr(self._blocking(_rounded(bound, self._making.timeout)), name)(**arguments)
            return {**reply, "Body": reply["Body"].read()} if "Body" in reply else reply
        client = self._made[self._making.timeout].client

        async def bounded() -> Any:
            async with asyncio.timeout(bound):
                reply = await getattr(client, name)(**arguments)
                if "Body" not in reply:
                    return reply
                async with reply["Body"] as stream:
                    return {**reply, "Body": await stream.read()}

        return await self._going_on.result(bounded)

    def _look_at(self, reply: Any, sent: float) -> None:
        """Learn from the Date of a reply, or of an error that the service answered."""
        known: Mapping[str, Any] = reply or {}
        headers: Mapping[str, str] = known.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        if "date" in headers:
            self._clock.saw(headers["date"], sent, self._environment.boot_time())

    async def sibling(self, environment: Environment) -> Client:
        """Return another client to the same service that blocks, for the thread that renews leases.

        Args:
            environment: that of the thread.

        """
        making, given = self._making, self._making.given
        if not making.suspending:
            return Client(making, environment, self._clock)
        if making.is_client():
            options = {**making.options, **(await credentials_of(given) or {})}
            options |= {"region": given.meta.region_name, "endpoint_url": given.meta.endpoint_url}
            making = replace(making, options=options)
        return Client(replace(making, suspending=False, given=None), environment, self._clock)

    async def close(self) -> None:
        """Close the clients that were made here."""
        self._closed = True
        await self._going_on.ended()
        made, self._made, self._old = [*self._old, *self._made.values()], {}, []
        for each in made:
            if each.context is None:
                continue
            if self._making.suspending:
                await each.context.__aexit__(None, None, None)
            else:
                each.client.close()


def _rounded(bound: float, usual: float) -> float:
    """Return a time that is not longer, one of few, since each has a client of its own."""
    return usual if bound >= usual else max(0.05, 2.0 ** math.floor(math.log2(max(bound, 0.05))))


def _is_whole(reply: Mapping[str, Any]) -> bool:
    """Tell whether the headers of a reply came to their end: http.client takes a connection that ends for it.

    With them botocore checks the body. A reply without a body has said all with its status.
    """
    told = reply.get("ResponseMetadata", {})
    headers = told.get("HTTPHeaders", {})
    return told.get("HTTPStatusCode") == _NO_CONTENT or "content-length" in headers or "transfer-encoding" in headers


def _cut(*, writing: bool) -> HoldallError:
    if writing:
        return OutcomeUnknown("the connection ended in the middle of the reply")
    return Unavailable("the connection ended in the middle of the reply")


def _late(*, writing: bool) -> HoldallError:
    if writing:
        return OutcomeUnknown("the service did not answer in time")
    return StoreTimeout("the service did not answer in time")
