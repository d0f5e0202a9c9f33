"""Configuration: which storage a name stands for.

A name is looked up in the environment (`HOLDALL_STORES_<NAME>_URL`, `HOLDALL_LOCKS_<NAME>_URL`, `..._TIMEOUT`), then
in the file that `HOLDALL_CONFIG` names, or else the first `holdall.toml`, or `pyproject.toml` with a table
`[tool.holdall]`, in the working directory or above it. `${NAME}` in a file stands for an environment variable, so that
secrets stay out. Relative paths in a file are relative to its folder. A URL from the environment takes the place of the
whole table but for its timeout. A lock without a table of its own is opened where the store of its name is.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

from holdall.errors import ConfigError
from holdall.hints import did_you_mean, hint_of_place

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["DEFAULT_TIMEOUT", "Config", "StoreConfig", "load_config"]

DEFAULT_TIMEOUT = 10.0
"""Seconds that bound an operation where nothing else is set."""

Section = Literal["stores", "locks"]
_SECTIONS: tuple[Section, ...] = ("stores", "locks")
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_REFERENCE = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreConfig:
    """With what a store or lock is opened.

    Attributes:
        url: its URL.
        timeout: seconds that bound every operation.
        options: options beside those in the URL.
        source: where it stands, for errors.
        folder: what relative paths in it are relative to; None for the working directory.

    """

    url: str = field(repr=False)
    timeout: float = DEFAULT_TIMEOUT
    options: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    source: str = field(default="the call", compare=False)
    folder: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Config:
    """Named stores and locks, before environment variables are put in.

    Attributes:
        stores: tables of `url`, `timeout` and options, by name.
        locks: the same for locks.
        source: where they come from, for errors.
        folder: what relative paths are relative to; None for the working directory.

    """

    stores: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]], repr=False)
    locks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]], repr=False)
    source: str = "code"
    folder: str | None = None

    def find(self, section: Section, name: str) -> StoreConfig:
        """Return what a name stands for.

        Args:
            section: "stores" or "locks".
            name: the name.

        Raises:
            ConfigError: nothing is known under the name, or what is known is wrong.

        """
        if not _NAME.fullmatch(name):
            message = (
                "what is to be opened is neither a URL (scheme://...) nor a name of letters, digits, '-' and '_'; "
                f"{hint_of_place(name)}"
            )
            raise ConfigError(message)
        tables = self.stores if section == "stores" else self.locks
        table = dict(tables.get(name, {}))
        given = _from_environment(section, name)
        if "url" in given:
            timeout = table.get("timeout")
            table = given if timeout is None else {"timeout": timeout, **given}
            return _parse_table(table, f"the environment (HOLDALL_{section}_{name}...)".upper(), None)
        table.update(given)
        if "url" in table:
            return _parse_table(table, f"[{section}.{name}] of {self.source}", self.folder)
        if section == "locks" and not table and self._has_store(name):
            return self.find("stores", name)
        raise ConfigError(_unknown_name(section, name, tables, self.source))

    def _has_store(self, name: str) -> bool:
        return name in self.stores or "url" in _from_environment("stores", name)


def _from_environment(section: Section, name: str) -> dict[str, str]:
    prefix = f"HOLDALL_{section}_{name.replace('-', '_')}_".upper()
    return {
        setting: os.environ[prefix + setting.upper()]
        for setting in ("url", "timeout")
        if prefix + setting.upper() in os.environ
    }


def _unknown_name(section: Section, name: str, tables: Mapping[str, Any], source: str) -> str:
    if name in tables:
        found = ", ".join(map(repr, tables[name])) or "nothing"
        return f"[{section}.{name}] of {source} has no 'url'; it has {found}"
    hint = did_you_mean(name, tables, "")
    variable = f"HOLDALL_{section}_{name.replace('-', '_')}_URL".upper()
    places = f"set it in [{section}.{name}] of holdall.toml or in {variable} (looked in {source})"
    return f"no url for {name!r}: {hint} {places}" if hint else f"no url for {name!r}: {places}"


def _parse_table(table: Mapping[str, Any], where: str, folder: str | None) -> StoreConfig:
    table = {name: _fill_in(value, f"{name!r} in {where}") for name, value in table.items()}
    url, timeout = table.pop("url"), table.pop("timeout", DEFAULT_TIMEOUT)
    if not isinstance(url, str):
        message = f"'url' in {where} must be text"
        raise ConfigError(message)
    seconds = check_timeout(timeout, where)
    return StoreConfig(url=url, timeout=seconds, options=MappingProxyType(table), source=where, folder=folder)


def _fill_in(value: Any, where: str) -> Any:
    def variable(match: re.Match[str]) -> str:
        try:
            return os.environ[match[1]]
        except KeyError as error:
            message = f"{where} refers to the environment variable {match[1]!r}, which is not set"
            raise ConfigError(message) from error

    return _REFERENCE.sub(variable, value) if isinstance(value, str) else value


def check_timeout(timeout: Any, where: str) -> float:
    """Return a timeout as a float.

    Args:
        timeout: a number or its text.
        where: where it stands, for the error.

    Raises:
        ConfigError: it is not a positive finite number.

    """
    try:
        seconds = math.nan if isinstance(timeout, bool) else float(timeout)
    except (TypeError, ValueError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        message = f"timeout in {where} must be a positive number of seconds"
        raise ConfigError(message)
    return seconds


def load_config(path: Path | None = None) -> Config:
    """Read the configuration file that applies; without one the configuration is empty.

    Args:
        path: the file; by default it is looked for as the module says.

    Raises:
        ConfigError: the file cannot be read or holds something unknown.

    """
    from pathlib import Path  # noqa: PLC0415 - needed only where a name is looked up, and slow to import

    named = path or (Path(os.environ["HOLDALL_CONFIG"]) if os.environ.get("HOLDALL_CONFIG") else None)
    if named is not None:
        return _read(named, _table_of(named))
    for folder in (Path.cwd(), *Path.cwd().parents):
        for candidate in (folder / "holdall.toml", folder / "pyproject.toml"):
            table = _table_of(candidate) if candidate.is_file() else None
            if table is not None:
                return _read(candidate, table)
    return Config(source="no holdall.toml here or above")


def _table_of(path: Path) -> dict[str, Any] | None:
    import tomllib  # noqa: PLC0415 - needed only where there is a file, and slow to import

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"the configuration file {path} cannot be read: {error}"
        raise ConfigError(message) from error
    if path.name != "pyproject.toml":
        return content
    tools = content.get("tool", {})
    return _table(tools, path).get("holdall") and _table(tools["holdall"], path)


def _table(found: Any, path: Path) -> dict[str, Any]:
    if not isinstance(found, dict):
        message = f"[tool] and [tool.holdall] in {path} must be tables"
        raise ConfigError(message)
    return cast("dict[str, Any]", found)


def _read(path: Path, table: dict[str, Any] | None) -> Config:
    table = table or {}
    for section in table:
        if section not in _SECTIONS:
            hint = did_you_mean(section, _SECTIONS, "it may have [stores.NAME] and [locks.NAME]")
            message = f"unknown section {section!r} in {path}: {hint}"
            raise ConfigError(message)
    for section in _SECTIONS:
        _check_section(section, table.get(section, {}), path)
    folder = str(path.absolute().parent)
    return Config(stores=table.get("stores", {}), locks=table.get("locks", {}), source=str(path), folder=folder)


def _check_section(section: str, tables: Any, path: Path) -> None:
    entries: list[Any] = list(cast("dict[str, Any]", tables).values()) if isinstance(tables, dict) else [None]
    if not all(isinstance(entry, dict) for entry in entries):
        message = f"[{section}] in {path} must hold tables: [{section}.NAME] with url = ..."
        raise ConfigError(message)
