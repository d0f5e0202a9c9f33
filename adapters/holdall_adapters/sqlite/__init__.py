"""The SQLite adapter: one file, many processes of one host.

`sqlite:///relative.db` lies in the working directory, `sqlite:////absolute.db` where it says.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from holdall.capabilities import Capabilities
from holdall.errors import ConfigError
from holdall.spi import Adapter, Connection, Option, Target, hookimpl
from holdall_adapters.sqlite.lock import SqliteLock
from holdall_adapters.sqlite.port import Database
from holdall_adapters.sqlite.schema import prepare
from holdall_adapters.sqlite.store import SqliteStore

__all__ = ["CAPABILITIES", "holdall_adapter"]

_OLDEST_SQLITE = (3, 35, 0)

CAPABILITIES = Capabilities(
    persistent=True,
    cross_process=True,
    cross_host=False,
    durable_tokens=True,
    atomic_commit=True,
    max_commit_operations=1_000,
    native_follow=False,
    expiry_clock="boot",
    expiry_margin=0.05,
    min_ttl=0.01,
    max_scope_bytes=1_024,
    max_key_bytes=4_096,
    max_value_bytes=16 * 2**20,
    max_batch_entries=10_000,
    max_batch_bytes=16 * 2**20,
)

OPTIONS = (
    Option(
        name="durability",
        kind=str,
        default="full",
        help="full: an acknowledged write survives a power cut; relaxed: only the end of the process, but faster",
        choices=("full", "relaxed"),
    ),
    Option(name="create", kind=bool, default=True, help="whether the file and its tables may be made"),
)


def path_of(target: Target) -> Path:
    """Return the path of the database file.

    Args:
        target: what the URL says.

    Raises:
        ConfigError: the URL names no file.

    """
    url = target.url
    if url.authority:
        message = "the URL names a host: write sqlite:///app.db for a relative path, sqlite:////folder/app.db otherwise"
        raise ConfigError(message)
    path = url.path[1:]
    if path in {"", ":memory:"} or path.endswith("/"):
        message = "the URL names no file: write sqlite:///app.db, or use memory://name for a store in memory"
        raise ConfigError(message)
    if "\x00" in path:
        message = "a file name cannot hold a NUL character"
        raise ConfigError(message)
    return target.folder / path


async def connect(target: Target) -> Connection:
    """Open a database file.

    Args:
        target: what the URL says.

    Raises:
        ConfigError: the file cannot be opened or made, or SQLite is too old.

    """
    if target.client is not None:
        message = "the sqlite adapter takes no client: an open transaction of yours would hold up its own writes"
        raise ConfigError(message)
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        message = f"SQLite {sqlite3.sqlite_version} is too old: Python must be linked to 3.35 or newer"
        raise ConfigError(message)
    environment, create = target.environment, bool(target.options["create"])
    durable = target.options["durability"] == "full"
    database = Database(path_of(target), target.timeout, create=create, durable=durable)
    anchor = await prepare(database, environment, create=create)
    database.clock.now = lambda: anchor.offset + environment.boot_time()
    lock = SqliteLock(database, anchor.boot)

    async def close() -> None:
        database.close()

    return Connection(store=SqliteStore(database, environment, lock), lock=lock, capabilities=CAPABILITIES, close=close)


@hookimpl
def holdall_adapter() -> Adapter:
    """Describe the SQLite adapter."""
    return Adapter(
        name="sqlite",
        schemes=("sqlite",),
        summary="one file, many processes of one host",
        capabilities=CAPABILITIES,
        options=OPTIONS,
        io="blocking",
        connect=connect,
    )
