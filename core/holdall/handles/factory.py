"""Makes handles: finds the configuration and the adapter, and puts the handle in front of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from holdall.config import Config, Section, StoreConfig, check_timeout, load_config
from holdall.errors import ConfigError
from holdall.handles.link import AsyncLink, Opening, SyncLink
from holdall.handles.lock import AsyncLockHandle, LockHandle
from holdall.handles.store import AsyncStoreHandle, StoreHandle
from holdall.lock import AsyncLock, Lock
from holdall.plugins import load_adapter, load_plugins, wrap_store
from holdall.spi import Adapter
from holdall.store import AsyncStore, Store
from holdall.url import Url, parse_options, parse_url


def make_store(what: Any, timeout: float | None, client: Any, config: Config | None) -> Store:
    """As `holdall.open_store`."""
    found = _found("stores", what, timeout, config)
    opening = _opening(found, client)
    if opening.adapter.store is not None:
        return cast("Store", wrap_store(opening.adapter.store(opening.target(suspending=False)), found))
    return cast("Store", wrap_store(StoreHandle(SyncLink(opening)), found))


def make_async_store(what: Any, timeout: float | None, client: Any, config: Config | None) -> AsyncStore:
    """As `holdall.open_async_store`."""
    found = _found("stores", what, timeout, config)
    opening = _opening(found, client)
    if opening.adapter.async_store is not None:
        return cast("AsyncStore", wrap_store(opening.adapter.async_store(opening.target(suspending=True)), found))
    return cast("AsyncStore", wrap_store(AsyncStoreHandle(AsyncLink(opening)), found))


def make_lock(what: Any, timeout: float | None, client: Any, config: Config | None) -> Lock:
    """As `holdall.open_lock`."""
    link = getattr(what, "link", None)
    if isinstance(link, SyncLink):
        _refuse_settings(timeout, client)
        return cast("Lock", LockHandle(link, owns_link=False))
    opening = _opening(_found("locks", what, timeout, config), client)
    if opening.adapter.lock is not None:
        return opening.adapter.lock(opening.target(suspending=False))
    return cast("Lock", LockHandle(SyncLink(opening)))


def make_async_lock(what: Any, timeout: float | None, client: Any, config: Config | None) -> AsyncLock:
    """As `holdall.open_async_lock`."""
    link = getattr(what, "link", None)
    if isinstance(link, AsyncLink):
        _refuse_settings(timeout, client)
        return cast("AsyncLock", AsyncLockHandle(link, owns_link=False))
    opening = _opening(_found("locks", what, timeout, config), client)
    if opening.adapter.async_lock is not None:
        return opening.adapter.async_lock(opening.target(suspending=True))
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
    return replace(found, timeout=check_timeout(timeout, "the call"))


def _opening(config: StoreConfig, client: Any) -> Opening:
    load_plugins()
    timeout = check_timeout(config.timeout, config.source)
    try:
        url = parse_url(config.url)
        adapter: Adapter = load_adapter(url.scheme)
        options = _options(adapter, url, config)
    except ConfigError as error:
        if config.source == "the call":
            raise
        message = f"{error.message} (in {config.source})"
        raise ConfigError(message) from error
    return Opening(adapter, url, options, timeout, client, config.folder)


def _options(adapter: Adapter, url: Url, config: StoreConfig) -> dict[str, Any]:
    both = sorted(set(url.query) & set(config.options))
    if both:
        message = f"option {both[0]!r} stands in the URL and beside it: keep one"
        raise ConfigError(message)
    return parse_options(adapter.name, adapter.options, {**url.query, **config.options})


def _refuse_settings(timeout: float | None, client: Any) -> None:
    if timeout is not None or client is not None:
        message = "a lock that shares a store's connection shares its timeout and client too: leave them out"
        raise ConfigError(message)
