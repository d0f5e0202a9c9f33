"""What a JSON value is, told to type checkers too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

__all__ = ["is_list", "is_map"]


def is_map(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Tell whether a value is a map.

    Args:
        value: the value.

    """
    return isinstance(value, Mapping)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Tell whether a value is a list.

    Args:
        value: the value.

    """
    return isinstance(value, list)
