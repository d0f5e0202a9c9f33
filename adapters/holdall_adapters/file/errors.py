"""The one table that turns errors of the operating system into those of holdall."""

from __future__ import annotations

import errno

from holdall.errors import ConfigError, Corrupt, HoldallError, Unavailable

__all__ = ["translated"]

_FULL = (Unavailable, "the disk is full; nothing was written")
_FORBIDDEN = (ConfigError, "the folder or a file in it may not be used by this user")
_STRANGE = (Corrupt, "a symbolic link, or something else that holdall did not make, stands where a file of it belongs")
_TOO_MANY = (Unavailable, "the process or the system has too many files open")

_KINDS: dict[int, tuple[type[HoldallError], str]] = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: (Unavailable, "a file may not become so large; nothing was written"),
    errno.EROFS: (ConfigError, "the file system may only be read"),
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.ELOOP: _STRANGE,
    errno.ENOTDIR: _STRANGE,
    errno.EISDIR: _STRANGE,
    errno.ENXIO: _STRANGE,
    errno.EMFILE: _TOO_MANY,
    errno.ENFILE: _TOO_MANY,
    errno.ENAMETOOLONG: (ConfigError, "the file system does not take names of 241 characters: use another one"),
    errno.EXDEV: (ConfigError, "a part of the folder lies on another file system: all of it must lie on one"),
    errno.ENOMEM: (Unavailable, "there is not enough memory"),
}


def translated(error: OSError) -> HoldallError:
    """Return the error of holdall for one of the operating system.

    Args:
        error: what was raised before anything was changed; the caller raises the result from it.

    """
    kind, message = _KINDS.get(error.errno or 0, (Unavailable, "the operating system refused"))
    name = errno.errorcode.get(error.errno or 0, type(error).__name__)
    return kind(f"{message} ({name})")
