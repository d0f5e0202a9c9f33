"""Redis for holdall: `redis://user:password@host:6379/0`.

`backend` holds the five primitives, `link` the connections, `errors` the table of errors. Here stands what it can do,
how a URL is opened, and which servers are refused because they could not keep what holdall promises.
"""

from __future__ import annotations

import re
from typing import Any

from holdall.errors import ConfigError
from holdall.spi import Adapter, Capabilities, Option, Target, hookimpl
from holdall_redis.backend import RedisBackend
from holdall_redis.link import BlockingLink, Link, SuspendingLink

__all__ = ["CAPABILITIES", "OPTIONS", "holdall_adapter"]

# The limits of size are the least that every adapter takes: a server has one thread, and while it works on something
# large, everybody waits.
CAPABILITIES = Capabilities(
    persistent=True,
    cross_process=True,
    cross_host=True,
    durable_tokens=True,
    atomic_commit=False,
    max_commit_operations=1,
    native_follow=False,
    expiry_clock="server",
    expiry_margin=0.25,
    min_ttl=0.01,
    max_scope_bytes=256,
    max_key_bytes=1024,
    max_value_bytes=2**20,
    max_batch_entries=1_000,
    max_batch_bytes=3_000_000,
)

OPTIONS = (
    Option(name="prefix", kind=str, default="holdall", help="what the names of the two keys in Redis begin with"),
    Option(
        name="durability",
        kind=str,
        default="full",
        help="full: only a server that syncs every write to its disk; relaxed: whatever its settings promise",
        choices=("full", "relaxed"),
    ),
)

_UNLESS = "no-appendfsync-on-rewrite"
_AUTHORITY = re.compile(r"(?:(?P<login>.*)@)?(?P<host>\[[^\]]+\]|[^:@\[\]]+)(?::(?P<port>\d+))?", re.DOTALL)


def address_of(target: Target) -> dict[str, Any]:
    """Return host, port, database, user and password that a URL names.

    Args:
        target: what the URL says.

    Raises:
        ConfigError: it names none.

    """
    parts = _AUTHORITY.fullmatch(target.url.authority)
    database = target.url.path.removeprefix("/") or "0"
    if parts is None or not re.fullmatch("[0-9]{1,9}", database):
        raise ConfigError("write redis://host, or redis://user:password@host:6379/0")
    user, _, password = (parts["login"] or "").partition(":")
    return {
        "host": parts["host"].strip("[]"),
        "port": int(parts["port"] or 6379),
        "db": int(database),
        "username": user or None,
        "password": password or None,
    }


async def open_backend(target: Target) -> RedisBackend:
    """Open a database.

    Args:
        target: what the URL says.

    Raises:
        ConfigError: it cannot be opened like this.

    """
    if target.client is not None:
        raise ConfigError("the redis adapter takes no client: the driver's send requests twice")
    prefix = target.options["prefix"]
    if not prefix or {"{", "}"} & set(prefix):
        raise ConfigError("prefix must not be empty, nor hold a brace")
    link = (SuspendingLink if target.suspending else BlockingLink)(address_of(target), target.timeout)
    try:
        await check_server(link, durable=target.options["durability"] == "full")
    except BaseException:
        await link.close()
        raise
    return RedisBackend(link, prefix)


async def check_server(link: Link, *, durable: bool) -> None:
    """Refuse a server that would not keep what is promised.

    Args:
        link: the way to it.
        durable: whether an acknowledged write must survive a power cut.

    Raises:
        ConfigError: it would not.

    """
    lines = (await link.request("INFO")).decode("utf-8", "replace").splitlines()
    info = dict(line.split(":", 1) for line in lines if ":" in line)
    if info.get("cluster_enabled") == "1":
        raise ConfigError("this is a Redis Cluster, which the adapter does not support")
    if info.get("role") == "slave":
        raise ConfigError("the server is a replica, which lags behind: give the address of its master")
    if info.get("maxmemory_policy", "").startswith("allkeys"):
        raise ConfigError("the server throws keys away when memory is short: set its maxmemory-policy to noeviction")
    if info.get("aof_enabled") != "1":
        raise ConfigError("the server keeps snapshots at most, and loses what came later: set its appendonly to yes")
    if durable and (await setting(link, "appendfsync"), await setting(link, _UNLESS)) != ("always", "no"):
        raise ConfigError(
            f"the server does not say that it syncs every write: set appendfsync to always and {_UNLESS} to no, or open"
            " it with durability=relaxed"
        )


async def setting(link: Link, name: str) -> str | None:
    """Return a setting of the server, or None if it does not tell.

    Args:
        link: the way to it.
        name: of the setting.

    """
    try:
        found = await link.request("CONFIG", "GET", name)
    except ConfigError:  # managed servers forbid it
        return None
    return found[1].decode() if found else None


@hookimpl
def holdall_adapter() -> Adapter:
    """Describe the adapter."""
    return Adapter(
        name="redis",
        schemes=("redis",),
        summary="a Redis server, many hosts, one key at a time",
        capabilities=CAPABILITIES,
        options=OPTIONS,
        io="suspending",
        backend=open_backend,
    )
