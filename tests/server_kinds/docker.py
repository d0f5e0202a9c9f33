"""Servers in containers, where there is a daemon and testcontainers is installed."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from collections.abc import Iterator
from typing import Any

from tests.server_kinds.common import Unobtainable


@contextlib.contextmanager
def container(module: str, name: str, *arguments: Any, **named: Any) -> Iterator[Any]:
    """Give a running container.

    Args:
        module: the module of testcontainers.
        name: the class in it.
        arguments: those of the class.
        named: those of the class.

    Raises:
        Unobtainable: no testcontainers, no daemon, or no image.

    """
    if importlib.util.find_spec("testcontainers") is None:
        raise Unobtainable("no testcontainers for Docker")
    with contextlib.ExitStack() as stack:
        try:  # making one already asks for the daemon
            made = getattr(importlib.import_module(f"testcontainers.{module}"), name)(*arguments, **named)
            started = stack.enter_context(made)
        except Exception as error:
            raise Unobtainable(f"no Docker ({type(error).__name__})") from error
        yield started
