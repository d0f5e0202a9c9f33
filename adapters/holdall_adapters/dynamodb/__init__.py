"""The DynamoDB adapter: records, logs and leases in one table, by the server's clock as its replies tell of it.

`dynamodb://Table?region=eu-central-1`; another server than AWS's with `endpoint_url=http://localhost:8000`.
"""

from __future__ import annotations

from dataclasses import replace

from holdall.capabilities import Capabilities
from holdall.errors import ConfigError
from holdall.spi import Adapter, Connection, Environment, Option, Target, hookimpl
from holdall_adapters.aws.connections.clients import Client
from holdall_adapters.aws.connections.making import AWS_OPTIONS
from holdall_adapters.aws.opening import open_client, with_sibling
from holdall_adapters.aws.server_clock import ServerClock
from holdall_adapters.aws.times import Times
from holdall_adapters.dynamodb.lock import DynamoLock
from holdall_adapters.dynamodb.schema import MOST_SHARDS, most_operations, prepare, table_name
from holdall_adapters.dynamodb.store import DynamoStore
from holdall_adapters.dynamodb.table import Table

__all__ = ["CAPABILITIES", "OPTIONS", "holdall_adapter"]

CAPABILITIES = Capabilities(
    persistent=True,
    cross_process=True,
    cross_host=True,
    durable_tokens=True,
    atomic_commit=True,
    max_commit_operations=50,
    native_follow=False,
    expiry_clock="estimated",
    expiry_margin=2.5,
    min_ttl=1,
    max_scope_bytes=1_024,
    max_key_bytes=1_000,
    max_value_bytes=4 * 2**20,
    max_batch_entries=10_000,
    max_batch_bytes=4 * 2**20,
)
"""As of AWS; what another server has not is found out when it is opened."""

OPTIONS = (
    *AWS_OPTIONS,
    Option(name="create", kind=bool, default=True, help="whether the table may be made"),
    Option(
        name="shards", kind=int, default=4, help="over how many partitions a scope is spread, up to 64", layout=True
    ),
)


def shards_of(target: Target) -> int:
    """Return over how many partitions a scope is spread.

    Args:
        target: what the URL says.

    Raises:
        ConfigError: so many cannot be.

    """
    shards = int(target.options["shards"])
    if not 1 <= shards <= MOST_SHARDS:
        message = f"shards={shards}: write a number from 1 to {MOST_SHARDS}"
        raise ConfigError(message)
    return shards


async def connect(target: Target) -> Connection:
    """Connect to a table.

    Args:
        target: what the URL says; `client` may be a client or session of boto3 for a synchronous handle, of
            aiobotocore for an asynchronous one.

    Raises:
        ConfigError: the table cannot serve, or the options lead to none.
        DriverMissing: boto3 or aiobotocore is not installed.
        Unavailable: the service could not be reached.

    """
    if target.url.path.strip("/"):
        message = "the URL has a path: write dynamodb://Table"
        raise ConfigError(message)
    name, shards, server = table_name(target.url.authority), shards_of(target), ServerClock(target.environment)
    declared = [CAPABILITIES]

    async def look(client: Client) -> None:
        table = Table(client, name, target.environment, target.timeout)
        await prepare(table, target.environment, shards, create=bool(target.options["create"]))
        declared.append(await _capabilities(table, target, server))

    client = await open_client("dynamodb", target, server, look)
    times = Times(target.environment, server)
    times.settle()

    def connection_of(client: Client, environment: Environment) -> Connection:
        table = Table(client, name, environment, target.timeout)
        return Connection(
            store=DynamoStore(table, shards, times, environment),
            lock=DynamoLock(table, times, environment),
            capabilities=declared[-1],
            close=client.close,
        )

    return with_sibling(client, target.environment, connection_of)


async def _capabilities(table: Table, target: Target, server: ServerClock) -> Capabilities:
    """Return what this server can do."""
    most = await most_operations(table, is_aws=target.options["endpoint_url"] is None)
    capabilities = replace(CAPABILITIES, max_commit_operations=most)
    return capabilities if server.known else replace(capabilities, expiry_clock="client")


@hookimpl
def holdall_adapter() -> Adapter:
    """Describe the DynamoDB adapter."""
    return Adapter(
        name="dynamodb",
        schemes=("dynamodb",),
        summary="one table of DynamoDB, many hosts",
        capabilities=CAPABILITIES,
        options=OPTIONS,
        io="suspending",
        connect=connect,
    )
