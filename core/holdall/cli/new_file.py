"""A file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
from collections.abc import Generator
from pathlib import Path
from typing import IO

from holdall.cli.failures import Unusable, unusable_file

__all__ = ["check_free", "new_file"]

_MODE = 0o600
_SUFFIX = ".part"
_LONGEST = 100
_RANDOM = 6


def check_free(path: Path, *, force: bool) -> None:
    """Refuse a place where a file is already, or something that is no file.

    Args:
        path: the place.
        force: whether a file there may be replaced.

    Raises:
        ClickException: something is there, or the place cannot be looked at.

    """
    with unusable_file(path):
        is_there, is_file = path.exists(), path.is_file()
    if is_there and not is_file:
        message = f"{path}: is no regular file; leave FILE out to write to a pipe"
        raise Unusable(message)
    if is_there and not force:
        message = f"{path}: is there already; --force replaces it"
        raise Unusable(message)


@contextlib.contextmanager
def new_file(path: Path, *, force: bool) -> Generator[IO[bytes]]:
    """Write a file under another name beside its place; at the end of the block it is synced and takes its name.

    Args:
        path: its place; only its owner may read it.
        force: whether a file there may be replaced.

    Yields:
        What to write to.

    Raises:
        ClickException: something else is there.
        OSError: it cannot be written.

    """
    check_free(path, force=force)
    with unusable_file(path):
        place = path.resolve()
        _remove_leftovers(place)
    made: list[Path] = []  # each before it is made: a signal may come between any two steps
    try:
        with unusable_file(path):
            beside, number = _make_beside(place, made)
        with open(number, "wb") as file:  # noqa: PTH123 - a descriptor, so that nobody sees it with another mode
            yield file
            file.flush()
            os.fsync(file.fileno())
            _put_in_place(beside, place, path, force=force)
    finally:
        for each in made:
            each.unlink(missing_ok=True)


def _make_beside(place: Path, made: list[Path]) -> tuple[Path, int]:
    """Make the file under its other name, and lock it as long as it is open: what nobody holds, nobody writes."""
    while True:
        beside = place.with_name(f"{_start_of(place)}{secrets.token_hex(_RANDOM)}{_SUFFIX}")
        made.append(beside)
        number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
        if _is_locked(number) and _is_still_there(beside, number):
            return beside, number
        os.close(number)  # another export took it for a leftover before it was locked


def _start_of(place: Path) -> str:
    return f".{place.name[:_LONGEST]}."


def _is_locked(number: int) -> bool:
    """Lock a file if nobody has; where a file system has no locks, nothing is ever taken for a leftover."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _is_still_there(beside: Path, number: int) -> bool:
    try:
        return os.path.samestat(beside.stat(), os.fstat(number))
    except FileNotFoundError:
        return False


def _remove_leftovers(place: Path) -> None:
    """Remove what exports to the same place left that were killed."""
    pattern = re.compile(rf"{re.escape(_start_of(place))}[0-9a-f]{{{2 * _RANDOM}}}{re.escape(_SUFFIX)}")
    for name in filter(pattern.fullmatch, os.listdir(place.parent)):  # noqa: PTH208 - names, not paths
        with contextlib.suppress(OSError):
            _remove_leftover(place.with_name(name))


def _remove_leftover(beside: Path) -> None:
    number = os.open(beside, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        beside.unlink()
    finally:
        os.close(number)


def _put_in_place(beside: Path, place: Path, path: Path, *, force: bool) -> None:
    try:
        _take_name(beside, place, path, force=force)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    folder = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _take_name(beside: Path, place: Path, path: Path, *, force: bool) -> None:
    if force:
        beside.replace(place)
        return
    try:
        place.hardlink_to(beside)  # unlike a rename, it fails where somebody made a file meanwhile
    except FileExistsError:
        check_free(path, force=False)
        raise
    except OSError:  # not every file system has links
        check_free(path, force=False)
        beside.rename(place)
