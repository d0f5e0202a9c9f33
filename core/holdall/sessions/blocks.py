"""The blocks that the content of a message is made of: text, thinking, images and tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdall.sessions.arguments import ARGUMENTS_ERRORS, bounded_arguments
from holdall.sessions.errors import InvalidMessage
from holdall.sessions.shapes import is_map

__all__ = ["Block", "Image", "Text", "Thinking", "ToolCall", "block_of", "call_of", "without_none"]


def without_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that have a value.

    Args:
        fields: names and values, some of them None.

    """
    return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Text:
    """Text; `signature` is a provider's proof of it."""

    text: str
    signature: str | None = None

    def to_map(self) -> dict[str, Any]:
        """Return the block as JSON."""
        return without_none({"type": "text", "text": self.text, "signature": self.signature})


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a model thought, or that it did if it is redacted."""

    thinking: str
    signature: str | None = None
    redacted: bool = False

    def to_map(self) -> dict[str, Any]:
        """Return the block as JSON."""
        told = {"type": "thinking", "thinking": self.thinking, "signature": self.signature}
        return without_none({**told, "redacted": self.redacted or None})


@dataclass(frozen=True, slots=True)
class Image:
    """An image: its bytes in base 64, and their type such as image/png."""

    data: str
    mime_type: str

    def to_map(self) -> dict[str, Any]:
        """Return the block as JSON."""
        return {"type": "image", "data": self.data, "mime_type": self.mime_type}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a model wants a tool to do.

    Attributes:
        id: names the call in the session.
        name: the tool.
        arguments: any JSON value; None where they cannot be taken.
        signature: a provider's proof of it.
        arguments_error: why there are no arguments, in a word.
        provider_call_id: the id that the provider gave it.

    """

    id: Any
    name: Any
    arguments: Any = field(default_factory=dict[str, Any])
    signature: Any = None
    arguments_error: str | None = None
    provider_call_id: Any = None

    @property
    def is_usable(self) -> bool:
        """Whether it has arguments by name."""
        return self.arguments_error is None and isinstance(self.arguments, dict)

    def to_map(self) -> dict[str, Any]:
        """Return the block as JSON; arguments stand there even if they are null."""
        told = {"type": "tool_call", "id": self.id, "name": self.name, "signature": self.signature}
        told |= {"arguments_error": self.arguments_error, "provider_call_id": self.provider_call_id}
        return {**without_none(told), "arguments": self.arguments}


Block = Text | Thinking | Image | ToolCall


def _string(block: Mapping[str, Any], name: str) -> str:
    value = block.get(name)
    if not isinstance(value, str):
        raise InvalidMessage("malformed", f"the {name} of a block is no string")
    return value


def _optional_string(block: Mapping[str, Any], name: str) -> str | None:
    return None if block.get(name) is None else _string(block, name)


def call_of(block: Mapping[str, Any]) -> ToolCall:
    """Return the tool call that a map stands for; whether its names are such is for an audit to say.

    Args:
        block: the map.

    """
    error = block.get("arguments_error")
    arguments, beyond = bounded_arguments(block.get("arguments", {}))
    if error is not None:
        arguments, beyond = None, error if error in ARGUMENTS_ERRORS else "invalid_arguments"
    return ToolCall(
        block.get("id"), block.get("name"), arguments, block.get("signature"), beyond, block.get("provider_call_id")
    )


def block_of(block: Any) -> Block:
    """Return the block that a map stands for.

    Args:
        block: the map.

    Raises:
        InvalidMessage: it is none.

    """
    if not is_map(block):
        raise InvalidMessage("malformed", "a block is no map")
    kind = block.get("type")
    if kind == "text":
        return Text(_string(block, "text"), _optional_string(block, "signature"))
    if kind == "thinking":
        redacted = block.get("redacted")
        return Thinking(_string(block, "thinking"), _optional_string(block, "signature"), redacted is True)
    if kind == "image":
        return Image(_string(block, "data"), _string(block, "mime_type"))
    if kind == "tool_call":
        return call_of(block)
    raise InvalidMessage("unknown_block_type", f"a block of the type {kind!r}: text, thinking, image or tool_call")
