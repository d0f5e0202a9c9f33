"""Backends that functions open."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from holdall import ConfigError
from holdall_conformance.absence import Absent
from holdall_conformance.openers import Opener

__all__ = ["FactorySource", "resolved"]


class FactorySource:
    """A backend that functions open: `module:function` for the store, for the lock, or for both.

    A function takes nothing, or a folder that is the same for every handle of a run; `timeout` is passed on if it
    takes that too. It returns a `Store`, `AsyncStore`, `Lock` or `AsyncLock`, or a `Backend` of the SPI.
    """

    url = None

    def __init__(self, store: str | None, lock: str | None, folder: str) -> None:
        self._names = {"store": store, "lock": lock}
        self._folder = folder
        named = {what: name for what, name in self._names.items() if name is not None}
        self._openers = {what: Opener(resolved(name), Path(folder)) for what, name in named.items()}

    @property
    def subject(self) -> str:
        """The name of the function that opens the store; empty where there is only a lock."""
        return self._names["store"] or ""

    @property
    def lock(self) -> str:
        """The name of the function that opens the lock, where there is one."""
        return self._names["lock"] or ""

    def open_store(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """Call the function of the store."""
        return self._opened("store", asynchronous=asynchronous, settings=settings)

    def open_lock(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """Call the function of the lock; a `Backend` brings one with it."""
        return self._opened("lock", asynchronous=asynchronous, settings=settings)

    def _opened(self, what: str, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        opener = self._openers.get(what)
        if opener is None and what == "lock":
            opener = self._openers["store"]  # it may open a `Backend`, which has a lock too, or be that of a lock
            if opener.opens_a_store():
                opener = None
        if opener is None:
            message = f"no {what} was given"
            raise Absent(message)
        return opener.open(what, asynchronous=asynchronous, settings=settings)

    def told(self) -> list[Any]:
        """Return what `source_from` takes."""
        return ["factory", self._names["store"], self._names["lock"], self._folder]


def resolved(name: str) -> Callable[..., Any]:
    """Return the function that "module:function" names, from the working directory too.

    Raises:
        ConfigError: there is none.

    """
    module, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        why = str(error) if isinstance(error, (ImportError, AttributeError)) else f"{type(error).__name__}: {error}"
        message = f"{name!r} cannot be had: {why}. Give module:function, as it is imported from here"
        raise ConfigError(message) from error
    if not callable(found):
        message = f"{name!r} is no function but {type(found).__name__}"
        raise ConfigError(message)
    function: Callable[..., Any] = found
    return function
