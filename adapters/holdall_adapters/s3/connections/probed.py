"""Which servers this process has tried."""

from __future__ import annotations

__all__ = ["is_probed", "note_probed"]

_probed: set[tuple[str, str]] = set()


def is_probed(place: tuple[str, str]) -> bool:
    """Tell whether a server was tried.

    Args:
        place: its address and the bucket.

    """
    return place in _probed


def note_probed(place: tuple[str, str]) -> None:
    """Note that a server was tried, and keeps its conditions.

    Args:
        place: its address and the bucket.

    """
    _probed.add(place)
