"""The one codec of all adapters: values to JSON bytes and back, exactly.

orjson alone is wrong: it writes NaN as null, lets enums and UUIDs pass, and reads an int outside 64 bits as a float. So
`encode` lets it see only what a walk over exact types has passed; everything else is first made plain, or refused with
its path. Ints that orjson refuses are written by the standard library behind one leading space, and the space is how
`decode` knows, without searching the payload for digits, that orjson must not read it.

A payload is one line of UTF-8. Equal values may have different payloads (key order), so compare by `digest`.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

import orjson

from holdall.errors import Corrupt, InvalidValue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["MAX_DEPTH", "MAX_INT_DIGITS", "Json", "decode", "digest", "encode"]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_DEPTH = 128
MAX_INT_DIGITS = 4300

_Step: TypeAlias = "str | int"
# Where a value is: the place of its container, that container, and its key or index there. The root's place is None.
_Place: TypeAlias = "tuple[_Place, object, _Step] | None"

_WIDE_MARK = b" "
_TOO_WIDE = 10**MAX_INT_DIGITS
# No interpreter can be told to refuse ints of up to 640 digits.
_DIGITS_ALWAYS_READ = 640
_LONGEST_KEY_SHOWN = 40
_LONGEST_PATH_SHOWN = 200


def encode(value: object) -> bytes:
    """Write a value as one line of JSON.

    Args:
        value: None, bool, int, finite float, str, list, tuple or dict with str keys, or subclasses of these but enums.

    Returns:
        The payload, for `decode`; it never holds a newline.

    Raises:
        InvalidValue: the value cannot be stored exactly; `path` names the place.

    """
    payload = _encode_plain(value)
    return _encode_wide(_made_plain(value)) if payload is None else payload


def decode(payload: bytes) -> Json:
    """Read what `encode` wrote.

    Args:
        payload: the bytes.

    Returns:
        The value, with tuples as lists and everything else exactly as it was.

    Raises:
        Corrupt: the payload is not JSON.

    """
    try:
        if payload[:1] == _WIDE_MARK:
            return cast("Json", _WIDE_DECODER.decode(str(payload, "utf-8")))
        value: Json = orjson.loads(payload)
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"a payload of {len(payload):,} bytes is not JSON: {error}") from error
    return value


def digest(values: Iterable[object]) -> str:
    """Hash values by what `decode` would give back, whatever the order of their keys.

    Args:
        values: values that `encode` accepts; their order counts.

    Returns:
        64 hex digits, the same on every platform and with every version of the libraries.

    Raises:
        InvalidValue: a value cannot be stored exactly; `path` names the place in it.

    """
    lines = hashlib.sha256()
    for value in values:
        plain = _made_plain(value) if _encode_plain(value) is None else value
        lines.update(_CANONICAL_ENCODER.encode(plain).encode() + b"\n")
    return lines.hexdigest()


# ---------------------------------------------------------------------------------------------------------- fast path


def _encode_plain(value: Any) -> bytes | None:
    # A dict at the top, the usual case, is spared a call: that is a third of the time of a small one.
    kind = type(value)  # pyright: ignore[reportUnknownVariableType]
    if _is_plain(value.values(), MAX_DEPTH) if kind is dict else _is_plain((value,), MAX_DEPTH + 1):
        try:
            return orjson.dumps(value)
        except TypeError:  # a key that is no str, a lone surrogate, or an int outside 64 bits
            return None
    return None


def _is_plain(values: Iterable[Any], room: int) -> bool:
    # The hot loop. Keys, surrogates and wide ints are left to orjson, which refuses them. Enums must never reach it:
    # it asks them for their value, and crashes the process if that raises.
    if not room:
        return False
    room -= 1
    for value in values:
        kind = type(value)  # pyright: ignore[reportUnknownVariableType]
        if kind is str or kind is int or value is None:
            continue
        if kind is dict:
            if not _is_plain(value.values(), room):
                return False
        elif kind is list or kind is tuple:
            if not _is_plain(value, room):
                return False
        elif kind is not bool and (kind is not float or value - value):  # of what is not finite, that is NaN
            return False
    return True


# -------------------------------------------------------------------------------------------------------- strict path


def _encode_wide(plain: Json) -> bytes:
    try:
        return orjson.dumps(plain)
    except TypeError:  # an int outside 64 bits
        return _WIDE_MARK + _WIDE_ENCODER.encode(plain).encode()


def _made_plain(value: object, place: _Place = None, room: int = MAX_DEPTH) -> Json:
    # isinstance() would ask the value for its __class__, which may lie or raise.
    kind: type[object] = type(value)
    if not issubclass(kind, Enum):
        for base, convert in _CONVERTERS:
            if issubclass(kind, base):
                return convert(value, place, room)
    raise _invalid(f"{_name(kind)}: {_mend(kind)}", place)


def _plain_constant(value: Json, _place: _Place, _room: int) -> Json:
    return value


def _plain_text(value: str, place: _Place, _room: int) -> Json:
    if _has_surrogate(value):
        message = "str with a lone surrogate: store text.encode(errors='replace').decode(), or decode it right"
        raise _invalid(message, place)
    return str.__str__(value)


def _plain_int(value: int, place: _Place, _room: int) -> Json:
    number = int.__int__(value)
    if abs(number) >= _TOO_WIDE:
        raise _invalid(f"int of more than {MAX_INT_DIGITS:,} digits: store hex(value)", place)
    try:
        int.__repr__(number)
    except ValueError:
        message = "int of more digits than sys.get_int_max_str_digits(): raise that limit or store hex(value)"
        raise _invalid(message, place) from None
    return number


def _plain_float(value: float, place: _Place, _room: int) -> Json:
    number = float.__float__(value)
    if number - number:
        raise _invalid("float that is NaN or infinite: store None or a str", place)
    return number


def _plain_list(value: object, place: _Place, room: int) -> Json:
    if not room:
        raise _too_deep(value, place)
    items = _list_items(value) if issubclass(type(value), list) else _tuple_items(value)
    return [_made_plain(item, (place, value, index), room - 1) for index, item in enumerate(items)]


def _plain_dict(value: object, place: _Place, room: int) -> Json:
    if not room:
        raise _too_deep(value, place)
    pairs = _ordered_pairs(value) if issubclass(type(value), OrderedDict) else _dict_pairs(value)
    plain: dict[str, Json] = {}
    for key, item in pairs:
        name = _plain_key(key, place, value)
        if name in plain:
            raise _invalid("dict with two keys that are the same text: rename one", (place, value, name))
        plain[name] = _made_plain(item, (place, value, name), room - 1)
    return plain


# The methods of the builtins, so that those of a subclass are not called. An OrderedDict keeps its order apart from the
# dict that it is.
_list_items: Callable[[object], Iterable[object]] = list.__dict__["__iter__"]
_tuple_items: Callable[[object], Iterable[object]] = tuple.__dict__["__iter__"]
_dict_pairs: Callable[[object], Iterable[tuple[object, object]]] = dict.__dict__["items"]
_ordered_pairs: Callable[[object], Iterable[tuple[object, object]]] = OrderedDict.__dict__["items"]


def _plain_key(key: object, place: _Place, container: object) -> str:
    kind: type[object] = type(key)
    if issubclass(kind, Enum):
        raise _invalid(f"key of type {_name(kind)}, an enum: use key.value", place)
    if not issubclass(kind, str):
        raise _invalid(f"key of type {_name(kind)}: keys are str; use str(key)", place)
    name = str.__str__(cast("str", key))
    if _has_surrogate(name):
        raise _invalid("key with a lone surrogate: use Unicode text", (place, container, name))
    return name


def _has_surrogate(text: str) -> bool:
    try:
        str.encode(text)
    except UnicodeEncodeError:
        return True
    return False


_CONVERTERS: tuple[tuple[type[object], Callable[[Any, _Place, int], Json]], ...] = (
    (str, _plain_text),
    (bool, _plain_constant),
    (int, _plain_int),
    (float, _plain_float),
    (dict, _plain_dict),
    (list, _plain_list),
    (tuple, _plain_list),
    (type(None), _plain_constant),
)


# ----------------------------------------------------------------------------------------------- what is wrong, where


def _invalid(what: str, place: _Place) -> InvalidValue:
    path = _path([step for _, step in _steps(place)])
    shown = path
    if len(path) > _LONGEST_PATH_SHOWN:
        half = _LONGEST_PATH_SHOWN // 2
        shown = f"{path[:half]}...{path[-half:]}"
    return InvalidValue(f"{what} (at {shown})", path)


def _too_deep(value: object, place: _Place) -> InvalidValue:
    ancestors: set[int] = set()
    at: _Place = None
    for container, step in [*_steps(place), (value, "")]:
        if id(container) in ancestors:
            return _invalid("cycle, a container inside itself: store an id in its place", at)
        ancestors.add(id(container))
        at = (at, container, step)
    return _invalid(f"more than {MAX_DEPTH} nested containers: store parts of it under keys of their own", place)


def _steps(place: _Place) -> list[tuple[object, _Step]]:
    steps: list[tuple[object, _Step]] = []
    while place is not None:
        place, container, step = place
        steps.append((container, step))
    return steps[::-1]


def _path(steps: Iterable[_Step]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else _key_shown(step) for step in steps)


def _key_shown(key: str) -> str:
    if len(key) > _LONGEST_KEY_SHOWN:
        key = key[: _LONGEST_KEY_SHOWN - 3] + "..."
    elif key.isidentifier():
        return f".{key}"
    return f"[{json.dumps(key, ensure_ascii=not key.isprintable())}]"


# By class name, so that nothing is imported for the sake of a message. The nearest base counts.
_MENDS = {
    "BaseModel": "store value.model_dump(mode='json')",
    "Decimal": "store str(value)",
    "Fraction": "store str(value)",
    "PurePath": "store str(value)",
    "UUID": "store str(value)",
    "bytearray": "store base64.b64encode(value).decode()",
    "bytes": "store base64.b64encode(value).decode()",
    "complex": "store [value.real, value.imag]",
    "date": "store value.isoformat()",
    "datetime": "store value.isoformat()",
    "deque": "store list(value)",
    "frozenset": "store sorted(value)",
    "generator": "store list(value)",
    "generic": "store value.item()",
    "mappingproxy": "store dict(value)",
    "memoryview": "store base64.b64encode(value).decode()",
    "ndarray": "store value.tolist()",
    "range": "store list(value)",
    "set": "store sorted(value)",
    "time": "store value.isoformat()",
    "timedelta": "store value.total_seconds()",
}


# The slots of `type` itself, because a metaclass may have its own idea of a name.
_name = type.__dict__["__name__"].__get__
_bases = type.__dict__["__mro__"].__get__
_attributes = type.__dict__["__dict__"].__get__


def _mend(kind: type[object]) -> str:
    if issubclass(kind, Enum):  # first, because bases such as bytes come before it
        return "an enum member; store value.value"
    for base in _bases(kind):
        if _name(base) in _MENDS:
            return _MENDS[_name(base)]
        if "__dataclass_fields__" in _attributes(base):
            return "a dataclass; store dataclasses.asdict(value)"
    return "store what it consists of: dict, list, str, int, float, bool or None"


# ------------------------------------------------------------------------------------------------- the standard library


def _exact_int(literal: str) -> int:
    digits = literal.lstrip("-")
    if len(digits) > MAX_INT_DIGITS:
        raise ValueError(f"an int has more than {MAX_INT_DIGITS:,} digits")
    number = 0
    for start in range(0, len(digits), _DIGITS_ALWAYS_READ):
        part = digits[start : start + _DIGITS_ALWAYS_READ]
        number = number * 10 ** len(part) + int(part)
    return -number if literal.startswith("-") else number


def _finite_float(literal: str) -> float:
    number = float(literal)
    if number - number:
        raise ValueError("a float is infinite")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_WIDE_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_WIDE_DECODER = json.JSONDecoder(parse_int=_exact_int, parse_float=_finite_float, parse_constant=_no_constant)
_CANONICAL_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True)
