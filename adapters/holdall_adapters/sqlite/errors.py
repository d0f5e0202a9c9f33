"""The one table that turns errors of sqlite3 into those of holdall."""

from __future__ import annotations

import sqlite3

from holdall.errors import ConfigError, Corrupt, HoldallError, OutcomeUnknown, StoreTimeout, Unavailable

__all__ = ["translated"]

_KINDS: dict[int, tuple[type[HoldallError], str]] = {
    sqlite3.SQLITE_BUSY: (StoreTimeout, "another process kept the database locked until the time was up"),
    sqlite3.SQLITE_LOCKED: (StoreTimeout, "another connection kept a table locked until the time was up"),
    sqlite3.SQLITE_FULL: (Unavailable, "the disk is full; nothing was written"),
    sqlite3.SQLITE_IOERR: (Unavailable, "reading the database file failed"),
    sqlite3.SQLITE_NOMEM: (Unavailable, "there is not enough memory"),
    sqlite3.SQLITE_READONLY: (ConfigError, "the database file or its folder may not be written"),
    sqlite3.SQLITE_PERM: (ConfigError, "the database file may not be opened"),
    sqlite3.SQLITE_AUTH: (ConfigError, "the database file may not be opened"),
    sqlite3.SQLITE_CANTOPEN: (ConfigError, "the database file cannot be opened: does its folder exist?"),
    sqlite3.SQLITE_CORRUPT: (Corrupt, "the database file is damaged: restore it from a backup"),
    sqlite3.SQLITE_NOTADB: (Corrupt, "the file is no SQLite database"),
}


def translated(error: sqlite3.Error, *, writing: bool) -> HoldallError:
    """Return the error of holdall for one of sqlite3.

    Args:
        error: what sqlite3 raised; the caller raises the result from it.
        writing: whether a change was under way, so that a failing disk leaves its outcome open.

    """
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if writing and primary == sqlite3.SQLITE_IOERR:
        return OutcomeUnknown(f"writing the database file failed ({error.sqlite_errorname})")
    kind, message = _KINDS.get(primary or -1, (Unavailable, f"SQLite failed ({type(error).__name__})"))
    name = getattr(error, "sqlite_errorname", None)
    return kind(f"{message} ({name})" if name else message)
