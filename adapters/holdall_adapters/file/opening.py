"""Opening a store's folder: what is checked before anything is written, and what is made the first time."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from holdall.clock import Anchor, next_anchor
from holdall.errors import ConfigError, Corrupt, Unavailable
from holdall_adapters.file.disk import Disk
from holdall_adapters.file.errors import translated
from holdall_adapters.file.files import Place
from holdall_adapters.file.filesystems import file_system_of, is_shared
from holdall_adapters.file.folders import FOLDER_MODE, sync
from holdall_adapters.file.guards import Guard
from holdall_adapters.file.lines import read_line, seal
from holdall_adapters.file.names import LONGEST_PART

if TYPE_CHECKING:
    from holdall.spi import Environment, Target

__all__ = ["FORMAT", "open_disk", "path_of"]

FORMAT = 1
_TREES = ("guard", "index", "flags", "leases", "logs", "records", "tmp")
_GUARDS = ("flags", "leases", "logs", "records")
_DATA = ("leases", "logs", "records")
_MARKER = Place((), "holdall.json")
_CLOCK = Place((), "clock.json")
_OURS = frozenset({*_TREES, _MARKER.name, _CLOCK.name})
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def path_of(target: Target) -> Path:
    """Return the path of the store's folder.

    Args:
        target: what the URL says.

    Raises:
        ConfigError: the URL does not name an absolute path, or one with `..` in it.

    """
    url = target.url
    if url.authority not in {"", "localhost"}:
        message = "the URL names a host: write file:///folder, with three slashes"
        raise ConfigError(message)
    parts = url.path.rstrip("/").split("/")[1:]
    if not parts or "" in parts:
        message = "the URL names no folder: write file:///folder, the whole path of it"
        raise ConfigError(message)
    if not {".", ".."}.isdisjoint(parts):
        message = "the path holds '.' or '..': write the whole path of the folder"
        raise ConfigError(message)
    if "\x00" in url.path:
        message = "a path cannot hold a NUL character"
        raise ConfigError(message)
    return Path("/", *parts)


async def open_disk(path: Path, target: Target) -> tuple[Disk, Anchor]:
    """Open a store's folder, and make it if there is none.

    Args:
        path: where it is.
        target: what the URL says.

    Returns:
        The files, and the clock's anchor of this boot.

    Raises:
        ConfigError: the folder cannot be used, or there is none and none may be made.
        Corrupt: it was a store, and parts of it are missing or damaged.

    """
    durable, create = target.options["durability"] == "full", bool(target.options["create"])
    try:
        _make_folder(path, create=create)
        _check_folder(path, force=bool(target.options["force"]))
    except OSError as error:
        found = translated(error)
        if isinstance(found, Unavailable):
            raise found from error
        raise _unusable(path, error.strerror or "the operating system refused") from error
    disk = Disk(path, durable=durable)
    _open_format(disk, target.environment, create=create)
    return disk, await _open_clock(disk, target.environment, target.timeout)


def _unusable(path: Path, fault: str) -> ConfigError:
    return ConfigError(f"the folder {str(path)!r:.300} cannot be used: {fault}")


def _make_folder(path: Path, *, create: bool) -> None:
    if path.is_symlink() or path.exists():
        return
    if not path.parent.is_dir():
        raise _unusable(path, f"{str(path.parent)!r:.300} does not exist: create it first")
    if not create:
        raise _unusable(path, "it does not exist, and create=false forbids to make it")
    with contextlib.suppress(FileExistsError):
        path.mkdir(FOLDER_MODE)
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def _check_folder(path: Path, *, force: bool) -> None:
    if path.is_symlink():
        raise _unusable(path, "it is a symbolic link: write the folder that it leads to")
    if not path.is_dir():
        raise _unusable(path, "it is no folder")
    if path.stat().st_mode & _OTHERS_MAY_WRITE:
        raise _unusable(path, "others may write into it: use a folder of your own (chmod go-w)")
    longest = os.pathconf(path, "PC_NAME_MAX")
    if longest < LONGEST_PART:
        raise _unusable(path, f"its file system takes names of {longest} bytes, {LONGEST_PART} are needed")
    kind = file_system_of(path.resolve())
    if kind is not None and is_shared(kind) and not force:
        raise _unusable(
            path,
            f"it lies on {kind}, which other hosts may use too, and locks and clocks hold for one host only: use a "
            "local disk, or force=true if you are sure that no other host ever opens this store",
        )


def _open_format(disk: Disk, environment: Environment, *, create: bool) -> None:
    """Read which format the store has, or make a new store."""
    marker = disk.read(_MARKER)
    if marker is None:
        _check_new(disk, create=create)
        marker = disk.read(_MARKER)  # another process may have made it meanwhile
    if marker is None:
        _make(disk, environment)
        return
    found = read_line(marker.rstrip(b"\n"), "holdall.json").get("format")
    if not isinstance(found, int) or found > FORMAT:
        message = f"the store has format {found}, this holdall knows {FORMAT}: upgrade holdall"
        raise ConfigError(message)


def _check_new(disk: Disk, *, create: bool) -> None:
    names = set(disk.names(()))
    if not create:
        raise _unusable(disk.path, "it holds no store, and create=false forbids to make one")
    if names - _OURS:
        raise _unusable(disk.path, "it holds files that are not holdall's: use an empty folder")
    if any(list(disk.names((tree,))) for tree in _DATA if tree in names) and disk.read(_MARKER) is None:
        message = "holdall.json is gone from the store: restore it from a backup"
        raise Corrupt(message)


def _make(disk: Disk, environment: Environment) -> None:
    try:
        for tree in (*_TREES, *(f"guard/{kind}" for kind in _GUARDS)):
            with contextlib.suppress(FileExistsError):
                (disk.path / tree).mkdir(FOLDER_MODE)
    except OSError as error:
        raise translated(error) from error
    disk.replace(_MARKER, (seal({"holdall": "file", "format": FORMAT}),), environment.new_id())


async def _open_clock(disk: Disk, environment: Environment, timeout: float) -> Anchor:
    """Return the anchor of this boot; the first who opens the store after a boot stores it."""
    found = _read_anchor(disk)
    anchor = _next_anchor(found, environment)
    if anchor is found:
        return anchor
    async with Guard(disk, environment, "leases", _CLOCK.name, timeout):
        found = _read_anchor(disk)
        anchor = _next_anchor(found, environment)
        if anchor is not found:
            disk.replace(_CLOCK, (seal(anchor._asdict()),), environment.new_id())
        return anchor


def _read_anchor(disk: Disk) -> Anchor | None:
    content = disk.read(_CLOCK)
    if content is None:
        return None
    advice = "restore it, or remove it, and what expires is judged by the wall clock of now"
    fields = read_line(content.rstrip(b"\n"), "clock.json", advice)
    return Anchor(str(fields["boot"]), float(fields["offset"]), float(fields["set_at"]))


def _next_anchor(found: Anchor | None, environment: Environment) -> Anchor:
    return next_anchor(found, environment.boot_id(), environment.boot_time(), environment.wall_time())
