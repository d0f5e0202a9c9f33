"""A backend whose lock is somebody else's: the store comes from one source, the lock from a function."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdall_conformance.openers import Opener
from holdall_conformance.sources.functions import resolved
from holdall_conformance.sources.urls import NamedSource, UrlSource

__all__ = ["LockedSource"]


class LockedSource:
    """A store by URL or name, and a lock that a function opens.

    Attributes:
        lock: the name of the function.

    """

    def __init__(self, target: str, lock: str, folder: str) -> None:
        self._target = target
        self._folder = folder
        self._store = UrlSource(target) if "://" in target else NamedSource(target)
        self._opener = Opener(resolved(lock), Path(folder))
        self.lock = lock

    @property
    def subject(self) -> str:
        """The URL without its password, or the name."""
        return self._store.subject

    @property
    def url(self) -> str:
        """The URL of the store."""
        return self._store.url

    def open_store(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """Open the store by its URL or name."""
        return self._store.open_store(asynchronous=asynchronous, settings=settings)

    def open_lock(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """Call the function of the lock."""
        return self._opener.open("lock", asynchronous=asynchronous, settings=settings)

    def told(self) -> list[Any]:
        """Return what `source_from` takes."""
        return ["locked", self._target, self.lock, self._folder]
