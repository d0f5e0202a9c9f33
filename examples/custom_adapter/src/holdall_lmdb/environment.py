"""What LMDB asks of those who use it.

* A process has a database open at most once, so all handles on a folder share one `Folder`.
* An open database must not go through a fork, so it is closed before and opened again afterwards.
* LMDB waits for its write lock without end, also for a process that is stopped. So writers take turns by a lock on the
  folder, which is waited for no longer than the timeout, and LMDB's own lock is always free.
* A map is resized while no transaction is open, so the threads of a process take turns, too.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import lmdb

from holdall.errors import ClosedHandle, ConfigError, StoreTimeout, Unavailable
from holdall_lmdb.errors import translated

if TYPE_CHECKING:
    from holdall.spi import Environment

__all__ = ["Folder", "Settings", "acquire"]

Result = TypeVar("Result")

_MOST_PROCESSES = 1024
_STEP = 0.0005


class Settings(NamedTuple):
    """How a database is opened."""

    durable: bool
    create: bool
    map_size: int


class Folder:
    """A database, shared by the handles of this process."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.settings = settings
        self.users = 0
        self._path = path
        self._create = settings.create
        self._turn = threading.RLock()  # a signal handler that comes into an operation is told so, it does not hang
        self._busy = False
        self._spoilt = False  # LMDB refuses to go on after some errors, so after any it is opened anew
        self._opened: tuple[lmdb.Environment, int] | None = None

    async def run(
        self,
        work: Callable[[lmdb.Transaction[bytes]], Result],
        environment: Environment,
        timeout: float,
        *,
        writing: bool,
    ) -> Result:
        """Run a function in a transaction, which is committed if it returns.

        Args:
            work: the function.
            environment: for sleeping and the clock.
            timeout: the longest wait for a turn, in seconds.
            writing: whether the transaction may write.

        Raises:
            StoreTimeout: others were in the way until the time was up.
            Unavailable: a signal handler came into the midst of an operation.

        """
        deadline = environment.boot_time() + timeout
        with self._own_turn(timeout):
            opened, lock = self._open()
            if writing:
                await _lock(lock, environment, deadline)
            try:
                with _begin(opened, writing=writing) as view:
                    return work(view)
            except lmdb.Error as error:
                self._spoilt = True
                raise translated(error, writing=writing) from error
            finally:
                if writing:
                    fcntl.flock(lock, fcntl.LOCK_UN)

    @contextlib.contextmanager
    def _own_turn(self, timeout: float) -> Generator[None]:
        if not self._turn.acquire(timeout=timeout):
            raise StoreTimeout("another thread kept the database busy until the time was up")
        try:
            if self._busy:
                raise Unavailable("the database is in the midst of an operation of this very thread")
            if not self.users:
                raise ClosedHandle("the database was closed meanwhile")
            self._busy = True
            try:
                yield
            finally:
                self._busy = False
        finally:
            self._turn.release()

    def _open(self) -> tuple[lmdb.Environment, int]:
        if self._spoilt:
            self.close()
        if self._opened is None:
            try:
                self._opened = _open(self._path, self.settings, create=self._create)
            except (lmdb.Error, OSError) as error:
                raise translated(error, writing=False) from error
            self._create = False  # what disappears later is not made anew behind anybody's back
        return self._opened

    def close(self) -> None:
        """Close the database until somebody needs it."""
        if self._opened is not None:
            opened, lock = self._opened
            self._opened, self._spoilt = None, False
            opened.close()
            os.close(lock)

    def open(self) -> None:
        """Open the database for one more handle; once it is no longer needed, `release` it."""
        with self._turn:
            self._open()
            self.users += 1

    def release(self) -> None:
        """Close the database unless other handles have it open."""
        with _registry, self._turn:
            self.users -= 1
            if not self.users:
                del _folders[self._path]
                self.close()

    def pause(self) -> None:
        """Let a running operation finish, close the database, and keep everybody out."""
        self._turn.acquire()
        self.close()

    def go_on(self) -> None:
        """Let everybody in again."""
        self._turn.release()


def _open(path: Path, settings: Settings, *, create: bool) -> tuple[lmdb.Environment, int]:
    if create:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    opened = lmdb.open(
        str(path),
        map_size=settings.map_size,
        metasync=settings.durable,  # without it a power cut takes back the last commit, but damages nothing
        create=create,
        mode=0o600,
        max_readers=_MOST_PROCESSES,
        max_spare_txns=1,
    )
    opened.reader_check()  # frees the places of processes that were killed
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    os.fsync(lock)  # LMDB syncs its file, not the folder that names it
    return opened, lock


def _begin(opened: lmdb.Environment, *, writing: bool) -> lmdb.Transaction[bytes]:
    try:
        return opened.begin(write=writing)
    except lmdb.MapResizedError:
        opened.set_mapsize(0)  # another process has a larger map_size and has used it: take over its size
        return opened.begin(write=writing)


async def _lock(lock: int, environment: Environment, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if environment.boot_time() >= deadline:
                raise StoreTimeout("other processes kept the database locked until the time was up") from error
        await environment.sleep(_STEP * (0.5 + environment.random()))


_registry = threading.RLock()
_folders: dict[Path, Folder] = {}


def acquire(path: Path, settings: Settings) -> Folder:
    """Return the folder at a path, opened; it is shared with all who have it open in this process.

    Args:
        path: where it is, without symbolic links.
        settings: how it is opened.

    Raises:
        ConfigError: it cannot be opened, or is open with other settings.

    """
    with _registry:
        folder = _folders.get(path) or Folder(path, settings)
        if folder.settings != settings:
            raise ConfigError("the database is open in this process with other options: use the same for all handles")
        folder.open()
        _folders[path] = folder
        return folder


def _before_fork() -> None:
    _registry.acquire()
    for folder in _folders.values():
        folder.pause()


def _after_in_parent() -> None:
    for folder in _folders.values():
        folder.go_on()
    _registry.release()


def _after_in_child() -> None:
    """Forget what the parent had open; its handles raise `ForkedHandle` here."""
    global _registry  # noqa: PLW0603 - it belongs to the process
    _registry = threading.RLock()
    _folders.clear()


os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
