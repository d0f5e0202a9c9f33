"""The one table that turns errors of psycopg into those of holdall."""

from __future__ import annotations

from typing import Any

from holdall.errors import ConfigError, HoldallError, OutcomeUnknown, StoreTimeout, Unavailable

__all__ = ["translated"]

_BY_STATE: dict[str, tuple[type[HoldallError], str]] = {
    "57014": (StoreTimeout, "the statement took longer than the timeout"),
    "55P03": (StoreTimeout, "a lock was not free in time"),
    "40001": (Unavailable, "the transaction was in the way of another"),
    "40P01": (Unavailable, "the transaction was in a deadlock with another"),
    "53300": (Unavailable, "the server takes no more connections"),
    "53100": (Unavailable, "the server's disk is full"),
    "42P01": (ConfigError, "the database has no tables of holdall, and create=false forbids to make them"),
    "42601": (ConfigError, "the server does not know a statement: it is too old"),
    "42501": (ConfigError, "the role may not do this"),
    "28P01": (ConfigError, "the server refused the password"),
    "28000": (ConfigError, "the server refused the role"),
    "3D000": (ConfigError, "there is no such database"),
}
_LOST_STATES = ("57P01", "57P02", "57P03", "08")


def translated(error: Exception, psycopg: Any, *, writing: bool) -> HoldallError:
    """Return the error of holdall for one of psycopg.

    Args:
        error: what psycopg raised; the caller raises the result from it.
        psycopg: the module.
        writing: whether a write was under way, so that a lost connection leaves its outcome open.

    """
    state = getattr(error, "sqlstate", None) or ""
    if state in _BY_STATE:
        kind, message = _BY_STATE[state]
        return kind(message)
    if state.startswith(_LOST_STATES) or (not state and isinstance(error, psycopg.OperationalError)):
        kind = OutcomeUnknown if writing else Unavailable
        return kind("the connection to the server was lost")
    return Unavailable(f"Postgres failed ({type(error).__name__} {state})")
