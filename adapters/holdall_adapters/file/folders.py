"""The way down to a folder: step by step below an open one, so that no symbolic link and no `..` leads out."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from holdall.errors import ClosedHandle, Corrupt

__all__ = ["FOLDER_MODE", "MOST_TRIES", "Folder", "Folders", "sync", "sync_data", "vanishing"]

FOLDER_MODE = 0o700
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_KEPT = 128
MOST_TRIES = 100

Way = tuple[str, ...]

_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)
"""On macOS `os.fsync` does not wait for the disk; this does."""


def sync(descriptor: int) -> None:
    """Wait until a file or folder is on the disk."""
    if _FULL_SYNC is None:
        os.fsync(descriptor)
    else:
        fcntl.fcntl(descriptor, _FULL_SYNC)


def sync_data(descriptor: int) -> None:
    """Wait until what a file holds is on the disk; its times need not be."""
    if _FULL_SYNC is None:
        os.fdatasync(descriptor)
    else:
        fcntl.fcntl(descriptor, _FULL_SYNC)


class Folder:
    """An open folder; it is closed when nobody uses it any more, since several operations may use it at once.

    Attributes:
        descriptor: its file descriptor.
        durable: whether its own name is known to be on the disk.
        identity: device and inode.

    """

    __slots__ = ("descriptor", "durable", "identity")

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.durable = False
        self.identity = _identity(os.fstat(descriptor))

    def close(self) -> None:
        """Close it, once."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    __del__ = close

    def child(self, name: str) -> Folder:
        """Open a folder in it; a symbolic link is none."""
        return Folder(os.open(name, _OPEN_FOLDER, dir_fd=self.descriptor))

    def names(self) -> Iterator[str]:
        """Iterate over the names in it, in no order."""
        with contextlib.closing(self.child(".")) as again, os.scandir(again.descriptor) as entries:
            for entry in entries:  # of a descriptor of its own: iterations share the place in one
                yield entry.name


class Folders:
    """The folders below a root; some are kept open, so that an operation opens little more than its file.

    A folder that is kept open may have been removed and made again, or moved, by others: before it is used it is
    compared with the one that its way leads to.
    """

    def __init__(self, path: Path, *, durable: bool) -> None:
        self.path = path
        self._durable = durable
        root = Folder(os.open(path, _OPEN_FOLDER))
        self._opened: Folder | None = root
        self._identity = root.identity
        self._kept: dict[Way, Folder] = {}

    @property
    def _root(self) -> Folder:
        if self._opened is None:
            message = "this handle was closed in the midst of an operation: open a new one"
            raise ClosedHandle(message)
        return self._opened

    def check_root(self) -> None:
        """Refuse to go on in a folder that has lost its name: nobody would find what is written there.

        Raises:
            Corrupt: the path leads to another folder than when it was opened, or to none.

        """
        try:
            found = _identity(os.stat(self.path))  # noqa: PTH116 - half the time of Path.stat, in every operation
        except (FileNotFoundError, NotADirectoryError):
            found = None
        if found != self._identity:
            message = "the folder was removed or replaced while it was open: close the handle and find out who did it"
            raise Corrupt(message)

    def kept(self, way: Way) -> Folder | None:
        """Return a folder that is kept open and still the one that its way leads to, or None.

        Args:
            way: the names of the folders from the root on.

        """
        folder = self._kept.get(way)
        if folder is None or self.is_current(way, folder):
            return folder
        self.forget(way)
        return None

    def is_current(self, way: Way, folder: Folder) -> bool:
        """Return whether an open folder is still the one that has its name."""
        try:
            found = os.stat("/".join(way), dir_fd=self._root.descriptor, follow_symlinks=False)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                return False
            walked = self.find(way)
            return walked is not None and walked.identity == folder.identity
        return _identity(found) == folder.identity

    def find(self, way: Way) -> Folder | None:
        """Walk down to a folder, and keep it open; return None if there is none.

        Raises:
            Corrupt: the first folder of the way, made with the store, is gone.

        """
        parent = folder = self._root
        for depth, name in enumerate(way):
            try:
                parent, folder = folder, folder.child(name)
            except FileNotFoundError:
                if depth == 0:
                    raise _lost(name) from None
                return None
            if depth:
                parent.close()
        self._keep(way, folder)
        return folder

    def make(self, way: Way) -> Folder:
        """Walk down to a folder that is sure to be found again after a power cut, making what is missing."""
        kept = self.kept(way)
        if kept is not None and kept.durable:
            return kept
        for _ in range(MOST_TRIES):
            try:
                return self._make(way)
            except FileNotFoundError:  # others removed what was empty
                self.forget(way)
        raise vanishing(way)

    def _make(self, way: Way) -> Folder:
        folder = self._root
        for depth, name in enumerate(way):
            parent, folder = folder, self._kept.get(way[: depth + 1]) or self._made_child(folder, name, depth)
            if self._durable and not folder.durable:
                sync(parent.descriptor)
            folder.durable = True
            self._keep(way[: depth + 1], folder)
        return folder

    def _made_child(self, parent: Folder, name: str, depth: int) -> Folder:
        with contextlib.suppress(FileNotFoundError):
            return parent.child(name)
        if depth == 0:
            raise _lost(name)
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, FOLDER_MODE, dir_fd=parent.descriptor)
        return parent.child(name)

    def make_again(self, name: str) -> None:
        """Make a folder at the root that may be lost."""
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, FOLDER_MODE, dir_fd=self._root.descriptor)

    def forget(self, way: Way) -> None:
        """Keep a folder, and those it lies in, no longer open."""
        for depth in range(1, len(way) + 1):
            self._kept.pop(way[:depth], None)

    def close(self) -> None:
        """Keep no folder open."""
        self._opened = None
        self._kept.clear()

    def _keep(self, way: Way, folder: Folder) -> None:
        if len(self._kept) >= _MOST_KEPT:
            with contextlib.suppress(KeyError, RuntimeError, StopIteration):
                del self._kept[next(iter(self._kept))]
        self._kept[way] = folder


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def vanishing(way: Way) -> Corrupt:
    """Return the error for a folder that is gone whenever it has been made.

    Args:
        way: the names of the folders from the root on.

    """
    return Corrupt(f"folder {'/'.join(way)!r:.200} cannot be made: something removes it again and again")


def _lost(name: str) -> Corrupt:
    return Corrupt(f"folder {name!r} of the store is gone: restore the store from a backup")
