"""A function that opens a `Backend` of the SPI: holdall derives a store and a lock from what it returns."""

from __future__ import annotations

import inspect
import itertools
import threading
from collections.abc import Callable
from typing import Any

from holdall import ConfigError, hookimpl, plugins
from holdall.drive import drive
from holdall.spi import Adapter, Backend, Capabilities, InputOutput, Target

__all__ = ["is_backend", "known_url", "serve"]

_PRIMITIVES = ("get", "put", "delete", "scan", "close")

_numbers = itertools.count(1)
_urls: dict[Any, str] = {}
_turn = threading.Lock()


def is_backend(thing: Any) -> bool:
    """Tell whether something has the primitives of a `Backend`, and is no store."""
    if not all(callable(getattr(thing, name, None)) for name in _PRIMITIVES) or hasattr(thing, "append"):
        return False
    return len(inspect.signature(thing.get).parameters) == 1


def known_url(identity: Any) -> str | None:
    """Return the URL under which `serve` serves something, None if it does not."""
    return _urls.get(identity)


def serve(identity: Any, make: Callable[[], Backend], first: Any) -> str:
    """Return a URL under which holdall opens what a function makes.

    Args:
        identity: what tells this function from others.
        make: opens the backend, again for every handle.
        first: one that it has made; it is closed. Its `capabilities` are those of them all, and its `io`, where there
            is one, says how its primitives wait: "none", "blocking" or "suspending".

    Raises:
        ConfigError: it does not say what it can do.

    """
    capabilities: Any = getattr(first, "capabilities", None)
    waits: InputOutput = getattr(first, "io", "blocking")
    if not isinstance(capabilities, Capabilities):
        message = f"{type(first).__name__} needs an attribute `capabilities` of type holdall.Capabilities"
        raise ConfigError(message)
    with _turn:
        if identity not in _urls:
            scheme = f"backend-{next(_numbers)}"
            plugins.register(_Plugin(scheme, make, capabilities, waits))
            _urls[identity] = f"{scheme}://given"
    drive(first.close())
    return _urls[identity]


class _Plugin:
    """Brings the backend as an adapter."""

    def __init__(
        self, scheme: str, make: Callable[[], Backend], capabilities: Capabilities, waits: InputOutput
    ) -> None:
        self._adapter = Adapter(
            name=scheme,
            schemes=(scheme,),
            summary="A backend that a function opens.",
            capabilities=capabilities,
            io=waits,
            backend=self._open,
        )
        self._make = make

    async def _open(self, _: Target) -> Backend:
        return self._make()

    @hookimpl
    def holdall_adapter(self) -> Adapter:
        """Return the description of the adapter."""
        return self._adapter
