"""Backends that are unusual but sound: every clause must hold on them, or name what they lack."""

from __future__ import annotations

from holdall_conformance.broken.designs import Design
from holdall_conformance.broken.registry import openable
from holdall_conformance.broken.rooms import FileRoom
from holdall_conformance.broken.wrapping import WrappedAsyncLock, WrappedAsyncStore, WrappedLock, WrappedStore

__all__ = ["Plain", "PlainFile", "Wrapped"]


class Plain:
    """The parts as they should be, in memory."""


class PlainFile:
    """The parts as they should be, in a file that processes share."""


class Wrapped:
    """Handles that are not holdall's, on the parts as they should be."""


openable(Plain, Design(name="plain"))
openable(PlainFile, Design(name="plain-file", room=FileRoom))
openable(
    Wrapped,
    Design(
        name="wrapped",
        wrappers={
            "store": WrappedStore,
            "lock": WrappedLock,
            "async_store": WrappedAsyncStore,
            "async_lock": WrappedAsyncLock,
        },
    ),
)
