"""Where a backend comes from: a URL, a `module:function`, or a class in a test module.

A source opens handles again and again, also in child processes: it can be told to them as JSON.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import holdall
from holdall import ConfigError
from holdall.plugins import load_adapter
from holdall.url import parse_url
from holdall_conformance.absence import Absent
from holdall_conformance.openers import Opener

if TYPE_CHECKING:
    from holdall_conformance.simulation import Subject

__all__ = ["ClassSource", "FactorySource", "NamedSource", "Source", "UrlSource", "source_from", "source_of"]


class Source(Protocol):
    """Opens handles on one storage."""

    @property
    def subject(self) -> str:
        """What a person calls it; without a password."""
        ...

    @property
    def url(self) -> str | None:
        """The URL that opens it, where there is one."""
        ...

    def open_store(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """Open a store; raises `Absent` where there is none of that kind."""
        ...

    def open_lock(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """Open a lock; raises `Absent` where there is none of that kind."""
        ...

    def simulated(self) -> Subject | None:
        """Return what the simulation is to run, None if nothing here runs over a port."""
        ...

    def told(self) -> list[Any]:
        """Return what `source_from` makes the same source of, as JSON values."""
        ...


class UrlSource:
    """A backend that holdall opens by its URL."""

    def __init__(self, url: str) -> None:
        self.url = self._what = url

    @property
    def subject(self) -> str:
        """The URL without its password."""
        return str(parse_url(self.url))

    def open_store(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """As `holdall.open_store`."""
        opened: Any = holdall.open_async_store if asynchronous else holdall.open_store
        return opened(self._what, **settings)

    def open_lock(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """As `holdall.open_lock`."""
        opened: Any = holdall.open_async_lock if asynchronous else holdall.open_lock
        return opened(self._what, **settings)

    def simulated(self) -> Subject | None:
        """Return the derived core, where the adapter gives no more than a `Backend`."""
        if load_adapter(parse_url(self.url).scheme).backend is None:
            return None
        from holdall_conformance.simulation import derived_subject  # noqa: PLC0415 - children have no use for it

        return derived_subject()

    def told(self) -> list[Any]:
        """Return what `source_from` takes."""
        return ["url", self.url]


class NamedSource(UrlSource):
    """A backend that the configuration names."""

    def __init__(self, name: str) -> None:
        super().__init__(holdall.load_config().find("stores", name).url)
        self._what = name

    @property
    def subject(self) -> str:
        """The name."""
        return self._what

    def told(self) -> list[Any]:
        """Return what `source_from` takes."""
        return ["name", self._what]


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
        """The names of the functions."""
        return " and ".join(name for name in self._names.values() if name is not None)

    def open_store(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """Call the function of the store."""
        return self._opened("store", asynchronous=asynchronous, settings=settings)

    def open_lock(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """Call the function of the lock; a `Backend` brings one with it."""
        return self._opened("lock", asynchronous=asynchronous, settings=settings)

    def _opened(self, what: str, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        opener = self._openers.get(what)
        if opener is None and what == "lock" and self._openers["store"].url is not None:
            opener = self._openers["store"]  # it opens a `Backend`, which has a lock too
        if opener is None:
            message = f"no {what} was given"
            raise Absent(message)
        return opener.open(what, asynchronous=asynchronous, settings=settings)

    def simulated(self) -> Subject | None:
        """Return the derived core, where the function gives no more than a `Backend`."""
        opener = self._openers.get("store")
        return None if opener is None or opener.url is None else UrlSource(opener.url).simulated()

    def told(self) -> list[Any]:
        """Return what `source_from` takes."""
        return ["factory", self._names["store"], self._names["lock"], self._folder]


class ClassSource:
    """A backend that a subclass of `StoreConformance` or `LockConformance` opens."""

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

    def simulated(self) -> Subject | None:
        """Return the derived core, where `open` gives no more than a `Backend`."""
        url = self.url
        return None if url is None else UrlSource(url).simulated()

    def told(self) -> list[Any]:
        """Return what `source_from` takes."""
        file = inspect.getfile(self._class)
        return ["class", file, self._class.__module__, self._class.__qualname__, str(self._folder)]


def source_of(target: str, lock: str | None = None, folder: Path | None = None) -> Source:
    """Return the source that a person names.

    Args:
        target: a URL, a name of the configuration, or "module:function".
        lock: "module:function" for the lock, where the target is a function.
        folder: what functions that want a folder are given.

    Raises:
        ConfigError: a function or a name cannot be found, or a lock is named beside a URL.

    """
    if "://" not in target and ":" in target:
        return FactorySource(target, lock, str(folder or ""))
    if lock is not None:
        message = f"--lock goes with a target of the form module:function; {target!r} brings its own lock"
        raise ConfigError(message)
    return UrlSource(target) if "://" in target else NamedSource(target)


def source_from(told: list[Any]) -> Source:
    """Return the source that another process told of."""
    kind, *rest = told
    if kind == "url":
        return UrlSource(*rest)
    if kind == "name":
        return NamedSource(*rest)
    if kind == "factory":
        return FactorySource(*rest)
    file, module, name, folder = rest
    return ClassSource(_class_in(file, module, name), Path(folder))


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
    except (ImportError, AttributeError, ValueError) as error:
        message = f"{name!r} cannot be had: {error}. Give module:function, as it is imported from here"
        raise ConfigError(message) from error
    if not callable(found):
        message = f"{name!r} is no function but {type(found).__name__}"
        raise ConfigError(message)
    function: Callable[..., Any] = found
    return function


def _class_in(file: str, module: str, name: str) -> type:
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
