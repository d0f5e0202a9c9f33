"""What a session's record takes, and what of it is kept: JSON with names, texts without white space around them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

from holdall.sessions.errors import SessionError
from holdall.sessions.shapes import is_list, is_map

__all__ = ["InvalidChange", "messages_of", "name_of", "names_of", "number_of", "text_of", "values_of"]

_BLANKS = " \t\n\v\f\r\0"


class InvalidChange(SessionError):
    """A record cannot be changed so; nothing was written.

    Args:
        reason: "invalid", or "not_serializable" for what JSON cannot hold.
        message: what is wrong, for a person.

    """


def name_of(value: Any) -> str:
    """Return a value as a name: numbers by their digits, none as "".

    Args:
        value: the value.

    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def text_of(value: Any) -> str | None:
    """Return a value as text without white space around it, None if nothing is left.

    Args:
        value: the value; bytes are read as UTF-8, with a mark for each that is none.

    """
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else name_of(value)
    return text.strip(_BLANKS) or None


def values_of(values: Any) -> dict[str, Any]:
    """Return variables as JSON, whatever their names are.

    Args:
        values: a map.

    Raises:
        InvalidChange: it is none, or holds what JSON cannot.

    """
    if not is_map(values):
        raise InvalidChange("invalid", f"variables are a map, not {type(values).__name__}")
    return _map(values)


def _map(values: Mapping[Any, Any]) -> dict[str, Any]:
    return {name_of(name): _json(value) for name, value in values.items()}


def _json(value: Any) -> Any:
    if is_map(value):
        return _map(value)
    if isinstance(value, list | tuple):
        return [_json(each) for each in cast("Iterable[Any]", value)]
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise InvalidChange("not_serializable", f"JSON cannot hold {value!r}")


def messages_of(messages: Any, at: str) -> list[dict[str, Any]]:
    """Return messages as JSON, each with the time at which it was said.

    Args:
        messages: a map, a list of maps, or None.
        at: the time for those that have none.

    Raises:
        InvalidChange: one is no map, or holds what JSON cannot.

    """
    found: list[Any] = [] if messages is None else messages if is_list(messages) else [messages]
    if not all(map(is_map, found)):
        raise InvalidChange("invalid", "a message is a map")
    kept = [_map(message) for message in found]
    return [{**message, "at": message.get("at") or at} for message in kept]


def names_of(ids: Any) -> list[str]:
    """Return pieces of evidence as names, without empty ones.

    Args:
        ids: one of them, or a list.

    """
    found: list[Any] = ids if is_list(ids) else [ids]
    return [name for name in map(name_of, found) if name]


def number_of(value: Any) -> int:
    """Return the whole part of a number.

    Args:
        value: the number, its digits, or None for 0.

    Raises:
        InvalidChange: it is none of them.

    """
    try:
        return 0 if value is None else int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidChange("invalid", f"a count is a number, not {value!r}") from error
