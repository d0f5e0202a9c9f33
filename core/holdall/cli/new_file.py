"""A file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Generator
from pathlib import Path
from typing import IO

import click

from holdall.cli.failures import USAGE

__all__ = ["check_free", "new_file"]

_MODE = 0o600


class Taken(click.ClickException):
    """The file must not be written."""

    exit_code = USAGE


def check_free(path: Path, *, force: bool) -> None:
    """Refuse a place where a file is already, or something that is no file.

    Args:
        path: the place.
        force: whether a file there may be replaced.

    Raises:
        ClickException: something is there.

    """
    if path.exists() and not path.is_file():
        message = f"{path}: is no regular file; leave FILE out to write to a pipe"
        raise Taken(message)
    if path.exists() and not force:
        message = f"{path}: is there already; --force replaces it"
        raise Taken(message)


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
    place = path.resolve()
    beside = place.with_name(f".{place.name[:100]}.{secrets.token_hex(6)}.part")
    number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
    try:
        with open(number, "wb") as file:  # noqa: PTH123 - a descriptor, so that nobody sees it with another mode
            yield file
            file.flush()
            os.fsync(file.fileno())
        _put_in_place(beside, place, force=force)
    finally:
        beside.unlink(missing_ok=True)


def _put_in_place(beside: Path, place: Path, *, force: bool) -> None:
    if force:
        beside.replace(place)
    else:
        try:
            place.hardlink_to(beside)  # unlike a rename, it fails where somebody made a file meanwhile
        except FileExistsError:
            check_free(place, force=False)
            raise
        except OSError:  # not every file system has links
            check_free(place, force=False)
            beside.rename(place)
    folder = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
