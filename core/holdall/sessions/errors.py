"""What is wrong with a message, an event or a log of a session."""

from __future__ import annotations

from holdall.errors import HoldallError

__all__ = ["InvalidEvent", "InvalidLog", "InvalidMessage", "SessionError"]


class SessionError(HoldallError, ValueError):
    """Something of a session is not as it must be.

    Args:
        reason: what is wrong in a word, such as "unknown_role".
        message: what is wrong, for a person.

    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{message} ({reason})")
        self.reason = reason


class InvalidMessage(SessionError):
    """A message cannot be read."""


class InvalidEvent(SessionError):
    """An event has values that do not go together."""


class InvalidLog(SessionError):
    """A log does not tell a session: something in it contradicts what is before it, or cannot be read.

    Args:
        reason: what is wrong in a word, such as "result_without_call".
        position: the position of the entry that is at fault.
        message: what is wrong, for a person; by default the reason.
        detail: for a message that cannot be read, what is wrong with it in a word.

    """

    def __init__(self, reason: str, position: int, message: str = "", detail: str | None = None) -> None:
        super().__init__(reason, f"entry {position}: {message or reason.replace('_', ' ')}")
        self.position = position
        self.detail = detail
