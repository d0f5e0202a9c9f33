"""A log as people read it: without the bytes of images, and with the lanes of sub-agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdall.sessions.replay import key_of
from holdall.sessions.shapes import is_list, is_map

__all__ = ["children_of", "strip_images", "transcript"]

_SHORT = 8


def strip_images(value: Any) -> Any:
    """Return a value without the bytes of images; what has both data and a type is taken for one.

    Args:
        value: any JSON value.

    """
    if is_map(value):
        if _is_there(value, "data") and _is_there(value, "mime_type"):
            return {**{name: each for name, each in value.items() if name != "data"}, "omitted": True}
        return {name: strip_images(each) for name, each in value.items()}
    if is_list(value):
        return [strip_images(each) for each in value]
    return value


def _is_there(value: Mapping[str, Any], name: str) -> bool:
    return value.get(name) is not None and value[name] is not False


def children_of(entries: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return the names and sessions of sub-agents, in the order of the log.

    Args:
        entries: the entries of a log.

    """
    return [(entry.get("name"), entry.get("session_id")) for entry in entries if _is_link(entry)]


def _is_link(entry: Any) -> bool:
    return is_map(entry) and entry.get("type") == "subagent"


def transcript(
    entries: Sequence[Any], session_id: str, read: Callable[[str], Sequence[Any]] | None = None
) -> list[Any]:
    """Return all entries as people read them.

    Args:
        entries: the entries of a log.
        session_id: its session.
        read: returns the entries of a sub-agent's session, to put them behind the link to it, each with its origin;
            None leaves them out.

    """
    if read is None:
        return [strip_images(entry) for entry in entries]
    return list(_expanded(entries, "", {key_of(session_id)}, read))


def _expanded(entries: Sequence[Any], lane: str, seen: set[str], read: Callable[[str], Sequence[Any]]) -> Iterator[Any]:
    for entry in entries:
        shown = strip_images(entry)
        yield {**shown, "origin": lane} if lane and isinstance(shown, dict) else shown
        if not _is_link(entry) or not isinstance(entry.get("session_id"), str):
            continue
        session_id = entry["session_id"]
        if session_id not in seen:
            seen.add(session_id)
            inner = f"{entry.get('name')}#{session_id[:_SHORT]}"
            yield from _expanded(read(session_id), f"{lane}>{inner}" if lane else inner, seen, read)
