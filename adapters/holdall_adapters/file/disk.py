"""The port of the file adapter: whole files, replaced at once, and files that grow at their end."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Generator
from pathlib import Path

from holdall.errors import Corrupt, HoldallError, OutcomeUnknown
from holdall_adapters.file.errors import translated
from holdall_adapters.file.files import FILE_MODE, Content, Draft, OpenFile, Place
from holdall_adapters.file.folders import MOST_TRIES, Folder, Folders, sync, vanishing

__all__ = ["Disk"]

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_WRITE = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_GUARD = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_CREAT
_DRAFTS = "tmp"
_GUARDS = "guard"


class Disk:
    """The files of a store below its root."""

    def __init__(self, path: Path, *, durable: bool) -> None:
        try:
            self._folders = Folders(path, durable=durable)
        except OSError as error:
            raise translated(error) from error
        self.path = path
        self.durable = durable

    def open(self, place: Place, *, writing: bool = False) -> OpenFile | None:
        """Open a file, or return None if there is none.

        Args:
            place: where it is.
            writing: whether it will be written to.

        """
        try:
            descriptor = self._descriptor(place, _WRITE if writing else _READ)
        except OSError as error:
            raise translated(error) from error
        return None if descriptor is None else OpenFile(descriptor, durable=self.durable)

    def _descriptor(self, place: Place, flags: int) -> int | None:
        self._folders.check_root()
        way, name = place
        folder = self._folders.kept(way) or self._folders.find(way)
        with contextlib.suppress(FileNotFoundError):
            return None if folder is None else os.open(name, flags, dir_fd=folder.descriptor)
        return None

    def scratch(self, place: Place) -> OpenFile:
        """Open a file that can be made again, as can the folder at the root, and make it if there is none.

        Args:
            place: where it belongs.

        """
        try:
            self._folders.make_again(place.way[0])
            for _ in range(MOST_TRIES):
                folder = self._folders.make(place.way)
                try:
                    found = os.open(place.name, _WRITE | os.O_CREAT, FILE_MODE, dir_fd=folder.descriptor)
                except FileNotFoundError:
                    self._folders.forget(place.way)
                else:
                    return OpenFile(found, durable=False)
        except OSError as error:
            raise translated(error) from error
        raise vanishing(place.way)

    def read(self, place: Place) -> bytes | None:
        """Return all of a file, or None if there is none."""
        file = self.open(place)
        if file is None:
            return None
        with file:
            return file.read(0, file.size())

    def draft(self, content: Content, name: str) -> Draft:
        """Write a new file that has no place yet.

        Args:
            content: what is in it.
            name: a name that nobody else uses.

        """
        draft = self.new_draft(name)
        draft.write(content)
        return draft

    def new_draft(self, name: str) -> Draft:
        """Return a new file that has no place yet, and is empty.

        Args:
            name: a name that nobody else uses.

        """
        way = (_DRAFTS,)
        try:
            self._folders.check_root()
            try:
                return Draft(self._folders.make(way), name)
            except FileNotFoundError:
                self._folders.forget(way)
                return Draft(self._folders.make(way), name)
        except OSError as error:
            raise translated(error) from error

    def replace(self, place: Place, content: Content, name: str) -> None:
        """Put a file in its place, whatever was there, and wait until that is on the disk.

        Args:
            place: where it belongs.
            content: what is in it.
            name: a name that nobody else uses.

        Raises:
            OutcomeUnknown: the disk failed after the file was in its place.

        """
        with self.draft(content, name) as draft:
            if self.durable:
                draft.sync()
            folder = self.publish(draft, place)
        self.settle(folder)

    def publish(self, draft: Draft, place: Place) -> Folder:
        """Put a draft in its place; it is there after a power cut once the folder that is returned is settled."""
        try:
            for _ in range(MOST_TRIES):
                folder = self._folders.make(place.way)
                try:
                    draft.move(folder, place.name)
                except FileNotFoundError:
                    if self._folders.is_current(place.way, folder):
                        raise
                    self._folders.forget(place.way)
                else:
                    return folder
        except OSError as error:
            raise translated(error) from error
        raise vanishing(place.way)

    def settle(self, folder: Folder) -> None:
        """Wait until what was put into a folder or removed from it is on the disk.

        Raises:
            OutcomeUnknown: the disk failed.

        """
        if not self.durable:
            return
        try:
            sync(folder.descriptor)
        except OSError as error:
            message = "the disk failed while a change of a folder was written to it"
            raise OutcomeUnknown(message) from error

    def remove(self, place: Place) -> Folder | None:
        """Remove a file; return its folder, to be settled, or None if there was no such file."""
        way, name = place
        try:
            self._folders.check_root()
            folder = self._folders.kept(way) or self._folders.find(way)
            if folder is None:
                return None
            os.unlink(name, dir_fd=folder.descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise translated(error) from error
        return folder

    def names(self, way: tuple[str, ...]) -> Generator[str, None, None]:
        """Iterate over the names in a folder, in no order; who stops before the end closes the iterator.

        There are none if there is no such folder.
        """
        try:
            self._folders.check_root()
            folder = self._folders.find(way)
            if folder is not None:
                yield from folder.names()
        except OSError as error:
            raise translated(error) from error

    def state_of(self, way: tuple[str, ...]) -> tuple[int, int, int] | None:
        """Return what changes when a name comes into a folder or leaves it, the last number in nanoseconds.

        That is the time at which it changed itself: nobody can set it, as the time of its content.
        """
        try:
            folder = self._folders.find(way)
            if folder is None:
                return None
            found = os.fstat(folder.descriptor)
        except OSError as error:
            raise translated(error) from error
        return found.st_dev, found.st_ino, found.st_ctime_ns

    def make_again(self, name: str) -> None:
        """Make a folder at the root that may be lost."""
        try:
            self._folders.make_again(name)
        except OSError as error:
            raise translated(error) from error

    def prune(self, way: tuple[str, ...]) -> bool:
        """Remove a folder if it is empty; return whether it was."""
        try:
            parent = self._folders.find(way[:-1])
            if parent is not None:
                os.rmdir(way[-1], dir_fd=parent.descriptor)
        except OSError:
            return False
        self._folders.forget(way)
        return parent is not None

    def open_guard(self, kind: str, name: str) -> int:
        """Open the file of a guard and return its descriptor."""
        way = (_GUARDS, kind)
        try:
            self._folders.check_root()
            folder = self._folders.kept(way) or self._folders.make(way)
            return os.open(name, _GUARD, FILE_MODE, dir_fd=folder.descriptor)
        except FileNotFoundError as error:
            self._folders.forget(way)
            message = "the guards of the store were removed while it was in use"
            raise Corrupt(message) from error
        except OSError as error:
            raise translated(error) from error

    def is_guard(self, kind: str, name: str, descriptor: int) -> bool:
        """Return whether an open guard is the one that others find."""
        folder = self._folders.kept((_GUARDS, kind))
        if folder is None:
            return False
        try:
            found, own = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False), os.fstat(descriptor)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)

    def sweep_drafts(self) -> int:
        """Remove drafts that nobody is at; return how many."""
        return sum(self._sweep_draft(name) for name in list(self.names((_DRAFTS,))))

    def _sweep_draft(self, name: str) -> bool:
        try:
            file = self._descriptor(Place((_DRAFTS,), name), _READ)
        except (OSError, HoldallError):
            return False
        if file is None:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return self.remove(Place((_DRAFTS,), name)) is not None
        except OSError:
            return False
        finally:
            os.close(file)

    def close(self) -> None:
        """Close what is kept open."""
        self._folders.close()
