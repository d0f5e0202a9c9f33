"""Checks of what the hook of an adapter returned, which comes from strangers who may not use a type checker."""

from __future__ import annotations

from typing import Any

from holdall.capabilities import Capabilities
from holdall.errors import AdapterBroken
from holdall.spi import SPI_VERSION, Adapter

__all__ = ["checked"]


def checked(what: str, adapter: Any) -> Adapter:
    """Return a description if it can be used.

    Args:
        what: whose it is, for errors.
        adapter: what the hook returned.

    Raises:
        AdapterBroken: it is no `Adapter`, of another version of `holdall.spi`, or wrong.

    """
    if not isinstance(adapter, Adapter):
        message = f"{what} returned {type(adapter).__name__} from its holdall_adapter hook, not holdall.spi.Adapter"
        raise AdapterBroken(message)
    if adapter.spi_version != SPI_VERSION:
        message = (
            f"{what} was written for version {adapter.spi_version} of holdall.spi, this holdall has version "
            f"{SPI_VERSION}: {_mending(adapter.spi_version)}"
        )
        raise AdapterBroken(message)
    faults = _faults(adapter)
    if faults:
        message = f"{what} describes its adapter wrongly: {'; '.join(faults)}"
        raise AdapterBroken(message)
    return adapter


def _mending(version: Any) -> str:
    if isinstance(version, int) and version > SPI_VERSION:
        return "install a newer holdall, or an older release of the adapter"
    return "install a newer release of the adapter, or an older holdall"


def _faults(adapter: Adapter) -> list[str]:
    ways = (adapter.backend, adapter.connect, adapter.store, adapter.async_store, adapter.lock, adapter.async_lock)
    io: Any = adapter.io
    schemes: Any = adapter.schemes
    capabilities: Any = adapter.capabilities
    checks = {
        "schemes must be a tuple of str": isinstance(schemes, tuple) and _are_texts(schemes),
        "io must be 'none', 'blocking' or 'suspending'": any(io == way for way in ("none", "blocking", "suspending")),
        "capabilities must be Capabilities": isinstance(capabilities, Capabilities),
        "it needs backend, connect, or whole objects": any(way is not None for way in ways),
        "backend and connect exclude each other": adapter.backend is None or adapter.connect is None,
    }
    return [fault for fault, holds in checks.items() if not holds]


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)
