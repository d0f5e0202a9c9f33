"""The memory adapter: the strictest one, for tests and for state that may end with the process.

`memory://name` is shared by name within the process and lives as long as it; `memory://` is a new, private one.
"""

from __future__ import annotations

from dataclasses import replace

from holdall.capabilities import Capabilities
from holdall.derived import derive
from holdall.errors import ConfigError
from holdall.plugins import load_adapter
from holdall.spi import Adapter, Connection, Option, Target, hookimpl
from holdall_adapters.memory.backend import MemoryBackend
from holdall_adapters.memory.lock import MemoryLock
from holdall_adapters.memory.port import space_named
from holdall_adapters.memory.store import MemoryStore

__all__ = ["CAPABILITIES", "holdall_adapter"]

CAPABILITIES = Capabilities(
    persistent=False,
    cross_process=False,
    cross_host=False,
    durable_tokens=False,
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
        name="like",
        kind=str,
        default=None,
        help="an installed adapter's scheme, such as sqlite, whose limits, shortest ttl and missing capabilities apply",
    ),
    Option(
        name="derived",
        kind=bool,
        default=False,
        help="run on the parts that holdall derives from the five primitives, as a small adapter does",
    ),
)


def capabilities_like(scheme: str | None) -> Capabilities:
    """Return the capabilities of memory with the limits of another adapter.

    Args:
        scheme: the other adapter's, or None.

    """
    if scheme is None:
        return CAPABILITIES
    other = load_adapter(scheme).capabilities
    return replace(
        other,
        persistent=False,
        cross_process=False,
        cross_host=False,
        durable_tokens=False,
        native_follow=False,
        expiry_clock=CAPABILITIES.expiry_clock,
        expiry_margin=CAPABILITIES.expiry_margin,
    )


async def connect(target: Target) -> Connection:
    """Open a memory space.

    Args:
        target: what the URL says.

    Raises:
        ConfigError: the URL has a path, or a client was given.

    """
    if target.url.path.strip("/") or target.client is not None:
        what = "takes no client" if target.client is not None else "has no path: write memory://name"
        message = f"the memory adapter {what}"
        raise ConfigError(message)
    space = space_named(target.url.authority)
    capabilities = capabilities_like(target.options["like"])
    if target.options["derived"]:
        backend = MemoryBackend(space)
        declared = replace(capabilities, atomic_commit=False, max_commit_operations=1)
        connection = await derive(backend, declared, target.environment, target.timeout)
    else:
        store = MemoryStore(space, target.environment)
        connection = Connection(store=store, lock=MemoryLock(space, target.environment), capabilities=capabilities)

    async def sibling() -> Connection:
        return connection

    return replace(connection, sibling=sibling)


@hookimpl
def holdall_adapter() -> Adapter:
    """Describe the memory adapter."""
    return Adapter(
        name="memory",
        schemes=("memory",),
        summary="within one process, nothing is kept",
        capabilities=CAPABILITIES,
        options=OPTIONS,
        io="none",
        connect=connect,
    )
