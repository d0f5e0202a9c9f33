"""How an adapter of AWS gets its client, and a second one for the thread that renews leases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from holdall.environment import BlockingEnvironment
from holdall_adapters.aws.connections.clients import Client
from holdall_adapters.aws.connections.making import Making

if TYPE_CHECKING:
    from holdall.spi import Connection, Environment, Target
    from holdall_adapters.aws.server_clock import ServerClock

__all__ = ["open_client", "with_sibling"]

_HALF = 0.5
"""The part of the timeout after which a reply counts as lost; the rest is for finding out what came of it."""


async def open_client(
    service: str, target: Target, server: ServerClock, prepare: Callable[[Client], Awaitable[None]]
) -> Client:
    """Return a client that has seen to it that the storage can serve.

    Args:
        service: "dynamodb" or "s3", which is the name of the adapter too.
        target: what the URL says.
        server: learns from the replies.
        prepare: looks at the storage, and makes it where it may.

    Raises:
        ConfigError: the options do not lead to a client.
        DriverMissing: boto3 or aiobotocore is not installed.

    """
    making = Making(
        service=service,
        adapter=service,
        options=target.options,
        timeout=target.timeout * _HALF,
        suspending=target.suspending,
        given=target.client,
    )
    client = Client(making, target.environment, server)
    try:
        await client.open()
        await prepare(client)
    except BaseException:
        await client.close()
        raise
    return client


def with_sibling(
    client: Client, environment: Environment, connection_of: Callable[[Client, Environment], Connection]
) -> Connection:
    """Return a connection that can make another one, which blocks.

    Args:
        client: the client.
        environment: that of the handle.
        connection_of: makes a connection of a client and an environment.

    """

    async def sibling() -> Connection:
        own = BlockingEnvironment()
        again = await client.sibling(own)
        await again.open()
        return connection_of(again, own)

    return replace(connection_of(client, environment), sibling=sibling)
