"""Writes whose reply was lost: what they raise afterwards must not say that nothing was applied."""

from __future__ import annotations

from typing import Self

from holdall.errors import OutcomeUnknown, StoreTimeout, Unavailable

__all__ = ["ATTEMPTS", "SHARE", "Unsettled", "lost"]

ATTEMPTS = 8
"""How often a write is sent that was refused for a reason which is gone when it is looked for."""
SHARE = 0.75
"""The part of its time after which the reply to a write counts as lost; the rest is for finding out what came of it."""


def lost(what: str) -> OutcomeUnknown:
    """Return the error for a write that cannot be settled.

    Args:
        what: what was written, such as "put".

    """
    return OutcomeUnknown(f"the reply to the {what} was lost, and what is stored does not tell: read again and decide")


class Unsettled:
    """A write, from its first command until it is known what came of it.

    Args:
        what: what is written, such as "put".

    Attributes:
        is_lost: whether the reply to one of its commands was lost.
        is_applied: whether one of its commands is known to have changed something.

    """

    def __init__(self, what: str) -> None:
        self._what = what
        self.is_lost = self.is_applied = False

    def unknown(self) -> OutcomeUnknown:
        """Return the error for where this cannot be settled."""
        return lost(self._what)

    def hopeless(self) -> StoreTimeout:
        """Return the error for where others were faster each time."""
        return StoreTimeout(f"others changed the same key in the way of the {self._what} again and again")

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Turn what says that nothing was applied into what is true after a lost reply.

        Raises:
            OutcomeUnknown: something was or may be applied, and the storage could not be asked any more.

        """
        if (self.is_lost or self.is_applied) and isinstance(error, Unavailable | StoreTimeout):
            raise self.unknown() from error
