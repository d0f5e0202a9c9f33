"""Asynchronous clients that nobody closes: those that are thrown away, and those that come with a fork.

aiohttp expects a session to be closed, in its loop. A handle that is thrown away cannot do that, and a forked child
must not: it shares the sockets. Here the sockets of the first are closed without a loop, and the others are kept as
they are until the child ends, so that nothing complains of them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import weakref
from collections.abc import Iterator
from typing import Any

__all__ = ["mind"]

_clients: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def mind(client: Any) -> None:
    """See to a client that is open, for as long as it lives.

    Args:
        client: a client of aiobotocore that a handle made.

    """
    _clients[id(client)] = client
    weakref.finalize(client, _close, client._endpoint.http_session, os.getpid()).atexit = False  # noqa: SLF001


def _close(http: Any, pid: int) -> None:
    """Close the sockets of a client that was thrown away, unless they are those of the process that forked this one."""
    if os.getpid() != pid:
        return
    for session in _sessions(http):
        connector, session._connector = session._connector, None  # noqa: SLF001 - without a loop there is no other way
        with contextlib.suppress(AttributeError):
            for waiting in list(connector._conns.values()):  # noqa: SLF001 - as above
                for protocol, _ in waiting:
                    _close_socket(protocol.transport)
            for protocol in list(connector._acquired):  # noqa: SLF001 - as above
                _close_socket(protocol.transport)  # of a request that ended with its loop
            connector._conns.clear()  # noqa: SLF001 - as above
            connector._closed = True  # noqa: SLF001 - as above


def _close_socket(transport: Any) -> None:
    if transport is None:
        return
    with contextlib.suppress(AttributeError, OSError, RuntimeError):
        if not transport._loop.is_closed():  # noqa: SLF001 - it does not tell otherwise
            transport.abort()
            return
        transport._sock.close()  # noqa: SLF001 - as above
        transport._sock = None  # noqa: SLF001 - else the transport complains that it was not closed


def _sessions(http: Any) -> Iterator[Any]:
    yield from (getattr(http, "_sessions", None) or {}).values()


def _keep_as_they_are() -> None:
    for client in list(_clients.values()):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(client))  # no list outlives the end of the interpreter


os.register_at_fork(after_in_child=_keep_as_they_are)
