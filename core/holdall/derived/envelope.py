"""How a record lies in a backend: a fixed header with version, expiry and mark, then the value's JSON."""

from __future__ import annotations

import struct
from typing import NamedTuple

from holdall.errors import Corrupt

_HEADER = struct.Struct(">BB16s8sdQ")
_FORMAT = 1
_HAS_VALUE, _EXPIRES = 1, 2
HEADER_BYTES = _HEADER.size


class Envelope(NamedTuple):
    """A record as it is stored; without a payload it only keeps a mark.

    Attributes:
        write: id of the write that made this state, 32 hexadecimal digits.
        version: id of the write that made the value.
        expires: when it expires, or None.
        mark: the highest fencing token seen.
        payload: the value's JSON, or None.

    """

    write: str
    version: str
    expires: float | None
    mark: int
    payload: bytes | None

    def encode(self) -> bytes:
        """Return the bytes to store."""
        flags = (0 if self.payload is None else _HAS_VALUE) | (0 if self.expires is None else _EXPIRES)
        version, nonce = bytes.fromhex(self.version), bytes.fromhex(self.write)[:8]
        return _HEADER.pack(_FORMAT, flags, version, nonce, self.expires or 0.0, self.mark) + (self.payload or b"")

    def is_live(self, now: float) -> bool:
        """Return whether there is a value that has not expired."""
        return self.payload is not None and (self.expires is None or self.expires > now)


def decode_envelope(stored: bytes) -> Envelope:
    """Return the envelope of stored bytes; `write` is the part of the id that is stored.

    Args:
        stored: what `Envelope.encode` returned.

    Raises:
        Corrupt: they are something else.

    """
    try:
        form, flags, version, nonce, expires, mark = _HEADER.unpack_from(stored)
    except struct.error as error:
        message = "a record is shorter than its header"
        raise Corrupt(message) from error
    if form != _FORMAT:
        message = f"a record has format {form}, this holdall knows format {_FORMAT}"
        raise Corrupt(message)
    payload = stored[HEADER_BYTES:] if flags & _HAS_VALUE else None
    return Envelope(nonce.hex(), version.hex(), expires if flags & _EXPIRES else None, mark, payload)
