"""Lines of JSON that carry a checksum, so that one which is torn, cut or filled with zeros is not mistaken for data."""

from __future__ import annotations

import zlib
from typing import Any

import orjson

from holdall.errors import Corrupt

__all__ = ["checksum", "read_line", "seal", "unseal"]

_CRC = b',"crc":"'
_TAIL = len(_CRC) + 8 + len(b'"}')


def checksum(data: bytes, before: int = 0) -> int:
    """Return the CRC-32 of bytes, going on from that of bytes before them.

    Args:
        data: the bytes.
        before: the checksum of what comes before.

    """
    return zlib.crc32(data, before)


def seal(fields: dict[str, Any], before: int = 0) -> bytes:
    """Return one line of JSON whose last field is a checksum of the rest and of what comes before it.

    Args:
        fields: what the line says; not empty.
        before: the checksum of what comes before.

    """
    body = orjson.dumps(fields)[:-1]
    return b'%b%b%08x"}\n' % (body, _CRC, zlib.crc32(body, before))


def unseal(line: bytes, before: int = 0) -> dict[str, Any] | None:
    """Return what a line of `seal` says, or None if it is not whole.

    Args:
        line: the line, without its newline.
        before: the checksum of what comes before.

    """
    body = line[:-_TAIL]
    if not body or line[-_TAIL:] != b'%b%08x"}' % (_CRC, zlib.crc32(body, before)):
        return None
    try:
        fields: dict[str, Any] = orjson.loads(line)
    except ValueError:
        return None
    return fields


def read_line(line: bytes, what: str, advice: str = "restore it from a backup") -> dict[str, Any]:
    """Return what a line of `seal` says.

    Args:
        line: the line, without its newline.
        what: how to call it in the error.
        advice: how to mend it.

    Raises:
        Corrupt: it is not whole.

    """
    fields = unseal(line)
    if fields is None:
        message = f"{what} is damaged: {advice}"
        raise Corrupt(message)
    return fields
