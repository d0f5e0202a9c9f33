"""What waits for a runner: words of steering and reports of sub-agents, each consumed by the entry that names it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdall.sessions.message import Message
from holdall.sessions.replay import key_of
from holdall.sessions.shapes import is_map

__all__ = ["fold_of", "is_reported", "pending_inbox", "pending_steers", "report_of", "steer_of"]

_KINDS = {"steer": "steer_id", "subagent_report": "report_id"}


def steer_of(steer_id: str, text: str | None) -> dict[str, Any]:
    """Return an entry that steers a run.

    Args:
        steer_id: names it.
        text: what is said.

    """
    return {"type": "steer", "id": steer_id, "message": Message.user(text).to_map()}


def report_of(report_id: str, name: Any, session_id: Any, status: Any, text: str | None) -> dict[str, Any]:
    """Return an entry that tells what became of a sub-agent.

    Args:
        report_id: names it.
        name: the name of the sub-agent.
        session_id: its session.
        status: "done", "failed", "stopped" or any other word.
        text: its report, or None.

    """
    entry = {"type": "subagent_report", "id": report_id, "name": name, "session_id": session_id, "status": status}
    return {**entry, "report": text, "message": Message.user(_label(name, status, text)).to_map()}


def _label(name: Any, status: Any, text: str | None) -> str:
    words = "" if text is None else text
    if status == "done":
        return f"[{name} finished] {words}"
    if status == "failed":
        return f"[{name} failed] {words}"
    return f"[{name} was stopped]" if status == "stopped" else f"[{name} ended: {status}]"


def is_reported(entries: Sequence[Any], session_id: Any) -> bool:
    """Return whether a sub-agent's end was told already.

    Args:
        entries: the entries of a log.
        session_id: the sub-agent's session.

    """
    wanted = key_of(session_id)
    return any(
        is_map(entry) and entry.get("type") == "subagent_report" and key_of(entry.get("session_id")) == wanted
        for entry in entries
    )


def pending_inbox(entries: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Return what waits, in the order of the log.

    Args:
        entries: the entries of a log.

    """
    maps = [entry for entry in entries if is_map(entry)]
    consumed = {key_of(entry[marker]) for entry in maps for marker in _KINDS.values() if entry.get(marker) is not None}
    return [entry for entry in maps if entry.get("type") in _KINDS and key_of(entry.get("id")) not in consumed]


def pending_steers(entries: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Return the words of steering that wait.

    Args:
        entries: the entries of a log.

    """
    return [entry for entry in pending_inbox(entries) if entry.get("type") == "steer"]


def fold_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry that takes what waits into the conversation, and thereby consumes it.

    Args:
        entry: what waits.

    """
    return {"type": "message", "message": entry.get("message"), _KINDS[entry["type"]]: entry.get("id")}
