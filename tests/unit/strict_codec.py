"""The reference for the codec: what it should do, written for reading, on the standard library alone.

One recursive check of every rule, then `json.dumps`. Nothing is shared with `holdall.codec`.
"""

from __future__ import annotations

import enum
import json
import math
import re
from typing import Any

TOO_WIDE = 10**4300
SURROGATE = re.compile("[\ud800-\udfff]")


class RefusedError(Exception):
    """A value is not JSON; `path` names the place."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def encode(value: object) -> bytes:
    return json.dumps(checked(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def decode(payload: bytes) -> object:
    return json.loads(payload)


def checked(value: Any, path: str = "$", depth: int = 1) -> object:
    if isinstance(value, enum.Enum):
        raise RefusedError(path)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return checked_text(value, path)
    if isinstance(value, int):
        return checked_number(int(value), abs(value) < TOO_WIDE, path)
    if isinstance(value, float):
        return checked_number(float(value), math.isfinite(value), path)
    if not isinstance(value, dict | list | tuple) or depth > 128:
        raise RefusedError(path)
    if isinstance(value, dict):
        return {checked_key(key, path): checked(value[key], path + step(key), depth + 1) for key in value}
    return [checked(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]


def checked_text(text: str, path: str) -> str:
    if SURROGATE.search(text):
        raise RefusedError(path)
    return "".join(text)


def checked_number(number: float, valid: bool, path: str) -> float:
    if not valid:
        raise RefusedError(path)
    return number


def checked_key(key: object, path: str) -> str:
    if isinstance(key, enum.Enum) or not isinstance(key, str):
        raise RefusedError(path)
    return checked_text(key, path + step(key))


def step(key: object) -> str:
    text = str(key)
    if text.isidentifier() and len(text) <= 40:
        return "." + text
    shown = text if len(text) <= 40 else text[:37] + "..."
    return "[" + json.dumps(shown, ensure_ascii=not shown.isprintable()) + "]"


def exact(value: Any) -> object:
    """A form in which two values are equal only if they are the same in type, sign of zero and key order."""
    if isinstance(value, dict):
        return dict, [(type(key), key, exact(item)) for key, item in value.items()]
    if isinstance(value, list):
        return list, [exact(item) for item in value]
    return type(value), value.hex() if isinstance(value, float) else value
