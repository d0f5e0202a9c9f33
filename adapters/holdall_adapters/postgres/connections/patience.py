"""Keeps every wait of a connection within a deadline.

The server's own statement_timeout does not help where its reply gets lost, or where a pooler forbids to set it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

__all__ = ["Silent", "keep_within"]

_DEADLINE = "holdall_deadline"


class Silent(Exception):
    """The server said nothing until the time was up; the connection is closed."""


def keep_within(connection: Any, deadline: float | None, clock: Callable[[], float]) -> None:
    """Let a connection wait for its server no longer than until a deadline.

    Args:
        connection: a connection of psycopg, of either kind.
        deadline: a moment of the clock, or None for no bound.
        clock: returns seconds.

    """
    if not hasattr(connection, _DEADLINE):
        _watch_over(connection, clock)
    setattr(connection, _DEADLINE, deadline)


def _watch_over(connection: Any, clock: Callable[[], float]) -> None:
    unbounded = connection.wait

    def wait(generator: Any, *arguments: Any, **named: Any) -> Any:
        deadline = getattr(connection, _DEADLINE)
        if deadline is None:
            return unbounded(generator, *arguments, **named)
        return unbounded(_until(deadline, clock, generator, connection), *arguments, **named)

    connection.wait = wait


def _until(
    deadline: float, clock: Callable[[], float], generator: Generator[Any, Any, Any], connection: Any
) -> Generator[Any, Any, Any]:
    """Pass on what a generator of psycopg waits for, and what is ready, until a moment."""
    try:
        wanted = next(generator)
        while True:
            ready = yield wanted
            if not ready and clock() >= deadline:
                connection.pgconn.finish()
                raise Silent
            wanted = generator.send(ready)
    except StopIteration as end:
        return end.value
