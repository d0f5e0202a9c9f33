"""Parsing of storage URLs and of the options in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, unquote_plus

from holdall.errors import ConfigError
from holdall.hints import did_you_mean, hint_of_place
from holdall.keys import is_text

if TYPE_CHECKING:
    from holdall.spi import Option

__all__ = ["Url", "parse_options", "parse_url"]

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?"
)
_PASSWORD = re.compile(r"(://[^:/@?#]*:)[^?#]*(@)")
_SECRET_OPTION = re.compile(r"([?&][^=&]*(?:password|secret|token|key)[^=&]*=)[^&#]*", re.IGNORECASE)
_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})
_WANTED: Mapping[type, str] = {
    bool: "true or false (it is of type bool)",
    int: "a whole number (it is of type int)",
    float: "a number (it is of type float)",
    str: "text (it is of type str)",
}


@dataclass(frozen=True, slots=True, repr=False)
class Url:
    """A parsed storage URL; its repr and str hide passwords.

    Attributes:
        text: the URL as it was given, secrets included.
        scheme: the part before "://", lower case.
        authority: the part up to the first slash, percent-decoded, its case kept.
        path: the rest up to the "?", percent-decoded, with its first slash.
        query: the options, percent-decoded.

    """

    text: str
    scheme: str
    authority: str
    path: str
    query: Mapping[str, str]

    def __str__(self) -> str:
        """Return the URL without passwords."""
        return _SECRET_OPTION.sub(r"\1***", _PASSWORD.sub(r"\1***\2", self.text))

    __repr__ = __str__


def parse_url(text: str) -> Url:
    """Parse a storage URL.

    Args:
        text: such as `sqlite:///app.db?durability=relaxed`.

    Raises:
        ConfigError: it is not a URL, or names an option twice.

    """
    if not is_text(text):
        message = "the storage URL holds a lone surrogate, which is no Unicode text"
        raise ConfigError(message)
    match = _URL.fullmatch(text)
    if match is None or text != text.strip():
        what = "is not of the form scheme://place?option=value"
        if match is not None:
            what = "has white space around it"
        elif "#" in text:
            what = "has a '#': write it as %23"
        elif "://" not in text:
            what += f"; {hint_of_place(text)}"
        message = f"the storage URL {what}"
        raise ConfigError(message)
    try:
        return Url(
            text=text,
            scheme=match["scheme"].lower(),
            authority=unquote(match["authority"], errors="strict"),
            path=unquote(match["path"], errors="strict"),
            query=_parse_query(match["query"] or ""),
        )
    except UnicodeDecodeError:
        message = "the storage URL has a % that stands for no UTF-8: write a % itself as %25"
        raise ConfigError(message) from None


def _parse_query(query: str) -> dict[str, str]:
    options: dict[str, str] = {}
    if "@" in query:
        message = "the storage URL has an '@' behind its '?': write ? and @ in a password or option as %3F and %40"
        raise ConfigError(message)
    for part in filter(None, query.split("&")):
        name, separator, value = part.partition("=")
        name = unquote_plus(name, errors="strict")
        if not separator:
            message = "an option of the storage URL has no value: write name=value"
            raise ConfigError(message)
        if name in options:
            message = f"option {name!r} stands twice in the storage URL: keep one"
            raise ConfigError(message)
        options[name] = unquote_plus(value, errors="strict")
    return options


def parse_options(adapter: str, declared: Iterable[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Check options against those an adapter declares, and fill in the defaults.

    Args:
        adapter: name of the adapter, for errors.
        declared: the options it has.
        given: the options of the URL and the configuration, as text or already typed.

    Returns:
        A value for every declared option.

    Raises:
        ConfigError: an option is unknown or its value is not of its kind; the message names the nearest valid one.

    """
    known = {option.name: option for option in declared}
    for name in given:
        if name not in known:
            raise ConfigError(_unknown(adapter, name, list(known)))
    return {name: _typed(option, given[name]) if name in given else option.default for name, option in known.items()}


def _unknown(adapter: str, name: str, known: list[str]) -> str:
    if name == "timeout":
        return "timeout is no option of a URL: pass timeout= to the call, or set it in the table of the configuration"
    hint = did_you_mean(name, known, f"it has {', '.join(sorted(known)) or 'none'}")
    return f"adapter {adapter!r} has no option {name!r}: {hint}"


def _typed(option: Option, value: Any) -> Any:
    try:
        typed = _boolean(value) if option.kind is bool else option.kind(value)
    except ValueError as error:
        message = f"option {option.name!r} must be {_WANTED[option.kind]}"
        raise ConfigError(message) from error
    if option.choices and typed not in option.choices:
        hint = did_you_mean(str(typed), option.choices, "")
        message = f"option {option.name!r} must be one of {', '.join(option.choices)}; {hint}".rstrip("; ")
        raise ConfigError(message)
    return typed


def _boolean(value: Any) -> bool:
    text = str(value).lower()
    if text not in _TRUE | _FALSE:
        message = f"{text} is neither true nor false"
        raise ValueError(message)
    return text in _TRUE
