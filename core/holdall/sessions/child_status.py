"""What a sub-agent is doing, as its log and its lease tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdall.sessions.shapes import is_map

__all__ = ["LIVE", "dispatched_of", "status_of", "terminal_of"]

LIVE = frozenset({"queued", "running"})


def _last(entries: Sequence[Any], kind: str) -> Mapping[str, Any] | None:
    for entry in reversed(entries):
        if is_map(entry) and entry.get("type") == kind:
            return entry
    return None


def terminal_of(entries: Sequence[Any]) -> Mapping[str, Any] | None:
    """Return the last entry that tells how the sub-agent ended, or None.

    Args:
        entries: the entries of its log.

    """
    return _last(entries, "subagent_result")


def dispatched_of(entries: Sequence[Any]) -> Mapping[str, Any] | None:
    """Return the entry that put the sub-agent into a queue, or None for one that its parent runs itself.

    Args:
        entries: the entries of its log.

    """
    return next((each for each in entries if is_map(each) and each.get("type") == "subagent_dispatched"), None)


def status_of(entries: Sequence[Any], *, held: bool | None) -> str | None:
    """Return what a sub-agent is doing: what it ended as, or "queued", "running" or "interrupted".

    Args:
        entries: the entries of its log.
        held: whether somebody holds its lease; None where there is no lock to ask.

    Returns:
        None if it ended and does not say as what.

    """
    terminal = terminal_of(entries)
    if terminal is not None:
        status = terminal.get("status")
        return status if isinstance(status, str) else None
    if _last(entries, "subagent_started") is None and dispatched_of(entries) is not None:
        return "queued"
    return "interrupted" if held is False else "running"
