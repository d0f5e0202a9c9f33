"""Opening stores and locks by URL or by name."""

from __future__ import annotations

from typing import Any, cast

from holdall.config import Config, Section, StoreConfig, check_timeout, load_config
from holdall.errors import ConfigError
from holdall.handles.link import AsyncLink, Opening, SyncLink
from holdall.handles.lock import AsyncLockHandle, LockHandle
from holdall.handles.store import AsyncStoreHandle, StoreHandle
from holdall.lock import AsyncLock, Lock
from holdall.plugins import load_adapter, load_plugins, wrap_store
from holdall.spi import Adapter, Target
from holdall.environment import BlockingEnvironment, SuspendingEnvironment
from holdall.store import AsyncStore, Store
from holdall.url import parse_options, parse_url

__all__ = ["open_async_lock", "open_async_store", "open_lock", "open_store"]


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
    found = _found("stores", url_or_name, timeout, config)
    opening = _opening(found, client)
    if opening.adapter.store is not None:
        return cast("Store", wrap_store(opening.adapter.store(_target(opening, suspending=False)), found))
    return cast("Store", wrap_store(StoreHandle(SyncLink(opening)), found))


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
    found = _found("stores", url_or_name, timeout, config)
    opening = _opening(found, client)
    if opening.adapter.async_store is not None:
        return cast("AsyncStore", wrap_store(opening.adapter.async_store(_target(opening, suspending=True)), found))
    return cast("AsyncStore", wrap_store(AsyncStoreHandle(AsyncLink(opening)), found))


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
    if isinstance(url_name_or_store, StoreHandle):
        _refuse_settings(timeout, client)
        return cast("Lock", LockHandle(url_name_or_store._link, owns_link=False))  # noqa: SLF001 - one package
    opening = _opening(_found("locks", url_name_or_store, timeout, config), client)
    if opening.adapter.lock is not None:
        return opening.adapter.lock(_target(opening, suspending=False))
    return cast("Lock", LockHandle(SyncLink(opening)))


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
    if isinstance(url_name_or_store, AsyncStoreHandle):
        _refuse_settings(timeout, client)
        return cast("AsyncLock", AsyncLockHandle(url_name_or_store._link, owns_link=False))  # noqa: SLF001 - one package
    opening = _opening(_found("locks", url_name_or_store, timeout, config), client)
    if opening.adapter.async_lock is not None:
        return opening.adapter.async_lock(_target(opening, suspending=True))
    return cast("AsyncLock", AsyncLockHandle(AsyncLink(opening)))


def _found(section: Section, what: Any, timeout: float | None, config: Config | None) -> StoreConfig:
    if isinstance(what, StoreConfig):
        found = what
    elif not isinstance(what, str):
        message = f"give a URL, a name or an open store of the same kind, not {type(what).__name__}"
        raise ConfigError(message)
    elif "://" in what:
        found = StoreConfig(url=what)
    else:
        found = (load_config() if config is None else config).find(section, what)
    if timeout is None:
        return found
    return StoreConfig(url=found.url, timeout=check_timeout(timeout, "the call"), options=found.options)


def _opening(config: StoreConfig, client: Any) -> Opening:
    load_plugins()
    url = parse_url(config.url)
    adapter: Adapter = load_adapter(url.scheme)
    both = sorted(set(url.query) & set(config.options))
    if both:
        message = f"option {both[0]!r} stands in the URL and beside it: keep one"
        raise ConfigError(message)
    options = parse_options(adapter.name, adapter.options, {**url.query, **config.options})
    return Opening(adapter, url, options, check_timeout(config.timeout, "the call"), client)


def _target(opening: Opening, *, suspending: bool) -> Target:
    return Target(
        url=opening.url,
        options=opening.options,
        timeout=opening.timeout,
        client=opening.client,
        environment=SuspendingEnvironment() if suspending else BlockingEnvironment(),
        suspending=suspending,
    )


def _refuse_settings(timeout: float | None, client: Any) -> None:
    if timeout is not None or client is not None:
        message = "a lock that shares a store's connection shares its timeout and client too: leave them out"
        raise ConfigError(message)
