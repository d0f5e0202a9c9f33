"""Where the demo takes place: a temporary folder with a holdall.toml, and nothing else once it is over."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import click

from holdall.capabilities import Capabilities
from holdall.cli.conversation import BadInput, Survey
from holdall.errors import HoldallError
from holdall.opening import open_lock, open_store
from holdall.plugins import load_adapter
from holdall.url import parse_url

__all__ = ["SCOPE", "Setting", "check_fits", "check_urls", "open_first", "setting"]

SCOPE = "holdall-demo"

_URL_LINE = re.compile(r"^url = .*$", re.MULTILINE)
_OVERRIDE = re.compile(r"HOLDALL_(STORES|LOCKS)_DEFAULT_(URL|TIMEOUT)|HOLDALL_CONFIG")
_SIDE_FILES = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder of a store.

    Attributes:
        path: where it is.
        was_folder: whether an empty folder was there before.

    """

    path: Path
    was_folder: bool

    def remove(self) -> None:
        """Remove what a store made there, and nothing that was there before."""
        if not self.path.is_dir():
            for suffix in _SIDE_FILES:
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            return
        for path in self.path.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        if not self.was_folder:
            self.path.rmdir()


@dataclass(slots=True)
class Setting:
    """The folder, its configuration, and the names that the demo uses.

    Attributes:
        folder: the temporary folder.
        store: URL of the first store.
        other: URL of the store to swap to.
        log: key of the log, unlike any other.
        made: files and folders that the demo made outside its folder, by the URL of their store.

    """

    folder: Path
    store: str
    other: str
    log: str
    made: dict[str, Place] = field(default_factory=dict[str, "Place"])

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.folder / "holdall.toml"

    @property
    def lease(self) -> str:
        """The key of the lease that guards the log."""
        return f"demo:{self.log}"

    def write_config(self) -> None:
        """Write the configuration that names the first store."""
        line = _url_line(self.store)
        self.config.write_text(f"[stores.default]\n{line}\n\n[locks.default]\n{line}\n", "utf-8")

    def swap(self) -> int:
        """Put the other URL into the configuration, and return how many lines that changed."""
        line = _url_line(self.other)
        text, count = _URL_LINE.subn(lambda _: line, self.config.read_text("utf-8"))
        self.config.write_text(text, "utf-8")
        return count

    def forget(self) -> None:
        """Drop the logs from both stores, and remove what the demo made if nobody else has put something into it."""
        for url in (self.store, self.other):
            is_free = False
            with contextlib.suppress(HoldallError), open_store(url) as store:
                store.drop(SCOPE, self.log)
                is_free = not store.scopes(limit=1).items and not store.log_scopes(limit=1).items
            if is_free and url in self.made:
                with contextlib.suppress(OSError):
                    self.made[url].remove()


def _url_line(url: str) -> str:
    return "url = " + json.dumps(url, ensure_ascii=False).replace("\x7f", "\\u007f")


def check_urls(store: str | None, other: str | None) -> None:
    """Refuse URLs with which the demo makes no sense; nothing is opened.

    Args:
        store: URL of the first store, or None for the default.
        other: URL of the other store, or None for the default.

    Raises:
        UsageError: the first cannot be shared by processes, or both are the same.
        HoldallError: a URL is wrong, or its adapter is not there.

    """
    for option, url in (("--store", store), ("--to", other)):
        if url is not None and "://" not in url:
            message = f"{option} takes a URL such as sqlite:///demo.db"
            raise click.UsageError(message)
    if store is not None and not _declared(store).cross_process:
        message = f"--store must be a storage that two processes can share, and {parse_url(store).scheme}:// is none"
        raise click.UsageError(message)
    if other is not None:
        _declared(other)
    if store is not None and store == other:
        message = "--store and --to are the same storage: give two"
        raise click.UsageError(message)


def _declared(url: str) -> Capabilities:
    return load_adapter(parse_url(url).scheme).capabilities


def check_fits(found: Survey, capabilities: Capabilities, file: Path) -> None:
    """Refuse a file with an entry that is too large for a store.

    Args:
        found: what the file holds.
        capabilities: the store's.
        file: the file, for the message.

    Raises:
        BadInput: an entry is too large.

    """
    limit = min(capabilities.max_value_bytes, capabilities.max_batch_bytes)
    if found.largest > limit:
        message = f"{file}, line {found.largest_line}: an entry of {found.largest:,} bytes, the storage takes {limit:,}"
        raise BadInput(message)


@contextlib.contextmanager
def setting(store: str | None, other: str | None, *, keep: bool) -> Generator[Setting]:
    """Make the folder, and remove it and everything else in the end.

    Args:
        store: URL of the first store, or None for a SQLite file in the folder.
        other: URL of the other store, or None for one in memory.
        keep: whether everything stays.

    Yields:
        The setting; within the block the name "default" stands for what its configuration says.

    """
    name = secrets.token_hex(4)
    folder = Path(tempfile.mkdtemp(prefix="holdall-demo-")).resolve()
    first = store or f"sqlite:///{quote(str(folder / 'demo.db'))}"
    made = Setting(folder, first, other or f"memory://holdall-demo-{name}", f"conversation-{name}")
    try:
        made.write_config()
        with _configured(made.config):
            yield made
    finally:
        if not keep:
            made.forget()
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _configured(config: Path) -> Generator[None]:
    """Make one file all the configuration there is; what the environment says of "default" is not for the demo."""
    before = {name: value for name, value in os.environ.items() if _OVERRIDE.fullmatch(name)}
    for name in before:
        del os.environ[name]
    os.environ["HOLDALL_CONFIG"] = str(config)
    try:
        yield
    finally:
        del os.environ["HOLDALL_CONFIG"]
        os.environ.update(before)


def open_first(made: Setting, found: Survey, file: Path) -> None:
    """Open both stores and the locks once, so that what cannot be used is known before anything is written.

    Args:
        made: the setting.
        found: what the file holds.
        file: the file.

    Raises:
        HoldallError: one cannot be opened.
        BadInput: the file has an entry that is too large for one.

    """
    for url in (made.store, made.other):
        free = _free_places(url)
        with open_store(url) as store:
            facts = store.describe()
            place = facts.get("file") or facts.get("folder") or ""
            if place in free:
                made.made[url] = Place(Path(place), was_folder=free[place])
            with open_lock(url):
                check_fits(found, store.capabilities, file)


def _free_places(url: str) -> dict[str, bool]:
    """Return the places that a URL may name at which nothing is, or, with True, an empty folder."""
    path = parse_url(url).path.replace("\x00", "")
    found: dict[str, bool] = {}
    # Some adapters take the path as it is, others what is behind its first slash.
    for place in (Path(path), Path(path[1:]).absolute()):
        if not os.path.lexists(place):
            found[str(place)] = False
        elif place.is_dir() and not place.is_symlink() and not any(place.iterdir()):
            found[str(place)] = True
    return found
