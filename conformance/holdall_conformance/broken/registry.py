"""The list of the broken backends: each with its id, the one thing it does wrong, and who should notice."""

from __future__ import annotations

import functools
import importlib
import json
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from holdall_conformance import broken as package
from holdall_conformance.broken.designs import Design
from holdall_conformance.broken.plain_lock import PlainLock
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.rooms import MemoryRoom, Room
from holdall_conformance.broken.wrapping import WrappedAsyncLock, WrappedAsyncStore, WrappedLock, WrappedStore
from holdall_conformance.results import Side

__all__ = ["Broken", "all_broken", "broken", "caught", "openable"]

_found: dict[str, Broken] = {}
_CAUGHT = Path(__file__).with_name("caught.json")
_WRAPPERS: Mapping[str, type] = {
    "store": WrappedStore,
    "lock": WrappedLock,
    "async_store": WrappedAsyncStore,
    "async_lock": WrappedAsyncLock,
}

Part = TypeVar("Part", bound=type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A backend that is wrong in one way.

    Attributes:
        id: stable name.
        does: one sentence of what it does wrong.
        groups: groups of clauses that should catch it.
        side: the side on which it is tried.
        target: "module:class"; `open_store` and so on below it open a handle.
        design: its parts.

    """

    id: str
    does: str
    groups: tuple[str, ...]
    side: Side
    target: str
    design: Design

    def opener(self, what: str) -> str:
        """Return the "module:function" that opens a handle of its side.

        Args:
            what: "store" or "lock".

        """
        return f"{self.target}.open_{'async_' if self.side == 'async' else ''}{what}"


def broken(
    name: str,
    *groups: str,
    room: type[Room] = MemoryRoom,
    side: Side = "sync",
    declares: Mapping[str, Any] | None = None,
) -> Callable[[Part], Part]:
    """Register a backend whose only part that is not as it should be is the class below.

    The docstring of the class is one sentence of what it does wrong.

    Args:
        name: its id.
        groups: groups of clauses that should catch it.
        room: where its state lives, unless that is the broken part.
        side: the side on which it is tried.
        declares: capabilities that it declares.

    """

    def register(part: Part) -> Part:
        if name in _found:
            message = f"two broken backends have the id {name!r}"
            raise ValueError(message)
        design = _around(part, name, room, declares or {})
        target = f"{part.__module__}:{part.__qualname__}"
        openable(part, design)
        does = (part.__doc__ or "").strip()
        _found[name] = Broken(id=name, does=does, groups=groups, side=side, target=target, design=design)
        return part

    return register


def openable(part: type, design: Design) -> None:
    """Give a class the functions that open a design's handles, for the kit and for the command line.

    Args:
        part: the class.
        design: what they open.

    """
    for what in _WRAPPERS:

        def open_handle(folder: Path, what: str = what, **settings: Any) -> Any:
            return design.open(what, folder, settings)

        open_handle.__module__ = part.__module__
        open_handle.__qualname__ = f"{part.__qualname__}.open_{what}"
        setattr(part, f"open_{what}", staticmethod(open_handle))


def _around(part: type, name: str, room: type[Room], declares: Mapping[str, Any]) -> Design:
    parts: dict[str, Any] = {"room": room}
    if issubclass(part, PlainStore):
        parts["store"] = part
    elif issubclass(part, PlainLock):
        parts["lock"] = part
    elif any(issubclass(part, base) for base in _WRAPPERS.values()):
        parts["wrappers"] = {what: part for what, base in _WRAPPERS.items() if issubclass(part, base)}
    else:
        parts["room"] = part
    return Design(name=name, declares=declares, **parts)


def all_broken() -> list[Broken]:
    """Return every broken backend, by the module and the order it stands in there."""
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    return sorted(_found.values(), key=lambda each: each.target.partition(":")[0])


@functools.cache
def caught() -> dict[str, list[tuple[str, bool]]]:
    """Return, by the id of a broken backend, the clauses that caught it in the last record, and whether they hung."""
    found: dict[str, list[tuple[str, bool]]] = json.loads(_CAUGHT.read_text()) if _CAUGHT.exists() else {}
    return {name: [(clause, hangs) for clause, hangs in clauses] for name, clauses in found.items()}
