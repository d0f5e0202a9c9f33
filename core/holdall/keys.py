"""The rules for scopes and keys, and their encoding for a backend that is one ordered keyspace of bytes.

A scope and a key are joined injectively and in code-point order: the scope's UTF-8 with every zero byte followed by
0xFF, a terminator of 0x00 0x01, then the key's UTF-8. UTF-8 sorts as the code points do and never holds 0xFF, so a
prefix of a key is a prefix of the encoding and no scope reaches into another. (The escape is that of FoundationDB's
tuple layer.)
"""

from __future__ import annotations

import re

from holdall.errors import InvalidKey, TooLarge

__all__ = [
    "TERMINATOR",
    "check_name",
    "decode_text",
    "encode_text",
    "is_text",
    "prefix_end",
    "split_text",
    "text_after",
]

TERMINATOR = b"\x00\x01"
_ESCAPED_ZERO = b"\x00\xff"
_LAST_BEFORE_SURROGATES = 0xD7FF
_FIRST_AFTER_SURROGATES = 0xE000
_LAST_CODE_POINT = 0x10FFFF
_SURROGATE = re.compile("[\ud800-\udfff]")


def is_text(text: str) -> bool:
    """Return whether a str is Unicode text, without lone surrogates.

    Args:
        text: any str.

    """
    return text.isascii() or _SURROGATE.search(text) is None


def check_name(what: str, name: object, max_bytes: int, *, empty: bool = False) -> str:
    """Check a scope, key, prefix or batch id and return it as a plain str.

    Args:
        what: how to call it in an error, such as "scope".
        name: what the caller passed.
        max_bytes: its longest UTF-8.
        empty: whether "" is allowed, as it is for a prefix.

    Returns:
        The name as an exact str.

    Raises:
        InvalidKey: it is no str, empty, or holds lone surrogates.
        TooLarge: its UTF-8 is longer than `max_bytes`.

    """
    if not isinstance(name, str):
        message = f"{what} must be a str, not {type(name).__name__}: convert it with str() if that is what you mean"
        raise InvalidKey(message)
    if not name and not empty:
        message = f'{what} must not be empty; there is no default, "" would be one'
        raise InvalidKey(message)
    if name.isascii():
        size = len(name)
    else:
        if not is_text(name):
            message = f"{what} holds a lone surrogate, which is no Unicode text; decode bytes as UTF-8 before"
            raise InvalidKey(message)
        size = len(name.encode())
    if size > max_bytes:
        what_bytes = f"{what} (bytes of UTF-8)"
        raise TooLarge(what_bytes, max_bytes, size)
    return name if type(name) is str else str.__str__(name)


def text_after(prefix: str) -> str | None:
    """Return the first text after all that begin with a prefix, or None if there is none.

    Args:
        prefix: any text; surrogates are skipped, since no text holds them.

    """
    while prefix:
        last = ord(prefix[-1])
        prefix = prefix[:-1]
        if last < _LAST_CODE_POINT:
            following = _FIRST_AFTER_SURROGATES if last == _LAST_BEFORE_SURROGATES else last + 1
            return prefix + chr(following)
    return None


def prefix_end(prefix: bytes) -> bytes | None:
    """Return the first bytes after all that begin with a prefix, or None if there are none.

    Args:
        prefix: any bytes.

    """
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else None


def encode_text(text: str) -> bytes:
    """Return text as bytes that end themselves and sort as the text does.

    Args:
        text: text that `check_name` accepted.

    """
    return text.encode().replace(b"\x00", _ESCAPED_ZERO) + TERMINATOR


def decode_text(encoded: bytes) -> str:
    """Return the text of `encode_text`, its terminator taken off.

    Args:
        encoded: what `encode_text` returned, without the terminator.

    """
    return encoded.replace(_ESCAPED_ZERO, b"\x00").decode()


def split_text(encoded: bytes) -> tuple[str, bytes]:
    """Return the text at the start of an encoded key, and the rest.

    Args:
        encoded: bytes that begin with what `encode_text` returned.

    """
    text, _, rest = encoded.partition(TERMINATOR)
    return decode_text(text), rest
