"""Backends that holdall opens by URL, or by the name that the configuration gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import holdall
from holdall.url import parse_url

__all__ = ["NamedSource", "UrlSource"]


class UrlSource:
    """A backend that holdall opens by its URL."""

    lock = ""

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
