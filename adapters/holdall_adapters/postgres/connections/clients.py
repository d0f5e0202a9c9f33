"""Clients of the caller's: a connection or a pool of psycopg, of the kind that fits the handle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdall.errors import ConfigError
from holdall_adapters.postgres.connections.lent import LentConnection, LentPool
from holdall_adapters.postgres.connections.rooms import BlockingRoom, SuspendingRoom
from holdall_adapters.postgres.server import Pool

__all__ = ["lent_pool", "own_address"]


def lent_pool(psycopg: Any, client: Any, clock: Callable[[], float], *, suspending: bool) -> Pool:
    """Return where the connections of a client of the caller's come from.

    Args:
        psycopg: the module.
        client: the client.
        clock: returns seconds.
        suspending: whether the handle is asynchronous.

    Raises:
        ConfigError: it is no such client, or one of the other kind.

    """
    connection, pool = (
        (psycopg.AsyncConnection, "AsyncConnectionPool") if suspending else (psycopg.Connection, "ConnectionPool")
    )
    if isinstance(client, connection):
        return LentConnection(client, SuspendingRoom(1, clock) if suspending else BlockingRoom(1, clock))
    names = {kind.__name__ for kind in type(client).__mro__ if kind.__module__.startswith("psycopg_pool")}
    if pool in names:
        return LentPool(client, clock)
    side = "an asynchronous" if suspending else "a synchronous"
    message = (
        f"{side} handle on Postgres takes a psycopg.{connection.__name__} or a psycopg_pool.{pool} as client, "
        f"not a {type(client).__module__.partition('.')[0]}.{type(client).__name__}"
    )
    raise ConfigError(message)


def own_address(psycopg: Any, client: Any) -> str:
    """Return the address by which the client of a caller is connected, for the connections that renew leases.

    Args:
        psycopg: the module.
        client: a connection or a pool.

    """
    if hasattr(client, "info"):
        parameters = {**client.info.get_parameters(), "password": client.info.password or None}
        return str(psycopg.conninfo.make_conninfo(**{name: value for name, value in parameters.items() if value}))
    conninfo = client.conninfo() if callable(client.conninfo) else client.conninfo
    names = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    settings: Any = client.kwargs() if callable(client.kwargs) else (client.kwargs or {})
    own = {name: value for name, value in settings.items() if name in names}
    return str(psycopg.conninfo.make_conninfo(conninfo, **own))
