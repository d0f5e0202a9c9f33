"""The native store of the file adapter: records and logs, their listings, and what concerns both."""

from __future__ import annotations

import contextlib
import functools
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from holdall.errors import Corrupt, HoldallError
from holdall.rules import commit_single, concerning
from holdall.spi import (
    StoredPage,
    StoredRecord,
    WriteRequest,
)
from holdall_adapters.file import logs, records
from holdall_adapters.file.filesystems import file_system_of
from holdall_adapters.file.listing import Listing
from holdall_adapters.file.lock import FLAGS
from holdall_adapters.file.logs import FileLogs
from holdall_adapters.file.names import parts_of
from holdall_adapters.file.opening import FORMAT
from holdall_adapters.file.records import FileRecords, PlacedKey
from holdall_adapters.pages import page_of_found

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.file.disk import Disk
    from holdall_adapters.file.guards import Guards
    from holdall_adapters.file.lock import FileLock

__all__ = ["FileStore"]

Way = tuple[str, ...]
IsLive = Callable[[str, str], bool]
Found = TypeVar("Found")


class _Sweeping:
    """Counts what was swept, and goes on after an error, which is kept."""

    def __init__(self) -> None:
        self.count = 0
        self.error: HoldallError | None = None

    def __enter__(self) -> None:
        """Begin with something."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        """Keep the first error."""
        if isinstance(error, HoldallError):
            self.error = self.error or error
            return True
        return False


class FileStore(FileRecords, FileLogs):
    """A `StoreDriver` on one folder."""

    def __init__(
        self, disk: Disk, environment: Environment, now: Callable[[], float], guards: Guards, lock: FileLock
    ) -> None:
        FileRecords.__init__(self, disk, environment, now, guards)
        FileLogs.__init__(self, disk, environment, guards)
        self._lock = lock
        self._listing = Listing(disk, environment, file_system_of(disk.path.resolve()))

    async def scan(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[StoredRecord]:
        """Return a page of live records."""
        names = self._listing.names((records.TREE, *parts_of(scope)), prefix, after)

        def find(key: str) -> StoredRecord | None:
            return _about(scope, key, self.live_record)

        return page_of_found(names, limit, find, lambda record: len(record.payload))

    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of the keys of live records."""
        return self._keys(records.TREE, self.is_record, scope, prefix, after, limit)

    async def logs(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of the keys of logs."""
        return self._keys(logs.TREE, self.is_log, scope, prefix, after, limit)

    def _keys(
        self, tree: str, is_live: IsLive, scope: str, prefix: str, after: str | None, limit: int
    ) -> StoredPage[str]:
        names = self._listing.names((tree, *parts_of(scope)), prefix, after)
        return page_of_found(names, limit, lambda key: key if _is_there(scope, key, is_live) else None)

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of the scopes that hold a live record."""
        return self._scopes(records.TREE, self.is_record, prefix, after, limit)

    async def log_scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of the scopes that hold a log."""
        return self._scopes(logs.TREE, self.is_log, prefix, after, limit)

    def _scopes(self, tree: str, is_live: IsLive, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        def find(scope: str) -> str | None:
            with contextlib.closing(self._listing.unordered((tree, *parts_of(scope)))) as keys:
                try:
                    return scope if any(_is_there(scope, key, is_live) for key in keys) else None
                except Corrupt:  # what is no folder must not hide the scopes behind it
                    return scope

        return page_of_found(self._listing.names((tree,), prefix, after), limit, find)

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        """Apply the one request that there is; core refuses several, as `capabilities` says."""
        return await commit_single(self, requests)

    async def sweep(self) -> int:
        """Remove what has expired, and what crashes and truncates left; what cannot be swept stops nothing else."""
        sweeping = _Sweeping()
        with sweeping:
            sweeping.count += self._disk.sweep_drafts()
            self._disk.make_again(logs.INDEX)
        await self._sweep_way((FLAGS,), None, self._lock.sweep_flag, sweeping)
        for tree, sweep in (
            (records.TREE, self.sweep_record),
            (logs.TREE, self.sweep_log),
            (logs.INDEX, self.sweep_index),
        ):
            await self._sweep_tree(tree, sweep, sweeping)
        if sweeping.error is not None:
            raise sweeping.error
        return sweeping.count

    async def _sweep_tree(self, tree: str, sweep: Callable[[str, str], Awaitable[bool]], sweeping: _Sweeping) -> None:
        """Sweep the files of every scope, and remove empty folders."""
        with sweeping, contextlib.closing(self._listing.unordered((tree,), prune=True)) as scopes:
            for scope in scopes:
                way = (tree, *parts_of(scope))
                await self._sweep_way(way, scope, functools.partial(sweep, scope), sweeping)
                self._disk.prune(way)

    async def _sweep_way(
        self, way: Way, scope: str | None, sweep: Callable[[str], Awaitable[bool]], sweeping: _Sweeping
    ) -> None:
        """Sweep the files below a folder."""
        with sweeping, contextlib.closing(self._listing.unordered(way, prune=True)) as keys:
            for key in keys:
                with sweeping, concerning(PlacedKey(scope, key)):
                    sweeping.count += await sweep(key)

    async def describe(self) -> Mapping[str, str]:
        """Reach the folder and say what it is."""
        usage = shutil.disk_usage(self._disk.path)
        return {
            "storage": "files",
            "folder": str(self._disk.path),
            "file_system": file_system_of(self._disk.path.resolve()) or "unknown",
            "free_bytes": str(usage.free),
            "durability": "full" if self._disk.durable else "relaxed",
            "format": str(FORMAT),
        }


def _is_there(scope: str, key: str, is_live: IsLive) -> bool:
    """Return whether something is under a name; what is damaged is, and must not hide the names behind it."""
    try:
        return is_live(scope, key)
    except Corrupt:
        return True


def _about(scope: str, key: str, find: Callable[[str, str], Found]) -> Found:
    with concerning(PlacedKey(scope, key)):
        return find(scope, key)
