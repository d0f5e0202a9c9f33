"""The history that a provider is given: the messages since the last compaction, healed after crashes.

A result stands directly behind the turn that asked for it. A call whose run ended before a result was saved gets one
that says so; one that waits for an approval gets none, since whoever resumes the run will see to it. The log stays as
it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from holdall.sessions.blocks import ToolCall
from holdall.sessions.errors import InvalidLog, InvalidMessage
from holdall.sessions.message import Message
from holdall.sessions.shapes import is_list, is_map

__all__ = ["INTERRUPTED", "PREFACE", "Replayed", "last_compaction_at", "replay"]

INTERRUPTED = (
    "The run stopped before the result of this call was saved. The tool may have run: "
    "verify its effects before you call it again."
)
PREFACE = "The conversation up to here was summarised as follows."


class Replayed(NamedTuple):
    """A message and the position of its entry, None for one that stands in no entry."""

    message: Message
    position: int | None


@dataclass(slots=True)
class _Call:
    """A call of a tool in the log."""

    call_id: Any
    is_requested: bool = False
    is_parked: bool = False
    is_ambiguous: bool = False
    result: int | None = None


@dataclass(slots=True)
class _Walk:
    """What a walk over the log has found of calls: those of each message, and those that have no result yet."""

    calls: dict[int, list[_Call]] = field(default_factory=dict[int, list[_Call]])
    _active: dict[str, _Call] = field(default_factory=dict[str, _Call])
    _asked_for: set[str] = field(default_factory=set[str])

    def take(self, position: int, entry: Mapping[str, Any]) -> None:
        """Take in an entry."""
        kind = entry.get("type")
        if kind == "message":
            self._take_message(position, entry.get("message"))
        elif kind == "approval_request" and is_map(entry.get("call")):
            self._take_request(key_of(entry["call"].get("id")))
        elif kind == "approval_decision":
            found = self._active.get(key_of(entry.get("call_id")))
            if found is not None and found.is_requested:
                found.is_parked = True

    def _take_message(self, position: int, message: Any) -> None:
        if not is_map(message):
            return
        if message.get("role") == "tool":
            found = self._active.pop(key_of(message.get("tool_call_id")), None)
            if found is not None:
                found.result = position
        elif message.get("role") == "assistant":
            self.calls[position] = [self._begun(each) for each in _call_ids(message.get("content"))]

    def _begun(self, call_id: Any) -> _Call:
        key = key_of(call_id)
        begun = _Call(call_id, is_ambiguous=key in self._asked_for)
        self._active[key] = begun
        return begun

    def _take_request(self, key: str) -> None:
        self._asked_for.add(key)
        found = self._active.get(key)
        if found is not None:
            found.is_requested = found.is_parked = True


def key_of(value: Any) -> str:
    """Return what an id is compared by, whatever JSON it is.

    Args:
        value: the id as it is stored.

    """
    return value if isinstance(value, str) else f"\0{value!r}"


def _call_ids(content: Any) -> Iterable[Any]:
    for block in content if is_list(content) else ():
        if is_map(block) and block.get("type") == "tool_call":
            yield block.get("id")


def last_compaction_at(entries: Sequence[Any]) -> int | None:
    """Return the position of the last compaction, or None.

    Args:
        entries: the entries of a log from its beginning.

    """
    for position in range(len(entries) - 1, -1, -1):
        if is_map(entries[position]) and entries[position].get("type") == "compaction":
            return position
    return None


def replay(entries: Sequence[Any]) -> list[Replayed]:
    """Return the history that a provider is given.

    Args:
        entries: the entries of a log from its beginning.

    Raises:
        InvalidLog: a message that is kept cannot be read, or the last compaction does not say what it keeps.

    """
    at = last_compaction_at(entries)
    compaction = None if at is None else entries[at]
    begin = 0 if at is None or compaction is None else _kept_from(compaction, at)
    walk = _Walk()
    for position, entry in enumerate(entries):
        if is_map(entry):
            walk.take(position, entry)
    kept = _kept(entries, begin)
    history = _healed(kept, {position: calls for position, calls in walk.calls.items() if position >= begin})
    return history if compaction is None else [_summary(compaction), *history]


def _kept_from(compaction: Mapping[str, Any], at: int) -> float:
    begin = compaction.get("kept_from")
    if isinstance(begin, bool) or not isinstance(begin, int | float):
        message = "a compaction does not say from which position on entries are kept"
        raise InvalidLog("invalid_kept_from", at, message)
    return begin


def _kept(entries: Sequence[Any], begin: float) -> dict[int, Message]:
    kept: dict[int, Message] = {}
    for position, entry in enumerate(entries):
        if position >= begin and is_map(entry) and entry.get("type") == "message":
            try:
                kept[position] = Message.of(entry.get("message"))
            except InvalidMessage as error:
                raise InvalidLog("invalid_message", position, error.message, error.reason) from error
    return kept


def _summary(compaction: Mapping[str, Any]) -> Replayed:
    summary = compaction.get("summary")
    return Replayed(Message.user(f"{PREFACE}\n\n{'' if summary is None else summary}"), None)


def _healed(kept: Mapping[int, Message], calls: Mapping[int, Sequence[_Call]]) -> list[Replayed]:
    """Put every result behind the turn that asked for it, and heal what was interrupted."""
    moved = {call.result for of_turn in calls.values() for call in of_turn}
    history: list[Replayed] = []
    for position, message in kept.items():
        if position in moved:
            continue
        history.append(Replayed(message, position))
        for found, call in _in_order(calls.get(position, ()), message.tool_calls):
            if found.result is not None:
                history.append(Replayed(kept[found.result], found.result))
            elif not found.is_parked or found.is_ambiguous:
                history.append(Replayed(Message.tool(call, INTERRUPTED, error=True), None))
    return history


def _in_order(found: Sequence[_Call], calls: Sequence[ToolCall]) -> list[tuple[_Call, ToolCall]]:
    """Return the calls that nobody was asked about, and then those that somebody was."""
    return sorted(zip(found, calls, strict=True), key=lambda pair: pair[0].is_requested)
