"""Backends that holdall opens by URL, or by the name that the configuration gives them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import holdall
from holdall.url import parse_url

__all__ = ["NamedSource", "UrlSource"]

_TIMEOUT = 30.0
"""Seconds that bound an operation where a clause says nothing: a shared disk stands still for ten now and then."""


class UrlSource:
    """A backend that holdall opens by its URL."""

    lock = ""
    _usual: ClassVar[Mapping[str, Any]] = MappingProxyType({"timeout": _TIMEOUT})

    def __init__(self, url: str) -> None:
        self.url = self._what = url

    @property
    def subject(self) -> str:
        """The URL without its password."""
        return str(parse_url(self.url))

    def open_store(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """As `holdall.open_store`."""
        opened: Any = holdall.open_async_store if asynchronous else holdall.open_store
        return opened(self._what, **{**self._usual, **settings})

    def open_lock(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """As `holdall.open_lock`."""
        opened: Any = holdall.open_async_lock if asynchronous else holdall.open_lock
        return opened(self._what, **{**self._usual, **settings})

    def told(self) -> list[Any]:
        """Return what `source_from` takes."""
        return ["url", self.url]


class NamedSource(UrlSource):
    """A backend that the configuration names; its timeout is the configuration's."""

    _usual: ClassVar[Mapping[str, Any]] = MappingProxyType({})

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
