"""What a source of handles is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

__all__ = ["Source"]


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

    @property
    def lock(self) -> str:
        """The name of a function that opens the lock, where it is named beside the subject; else empty."""
        ...

    def open_store(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """Open a store; raises `Absent` where there is none of that kind."""
        ...

    def open_lock(self, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """Open a lock; raises `Absent` where there is none of that kind."""
        ...

    def told(self) -> list[Any]:
        """Return what `source_from` makes the same source of, as JSON values."""
        ...
