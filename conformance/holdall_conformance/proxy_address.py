"""The server that the URL of a storage names, and the same URL with another server in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import quote, unquote_plus

__all__ = ["Address", "address_in", "redirected"]

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*)://(?P<authority>[^/?#]*)(?P<rest>[^?#]*)(?P<query>\?[^#]*)?")
_PLACE = re.compile(r"(?P<user>.*@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\],%]+)?(?::(?P<port>\d+))?", re.DOTALL)
_PORTS: Mapping[str, int] = {
    "http": 80,
    "https": 443,
    "mongodb": 27017,
    "mysql": 3306,
    "postgres": 5432,
    "postgresql": 5432,
    "redis": 6379,
}
"""Ports that need not be written; a URL of another scheme names a server only with its port."""


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int


def address_in(url: str) -> Address | None:
    """Return where the server of a storage listens: that of an option such as `endpoint_url`, or that of the URL.

    Args:
        url: the URL of the storage.

    """
    found: list[Address] = []
    _rewritten(url, found.append, None)
    return found[0] if found else None


def redirected(url: str, to: Address) -> str:
    """Return the URL of a storage with another server.

    Args:
        url: the URL of the storage.
        to: the server that takes the place of the one that it names.

    Raises:
        ValueError: it names no single server.

    """
    found: list[Address] = []
    text = _rewritten(url, found.append, to)
    if not found:
        message = "the URL names no single server"
        raise ValueError(message)
    return text


def _rewritten(url: str, note: Callable[[Address], None], to: Address | None) -> str:
    match = _URL.fullmatch(url)
    if match is None:
        return url
    query = _rewritten_query(match["query"] or "", note, to)
    if query is not None:
        return f"{url[: match.start('query')]}{query}"
    authority = _rewritten_authority(match["scheme"].lower(), match["authority"], note, to)
    return url if authority is None else f"{match['scheme']}://{authority}{match['rest']}{match['query'] or ''}"


def _rewritten_query(query: str, note: Callable[[Address], None], to: Address | None) -> str | None:
    """Return the options with another server in the first that holds a URL of HTTP; None where none does."""
    parts = query.split("&")
    for number, part in enumerate(parts):
        name, _, value = part.partition("=")
        inner = unquote_plus(value)
        if inner.startswith(("http://", "https://")):
            parts[number] = f"{name}={quote(_rewritten(inner, note, to), safe=':/')}"
            return "&".join(parts)
    return None


def _rewritten_authority(
    scheme: str, authority: str, note: Callable[[Address], None], to: Address | None
) -> str | None:
    match = _PLACE.fullmatch(authority)
    port = int(match["port"]) if match and match["port"] else _PORTS.get(scheme)
    if match is None or match["host"] is None or port is None:
        return None
    note(Address(match["host"].strip("[]"), port))
    return authority if to is None else f"{match['user'] or ''}{to.host}:{to.port}"
