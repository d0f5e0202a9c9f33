"""The one table that turns errors of psycopg into those of holdall."""

from __future__ import annotations

from holdall.errors import ConfigError, Corrupt, HoldallError, OutcomeUnknown, StoreTimeout, Unavailable
from holdall_adapters.postgres.connections.patience import Silent

__all__ = ["Contended", "Duplicate", "is_cut_off", "refused", "translated"]

_UNIQUE_VIOLATION = "23505"


class Duplicate(Exception):
    """A unique index refused a row; nothing was changed."""


class Contended(Unavailable):
    """Others were in the way; nothing was changed, and the next try is as likely to succeed as the first was."""


_BY_STATE: dict[str, tuple[type[HoldallError], str]] = {
    "57014": (StoreTimeout, "the statement took longer than the timeout; nothing was applied"),
    "55P03": (StoreTimeout, "a lock was not free in time"),
    "25P03": (Unavailable, "the server ended a transaction that was idle for too long"),
    "40001": (Contended, "the transaction was in the way of another"),
    "40P01": (Contended, "the transaction was in a deadlock with another"),
    "53300": (Unavailable, "the server takes no more connections"),
    "53100": (Unavailable, "the server's disk is full"),
    "53200": (Unavailable, "the server has no memory left"),
    "57P03": (Unavailable, "the server is starting or stopping"),
    "25006": (
        Unavailable,
        "the server takes no writes: it is, or becomes, a replica, or is read-only for this role",
    ),
    "42P01": (ConfigError, "a table of holdall is missing"),
    "42703": (ConfigError, "a table of holdall has not the columns that it should have"),
    "42601": (ConfigError, "the server does not know a statement: it is too old"),
    "42501": (ConfigError, "the role may not do this: grant it the privileges on the tables of holdall, and CREATE"),
    "3F000": (ConfigError, "there is no such schema"),
    "28P01": (ConfigError, "the server refused the password"),
    "28000": (ConfigError, "the server refused the role, or wants another way of connecting, such as TLS"),
    "3D000": (ConfigError, "there is no such database"),
    "XX001": (Corrupt, "the server says that its data is damaged"),
    "XX002": (Corrupt, "the server says that an index is damaged"),
}
_LOST_STATES = ("57P01", "57P02", "57P05", "08")


def translated(error: Exception, *, writing: bool) -> Exception:
    """Return the error of holdall for one of psycopg.

    Args:
        error: what psycopg raised; the caller raises the result from it.
        writing: whether a write was under way, so that a lost connection leaves its outcome open.

    """
    if isinstance(error, Silent):
        message = "the server did not answer in time"
        return OutcomeUnknown(message) if writing else StoreTimeout(message)
    state = getattr(error, "sqlstate", None) or ""
    if state == _UNIQUE_VIOLATION:
        return Duplicate()
    if state in _BY_STATE:
        kind, message = _BY_STATE[state]
        return kind(message)
    if not state or state.startswith(_LOST_STATES):
        message = "the connection to the server was lost"
        return OutcomeUnknown(message) if writing else Unavailable(message)
    return Unavailable(f"the server refused the statement ({type(error).__name__}, {state})")


def is_cut_off(error: Exception) -> bool:
    """Tell whether an error came from the driver and not from the server: what the connection says next is not known.

    Args:
        error: what psycopg raised.

    """
    return not getattr(error, "sqlstate", None)


_MENDABLE = {
    "password authentication failed": "the server refused the password",
    "no password supplied": "the server wants a password, and the URL has none",
    "no pg_hba.conf entry": "the server does not let this role in from here, or only by TLS (see sslmode)",
    "does not support SSL": "the server speaks no TLS, and sslmode demands it",
    "certificate": "the certificate of the server, or of the client, is not accepted",
    "permission denied": "the role may not connect to this database",
    "does not exist": "there is no such role or database",
    "not permitted to log in": "the role may not log in",
}
"""Parts of what libpq says when it cannot connect; it gives no SQLSTATE then."""


def refused(error: Exception, secret: str | None) -> HoldallError:
    """Return the error of holdall for a connection that could not be made.

    Args:
        error: what psycopg raised; the caller raises the result from it.
        secret: the password, which no message may show.

    """
    told = " ".join(str(error).split())
    if secret:
        told = told.replace(secret, "***")
    for part, message in _MENDABLE.items():
        if part in told:
            return ConfigError(f"{message}: {told}")
    return Unavailable(f"the server cannot be reached, or refused the connection: {told}")
