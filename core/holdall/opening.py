"""Opening stores and locks by URL or by name.

What opens them is imported with the first opening, so that `import holdall` stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    from holdall.config import Config, StoreConfig
    from holdall.lock import AsyncLock, Lock
    from holdall.store import AsyncStore, Store

__all__ = ["open_async_lock", "open_async_store", "open_lock", "open_store"]


def _factory() -> ModuleType:
    from holdall.handles import factory  # noqa: PLC0415 - see the docstring of the module

    return factory


def open_store(
    url_or_name: str | StoreConfig, *, timeout: float | None = None, client: Any = None, config: Config | None = None
) -> Store:
    """Open a store.

    Args:
        url_or_name: a URL such as `sqlite:///app.db`, a name of the configuration, or a `StoreConfig`.
        timeout: seconds that bound every operation; by default those of the configuration, or 10.
        client: a driver client, pool or session of yours; it is not closed with the store.
        config: the configuration to look a name up in; by default the one that `load_config` finds.

    Returns:
        A store that is connected; close it, or use it in a `with` block.

    Raises:
        ConfigError: the URL, an option or the configuration is wrong.
        AdapterNotFound: no installed adapter serves the URL.
        AdapterBroken: its plugin cannot be used.
        DriverMissing: its driver is not installed; the message names the extra.
        Unavailable: the storage could not be reached.

    """
    store: Store = _factory().make_store(url_or_name, timeout, client, config)
    return store


def open_async_store(
    url_or_name: str | StoreConfig, *, timeout: float | None = None, client: Any = None, config: Config | None = None
) -> AsyncStore:
    """Open an asynchronous store; it connects in `async with`, or with its first operation.

    Args:
        url_or_name: a URL such as `sqlite:///app.db`, a name of the configuration, or a `StoreConfig`.
        timeout: seconds that bound every operation.
        client: an async driver client, pool or session of yours.
        config: the configuration to look a name up in.

    Raises:
        ConfigError: the URL, an option or the configuration is wrong.
        AdapterNotFound: no installed adapter serves the URL.
        AdapterBroken: its plugin cannot be used.
        DriverMissing: its driver is not installed; the message names the extra.

    """
    store: AsyncStore = _factory().make_async_store(url_or_name, timeout, client, config)
    return store


def open_lock(
    url_name_or_store: str | StoreConfig | Store,
    *,
    timeout: float | None = None,
    client: Any = None,
    config: Config | None = None,
) -> Lock:
    """Open a lock.

    Args:
        url_name_or_store: a URL, a name of the configuration, or an open store whose connection the lock shares; such
            a lock works until the store is closed.
        timeout: seconds that bound every operation.
        client: a driver client, pool or session of yours.
        config: the configuration to look a name up in.

    Raises:
        ConfigError: the URL, an option or the configuration is wrong.
        AdapterNotFound: no installed adapter serves the URL.
        AdapterBroken: its plugin cannot be used.
        DriverMissing: its driver is not installed; the message names the extra.
        Unavailable: the storage could not be reached.

    """
    lock: Lock = _factory().make_lock(url_name_or_store, timeout, client, config)
    return lock


def open_async_lock(
    url_name_or_store: str | StoreConfig | AsyncStore,
    *,
    timeout: float | None = None,
    client: Any = None,
    config: Config | None = None,
) -> AsyncLock:
    """Open an asynchronous lock; it connects in `async with`, or with its first operation.

    Args:
        url_name_or_store: a URL, a name of the configuration, or an open async store whose connection the lock shares.
        timeout: seconds that bound every operation.
        client: an async driver client, pool or session of yours.
        config: the configuration to look a name up in.

    Raises:
        ConfigError: the URL, an option or the configuration is wrong.
        AdapterNotFound: no installed adapter serves the URL.
        AdapterBroken: its plugin cannot be used.
        DriverMissing: its driver is not installed; the message names the extra.

    """
    lock: AsyncLock = _factory().make_async_lock(url_name_or_store, timeout, client, config)
    return lock
