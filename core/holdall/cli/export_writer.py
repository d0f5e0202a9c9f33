"""The format of exports, version 1, and writing it: JSON Lines that `holdall.codec` reads.

A header; for each record a line `{"scope", "key", "expires_in", "value"}`; for each log a line `{"scope", "log",
"first", "length"}` and its entries in lines `{"at", "entries"}`, and where these cannot be read any further a line
`{"at", "damaged"}` in place of the rest; a trailer with counts and the SHA-256 of all lines
before it. Values stand there as the codec wrote them. A line begins with a space if one of its values does: that is how
the codec marks ints beyond 64 bits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from typing import IO, Any, Final

from holdall.cli.bounds import in_batches
from holdall.cli.damage import Damaged
from holdall.cli.outcome import NOT_COPIED
from holdall.cli.reading import Chunk, Log
from holdall.codec import encode
from holdall.errors import TooLarge

__all__ = ["FORMAT", "LONGEST_LINE", "VERSION", "ExportWriter"]

FORMAT: Final = "holdall-export"
VERSION: Final = 1
LONGEST_LINE: Final = 128 * 2**20
"""More than any adapter's largest value; a damaged file must not fill the memory."""

_WIDE = b" "
_LINE_ENTRIES = 500
_LINE_BYTES = 2**20


class ExportWriter:
    """Writes an export; `begin` first, `end` last.

    Attributes:
        records: how many records were written.
        logs: how many logs.
        entries: how many of their entries.

    """

    def __init__(self, file: IO[bytes]) -> None:
        self.records = self.logs = self.entries = 0
        self._file = file
        self._digest = hashlib.sha256()

    @property
    def digest(self) -> str:
        """The SHA-256 of all lines so far."""
        return self._digest.hexdigest()

    def begin(self) -> None:
        """Write the header."""
        not_copied = list(NOT_COPIED)
        self._write({"format": FORMAT, "version": VERSION, "holdall": version("holdall"), "not_copied": not_copied})

    def chunk(self, chunk: Chunk) -> None:
        """Write records.

        Args:
            chunk: the records.

        """
        for record in chunk.records:
            head = {"scope": record.scope, "key": record.key, "expires_in": record.expires_in}
            self._write(head, b'"value":', [_encoded(record.value)])
            self.records += 1

    def log(self, log: Log) -> None:
        """Write a log.

        Args:
            log: the log.

        Raises:
            Damaged: it cannot be read to its end; what came before stands there, and the position where it ends.

        """
        self._write({"scope": log.scope, "log": log.key, "first": log.first, "length": log.length})
        self.logs += 1
        position = log.first
        sized = ((payload, len(payload)) for payload in map(_encoded, log.values))
        try:
            for batch in in_batches(sized, _LINE_ENTRIES, _LINE_BYTES):
                self._write({"at": position}, b'"entries":[', batch, b"]")
                position += len(batch)
                self.entries += len(batch)
        except Damaged as error:
            if position < log.length:
                self._write({"at": position, "damaged": error.reason})
            raise

    def end(self, damaged: int) -> None:
        """Write the trailer.

        Args:
            damaged: how many records and logs are not in it, or not whole, because they could not be read.

        """
        counts = {"records": self.records, "logs": self.logs, "entries": self.entries, "damaged": damaged}
        self._file.write(encode({"end": True, **counts, "sha256": self.digest}) + b"\n")
        self._file.flush()

    def _write(self, head: dict[str, Any], name: bytes = b"", payloads: Sequence[bytes] = (), end: bytes = b"") -> None:
        """Write a line in pieces, so that a large value is not copied once more."""
        opening = encode(head)
        if not name:
            self._write_pieces([opening, b"\n"])
            return
        pieces = [_WIDE] if any(payload.startswith(_WIDE) for payload in payloads) else []
        pieces += [opening[:-1], b",", name]
        for payload in payloads:
            pieces += [payload.removeprefix(_WIDE), b","]
        pieces[-1] = end + b"}\n"
        self._write_pieces(pieces)

    def _write_pieces(self, pieces: Sequence[bytes]) -> None:
        length = sum(map(len, pieces))
        if length > LONGEST_LINE:
            what = "line of the export"
            raise TooLarge(what, LONGEST_LINE, length)
        for piece in pieces:
            self._digest.update(piece)
            self._file.write(piece)


def _encoded(value: Any) -> bytes:
    """Encode a value, and free what the encoder had set aside for it: eight times its size."""
    return bytes(memoryview(encode(value)))
