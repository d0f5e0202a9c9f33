"""Calls the functions that open a backend, and finds out what they return."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import holdall
from holdall import ConfigError, HoldallError
from holdall_conformance.absence import Absent
from holdall_conformance.backends import is_backend, known_url, serve

__all__ = ["Opener"]


class Opener:
    """A function that opens a store or a lock, or gives what brings both: a `Backend`, or a URL.

    Args:
        function: takes nothing, or the folder; `timeout` is passed on if it takes that too.
        folder: where handles that belong together keep their files.

    """

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._function = function
        self._folder = folder
        owner: Any = getattr(function, "__self__", None)
        self._kind: bool | None = None
        self._identity = (function.__module__, function.__qualname__, str(owner.__class__), str(folder))

    @property
    def url(self) -> str | None:
        """The URL that holdall opens the backend by; None if the function opens whole stores or locks."""
        if known_url(self._identity) is None:
            handle = self._call({})
            if isinstance(handle, str):
                return handle
            if not is_backend(handle):
                _give_up(handle)
                return None
            serve(self._identity, lambda: self._call({}), handle)
        return known_url(self._identity)

    def opens_a_store(self) -> bool:
        """Tell whether the function opens whole stores, and so no lock."""
        if self._kind is None:
            handle = self._call({})
            whole = not isinstance(handle, str) and not is_backend(handle)
            self._kind = whole and any(hasattr(handle, name) for name in ("get", "append"))
            if whole:
                _give_up(handle)
        return self._kind

    def open(self, what: str, *, asynchronous: bool, settings: Mapping[str, Any]) -> Any:
        """Return a handle.

        Args:
            what: "store" or "lock".
            asynchronous: the side.
            settings: such as a timeout.

        Raises:
            Absent: the function opens handles of the other side.

        """
        url = known_url(self._identity)
        if url is None:
            handle = self._call(settings)
            if isinstance(handle, str):
                url = handle
            elif is_backend(handle):
                url = serve(self._identity, lambda: self._call({}), handle)
            else:
                return self._checked(handle, what, asynchronous=asynchronous)
        side = "async_" if asynchronous else ""
        return getattr(holdall, f"open_{side}{what}")(url, **settings)

    def _call(self, settings: Mapping[str, Any]) -> Any:
        try:
            handle = self._called(settings)
        except (HoldallError, Absent, NotImplementedError):
            raise
        except (Exception, SystemExit) as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            message = f"{self._name} raised {type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
            raise ConfigError(message) from error
        known = is_backend(handle) or isinstance(handle, str) or _is_handle(handle)
        if not known:
            if inspect.iscoroutine(handle):
                handle.close()
            message = (
                f"{self._name} returned {type(handle).__name__}: give a plain function that takes nothing or a "
                "folder and returns a Store, AsyncStore, Lock or AsyncLock, a Backend, or a URL"
            )
            raise ConfigError(message)
        return handle

    @property
    def _name(self) -> str:
        return f"{self._function.__module__}:{self._function.__qualname__}"

    def _called(self, settings: Mapping[str, Any]) -> Any:
        parameters = inspect.signature(self._function).parameters.values()
        positional = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
        wanted = [each for each in parameters if each.default is each.empty and each.kind in positional]
        whatever = any(each.kind is each.VAR_KEYWORD for each in parameters)
        names = {each.name for each in parameters}
        taken = {name: value for name, value in settings.items() if whatever or name in names}
        return self._function(*[self._folder for _ in wanted], **taken)

    @staticmethod
    def _checked(handle: Any, what: str, *, asynchronous: bool) -> Any:
        is_lock = not any(hasattr(handle, name) for name in ("get", "append"))
        if is_lock == (what == "lock") and _is_asynchronous(handle) == asynchronous:
            return handle
        _give_up(handle)
        side = "asynchronous" if asynchronous else "synchronous"
        given = f"the function opens {'asynchronous' if _is_asynchronous(handle) else 'synchronous'} "
        given += "locks" if is_lock else "stores"
        message = f"no {side} {what} was given: {given}"
        raise Absent(message)


def _is_handle(thing: Any) -> bool:
    """Tell whether something can be a store or a lock: it has an operation, and can be entered."""
    has_operation = any(callable(getattr(thing, name, None)) for name in ("get", "append", "try_acquire"))
    return has_operation and (hasattr(thing, "__enter__") or hasattr(thing, "__aenter__"))


def _is_asynchronous(handle: Any) -> bool:
    """Tell whether the operations of a handle are awaited."""
    if hasattr(handle, "__aenter__") != hasattr(handle, "__enter__"):
        return hasattr(handle, "__aenter__")
    return any(inspect.iscoroutinefunction(getattr(handle, name, None)) for name in ("get", "append", "try_acquire"))


def _give_up(handle: Any) -> None:
    """Close a handle that is of no use; an asynchronous one has not connected yet."""
    if not _is_asynchronous(handle) and callable(getattr(handle, "close", None)):
        handle.close()
