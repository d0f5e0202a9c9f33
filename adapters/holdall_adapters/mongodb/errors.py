"""The one table that turns errors of PyMongo into those of holdall."""

from __future__ import annotations

from typing import Any

from holdall.errors import ConfigError, HoldallError, OutcomeUnknown, StoreTimeout, Unavailable

__all__ = ["Busy", "Duplicate", "HeadFull", "InTheWay", "in_the_way", "translated"]

_BY_CODE: dict[int, tuple[type[HoldallError], str]] = {
    13: (ConfigError, "the user may not do this: grant it readWrite on the database"),
    18: (ConfigError, "the server refused the user or its password"),
    20: (ConfigError, "this deployment has no transactions"),
    263: (ConfigError, "this deployment has no transactions"),
    8000: (ConfigError, "the server refused the user or its password"),
    50: (StoreTimeout, "the command took longer than the timeout"),
    262: (StoreTimeout, "the command took longer than the timeout"),
    13435: (Unavailable, "the server is no primary"),
    14031: (Unavailable, "the server's disk is full"),
}
_DUPLICATE, _CONFLICT = 11000, 112
_TRANSIENT = "TransientTransactionError"


class Duplicate(Exception):
    """A unique index refused a document; nothing was changed."""


class Busy(Duplicate):
    """Another write was in the way, such as that of a transaction; of one document nothing was changed."""


class InTheWay(Unavailable):
    """A transaction was in the way of another, and was not applied."""


class HeadFull(InTheWay):
    """The head of a log has no room for an append in a transaction, and nothing was applied.

    Args:
        name: scope and key of the log.

    """

    def __init__(self, name: tuple[str, str]) -> None:
        super().__init__("the head of the log is full")
        self.name = name


def in_the_way() -> InTheWay:
    """Return the error for a transaction that another was faster than."""
    return InTheWay("the transaction was in the way of another")


def translated(error: Any, errors: Any, *, writing: bool) -> Exception:
    """Return the error of holdall for one of PyMongo.

    Args:
        error: what PyMongo raised; the caller raises the result from it.
        errors: the module pymongo.errors.
        writing: whether a write was under way, so that a lost connection leaves its outcome open.

    """
    code = getattr(error, "code", None)
    if isinstance(error, errors.PyMongoError) and error.has_error_label(_TRANSIENT):
        return in_the_way()
    if code in {_DUPLICATE, _CONFLICT}:
        return Duplicate() if code == _DUPLICATE else Busy()
    if code in _BY_CODE:
        kind, message = _BY_CODE[code]
        if kind is not StoreTimeout or not writing:
            return kind(message)
    if isinstance(error, errors.ServerSelectionTimeoutError | errors.WaitQueueTimeoutError):
        return Unavailable("no server, or no connection to it, could be had in time")
    if isinstance(error, errors.ConfigurationError | errors.InvalidURI | errors.InvalidName):
        return ConfigError("PyMongo does not take the URL or its options")
    return _open_ended(error, errors, code, writing=writing)


def _open_ended(error: Exception, errors: Any, code: int | None, *, writing: bool) -> HoldallError:
    answered = isinstance(error, errors.OperationFailure) and not isinstance(
        error, errors.WriteConcernError | errors.WTimeoutError
    )
    if writing and not answered:
        return OutcomeUnknown("the reply of the server was lost, or says that a majority may not have the write")
    timed_out = bool(getattr(error, "timeout", False))
    if writing and (timed_out or code in {50, 262}):
        return OutcomeUnknown("the server did not answer in time")
    if timed_out:
        return StoreTimeout("the server did not answer in time")
    if isinstance(error, errors.ConnectionFailure):
        return Unavailable("the connection to the server was lost")
    return Unavailable(f"MongoDB failed ({type(error).__name__} {code})")
