"""What an observer is told of an operation."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Operation"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a store or lock that has ended.

    Attributes:
        name: name of the method.
        adapter: name of the adapter.
        scope: the scope it worked on; None for a lock, and where it works on none.
        duration: seconds it took.
        outcome: "ok", or the name of the error's class.

    """

    name: str
    adapter: str
    scope: str | None
    duration: float
    outcome: str
