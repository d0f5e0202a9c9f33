"""The arguments of a tool call as a model wrote them: any JSON value, within bounds; what is beyond them is named."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from holdall.sessions.shapes import is_list, is_map

__all__ = ["ARGUMENTS_ERRORS", "bounded_arguments"]

ARGUMENTS_ERRORS = frozenset(
    {
        "cyclic_value",
        "duplicate_key",
        "incomplete",
        "invalid_arguments",
        "invalid_encoding",
        "invalid_json",
        "invalid_key",
        "non_finite_number",
        "non_json_value",
        "number_too_large",
        "too_deep",
        "too_large",
        "too_many_nodes",
    }
)
"""Why a call has no arguments, in a word."""
_MOST_DEEP = 64
_MOST_NODES = 10_000
_MOST_BYTES = 8 * 2**20
_MOST_BITS = 65_536 * 3.33
"""An integer of that many bits has no more than 65,536 decimal digits."""


class _Beyond(Exception):
    """A bound was passed; the first argument names it."""


class _Measure:
    """Counts what there is in a value."""

    def __init__(self) -> None:
        self.nodes = self.bytes = 0
        self._around: set[int] = set()

    def take(self, value: Any, depth: int) -> None:
        """Take in a value and all that is in it.

        Args:
            value: the value.
            depth: how many containers are around it.

        """
        self.nodes += 1
        if self.nodes > _MOST_NODES:
            raise _Beyond("too_large")
        if is_map(value):
            self._take_container(value, self._values_of(value), depth + 1)
        elif is_list(value):
            self._take_container(value, value, depth + 1)
        else:
            self._take_leaf(value)

    def _take_container(self, value: Any, parts: Iterable[Any], depth: int) -> None:
        if id(value) in self._around:
            raise _Beyond("cyclic_value")
        if depth > _MOST_DEEP:
            raise _Beyond("too_deep")
        self._around.add(id(value))
        for each in parts:
            self.take(each, depth)
        self._around.discard(id(value))

    def _values_of(self, value: Mapping[Any, Any]) -> Iterable[Any]:
        for key, each in value.items():
            if not isinstance(key, str):
                raise _Beyond("invalid_key")
            self._take_leaf(key)
            yield each

    def _take_leaf(self, value: Any) -> None:
        if isinstance(value, str):
            self.bytes += _size_of(value)
            if self.bytes > _MOST_BYTES:
                raise _Beyond("too_large")
        elif isinstance(value, float) and not math.isfinite(value):
            raise _Beyond("non_finite_number")
        elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise _Beyond("number_too_large")
        elif not (value is None or isinstance(value, bool | int | float)):
            raise _Beyond("non_json_value")


def _size_of(text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise _Beyond("invalid_encoding") from None


def bounded_arguments(value: Any) -> tuple[Any, str | None]:
    """Return arguments as they are, or None and why they cannot be taken.

    Args:
        value: the arguments.

    """
    try:
        _Measure().take(value, 0)
    except _Beyond as beyond:
        return None, str(beyond)
    return value, None
