"""Messages of a conversation between a user, a model and its tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from holdall.sessions.blocks import Block, Image, Text, ToolCall, block_of, without_none
from holdall.sessions.errors import InvalidMessage
from holdall.sessions.shapes import is_list, is_map
from holdall.sessions.usage import Usage

__all__ = ["ROLES", "STOP_REASONS", "Message"]

ROLES = frozenset({"assistant", "system", "tool", "user"})
STOP_REASONS = frozenset({"aborted", "budget", "error", "length", "stop", "tool_use"})
_PLAIN = ("tool_call_id", "tool_name", "model", "provider", "error_message", "ui", "error")


@dataclass(frozen=True, slots=True)
class Message:
    """A message.

    Attributes:
        role: "user", "assistant", "tool" or "system".
        content: its blocks.
        tool_call_id: of a tool's result, the call that it answers.
        tool_name: of a tool's result, the tool.
        tool_error: of a tool's result, whether the tool failed; None where that is not known.
        model: who answered.
        provider: through whom.
        usage: what the turn took.
        stop_reason: why the model stopped.
        error_message: what went wrong, for a person.
        error: what went wrong, for a program.
        ui: what a host shows beside it; no model sees it.

    """

    role: str
    content: tuple[Block, ...] = ()
    tool_call_id: Any = None
    tool_name: Any = None
    tool_error: bool | None = None
    model: Any = None
    provider: Any = None
    usage: Usage | None = None
    stop_reason: str | None = None
    error_message: Any = None
    error: Any = None
    ui: Any = None

    @classmethod
    def user(cls, text: str | None, images: Sequence[Image] = ()) -> Message:
        """Return what a user says.

        Args:
            text: the text; a blank one beside images is left out.
            images: images that go with it.

        """
        words: Sequence[Block] = () if text is None or (images and not text.strip()) else (Text(text),)
        return cls("user", (*words, *images))

    @classmethod
    def assistant(cls, text: str | None = None, calls: Iterable[ToolCall] = (), **more: Any) -> Message:
        """Return what a model says, and what it wants done.

        Args:
            text: the text, or None.
            calls: the calls of tools.
            more: other attributes of the message, such as `stop_reason`.

        """
        words: Sequence[Block] = () if text is None else (Text(text),)
        return cls("assistant", (*words, *calls), **more)

    @classmethod
    def tool(cls, call: ToolCall, text: str, *, error: bool = False) -> Message:
        """Return the result of a call.

        Args:
            call: the call.
            text: what the tool answered.
            error: whether it failed.

        """
        return cls("tool", (Text(text),), tool_call_id=call.id, tool_name=call.name, tool_error=error)

    @property
    def text(self) -> str | None:
        """All its text, joined; None if it has none."""
        parts = [block.text for block in self.content if isinstance(block, Text)]
        return "".join(parts) if parts else None

    @property
    def tool_calls(self) -> list[ToolCall]:
        """Its calls of tools, in order."""
        return [block for block in self.content if isinstance(block, ToolCall)]

    def to_map(self) -> dict[str, Any]:
        """Return it as JSON; what it does not have is left out."""
        told: dict[str, Any] = {"role": self.role, "content": [block.to_map() for block in self.content]}
        told |= {name: getattr(self, name) for name in (*_PLAIN, "stop_reason", "tool_error")}
        return without_none({**told, "usage": None if self.usage is None else self.usage.to_map()})

    @classmethod
    def of(cls, told: Any) -> Message:
        """Return the message that a map stands for; keys that are not known are passed over.

        Args:
            told: the map.

        Raises:
            InvalidMessage: it is none; `reason` says why in a word.

        """
        if not is_map(told):
            raise InvalidMessage("malformed", "a message is no map")
        if "role" not in told:
            raise InvalidMessage("missing_role", "a message has no role")
        content = told.get("content")
        if not is_list(content):
            raise InvalidMessage("malformed", "the content of a message is no list of blocks")
        blocks = tuple(map(block_of, content))
        usage = None if told.get("usage") is None else Usage.of(told["usage"])
        role, stop_reason = _role(told["role"]), _stop_reason(told.get("stop_reason"))
        tool_error = _tool_error(told.get("tool_error"), role)
        plain = {name: told.get(name) for name in _PLAIN}
        return cls(role, blocks, usage=usage, stop_reason=stop_reason, tool_error=tool_error, **plain)


def _role(role: Any) -> str:
    if not isinstance(role, str):
        raise InvalidMessage("malformed", "the role of a message is no string")
    if role not in ROLES:
        raise InvalidMessage("unknown_role", f"the role {role!r}: {', '.join(sorted(ROLES))}")
    return role


def _stop_reason(reason: Any) -> str | None:
    if reason is None or (isinstance(reason, str) and reason in STOP_REASONS):
        return reason
    raise InvalidMessage("unknown_stop_reason", f"the stop reason {reason!r}: {', '.join(sorted(STOP_REASONS))}")


def _tool_error(error: Any, role: str) -> bool | None:
    if error is None:
        return None
    if not isinstance(error, bool):
        raise InvalidMessage("tool_error_not_boolean", "tool_error is neither true nor false")
    if role != "tool":
        raise InvalidMessage("tool_error_wrong_role", f"a message of the role {role} has a tool_error")
    return error
