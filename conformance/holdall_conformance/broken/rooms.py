"""Where the state of a plain backend lives: in this process, or in a file that processes share."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import threading
from collections.abc import Generator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar, Literal, Protocol

from holdall_conformance.broken.state import Space

__all__ = ["FileRoom", "MemoryRoom", "Room"]


class Room(Protocol):
    """Holds a space and lets one at a time into it."""

    io: ClassVar[Literal["none", "blocking", "suspending"]]
    shared: ClassVar[bool]

    def __init__(self, folder: str) -> None: ...

    def turn(self, *, write: bool = False) -> AbstractContextManager[Space]:
        """Return the space for a while in which nobody else touches it; changes stay if it was asked for to write."""
        ...

    def close(self) -> None:
        """Give back what the room holds."""
        ...


class _Rooms:
    """The spaces of this process by the class and folder of their rooms, each with its mutex."""

    def __init__(self) -> None:
        self.spaces: dict[tuple[str, str], Space] = {}
        self.mutexes: dict[tuple[str, str], threading.RLock] = {}
        self.finding = threading.Lock()


_rooms = _Rooms()


def _begin_anew() -> None:
    """Forget all in a forked child: some thread may have held a mutex, and is not there to release it."""
    _rooms.__init__()  # type: ignore[misc]


os.register_at_fork(after_in_child=_begin_anew)


class MemoryRoom:
    """A space in this process, one for each folder and class."""

    io: ClassVar[Literal["none", "blocking", "suspending"]] = "none"
    shared: ClassVar[bool] = False

    def __init__(self, folder: str) -> None:
        place = (type(self).__qualname__, folder)
        with _rooms.finding:
            self.space = _rooms.spaces.setdefault(place, Space())
            self.mutex = _rooms.mutexes.setdefault(place, threading.RLock())

    @contextlib.contextmanager
    def turn(self, *, write: bool = False) -> Generator[Space]:  # noqa: ARG002 - what is changed is changed
        """Return the space, under its mutex."""
        with self.mutex:
            yield self.space

    def close(self) -> None:
        """Do nothing: the space outlives its handles."""


class FileRoom:
    """A space in one file: read under a lock of the system, and replaced whole."""

    io: ClassVar[Literal["none", "blocking", "suspending"]] = "blocking"
    shared: ClassVar[bool] = True

    def __init__(self, folder: str) -> None:
        self.file = Path(folder, f"{type(self).__name__}.pickle")
        self.mutex = threading.RLock()

    @contextlib.contextmanager
    def turn(self, *, write: bool = False) -> Generator[Space]:
        """Return the space as the file has it; store it at the end if it was asked for to write and nothing failed."""
        with self.locked():
            space = self.load()
            yield space
            if write:
                self.save(space)

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """Shut everybody else out, of this process and of others."""
        with self.file.with_suffix(".lock").open("wb") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            yield

    def load(self) -> Space:
        """Read the space."""
        try:
            found = self.file.read_bytes()
        except FileNotFoundError:
            return Space()
        space = pickle.loads(found)  # noqa: S301 - its own file
        return space if isinstance(space, Space) else Space()

    def save(self, space: Space) -> None:
        """Replace the file."""
        fresh = self.file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        with fresh.open("wb") as stream:
            stream.write(pickle.dumps(space))
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(self.file)

    def close(self) -> None:
        """Do nothing: no turn leaves anything open."""
