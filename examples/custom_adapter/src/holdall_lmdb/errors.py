"""The one table that turns errors of LMDB into those of holdall."""

from __future__ import annotations

import errno

import lmdb

from holdall.errors import ConfigError, Corrupt, HoldallError, OutcomeUnknown, Unavailable

__all__ = ["translated"]

_DAMAGED = (Corrupt, "the database is damaged: restore it from a backup")
_KINDS: dict[type[Exception], tuple[type[HoldallError], str]] = {
    lmdb.MapFullError: (Unavailable, "the database has reached its map_size: open it with a larger one"),
    lmdb.DiskError: (Unavailable, "the disk is full; nothing was written"),
    lmdb.ReadersFullError: (Unavailable, "too many processes have the database open"),
    lmdb.MapResizedError: (Unavailable, "another process made the database larger"),
    lmdb.MemoryError: (ConfigError, "there is not enough address space: open it with a smaller map_size"),
    lmdb.ReadonlyError: (ConfigError, "the database may not be written"),
    lmdb.InvalidError: (Corrupt, "the file data.mdb is no LMDB database"),
    lmdb.VersionMismatchError: (ConfigError, "the database was made by another version of LMDB"),
    lmdb.CorruptedError: _DAMAGED,
    lmdb.PageNotFoundError: _DAMAGED,
}
_BY_ERRNO: dict[int, tuple[type[HoldallError], str]] = {
    errno.ENOENT: (ConfigError, "there is no database in the folder, and create=false forbids to make one"),
    errno.EPERM: (ConfigError, "the folder may not be used"),
    errno.EACCES: (ConfigError, "the folder may not be used"),
    errno.EROFS: (ConfigError, "the file system may not be written"),
    errno.ENOTDIR: (ConfigError, "the URL names a file where a folder must be"),
    errno.EEXIST: (ConfigError, "the URL names a file where a folder must be"),
    errno.ENOSPC: (Unavailable, "the disk is full; nothing was written"),
}


def translated(error: Exception, *, writing: bool) -> HoldallError:
    """Return the error of holdall for one of LMDB or the operating system.

    Args:
        error: what was raised; the caller raises the result from it.
        writing: whether a write was under way, so that what is not in the table leaves its outcome open.

    """
    code = getattr(error, "code", None) or getattr(error, "errno", None) or 0
    unknown = (OutcomeUnknown if writing else Unavailable, "LMDB failed")
    kind, message = _KINDS.get(type(error)) or _BY_ERRNO.get(code) or unknown
    return kind(f"{message} ({type(error).__name__} {code})")
