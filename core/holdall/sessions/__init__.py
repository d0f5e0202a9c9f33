"""Durable sessions of agents on any store: logs of what was said and done, and what follows from them."""

from __future__ import annotations

from holdall.sessions.blocks import Image, Text, Thinking, ToolCall
from holdall.sessions.errors import InvalidEvent, InvalidLog, InvalidMessage
from holdall.sessions.event import Event
from holdall.sessions.message import Message
from holdall.sessions.usage import Cost, Usage

__all__ = [
    "Cost",
    "Event",
    "Image",
    "InvalidEvent",
    "InvalidLog",
    "InvalidMessage",
    "Message",
    "Text",
    "Thinking",
    "ToolCall",
    "Usage",
]
