"""What is wrong with a message, an event or a log of a session."""

from __future__ import annotations

from holdall.errors import HoldallError

__all__ = ["InvalidEvent", "InvalidLog", "InvalidMessage"]


class InvalidMessage(HoldallError, ValueError):
    """A message cannot be read.

    Args:
        reason: what is wrong in a word, such as "unknown_role".
        message: what is wrong, for a person.

    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{message} ({reason})")
        self.reason = reason


class InvalidEvent(HoldallError, ValueError):
    """An event has values that do not go together.

    Args:
        reason: what is wrong in a word, such as "unknown_type".
        message: what is wrong, for a person.

    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{message} ({reason})")
        self.reason = reason


class InvalidLog(HoldallError, ValueError):
    """A log does not tell a session: something in it contradicts what is before it, or cannot be read.

    Args:
        reason: what is wrong in a word, such as "result_without_call".
        position: the position of the entry that is at fault.
        message: what is wrong, for a person; by default the reason.
        detail: for a message that cannot be read, what is wrong with it in a word.

    """

    def __init__(self, reason: str, position: int, message: str = "", detail: str | None = None) -> None:
        super().__init__(f"entry {position}: {message or reason.replace('_', ' ')} ({reason})")
        self.reason = reason
        self.position = position
        self.detail = detail
