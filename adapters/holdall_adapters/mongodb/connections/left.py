"""Clients that nobody closes: those that are thrown away, and those that come with a fork.

PyMongo expects a client to be closed, in its loop. A handle that is thrown away cannot do that, and a forked child must
not: it has the tasks of its parent, no loop that runs them, and shares the sockets and the selector. Here the first are
closed without a loop, and the others are kept as they are until the child ends, so that nothing complains of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import weakref
from collections.abc import Iterator
from typing import Any

__all__ = ["mind"]

_clients: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
"""By their ids: clients of the same server are equal."""


def mind(client: Any) -> None:
    """See to a client that is connected, for as long as it lives.

    Args:
        client: a client that a handle made, of either kind.

    """
    _clients[id(client)] = client
    weakref.finalize(client, _close_sockets, getattr(client, "_topology", None), os.getpid()).atexit = False


def _close_sockets(topology: Any, pid: int) -> None:
    """Close the sockets of a client that was thrown away, unless they are those of the process that forked this one."""
    if os.getpid() != pid:
        return
    for server in list(getattr(topology, "_servers", {}).values()):
        for pool in _pools(server):
            for connection in list(getattr(pool, "conns", ())):
                _close_socket(connection)


def _pools(server: Any) -> Iterator[Any]:
    monitor = getattr(server, "_monitor", None)
    yield getattr(server, "pool", None)
    yield getattr(monitor, "_pool", None)
    yield getattr(getattr(monitor, "_rtt_monitor", None), "_pool", None)


def _close_socket(connection: Any) -> None:
    with contextlib.suppress(AttributeError, TypeError, IndexError, OSError):
        inner: Any = connection.conn.conn
        if hasattr(inner, "close"):  # of a client that blocks
            inner.close()
            return
        transport: Any = inner[0]
        if not transport._loop.is_closed():  # noqa: SLF001 - it does not tell otherwise
            transport.abort()
            return
        transport._sock.close()  # noqa: SLF001 - without a loop there is no other way
        transport._sock = None  # noqa: SLF001 - else the transport complains that it was not closed


def _keep_as_they_are() -> None:
    """Let the tasks of the parent's clients live until this child ends, and never be cancelled or closed."""
    for client in list(_clients.values()):
        loop = getattr(client, "_loop", None)
        _keep_for_ever(client)
        for task in () if loop is None else asyncio.all_tasks(loop):
            if _is_of_driver(task):
                _keep_for_ever(task)


def _is_of_driver(task: asyncio.Task[Any]) -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    return "pymongo" in getattr(code, "co_filename", "") or task.get_name().startswith("pymongo")


def _keep_for_ever(thing: Any) -> None:
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))  # no list outlives the end of the interpreter


os.register_at_fork(after_in_child=_keep_as_they_are)
