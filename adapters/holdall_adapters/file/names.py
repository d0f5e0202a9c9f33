"""How scopes and keys become names of files: one rule for all, injective on every file system.

A name's UTF-8 is cut into parts of 80 bytes. In each part the lower-case letters, digits, `-` and `_` stand for
themselves and every other byte is `%` and two lower-case hexadecimal digits, so a file system that folds case or
normalises Unicode cannot merge two names. A part that is followed by another ends in `+` and is a folder; the last one
never does, so no file has the name of a folder, and `.` and `/` cannot occur.
"""

from __future__ import annotations

import functools
import re
from urllib.parse import unquote_to_bytes

__all__ = ["CONTINUED", "LONGEST_PART", "MOST_BYTES", "bytes_of_part", "part_of", "parts_of"]

CONTINUED = "+"
MOST_BYTES = 80
LONGEST_PART = 3 * MOST_BYTES + len(CONTINUED)

_KEPT = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_")
_TEXT_OF = [chr(byte) if byte in _KEPT else f"%{byte:02x}" for byte in range(256)]
_PLAIN = re.compile(rf"[a-z0-9_-]{{1,{MOST_BYTES}}}")
# After a % only the bytes that do not stand for themselves: whatever matches is what `part_of` would have made.
_PART = re.compile(r"(?:[a-z0-9_-]|%(?:[0148-9a-f][0-9a-f]|2[0-9a-cef]|3[a-f]|5[0-9a-e]|60|7[b-f]))+")


@functools.lru_cache(1024)
def parts_of(name: str) -> tuple[str, ...]:
    """Return the names of the folders and the file that stand for a scope or key.

    Args:
        name: a scope or key.

    """
    if _PLAIN.fullmatch(name):
        return (name,)
    encoded = name.encode()
    texts = [part_of(encoded[start : start + MOST_BYTES]) for start in range(0, len(encoded), MOST_BYTES)]
    return (*(text + CONTINUED for text in texts[:-1]), texts[-1])


def part_of(text: bytes) -> str:
    """Return the part that stands for bytes, without a `+`.

    Args:
        text: at most 80 bytes of a name.

    """
    return "".join(map(_TEXT_OF.__getitem__, text))


def bytes_of_part(part: str) -> bytes | None:
    """Return the bytes that a part stands for, without its `+`, or None if no name has this part.

    Args:
        part: the name of a file or folder.

    """
    text = part.removesuffix(CONTINUED)
    if not _PART.fullmatch(text):
        return None
    found = unquote_to_bytes(text) if "%" in text else text.encode()
    if len(found) > MOST_BYTES or (text is not part and len(found) != MOST_BYTES):
        return None
    return found
