"""Clients of MongoDB: those that are made here, and those that the caller brings."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from holdall.errors import ConfigError

__all__ = ["check_kind", "make_client", "make_sibling"]

_KINDS = {
    False: ("MongoClient",),
    True: ("AsyncMongoClient", "AsyncIOMotorClient"),
}


def make_client(pymongo: Any, address: str, settings: Mapping[str, Any], timeout: float, *, suspending: bool) -> Any:
    """Return a client.

    Args:
        pymongo: the module.
        address: a connection string.
        settings: its options.
        timeout: seconds that bound every command, and the wait for a server.
        suspending: whether its commands are awaited.

    Raises:
        ConfigError: PyMongo does not take the connection string.

    """
    make = _quiet(pymongo.AsyncMongoClient if suspending else pymongo.MongoClient)
    milliseconds = max(1, round(timeout * 1000))
    try:
        return make(
            address,
            **settings,
            serverSelectionTimeoutMS=milliseconds,
            connectTimeoutMS=milliseconds,
            timeoutMS=milliseconds,
            waitQueueTimeoutMS=milliseconds,
            tz_aware=False,
        )
    except (pymongo.errors.PyMongoError, OSError, ValueError, TypeError) as error:
        told = "" if isinstance(error, pymongo.errors.InvalidURI) else f": {error}"  # that may show the password
        message = f"PyMongo does not take the URL or its options ({type(error).__name__}{told})"
        raise ConfigError(message) from error


@functools.cache
def _quiet(kind: type[Any]) -> type[Any]:
    """Return a kind of client that says nothing when it is thrown away: a handle that is, closes nothing either."""

    def say_nothing(_: Any) -> None:
        """Leave the sockets to the garbage collector."""

    return type(kind.__name__, (kind,), {"__del__": say_nothing})


def check_kind(client: Any, *, suspending: bool) -> Any:
    """Return a client of the caller's, if it is of the kind that the handle needs.

    Args:
        client: the client.
        suspending: whether the handle is asynchronous.

    Raises:
        ConfigError: it is of another kind.

    """
    names = {kind.__name__ for kind in type(client).__mro__}
    if not names.intersection(_KINDS[suspending]):
        side = "an asynchronous" if suspending else "a synchronous"
        kinds = " or an ".join(_KINDS[suspending])
        message = f"{side} handle on MongoDB takes a {kinds} as client, not a {type(client).__name__}"
        raise ConfigError(message)
    return client


def make_sibling(pymongo: Any, client: Any, address: str, settings: Mapping[str, Any], timeout: float) -> Any:
    """Return a client that blocks, for the thread that renews leases: it reaches what a client of the caller's reaches.

    Args:
        pymongo: the module.
        client: a client of the caller's.
        address: the URL, where the client does not tell how it was made.
        settings: its options.
        timeout: seconds that bound every command.

    """
    is_of_motor = "AsyncIOMotorClient" in {kind.__name__ for kind in type(client).__mro__}
    inner = client.delegate if is_of_motor else client  # others take every name for one of a database
    made_with = getattr(inner, "_init_kwargs", None)
    if not isinstance(made_with, dict):
        return make_client(pymongo, address, settings, timeout, suspending=False)
    return _quiet(pymongo.MongoClient)(**made_with)
