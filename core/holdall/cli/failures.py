"""What goes wrong on the command line: the exit statuses, and one line for every error."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Generator
from pathlib import Path
from typing import IO, Final

import click

from holdall.errors import (
    AdapterBroken,
    AdapterNotFound,
    BatchMismatch,
    ConfigError,
    Corrupt,
    DriverMissing,
    HoldallError,
    InvalidArgument,
    InvalidKey,
    InvalidValue,
    StoreTimeout,
    TooLarge,
    Unavailable,
    Unsupported,
)
from holdall.url import parse_url

__all__ = [
    "BROKEN_PIPE",
    "DONE",
    "FAILED",
    "INTERRUPTED",
    "STATUSES",
    "TERMINATED",
    "UNREACHABLE",
    "USAGE",
    "Unusable",
    "complain",
    "line_of",
    "one_line",
    "shown_url",
    "standard_input",
    "status_of",
    "unusable_file",
    "unusable_storage",
]

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
UNREACHABLE: Final = 3
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
TERMINATED: Final = 143

STATUSES: Final = {
    DONE: "done, and everything holds",
    FAILED: "something failed or does not hold",
    USAGE: "wrong usage, configuration, installation or input: nothing was done",
    UNREACHABLE: "the storage could not be reached, or did not answer in time: try again later",
    INTERRUPTED: "interrupted with Ctrl-C",
    BROKEN_PIPE: "whoever read the output closed it",
    TERMINATED: "asked to end with SIGTERM or SIGHUP",
}

_SET_UP = (ConfigError, AdapterNotFound, AdapterBroken, DriverMissing)
_CALL = (InvalidArgument, InvalidKey, InvalidValue, TooLarge, BatchMismatch, Unsupported)
"""What the contract promises of these: nothing was sent."""

_PASSWORD = re.compile(r"""((?:[A-Za-z][A-Za-z0-9+.-]*:/|//)[^\s:@'"]*:)[^\s'"]*@""")
_SECRET = re.compile(r"""([?&][^\s=&]*(?:password|secret|token|key)[^\s=&]*=)[^\s&'"]*""", re.IGNORECASE)


class Unusable(click.ClickException):
    """What was given cannot be used, and nothing was done."""

    exit_code = USAGE


def standard_input() -> IO[bytes]:
    """Return standard input.

    Raises:
        Unusable: it is closed.

    """
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - it is where `<&-` was written
        message = "standard input is closed: give a file, or a value"
        raise Unusable(message)
    return sys.stdin.buffer


@contextlib.contextmanager
def unusable_file(path: Path) -> Generator[None]:
    """Say of what the system refuses in this block that the file cannot be used, before anything is done.

    Args:
        path: the file as it was given.

    Raises:
        Unusable: the system refused something.

    """
    try:
        yield
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from error


@contextlib.contextmanager
def unusable_storage() -> Generator[None]:
    """Say of what turns out to be no storage while it is opened that it cannot be used.

    Raises:
        Unusable: it holds something else, or is damaged.

    """
    try:
        yield
    except Corrupt as error:
        raise Unusable(str(error)) from error


def status_of(error: BaseException) -> int:
    """Return the exit status for an error.

    Args:
        error: what was raised.

    """
    if isinstance(error, click.ClickException):
        return error.exit_code
    if isinstance(error, (*_SET_UP, *_CALL)):
        return USAGE
    if isinstance(error, (Unavailable, StoreTimeout)):
        return UNREACHABLE
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE
    return INTERRUPTED if isinstance(error, (KeyboardInterrupt, click.Abort)) else FAILED


def line_of(error: BaseException) -> str:
    """Return what one line says of an error, without passwords.

    Args:
        error: what was raised.

    """
    if isinstance(error, click.ClickException):
        return one_line(_of_click(error))
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return "interrupted"
    if isinstance(error, HoldallError):
        return one_line(str(error))
    if isinstance(error, OSError) and error.strerror:
        return one_line(_of_system(error))
    return one_line(f"internal error: {type(error).__name__}: {error} (HOLDALL_TRACEBACK=1 shows where)")


def _of_click(error: click.ClickException) -> str:
    message = error.format_message()
    if isinstance(error, click.UsageError) and error.ctx is not None:
        end = "" if message.endswith((".", "?", "!")) else "."
        return f"{message}{end} Try '{error.ctx.command_path} --help'"
    return message


def _of_system(error: OSError) -> str:
    places = [str(name) for name in (error.filename, error.filename2) if name is not None]
    return f"{' -> '.join(places)}: {error.strerror}" if places else str(error.strerror)


def one_line(text: str) -> str:
    """Return a text on one line and without passwords.

    Args:
        text: the text.

    """
    return _SECRET.sub(r"\1***", _PASSWORD.sub(r"\1***@", " ".join(text.split())))


def shown_url(url: str) -> str:
    """Return a storage URL without passwords, also where a "/" in one is not written as %2F.

    Args:
        url: the URL.

    Raises:
        ConfigError: it is no URL.

    """
    return one_line(str(parse_url(url)))


def complain(text: str) -> None:
    """Write one line to stderr.

    Args:
        text: what it says.

    """
    click.echo(f"holdall: {text}", err=True)
    sys.stderr.flush()
