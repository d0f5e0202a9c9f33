"""Events of a run: what a host shows while a model writes and tools work."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from holdall.sessions.blocks import ToolCall, without_none
from holdall.sessions.errors import InvalidEvent
from holdall.sessions.message import Message

__all__ = ["EVENT_TYPES", "Event"]

EVENT_TYPES = frozenset(
    {
        "approval_needed",
        "compacting",
        "compaction",
        "done",
        "error",
        "retry",
        "start",
        "subagent_report",
        "text_delta",
        "text_end",
        "text_start",
        "thinking_delta",
        "thinking_end",
        "thinking_start",
        "tool_result",
        "tool_started",
        "toolcall_delta",
        "toolcall_end",
        "toolcall_start",
    }
)
_PLAIN = (
    "content_index",
    "delta",
    "content",
    "reason",
    "error_message",
    "origin",
    "duration",
    "attempt",
    "max_attempts",
    "delay",
    "agent",
    "session_id",
    "status",
    "tool_error",
)


@dataclass(frozen=True, slots=True)
class Event:
    """An event.

    Attributes:
        type: one of `EVENT_TYPES`.
        content_index: which block of the message it concerns.
        delta: what was added to it.
        content: the whole of it.
        tool_call: the call that it concerns.
        reason: why the model stopped.
        message: the message as it is complete.
        error_message: what went wrong, for a person.
        partial: the message so far; it is not serialised.
        origin: the lane of a sub-agent that it comes from.
        duration: of a tool's work, in seconds.
        attempt: which try it is.
        max_attempts: how many there may be.
        delay: until the next one, in seconds.
        agent: the name of a sub-agent.
        session_id: its session.
        status: what became of it.
        tool_error: of a result, whether the tool failed.

    Raises:
        InvalidEvent: its values do not go together.

    """

    type: str
    content_index: int | None = None
    delta: str | None = None
    content: str | None = None
    tool_call: ToolCall | None = None
    reason: str | None = None
    message: Message | None = None
    error_message: str | None = None
    partial: Any = None
    origin: str | None = None
    duration: float | None = None
    attempt: int | None = None
    max_attempts: int | None = None
    delay: float | None = None
    agent: str | None = None
    session_id: str | None = None
    status: str | None = None
    tool_error: bool | None = None

    def __post_init__(self) -> None:
        """Refuse what does not go together."""
        if self.type not in EVENT_TYPES:
            raise InvalidEvent("unknown_type", f"an event of the type {self.type!r}")
        if self.type != "tool_result":
            if self.tool_error is not None:
                raise InvalidEvent("tool_error_not_allowed", f"an event of the type {self.type} has a tool_error")
            return
        if not isinstance(self.tool_error, bool):
            raise InvalidEvent("tool_error_required", "a tool_result must say whether the tool failed")
        if self.message is not None and self.message.tool_error is not self.tool_error:
            raise InvalidEvent("tool_error_mismatch", "a tool_result and its message disagree on tool_error")

    @property
    def is_done(self) -> bool:
        """Whether the turn of the model is complete."""
        return self.type == "done"

    @property
    def is_error(self) -> bool:
        """Whether the turn of the model failed; a failed tool is no such error."""
        return self.type == "error"

    @property
    def is_terminal(self) -> bool:
        """Whether it is the last event of a turn."""
        return self.is_done or self.is_error

    def to_map(self) -> dict[str, Any]:
        """Return it as JSON; what it does not have is left out."""
        told: dict[str, Any] = {"type": self.type, **{name: getattr(self, name) for name in _PLAIN}}
        told["tool_call"] = None if self.tool_call is None else self.tool_call.to_map()
        told["message"] = None if self.message is None else self.message.to_map()
        return without_none(told)

    def to_server_sent(self) -> str:
        """Return it as an event of the type `text/event-stream`."""
        return f"event: {self.type}\ndata: {json.dumps(self.to_map(), separators=(',', ':'), ensure_ascii=False)}\n\n"
