"""How many tokens a history takes: what a provider has reported, and an estimate for what came since."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdall.sessions.blocks import Block, Image, Text, Thinking
from holdall.sessions.message import Message
from holdall.sessions.replay import last_compaction_at, replay

__all__ = ["Gauged", "context_tokens", "estimate", "gauge", "needs_compaction"]

_CHARACTERS_A_TOKEN = 4
_IMAGE = 4_800
_RESERVE = 16_384
_BESIDE_OUTPUT = 4_096
_NOT_COUNTED = frozenset({"aborted", "error"})


class Gauged(NamedTuple):
    """Tokens of a history.

    Attributes:
        tokens: all of them.
        reported: those that a provider has reported, 0 for none.
        since: from which message on they are estimated.

    """

    tokens: int
    reported: int
    since: int


def estimate(message: Message) -> int:
    """Return about how many tokens a message takes: a quarter of its characters.

    Args:
        message: the message.

    """
    return math.ceil(sum(map(_characters, message.content)) / _CHARACTERS_A_TOKEN)


def _characters(block: Block) -> int:
    if isinstance(block, Text):
        return len(block.text)
    if isinstance(block, Thinking):
        return len(block.thinking)
    if isinstance(block, Image):
        return _IMAGE
    return len(str(block.name)) + len(json.dumps(block.arguments, separators=(",", ":"), ensure_ascii=False))


def gauge(messages: Sequence[Message], since: int = 0) -> Gauged:
    """Return how many tokens a history takes.

    Args:
        messages: the history.
        since: what was reported with a message before that does not count.

    """
    for place in range(len(messages) - 1, since - 1, -1):
        reported = _reported(messages[place])
        if reported:
            return Gauged(reported + sum(map(estimate, messages[place + 1 :])), reported, place + 1)
    return Gauged(sum(map(estimate, messages)), 0, 0)


def _reported(message: Message) -> int:
    is_counted = message.role == "assistant" and message.stop_reason not in _NOT_COUNTED
    return message.usage.context if is_counted and message.usage is not None else 0


def context_tokens(entries: Sequence[Any]) -> Gauged:
    """Return how many tokens the history takes that a provider is given.

    Args:
        entries: the entries of a log from its beginning.

    Raises:
        InvalidLog: as `replay`.

    """
    history, at = replay(entries), last_compaction_at(entries)
    behind = [place for place, each in enumerate(history) if at is not None and (each.position or 0) > at]
    since = 0 if at is None else min(behind, default=len(history))
    return gauge([each.message for each in history], since)


def needs_compaction(
    tokens: int, window: int | None, most_output: int | None = None, reserve: int | None = None
) -> bool:
    """Return whether a history leaves less room in a model's window than should be free.

    Args:
        tokens: those that it takes.
        window: those that the model takes; None if that is not known, and then nothing is needed.
        most_output: the most that the model writes, if that is known.
        reserve: what should be free; by default enough for the output, and 16,384 at the least.

    """
    if window is None:
        return False
    if reserve is None:
        reserve = _RESERVE if most_output is None else max(most_output + _BESIDE_OUTPUT, _RESERVE)
    return tokens > window - reserve
