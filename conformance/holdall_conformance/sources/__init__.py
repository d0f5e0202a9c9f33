"""Where a backend comes from: a URL, a `module:function`, or a class in a test module.

A source opens handles again and again, also in child processes: it can be told to them as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from holdall import ConfigError
from holdall_conformance.sources.classes import ClassSource, class_in
from holdall_conformance.sources.functions import FactorySource
from holdall_conformance.sources.locks import LockedSource
from holdall_conformance.sources.protocol import Source
from holdall_conformance.sources.urls import NamedSource, UrlSource

__all__ = [
    "ClassSource",
    "FactorySource",
    "LockedSource",
    "NamedSource",
    "Source",
    "UrlSource",
    "source_from",
    "source_of",
]


def source_of(target: str | None, lock: str | None = None, folder: Path | None = None) -> Source:
    """Return the source that a person names.

    Args:
        target: a URL, a name of the configuration, or "module:function"; None for a lock alone.
        lock: "module:function" for the lock, where the target brings none or another one is to be tried.
        folder: what functions that want a folder are given.

    Raises:
        ConfigError: a function or a name cannot be found, or nothing is named.

    """
    place = str(folder or "")
    if target is None and lock is None:
        message = "name a backend: a URL, a name of the configuration, or module:function"
        raise ConfigError(message)
    if target is None or ("://" not in target and ":" in target):
        return FactorySource(target, lock, place)
    if lock is not None:
        return LockedSource(target, lock, place)
    return UrlSource(target) if "://" in target else NamedSource(target)


def source_from(told: list[Any]) -> Source:
    """Return the source that another process told of."""
    kind, *rest = told
    if kind == "class":
        file, module, name, folder = rest
        return ClassSource(class_in(file, module, name), Path(folder))
    made: Source = _KINDS[kind](*rest)
    return made


_KINDS: Mapping[str, Callable[..., Source]] = {
    "url": UrlSource,
    "name": NamedSource,
    "locked": LockedSource,
    "factory": FactorySource,
}
