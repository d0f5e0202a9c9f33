"""The file adapter: a private folder that can be looked into, many processes of one host.

`file:///var/lib/app/store` is the folder; records and logs are files in it, named after their scopes and keys.
"""

from __future__ import annotations

from holdall.capabilities import Capabilities
from holdall.errors import ConfigError
from holdall.spi import Adapter, Connection, Option, Target, hookimpl
from holdall_adapters.file.guards import Guards
from holdall_adapters.file.lock import FileLock
from holdall_adapters.file.opening import open_disk, path_of
from holdall_adapters.file.store import FileStore

__all__ = ["CAPABILITIES", "holdall_adapter"]

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
    max_scope_bytes=512,
    max_key_bytes=1_024,
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
    Option(name="create", kind=bool, default=True, help="whether the folder and what belongs into it may be made"),
    Option(name="force", kind=bool, default=False, help="whether a file system that hosts share is used all the same"),
)


async def connect(target: Target) -> Connection:
    """Open a folder.

    Args:
        target: what the URL says.

    Raises:
        ConfigError: the folder cannot be used or made.
        Corrupt: it was a store, and parts of it are missing or damaged.

    """
    if target.client is not None:
        message = "the file adapter takes no client: give the folder in the URL"
        raise ConfigError(message)
    environment = target.environment
    disk, anchor = await open_disk(path_of(target), target)

    def now() -> float:
        return anchor.offset + environment.boot_time()

    guards = Guards(disk, environment, target.timeout)
    lock = FileLock(disk, environment, now, guards)
    store = FileStore(disk, environment, now, guards, lock)

    async def close() -> None:
        disk.close()

    return Connection(store=store, lock=lock, capabilities=CAPABILITIES, close=close)


@hookimpl
def holdall_adapter() -> Adapter:
    """Describe the file adapter."""
    return Adapter(
        name="file",
        schemes=("file",),
        summary="a folder to look into, many processes of one host",
        capabilities=CAPABILITIES,
        options=OPTIONS,
        io="blocking",
        connect=connect,
    )
