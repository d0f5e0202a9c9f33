"""Reading an export from its beginning to its end, line by line, so that it may come through a pipe."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from typing import IO, Any, NoReturn, cast

import click

from holdall.cli.damage import Damaged
from holdall.cli.export_writer import FORMAT, LONGEST_LINE, VERSION
from holdall.cli.failures import FAILED, USAGE
from holdall.cli.reading import Chunk, Log
from holdall.clock import boot_time
from holdall.codec import decode
from holdall.errors import Corrupt
from holdall.values import Record

__all__ = ["BadExport", "ExportReader"]

_CHUNK_RECORDS = 500
_CHUNK_BYTES = 2**20


class BadExport(click.ClickException):
    """What is read is no export, or not a whole one."""

    exit_code = FAILED


class NoExport(BadExport):
    """It was refused before anything was done."""

    exit_code = USAGE


class ExportReader:
    """Reads an export; it was whole only if `items` came to its end.

    Attributes:
        number: the number of the line that was read last.
        damaged: at its end, how many records and logs are not in it, or not whole, because they could not be read.

    """

    def __init__(self, file: IO[bytes]) -> None:
        """Read the header.

        Args:
            file: where the export comes from.

        Raises:
            BadExport: it is none, or a newer holdall wrote it.

        """
        self.number = self.damaged = 0
        self._records = self._logs = self._entries = 0
        self._file = file
        self._digest = hashlib.sha256()
        self._check_header()

    def _check_header(self) -> None:
        try:
            header = self._line()
        except BadExport as error:
            raise NoExport(f"this is no export of holdall: {error.message}") from error
        if header.get("format") != FORMAT:
            message = "this is no export of holdall: line 1 has another format"
            raise NoExport(message)
        version = header.get("version")
        if type(version) is not int or version != VERSION:
            message = f"this export has version {version}, this holdall reads {VERSION}: install a newer holdall"
            raise NoExport(message)

    def items(self) -> Iterator[Chunk | Log]:
        """Yield records and logs; the values of a log must be read before the next item is asked for, or never.

        Raises:
            BadExport: a line is damaged or missing.

        """
        records: list[Record] = []
        size = 0
        while True:
            line = self._line()
            is_record = "key" in line
            if records and (
                not is_record
                or line.get("scope") != records[-1].scope
                or len(records) == _CHUNK_RECORDS
                or size >= _CHUNK_BYTES
            ):
                yield Chunk(records[0].scope, records, boot_time())
                records, size = [], 0
            if is_record:
                records.append(self._record(line, records[-1].key if records else ""))
                size += self._size
            elif "log" in line:
                yield from self._log(line)
            else:
                self._check_end(line)
                return

    def _record(self, line: dict[str, Any], before: str) -> Record:
        expires_in = line.get("expires_in")
        self._check(_is_name(line.get("scope")) and _is_name(line["key"]) and "value" in line)
        self._check(line["key"] > before)
        self._check(expires_in is None or (type(expires_in) in {int, float} and expires_in > 0))
        self._records += 1
        return Record(line["scope"], line["key"], line["value"], "", expires_in)

    def _log(self, line: dict[str, Any]) -> Iterator[Log]:
        first, length = line.get("first"), line.get("length")
        self._check(_is_name(line.get("scope")) and _is_name(line["log"]) and _is_position(first))
        self._check(_is_position(length) and cast("int", length) >= cast("int", first))
        values = self._values(cast("int", first), cast("int", length))
        self._logs += 1
        yield Log(line["scope"], line["log"], cast("int", first), cast("int", length), values)
        with contextlib.suppress(Damaged):
            for _ in values:
                pass

    def _values(self, first: int, length: int) -> Iterator[Any]:
        position = first
        while position < length:
            line = self._line()
            entries, reason = line.get("entries"), line.get("damaged")
            if line.get("at") == position and isinstance(reason, str):
                raise Damaged(reason, position)
            self._check(line.get("at") == position and isinstance(entries, list))
            found = cast("list[Any]", entries)
            self._check(bool(found))
            position += len(found)
            self._entries += len(found)
            self._check(position <= length)
            yield from found

    def _line(self) -> dict[str, Any]:
        self.number += 1
        line = self._file.readline(LONGEST_LINE + 1)
        if not line:
            self._fail("is missing: the export was cut off")
        if not line.endswith(b"\n"):
            self._fail("is too long to be of an export" if len(line) > LONGEST_LINE else "is cut off")
        try:
            found = decode(line[:-1])
        except Corrupt:
            self._fail("is damaged")
        self._check(isinstance(found, dict))
        parsed = cast("dict[str, Any]", found)
        if "end" not in parsed:
            self._digest.update(line)
        self._size = len(line)
        return parsed

    def _check_end(self, line: dict[str, Any]) -> None:
        self._check(line.get("end") is True)
        counts = tuple(line.get(name) for name in ("records", "logs", "entries"))
        if counts != (self._records, self._logs, self._entries) or line.get("sha256") != self._digest.hexdigest():
            self._fail("has other counts or another digest than what was read: the export is damaged")
        damaged = line.get("damaged", 0)
        self._check(_is_position(damaged))
        self.damaged = damaged
        if self._file.read(1):
            self.number += 1
            self._fail("comes behind the end")

    def _check(self, holds: bool) -> None:
        if not holds:
            self._fail("is damaged")

    def _fail(self, why: str) -> NoReturn:
        message = f"line {self.number:,} {why}"
        raise BadExport(message)


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and bool(name)


def _is_position(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0
