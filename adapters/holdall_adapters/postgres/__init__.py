"""The Postgres adapter: records, logs and leases in tables of one database, by the server's clock.

`postgresql://user:password@host:port/database`, as libpq takes it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from holdall.capabilities import Capabilities
from holdall.environment import BlockingEnvironment
from holdall.plugins import import_driver
from holdall.spi import Adapter, Connection, Environment, Option, Target, hookimpl
from holdall_adapters.postgres.connections.clients import lent_pool, own_address
from holdall_adapters.postgres.connections.connecting import Blocking, Suspending
from holdall_adapters.postgres.connections.pools import MOST_CONNECTIONS, OwnPool
from holdall_adapters.postgres.connections.rooms import BlockingRoom, SuspendingRoom
from holdall_adapters.postgres.listening import Listeners
from holdall_adapters.postgres.lock import PostgresLock
from holdall_adapters.postgres.schema import prepare
from holdall_adapters.postgres.server import Pool, Server
from holdall_adapters.postgres.store import PostgresStore
from holdall_adapters.postgres.tables import Tables

__all__ = ["CAPABILITIES", "holdall_adapter"]

CAPABILITIES = Capabilities(
    persistent=True,
    cross_process=True,
    cross_host=True,
    durable_tokens=True,
    atomic_commit=True,
    max_commit_operations=1_000,
    native_follow=True,
    expiry_clock="server",
    expiry_margin=0.25,
    min_ttl=0.01,
    max_scope_bytes=256,
    max_key_bytes=1_024,
    max_value_bytes=16 * 2**20,
    max_batch_entries=10_000,
    max_batch_bytes=16 * 2**20,
)

_LIBPQ = ("sslmode", "sslrootcert", "sslcert", "sslkey", "target_session_attrs", "channel_binding")

OPTIONS = (
    Option(name="create", kind=bool, default=True, help="whether the tables may be made"),
    Option(name="schema", kind=str, default="public", help="the schema that the tables lie in"),
    Option(name="prefix", kind=str, default="holdall_", help="what the names of the tables begin with"),
    Option(name="sslmode", kind=str, default=None, help="as libpq takes it, such as verify-full"),
    Option(name="sslrootcert", kind=str, default=None, help="file of the certificate authority, as libpq takes it"),
    Option(name="sslcert", kind=str, default=None, help="file of the client's certificate, as libpq takes it"),
    Option(name="sslkey", kind=str, default=None, help="file of the client's key, as libpq takes it"),
    Option(name="target_session_attrs", kind=str, default=None, help="as libpq takes it, such as read-write"),
    Option(name="channel_binding", kind=str, default=None, help="as libpq takes it, such as require"),
)


def address_of(target: Target) -> str:
    """Return the libpq URL of a target: its own, with the options that are libpq's.

    Args:
        target: what the URL says.

    """
    address = "postgresql" + target.url.text.partition("?")[0][len(target.url.scheme) :]
    settings = {name: target.options[name] for name in _LIBPQ if target.options[name] is not None}
    return f"{address}?{urlencode(settings)}" if settings else address


async def connect(target: Target) -> Connection:
    """Connect to a server.

    Args:
        target: what the URL says; `client` may be a connection or a pool of psycopg, of the kind of the handle.

    Raises:
        ConfigError: the server refuses the connection, or cannot serve.
        DriverMissing: psycopg is not installed.
        Unavailable: the server could not be reached.

    """
    psycopg: Any = import_driver("psycopg", "postgres", "postgres")
    tables = Tables(str(target.options["schema"]), str(target.options["prefix"]))
    lent = _lent(psycopg, target)
    address = address_of(target) if lent is None else own_address(psycopg, target.client)
    ways = _ways(psycopg, address, target.timeout, target.environment, suspending=target.suspending)
    server = Server(psycopg, lent or _pool(ways, target.environment), ways, target.environment, target.timeout)
    try:
        await prepare(server, tables, create=bool(target.options["create"]))
    except BaseException:
        await server.close()
        raise

    async def sibling() -> Connection:
        blocking = BlockingEnvironment()
        again = _ways(psycopg, address, target.timeout, blocking, suspending=False)
        return _connection(Server(psycopg, _pool(again, blocking), again, blocking, target.timeout), tables, blocking)

    connection = replace(_connection(server, tables, target.environment), sibling=sibling)
    return _told(connection, psycopg, ways, tables, target) if ways.direct else connection


def _lent(psycopg: Any, target: Target) -> Pool | None:
    """Return where connections of the caller's come from, if there are any."""
    if target.client is None:
        return None
    return lent_pool(psycopg, target.client, target.environment.boot_time, suspending=target.suspending)


def _told(
    connection: Connection, psycopg: Any, ways: Blocking | Suspending, tables: Tables, target: Target
) -> Connection:
    """Return a connection that also waits for appends."""
    if connection.store is None:
        return connection
    head_of, end = connection.store.head, connection.close
    listeners = Listeners(psycopg, ways, tables, target.environment, target.timeout, head_of)

    async def close() -> None:
        listeners.close()
        await end()

    capabilities = replace(CAPABILITIES, native_follow=True)
    return replace(connection, capabilities=capabilities, close=close, wait=listeners.wait)


def _ways(
    psycopg: Any, address: str, timeout: float, environment: Environment, *, suspending: bool
) -> Blocking | Suspending:
    return (Suspending if suspending else Blocking)(psycopg, address, timeout, environment.boot_time)


def _pool(ways: Blocking | Suspending, environment: Environment) -> Pool:
    make = SuspendingRoom if isinstance(ways, Suspending) else BlockingRoom
    return OwnPool(ways, make(MOST_CONNECTIONS, environment.boot_time))


def _connection(server: Server, tables: Tables, environment: Environment) -> Connection:
    lock = PostgresLock(server, tables)
    store = PostgresStore(server, tables, environment, lock)
    capabilities = replace(CAPABILITIES, native_follow=False)
    return Connection(store=store, lock=lock, capabilities=capabilities, close=server.close)


@hookimpl
def holdall_adapter() -> Adapter:
    """Describe the Postgres adapter."""
    return Adapter(
        name="postgres",
        schemes=("postgresql", "postgres"),
        summary="tables of a Postgres database, many hosts",
        capabilities=CAPABILITIES,
        options=OPTIONS,
        io="suspending",
        connect=connect,
    )
