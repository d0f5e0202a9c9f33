"""Turns operations, written once as `async def`, into the methods of synchronous and asynchronous handles."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from holdall.clock import boot_time
from holdall.drive import drive
from holdall.handles.link import Handle, Place
from holdall.plugins import manager

_watching = manager.hook.holdall_operation


def bind(handle: type[Handle[Any]], operations: type, names: Iterable[str], *, asynchronous: bool) -> None:
    """Give a handle a method for each operation.

    Args:
        handle: the class that gets the methods; its `_operations` is an instance of `operations`.
        operations: the class that has them as `async def`.
        names: which.
        asynchronous: whether the methods are awaited.

    """
    make = _asynchronous if asynchronous else _synchronous
    for name in names:
        setattr(handle, name, make(name.removesuffix("_chunk"), getattr(operations, name)))


def _synchronous(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    place = Place(function)

    @functools.wraps(function)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        link = self._link
        link.check()
        started = boot_time() if _watching.get_hookimpls() else 0.0
        try:
            result = drive(function(self._operations, *arguments, **named))
        except BaseException as error:
            place.locate(error, link.adapter, name, arguments, named)
            if started:
                link.observed(name, place.find(arguments, named)[0], started, type(error).__name__)
            raise
        if started:
            link.observed(name, place.find(arguments, named)[0], started, "ok")
        return result

    return call


def _asynchronous(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    place = Place(function)

    @functools.wraps(function)
    async def call(self: Any, *arguments: Any, **named: Any) -> Any:
        link = self._link
        link.check()
        started = boot_time() if _watching.get_hookimpls() else 0.0
        try:
            operations = self._operations or await self._connect()
            result = await link.run(function(operations, *arguments, **named))
        except BaseException as error:
            place.locate(error, link.adapter, name, arguments, named)
            if started:
                link.observed(name, place.find(arguments, named)[0], started, type(error).__name__)
            raise
        if started:
            link.observed(name, place.find(arguments, named)[0], started, "ok")
        return result

    return call
