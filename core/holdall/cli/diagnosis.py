"""The checks of `holdall doctor`, in order, each with what it found and how to mend what is wrong."""

from __future__ import annotations

import dataclasses
import platform
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack
from importlib.metadata import version
from typing import Any, Literal

from holdall.cli.drivers import AWS_CLIENTS, botocore_conflict, drivers_of
from holdall.cli.failures import (
    UNREACHABLE,
    USAGE,
    Unusable,
    line_of,
    one_line,
    shown_url,
    status_of,
    unusable_storage,
)
from holdall.cli.probes import Wrong, probe_clock, probe_latency, probe_lease, probe_records
from holdall.cli.terminal import readable, rounded_size
from holdall.clock import boot_time
from holdall.config import Config, Section, StoreConfig, load_config
from holdall.errors import AdapterBroken, ConfigError, DriverMissing, HoldallError, Unsupported
from holdall.lock import Lock
from holdall.opening import open_lock, open_store
from holdall.plugins import installed_adapters, load_adapter
from holdall.store import Store
from holdall.url import parse_url

__all__ = ["Diagnosis", "Finding", "State"]

State = Literal["ok", "failed", "not there"]

_SECTIONS: tuple[Section, ...] = ("stores", "locks")
_MENDS: tuple[tuple[type[BaseException], str], ...] = (
    (DriverMissing, "install what the line names"),
    (AdapterBroken, "reinstall or uninstall the distribution that brings the adapter"),
    (ConfigError, "correct the URL or the configuration"),
    (Unusable, "name another place, or restore this one from a backup"),
    (ConnectionError, "see that the server runs, and that host, port and network are right"),
    (TimeoutError, "give it more time with --timeout, or see what keeps the storage busy"),
    (PermissionError, "give this user the right to write there"),
    (OSError, "see that the place exists and can be written"),
    (HoldallError, "see what the storage's own log says of it"),
)
_WRONG = "report it to whoever maintains the adapter, with this line"


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        check: its name.
        state: whether it holds; what is "not there" is no fault.
        detail: what was found.
        mend: what to do about it, or None.

    """

    check: str
    state: State
    detail: str
    mend: str | None = None


class Missing(Exception):
    """There is nothing to check."""


class Diagnosis:
    """Looks at one storage.

    Attributes:
        findings: what every check found.
        versions: versions by distribution, and that of SQLite.
        store: what the storage tells of itself.
        latency: number, minimum and median of the pings.
        capabilities: what the storage declares.
        unreachable: whether a check failed because the storage could not be reached.
        url: the URL, without passwords.

    """

    def __init__(self, target: str, timeout: float | None) -> None:
        """Find out what the target stands for.

        Args:
            target: a URL or a name of the configuration.
            timeout: seconds that bound every operation, or None.

        Raises:
            ConfigError: it stands for nothing.
            AdapterNotFound: no adapter serves the URL.

        """
        self.findings: list[Finding] = []
        self.versions = {"holdall": version("holdall"), "python": platform.python_version()}
        self.versions["sqlite"] = sqlite3.sqlite_version
        self.store: dict[str, str] = {}
        self.latency: dict[str, float] = {}
        self.capabilities: dict[str, Any] = {}
        self.unreachable = self.misconfigured = False
        self._target = target
        self._timeout = timeout
        self._configs = _resolved(target)
        self.url = shown_url(next(iter(self._configs.values())).url)

    def run(self) -> None:
        """Run all checks, each whatever became of those before it; without an adapter nothing can be opened."""
        self._check("config", self._config)
        schemes = sorted({parse_url(config.url).scheme for config in self._configs.values()})
        usable = [self._check("adapter", _adapter, scheme) for scheme in schemes]
        for scheme in schemes:
            self._check("drivers", self._drivers, scheme)
        if any(map(_needs_aws, schemes)):
            self._check("driver conflicts", _driver_conflicts, mend="pip install 'holdall[aws-async]' brings what fits")
        if all(usable):
            with ExitStack() as handles:
                self._check("store", self._open_store, handles)
            with ExitStack() as handles:
                self._check("lock", self._open_lock, handles)

    def _check(self, name: str, check: Callable[..., str], *arguments: Any, mend: str | None = None) -> bool:
        """Run a check and note what it found, in front of what checks that it ran itself have found."""
        place = len(self.findings)
        try:
            finding = Finding(name, "ok", check(*arguments))
        except Missing as reason:
            finding = Finding(name, "not there", str(reason))
        except Wrong as error:
            finding = Finding(name, "failed", str(error), mend or _WRONG)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever fails here is what is looked for
            self.unreachable = self.unreachable or status_of(error) == UNREACHABLE
            self.misconfigured = self.misconfigured or status_of(error) == USAGE
            finding = Finding(name, "failed", line_of(error), mend or _mend(error))
        self.findings.insert(place, finding)
        return finding.state != "failed"

    def _config(self) -> str:
        shown = sorted({shown_url(config.url) for config in self._configs.values()})
        names = ", ".join(f"[{section}.{self._target}]" for section in self._configs)
        return " and ".join(shown) + ("" if "://" in self._target else f" ({names})")

    def _drivers(self, scheme: str) -> str:
        installed = next((entry for entry in installed_adapters() if entry.scheme == scheme), None)
        if installed is None or installed.extra is None:
            return f"{scheme} needs none"
        drivers = drivers_of(installed.distribution.split()[0], installed.extra)
        self.versions |= {name: found for name, found in drivers.items() if found is not None}
        if installed.missing:
            message = f"not installed: {', '.join(installed.missing)}"
            raise DriverMissing(f"{message}; {installed.install}")
        return ", ".join(f"{name} {found}" for name, found in drivers.items())

    def _open_store(self, handles: ExitStack) -> str:
        config, started = self._of("stores"), boot_time()
        store: Store = handles.enter_context(_opened(lambda: open_store(config, timeout=self._timeout)))
        took = readable("seconds", boot_time() - started)
        self.store = {str(name): one_line(str(value)) for name, value in store.describe().items()}
        self.capabilities = dataclasses.asdict(store.capabilities)
        self._check("latency", self._latency, store)
        self._check("records", probe_records, store)
        self._check("clock", probe_clock, store)
        return f"connected in {took}: " + ", ".join(_fact(name, value) for name, value in self.store.items())

    def _latency(self, store: Store) -> str:
        self.latency = probe_latency(store)
        least, middle = (readable("seconds", self.latency[f"{name}_seconds"]) for name in ("min", "median"))
        return f"min {least}, median {middle} of {self.latency['pings']} pings"

    def _open_lock(self, handles: ExitStack) -> str:
        config, started = self._of("locks"), boot_time()
        lock: Lock = handles.enter_context(_opened(lambda: open_lock(config, timeout=self._timeout)))
        took = readable("seconds", boot_time() - started)
        self.capabilities = self.capabilities or dataclasses.asdict(lock.capabilities)
        self._check("lease", probe_lease, lock)
        return f"connected in {took}"

    def _of(self, section: Section) -> StoreConfig:
        if section not in self._configs:
            message = f"nothing says which storage: set url in [{section}.{self._target}]"
            raise Missing(message)
        return self._configs[section]


def _resolved(target: str) -> dict[Section, StoreConfig]:
    """Return what a URL or name stands for; a name may be that of a store, of a lock, or of both."""
    if "://" in target:
        _check_served(target)
        return {section: StoreConfig(url=target) for section in _SECTIONS}
    config = load_config()
    found: dict[Section, StoreConfig] = {}
    errors: list[ConfigError] = []
    for section in _SECTIONS:
        try:
            found[section] = config.find(section, target)
            _check_served(found[section].url)
        except ConfigError as error:
            if _names(config, section, target):
                raise
            errors.append(error)
    if not found:
        raise errors[0]
    return found


def _check_served(url: str) -> None:
    """Refuse a URL that no installed adapter serves; one that is installed and does not load is for a check to find.

    Args:
        url: the URL.

    Raises:
        ConfigError: it is no URL.
        AdapterNotFound: no adapter is installed for it.

    """
    scheme = parse_url(url).scheme
    if all(entry.scheme != scheme for entry in installed_adapters()):
        load_adapter(scheme)


def _names(config: Config, section: Section, target: str) -> bool:
    return target in (config.stores if section == "stores" else config.locks)


def _opened(opening: Callable[[], Any]) -> Any:
    """Open a handle; that an adapter has no such thing is no fault."""
    try:
        with unusable_storage():
            return opening()
    except Unsupported as error:
        raise Missing(str(error)) from error


def _adapter(scheme: str) -> str:
    adapter = load_adapter(scheme)
    installed = [entry.distribution for entry in installed_adapters() if entry.scheme == scheme]
    return f"{scheme} of {installed[0] if installed else 'a plugin registered in code'}: {adapter.summary}"


def _fact(name: str, value: str) -> str:
    if not name.endswith("bytes") or not value.isdecimal():
        return f"{name} {value}"
    return f"{name.removesuffix('bytes').rstrip('_') or 'size'} {rounded_size(int(value))}"


def _needs_aws(scheme: str) -> bool:
    """Return whether an adapter has a driver that can be in conflict with others."""
    found = (entry for entry in installed_adapters() if entry.scheme == scheme and entry.extra is not None)
    return any(AWS_CLIENTS & drivers_of(entry.distribution.split()[0], entry.extra or "").keys() for entry in found)


def _driver_conflicts() -> str:
    conflict = botocore_conflict()
    if conflict.exists:
        raise Wrong(conflict.detail)
    return conflict.detail


def _mend(error: BaseException) -> str | None:
    return next((mend for kind, mend in _MENDS if isinstance(error, kind)), None)
