"""LMDB for holdall: `lmdb:///relative/folder` or `lmdb:////absolute/folder`.

Three steps make an adapter: say what it can do (here), give the five primitives (`backend`), and turn the driver's
errors into holdall's (`errors`). How LMDB itself wants to be treated stands apart, in `environment`.
"""

from __future__ import annotations

from pathlib import Path

from holdall.errors import ConfigError
from holdall.spi import Adapter, Capabilities, Option, Target, hookimpl
from holdall_lmdb.backend import LmdbBackend
from holdall_lmdb.environment import Settings, acquire

__all__ = ["CAPABILITIES", "OPTIONS", "holdall_adapter"]

# Declare what holds, not what would be nice: the conformance kit tries every line, also what is said not to work.
CAPABILITIES = Capabilities(
    persistent=True,
    cross_process=True,
    cross_host=False,
    durable_tokens=True,
    atomic_commit=False,
    max_commit_operations=1,
    native_follow=False,
    expiry_clock="boot",
    expiry_margin=0.05,
    min_ttl=0.01,
    max_scope_bytes=128,
    max_key_bytes=512,
    max_value_bytes=2**20,
    max_batch_entries=1_000,
    max_batch_bytes=3_000_000,
)

OPTIONS = (
    Option(
        name="durability",
        kind=str,
        default="full",
        help="full: an acknowledged write survives a power cut; relaxed: a power cut may take back the last ones",
        choices=("full", "relaxed"),
    ),
    Option(name="create", kind=bool, default=True, help="whether the folder and the database may be made"),
    Option(
        name="map_size",
        kind=int,
        default=2**36,
        help="bytes up to which the database may grow; they take address space, neither memory nor disk",
    ),
)


def folder_of(target: Target) -> Path:
    """Return the folder that a URL names, without symbolic links.

    Args:
        target: what the URL says.

    Raises:
        ConfigError: it names none.

    """
    path = target.url.path[1:]
    if target.url.authority or not path or "\x00" in path:
        raise ConfigError("write lmdb:///folder for a relative path, lmdb:////folder for an absolute one")
    return (target.folder / path).resolve()


async def open_backend(target: Target) -> LmdbBackend:
    """Open a database.

    Args:
        target: what the URL says.

    Raises:
        ConfigError: it cannot be opened like this.

    """
    if target.client is not None:
        raise ConfigError("the lmdb adapter takes no client: LMDB must not be open twice in a process")
    options = target.options
    if options["map_size"] <= 0:
        raise ConfigError("map_size must be above zero")
    settings = Settings(options["durability"] == "full", options["create"], options["map_size"])
    return LmdbBackend(acquire(folder_of(target), settings), target.environment, target.timeout)


@hookimpl
def holdall_adapter() -> Adapter:
    """Describe the adapter."""
    return Adapter(
        name="lmdb",
        schemes=("lmdb",),
        summary="a folder with an LMDB database, many processes of one host, one key at a time",
        capabilities=CAPABILITIES,
        options=OPTIONS,
        io="blocking",
        backend=open_backend,
    )
