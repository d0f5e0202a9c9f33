"""The MongoDB adapter: records, logs and leases in collections of one database, by the server's clock.

`mongodb://user:password@host:port/database`, with the options of MongoDB's own connection strings.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from holdall.capabilities import Capabilities
from holdall.environment import BlockingEnvironment
from holdall.errors import ConfigError
from holdall.plugins import import_driver
from holdall.spi import Adapter, Connection, Environment, Option, Target, hookimpl
from holdall_adapters.mongodb.connection import Deployment
from holdall_adapters.mongodb.connections.clients import check_kind, make_client, make_sibling
from holdall_adapters.mongodb.connections.left import mind
from holdall_adapters.mongodb.layout import prepare
from holdall_adapters.mongodb.lock import MongoLock
from holdall_adapters.mongodb.store import MongoStore
from holdall_adapters.mongodb.streams import Streams

__all__ = ["CAPABILITIES", "holdall_adapter"]

CAPABILITIES = Capabilities(
    persistent=True,
    cross_process=True,
    cross_host=True,
    durable_tokens=True,
    atomic_commit=True,
    max_commit_operations=500,
    native_follow=True,
    expiry_clock="server",
    expiry_margin=0.25,
    min_ttl=0.01,
    max_scope_bytes=1_024,
    max_key_bytes=4_096,
    max_value_bytes=8 * 2**20,
    max_batch_entries=10_000,
    max_batch_bytes=8 * 2**20,
)
"""As of a replica set or mongos; what a standalone server has not is found out when it is opened."""
_STANDALONE = replace(CAPABILITIES, atomic_commit=False, max_commit_operations=1, native_follow=False)

_PREFIX = re.compile(r"[a-z][a-z0-9_]{0,39}")
_OWN = {"create", "prefix", "reads", "w"}

OPTIONS = (
    Option(name="create", kind=bool, default=True, help="whether the collections may be made"),
    Option(name="prefix", kind=str, default="holdall_", help="what the names of the collections begin with"),
    Option(
        name="reads",
        kind=str,
        default="majority",
        help="linearizable: reads of one record wait until a majority confirms the primary",
        choices=("majority", "linearizable"),
    ),
    Option(name="authSource", kind=str, default=None, help="the database of the user, as MongoDB takes it"),
    Option(name="authMechanism", kind=str, default=None, help="as MongoDB takes it, such as SCRAM-SHA-256"),
    Option(name="replicaSet", kind=str, default=None, help="the name of the replica set"),
    Option(name="directConnection", kind=str, default=None, help="true: talk to this server alone"),
    Option(name="retryWrites", kind=str, default=None, help="false: PyMongo sends no write again by itself"),
    Option(name="tls", kind=str, default=None, help="true: use TLS"),
    Option(name="tlsCAFile", kind=str, default=None, help="file of the certificate authority"),
    Option(name="tlsCertificateKeyFile", kind=str, default=None, help="file of the client's certificate and key"),
    Option(name="w", kind=str, default="majority", help="every write waits for a majority", choices=("majority",)),
    Option(name="appName", kind=str, default="holdall", help="what the logs of the server call the client"),
    Option(name="maxPoolSize", kind=int, default=None, help="the most connections to one server"),
)


def address_of(target: Target) -> str:
    """Return the connection string of a target without options.

    Args:
        target: what the URL says.

    """
    return target.url.text.partition("?")[0]


def settings_of(target: Target) -> dict[str, Any]:
    """Return the options of a target that are MongoDB's.

    PyMongo ignores what is wrong with an option in a connection string, but not with one that is given beside it.

    Args:
        target: what the URL says.

    """
    return {name: value for name, value in target.options.items() if name not in _OWN and value is not None}


def database_of(target: Target) -> str:
    """Return the name of the database.

    Args:
        target: what the URL says.

    Raises:
        ConfigError: it names none.

    """
    name = unquote(target.url.path.strip("/"))
    if not name or any(letter in name for letter in '/\\. "$\x00'):
        message = "the URL names no database: write mongodb://host/app"
        raise ConfigError(message)
    return name


def prefix_of(target: Target) -> str:
    """Return what the names of the collections begin with.

    Args:
        target: what the URL says.

    Raises:
        ConfigError: that is no good beginning.

    """
    prefix = str(target.options["prefix"])
    if not _PREFIX.fullmatch(prefix):
        message = f"prefix={prefix!r}: write up to 40 letters a-z, digits and underscores, the first of them a letter"
        raise ConfigError(message)
    return prefix


async def connect(target: Target) -> Connection:
    """Connect to a deployment.

    Args:
        target: what the URL says; `client` may be a `MongoClient` for a synchronous handle, an `AsyncMongoClient` or a
            client of Motor for an asynchronous one.

    Raises:
        ConfigError: the deployment refuses the client, or cannot serve.
        DriverMissing: PyMongo is not installed.
        Unavailable: no server could be reached.

    """
    pymongo: Any = import_driver("pymongo", "mongodb", "mongodb")
    database, _ = database_of(target), prefix_of(target)
    address, settings = address_of(target), settings_of(target)
    if target.client is None:
        client = make_client(pymongo, address, settings, target.timeout, suspending=target.suspending)
    else:
        client = check_kind(target.client, suspending=target.suspending)
    deployment = _deployment(pymongo, client, database, target, target.environment, suspending=target.suspending)
    try:
        with deployment.bounded():
            transactions = await prepare(deployment, create=bool(target.options["create"]))
    except BaseException:
        if target.client is None:
            await deployment.close()
        raise
    if target.client is None:
        mind(client)
    capabilities = CAPABILITIES if transactions else _STANDALONE

    async def sibling() -> Connection:
        if target.client is None:
            again = make_client(pymongo, address, settings, target.timeout, suspending=False)
        else:
            again = make_sibling(pymongo, target.client, address, settings, target.timeout)
        mind(again)
        other = _deployment(pymongo, again, database, target, BlockingEnvironment(), suspending=False)
        return _connection(other, other.environment, capabilities, closes=True)

    connection = _connection(deployment, target.environment, capabilities, closes=target.client is None)
    return replace(connection, sibling=sibling)


def _deployment(
    pymongo: Any, client: Any, database: str, target: Target, environment: Environment, *, suspending: bool
) -> Deployment:
    return Deployment(
        pymongo,
        client,
        database,
        prefix_of(target),
        target.timeout,
        environment,
        linearizable=target.options["reads"] == "linearizable",
        suspending=suspending,
    )


def _connection(
    deployment: Deployment, environment: Environment, capabilities: Capabilities, *, closes: bool
) -> Connection:
    lock = MongoLock(deployment, environment)
    store = MongoStore(deployment, environment, lock)
    connection = Connection(store=store, lock=lock, capabilities=capabilities)
    streams = Streams(deployment, environment)

    async def close() -> None:
        await streams.close()
        if closes:
            await deployment.close()

    connection = replace(connection, close=close)
    return replace(connection, wait=streams.wait) if capabilities.native_follow else connection


@hookimpl
def holdall_adapter() -> Adapter:
    """Describe the MongoDB adapter."""
    return Adapter(
        name="mongodb",
        schemes=("mongodb", "mongodb+srv"),
        summary="collections of a MongoDB database, many hosts",
        capabilities=CAPABILITIES,
        options=OPTIONS,
        io="suspending",
        connect=connect,
    )
