"""A conversation file: JSON Lines, one entry a line, read by position and in bounded memory."""

from __future__ import annotations

import json
import stat
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from holdall.cli.failures import USAGE
from holdall.codec import digest, encode
from holdall.errors import InvalidValue

__all__ = ["BadInput", "Conversation", "Survey", "read_values", "survey", "without_twins"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WHITE = " \t\r\n"


class BadInput(click.ClickException):
    """The file is not what the demo takes."""

    exit_code = USAGE


@dataclass(frozen=True, slots=True)
class Survey:
    """What a first reading of a file found.

    Attributes:
        entries: how many there are.
        bytes: the size of all entries as holdall stores them.
        largest: the size of the largest one.
        largest_line: the line on which it stands.
        digest: the digest of all values.

    """

    entries: int
    bytes: int
    largest: int
    largest_line: int
    digest: str


def survey(path: Path) -> Survey:
    """Read a whole file and check every line.

    Args:
        path: the file.

    Raises:
        BadInput: it cannot be read, is empty, or a line is not what holdall stores; the message says which and why.

    """
    sizes = array("Q")
    largest, largest_line = 0, 0

    def values() -> Iterator[Any]:
        nonlocal largest, largest_line
        for number, value in read_values(path):
            size = _size(path, number, value)
            sizes.append(size)
            if size > largest:
                largest, largest_line = size, number
            yield value

    try:
        total = digest(values())
    except OSError as error:
        message = f"{path}: {error.strerror}"
        raise BadInput(message) from error
    if not sizes:
        message = f"{path}: holds no entries: give a file of JSON Lines, one entry a line"
        raise BadInput(message)
    return Survey(len(sizes), sum(sizes), largest, largest_line, total)


def _size(path: Path, number: int, value: Any) -> int:
    try:
        return len(encode(value))
    except InvalidValue as error:
        message = f"{path}, line {number}: {error}"
        raise BadInput(message) from error


def read_values(path: Path, entries: int | None = None) -> Iterator[tuple[int, Any]]:
    """Read a file from its beginning; lines of white space are passed over.

    Args:
        path: the file.
        entries: how many to read; by default all.

    Yields:
        The number of a line and the value on it.

    Raises:
        BadInput: the file is not a regular one, or a line is not JSON.

    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        what = "is a directory" if stat.S_ISDIR(mode) else "is not a regular file, and the demo reads it several times"
        message = f"{path}: {what}"
        raise BadInput(message)
    with path.open("rb") as file:
        left = -1 if entries is None else entries
        for number, line in enumerate(file, 1):
            if not left:
                return
            if text := _text(path, number, line):
                left -= 1
                yield number, _parsed(path, number, text)


def _text(path: Path, number: int, line: bytes) -> str:
    try:
        return line.removeprefix(_BYTE_ORDER_MARK if number == 1 else b"").decode().strip(_WHITE)
    except UnicodeDecodeError as error:
        message = f"{path}, line {number}: is not UTF-8: {error.reason} at byte {error.start + 1}"
        raise BadInput(message) from error


def without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that names a key twice, of which Python would keep the last.

    Args:
        pairs: what stands in the object.

    Raises:
        ValueError: a key comes twice.

    """
    found = dict(pairs)
    if len(found) < len(pairs):
        message = "an object has the same key twice, of which only one could be kept"
        raise ValueError(message)
    return found


def _parsed(path: Path, number: int, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=without_twins)
    except json.JSONDecodeError as error:
        message = f"{path}, line {number}: is not JSON: {error.msg} at column {error.colno}"
        raise BadInput(message) from error
    except ValueError as error:
        message = f"{path}, line {number}: cannot be kept exactly: {error}"
        raise BadInput(message) from error
    except RecursionError as error:
        message = f"{path}, line {number}: is nested too deeply"
        raise BadInput(message) from error


class Conversation:
    """The first entries of a file that has been surveyed, by position.

    A file that only grows meanwhile, such as that of a running agent, may be read all the same.
    """

    def __init__(self, path: Path, entries: int) -> None:
        """Note where every entry begins.

        Args:
            path: the file.
            entries: how many of them count.

        """
        self.entries = entries
        self._path = path
        self._starts = array("Q")
        position = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if len(self._starts) == entries:
                    break
                if _text(path, number, line):
                    marked = number == 1 and line.startswith(_BYTE_ORDER_MARK)
                    self._starts.append(position + (len(_BYTE_ORDER_MARK) if marked else 0))
                position += len(line)

    def batch(self, start: int, most_entries: int, most_bytes: int) -> list[Any]:
        """Return entries from a position on: at least one unless none are left, and no more than fit a batch.

        Args:
            start: the first position.
            most_entries: how many there may be.
            most_bytes: how many bytes they may have as holdall stores them.

        """
        found: list[Any] = []
        room = most_bytes
        for value in self._values(start, min(start + most_entries, self.entries)):
            room -= len(encode(value))
            if found and room < 0:
                break
            found.append(value)
        return found

    def _values(self, start: int, end: int) -> Iterator[Any]:
        if start >= end:
            return
        left = end - start
        with self._path.open("rb") as file:
            file.seek(self._starts[start])
            while left:
                if text := file.readline().decode().strip(_WHITE):
                    left -= 1
                    yield json.loads(text)
