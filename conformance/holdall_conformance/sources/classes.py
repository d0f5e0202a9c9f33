"""Backends that a class in a test module opens."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from importlib import util
from pathlib import Path
from typing import Any

from holdall import ConfigError
from holdall_conformance.absence import Absent
from holdall_conformance.openers import Opener

__all__ = ["ClassSource", "class_in"]


class ClassSource:
    """A backend that a subclass of `StoreConformance` or `LockConformance` opens."""

    lock = ""

    def __init__(self, cls: type, folder: Path) -> None:
        self._class = cls
        self._folder = folder

    @property
    def url(self) -> str | None:
        """The URL that `open` returns, if it returns one."""
        return self._opener(self._class(), "open").url

    @property
    def subject(self) -> str:
        """The name of the class."""
        return f"{self._class.__module__}:{self._class.__qualname__}"

    def open_store(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """Call `open_store` of a new instance."""
        return self._opened("store", asynchronous=asynchronous, settings=settings)

    def open_lock(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """Call `open_lock` of a new instance."""
        return self._opened("lock", asynchronous=asynchronous, settings=settings)

    def _opened(self, what: str, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        given = self._class()
        try:
            return self._opener(given, f"open_{what}").open(what, asynchronous=asynchronous, settings=settings)
        except NotImplementedError:
            both = self._opener(given, "open")
            if both.url is not None:
                return both.open(what, asynchronous=asynchronous, settings=settings)
        message = f"no {what} was given"
        raise Absent(message)

    def _opener(self, given: Any, name: str) -> Opener:
        return Opener(getattr(given, name), self._folder)

    def told(self) -> list[Any]:
        """Return what `source_from` takes."""
        file = inspect.getfile(self._class)
        return ["class", file, self._class.__module__, self._class.__qualname__, str(self._folder)]


def class_in(file: str, module: str, name: str) -> type:
    """Return a class of a test module, which need not be importable by its name."""
    found = sys.modules.get(module)
    if found is None:
        spec = util.spec_from_file_location(module, file)
        if spec is None or spec.loader is None:
            message = f"{file} cannot be imported"
            raise ConfigError(message)
        found = sys.modules[module] = util.module_from_spec(spec)
        spec.loader.exec_module(found)
    thing: Any = found
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing  # type: ignore[no-any-return]
