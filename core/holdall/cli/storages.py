"""The storages that a command is given: what a URL or name stands for, opened without making what is only read."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import click

from holdall.cli.failures import shown_url, unusable_storage
from holdall.config import StoreConfig, load_config
from holdall.errors import ConfigError
from holdall.opening import open_store
from holdall.plugins import load_adapter
from holdall.store import Store
from holdall.url import parse_url

__all__ = ["Storage", "as_json", "check_differ", "of_scopes", "quiet", "timeout"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

_CREATE = "create"
_FORBIDDEN = ", and create=false forbids"


def timeout(command: _Command) -> _Command:
    """Give a command the option `--timeout`."""
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True, max=86_400),
        metavar="SECONDS",
        help="Seconds that bound every operation; by default those of the configuration, or 10.",
    )(command)


def quiet(command: _Command) -> _Command:
    """Give a command the option `--quiet`."""
    return click.option("--quiet", is_flag=True, help="Show no progress and, if all is well, no summary.")(command)


def as_json(what: str) -> Callable[[_Command], _Command]:
    """Return what gives a command the option `--json`.

    Args:
        what: its help.

    """
    return click.option("--json", "as_json", is_flag=True, help=what)


def of_scopes(command: _Command) -> _Command:
    """Give a command the options that say what of a storage is meant."""
    for option in (
        click.option("--logs", is_flag=True, help="Only logs."),
        click.option("--records", is_flag=True, help="Only records."),
        click.option(
            "--scope", "scopes", multiple=True, metavar="SCOPE", help="Only this scope; may be given several times."
        ),
    ):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Storage:
    """What a URL or name stands for.

    Attributes:
        config: with what it is opened.

    """

    config: StoreConfig

    @classmethod
    def of(cls, target: str) -> Storage:
        """Find out what a URL or name stands for.

        Args:
            target: a URL, or a name of holdall.toml or the environment.

        Raises:
            ConfigError: it stands for nothing.

        """
        return cls(StoreConfig(url=target) if "://" in target else load_config().find("stores", target))

    @property
    def shown(self) -> str:
        """The URL, without passwords."""
        return shown_url(self.config.url)

    def open(self, timeout: float | None = None) -> Store:
        """Open it, and make it if it is not there and its adapter makes such things.

        Args:
            timeout: seconds that bound every operation, or None.

        Raises:
            HoldallError: as `holdall.open_store`.

        """
        with unusable_storage():
            return open_store(self.config, timeout=timeout)

    def open_to_read(self, timeout: float | None = None) -> Store:
        """Open it; where it is not there, it is not made, unless the URL or the configuration says create=true.

        Args:
            timeout: seconds that bound every operation, or None.

        Raises:
            HoldallError: as `holdall.open_store`.

        """
        url = parse_url(self.config.url)
        declared = {option.name for option in load_adapter(url.scheme).options if option.kind is bool}
        if _CREATE not in declared or _CREATE in url.query or _CREATE in self.config.options:
            return self.open(timeout)
        options = {**self.config.options, _CREATE: False}
        try:
            with unusable_storage():
                return open_store(replace(self.config, options=options), timeout=timeout)
        except ConfigError as error:
            raise _without_create(error) from error

    def place(self) -> tuple[object, ...] | None:
        """Return what tells the storage from others, or None if it is like no other."""
        url = parse_url(self.config.url)
        if url.authority:
            options = {**self.config.options, **url.query}
            shaping = tuple(sorted((name, str(value)) for name, value in options.items() if name != _CREATE))
            return (url.scheme, url.authority, url.path.rstrip("/"), shaping)
        if not url.path.strip("/"):
            return None
        # Without a host it is a file or folder of this machine.
        folder = Path.cwd() if self.config.folder is None else Path(self.config.folder)
        return (url.scheme, os.path.realpath(folder / url.path[1:].replace("\x00", "")))


def _without_create(error: ConfigError) -> ConfigError:
    """Return an error of an adapter that says nothing of an option that nobody wrote, but what it means."""
    place, found, _ = error.message.partition(_FORBIDDEN)
    if not found:
        return error
    told = ConfigError(f"{place}, and this command only reads: there is no store to read")
    told.__dict__.update({**error.__dict__, "message": told.message})
    return told


def check_differ(source: Storage, destination: Storage) -> None:
    """Refuse to move a storage into itself, where that can be told; where it cannot, nothing would change.

    Args:
        source: from where.
        destination: whereto.

    Raises:
        UsageError: both are the same.

    """
    place = source.place()
    if place is not None and place == destination.place():
        message = f"SRC and DST are the same storage: {source.shown}"
        raise click.UsageError(message)
