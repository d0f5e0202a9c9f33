"""Files and where they are: those that grow at their end, and those that are written before they get their place."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from typing import NamedTuple, Self

from holdall.errors import Corrupt, OutcomeUnknown
from holdall_adapters.file.errors import translated
from holdall_adapters.file.folders import Folder, sync, sync_data
from holdall_adapters.file.names import parts_of

__all__ = ["FILE_MODE", "Content", "Draft", "OpenFile", "Place", "place_of"]

FILE_MODE = 0o600
_FIRST_READ = 4_096
_WORTH_PIECES = 65_536
_NEW = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_CREAT | os.O_EXCL


Content = tuple[bytes, ...]
"""What is in a file, in pieces, since a large one is not to be copied."""


class Place(NamedTuple):
    """Where a file is: the folders from the root on, and its name."""

    way: tuple[str, ...]
    name: str


def place_of(tree: str, *names: str) -> Place:
    """Return the place of a file.

    Args:
        tree: the folder at the root.
        names: scope and key, or a key alone.

    """
    parts = (tree, *(part for name in names for part in parts_of(name)))
    return Place(parts[:-1], parts[-1])


class OpenFile:
    """An open file; closed at the end of a `with` block, or when nobody uses it any more."""

    __slots__ = ("_descriptor", "_durable")

    def __init__(self, descriptor: int, *, durable: bool) -> None:
        self._descriptor = descriptor
        self._durable = durable

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close it, once."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    __del__ = close

    def size(self) -> int:
        """Return how many bytes it has.

        Raises:
            Corrupt: it is no file but a pipe, a device or the like.

        """
        found = os.fstat(self._descriptor)
        if not stat.S_ISREG(found.st_mode):
            message = "something that is no file stands where a file of the store belongs"
            raise Corrupt(message)
        return found.st_size

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes from an offset on; fewer only at the end of the file."""
        try:
            data = os.pread(self._descriptor, size, offset)
            while 0 < len(data) < size:
                more = os.pread(self._descriptor, size - len(data), offset + len(data))
                if not more:
                    break
                data += more
        except OSError as error:
            raise translated(error) from error
        return data

    def first_line(self) -> tuple[bytes, bytes]:
        """Return the first line, or all there is without one, and what was read behind it."""
        size = self.size()
        start = self.read(0, min(size, _FIRST_READ))
        while b"\n" not in start and len(start) < size:
            start += self.read(len(start), min(size, 2 * len(start)) - len(start))
        line, _, rest = start.partition(b"\n")
        return line, rest

    def append(self, offset: int, data: bytes, *, cut: bool) -> None:
        """Write behind an offset and wait until it is on the disk; after an error the file ends at the offset.

        Args:
            offset: where to write.
            data: what to write.
            cut: whether there is something behind the offset, which has to go.

        Raises:
            OutcomeUnknown: the disk failed when it was all written.

        """
        try:
            if cut:
                os.ftruncate(self._descriptor, offset)
            _write_all(self._descriptor, data, offset)
        except OSError as error:
            self._cut_back(offset)
            raise translated(error) from error
        if not self._durable:
            return
        try:
            sync_data(self._descriptor)
        except OSError as error:
            self._cut_back(offset)
            message = "the disk failed while an append was written to it"
            raise OutcomeUnknown(message) from error

    def write(self, offset: int, data: bytes) -> None:
        """Write what can be made again, without waiting for the disk."""
        try:
            _write_all(self._descriptor, data, offset)
        except OSError as error:
            raise translated(error) from error

    def cut(self, size: int) -> None:
        """Cut the file off, or lengthen it with zeros."""
        try:
            os.ftruncate(self._descriptor, size)
        except OSError as error:
            raise translated(error) from error

    def _cut_back(self, offset: int) -> None:
        with contextlib.suppress(OSError):  # the next append cuts
            os.ftruncate(self._descriptor, offset)


class Draft:
    """A new file that has no place yet. Its lock tells a sweep that somebody is at it; the kernel frees that."""

    __slots__ = ("_folder", "_pid", "descriptor", "name")

    def __init__(self, folder: Folder, name: str) -> None:
        self._folder: Folder | None = None
        self._pid = os.getpid()
        self.descriptor = -1
        self.descriptor, self.name = _new_file(folder, name)
        self._folder = folder

    def write(self, content: Content, offset: int = 0) -> int:
        """Write a part of the file and return where it ends.

        Args:
            content: the part.
            offset: where it begins.

        Raises:
            Unavailable: there is no room.

        """
        try:
            for piece in content if sum(map(len, content)) > _WORTH_PIECES else (b"".join(content),):
                _write_all(self.descriptor, piece, offset)
                offset += len(piece)
        except OSError as error:
            raise translated(error) from error
        return offset

    def sync(self) -> None:
        """Wait until the file is on the disk."""
        try:
            sync(self.descriptor)
        except OSError as error:
            raise translated(error) from error

    def move(self, folder: Folder, name: str) -> None:
        """Give the file its place."""
        drafts = self._folder
        if drafts is not None:
            os.rename(self.name, name, src_dir_fd=drafts.descriptor, dst_dir_fd=folder.descriptor)
            self._folder = None

    def __enter__(self) -> Self:
        """Return the draft."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it, as `close` does."""
        self.close()

    def close(self) -> None:
        """Remove it if it got no place, and close it, once."""
        folder, self._folder = self._folder, None
        if folder is not None and os.getpid() == self._pid:
            with contextlib.suppress(OSError):
                os.unlink(self.name, dir_fd=folder.descriptor)
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    __del__ = close


def _new_file(folder: Folder, name: str) -> tuple[int, str]:
    """Return the descriptor of a new file that no sweep takes away, and its name."""
    while True:
        descriptor = os.open(name, _NEW, FILE_MODE, dir_fd=folder.descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink:
                return descriptor, name
        except BlockingIOError:
            os.close(descriptor)  # a sweep came before the lock, and removes it
        except BaseException:
            os.close(descriptor)
            raise
        else:
            os.close(descriptor)
        name += "-"


def _write_all(descriptor: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        count = os.pwrite(descriptor, view, offset)
        view, offset = view[count:], offset + count
