"""The checks of `holdall doctor`: each finds something out about a storage, and says how to mend what is wrong."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import platform
import secrets
import socket
import sqlite3
import statistics
import subprocess
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any, Literal

from holdall.cli.drivers import botocore_conflict, drivers_of
from holdall.cli.failures import UNREACHABLE, line_of, status_of
from holdall.cli.terminal import readable
from holdall.clock import boot_id, boot_time
from holdall.config import Config, Section, StoreConfig, load_config
from holdall.errors import AdapterBroken, ConfigError, Conflict, DriverMissing, HoldallError, Unsupported
from holdall.lock import Lock
from holdall.opening import open_lock, open_store
from holdall.plugins import installed_adapters, load_adapter
from holdall.store import Store
from holdall.url import parse_url
from holdall.values import ABSENT

__all__ = ["Diagnosis", "Finding", "State"]

State = Literal["ok", "failed", "not there"]

_PINGS = 5
_PROBE_TTL = 60.0


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


class Missing(Exception):  # noqa: N818 - a signal within this module
    """A check found that there is nothing to check."""


class Wrong(Exception):  # noqa: N818 - a signal within this module
    """A check found something wrong."""


_MENDS: tuple[tuple[type[BaseException], str], ...] = (
    (DriverMissing, "install what the line names"),
    (AdapterBroken, "reinstall or uninstall the distribution that brings the adapter"),
    (ConfigError, "correct the URL or the configuration"),
    (ConnectionError, "see that the server runs, and that host, port and network are right"),
    (TimeoutError, "give it more time with --timeout, or see what keeps the storage busy"),
    (PermissionError, "give this user the right to write there"),
    (OSError, "see that the place exists and can be written"),
    (HoldallError, "see what the storage's own log says of it"),
)


class Diagnosis:
    """Looks at one storage; everything it writes has names of its own and is removed again."""

    def __init__(self, target: str, timeout: float | None) -> None:
        """Find out what the target stands for.

        Args:
            target: a URL or a name of the configuration.
            timeout: seconds that bound every operation, or None.

        Raises:
            ConfigError: it stands for nothing.

        """
        self.target = target
        self.findings: list[Finding] = []
        self.versions = {
            "holdall": version("holdall"),
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
        }
        self.store: dict[str, str] = {}
        self.latency: dict[str, float] = {}
        self.capabilities: dict[str, Any] = {}
        self.unreachable = False
        self._timeout = timeout
        self._configs = _resolved(target)
        self.url = str(parse_url(next(iter(self._configs.values())).url))
        self._scope = f"holdall-doctor-{secrets.token_hex(8)}"
        # Tokens are kept for ever, so the key is always the same: a new one for every run would leave a row each time.
        self._key = f"holdall-doctor-{socket.gethostname()}"

    def run(self) -> None:
        """Run all checks, each whatever became of those before."""
        self._check("config", self._config)
        usable = [self._check(f"adapter {scheme}", lambda scheme=scheme: _adapter(scheme)) for scheme in self._schemes()]
        for scheme in self._schemes():
            self._check(f"drivers of {scheme}", lambda scheme=scheme: self._drivers(scheme))
        self._check("driver conflicts", _driver_conflicts, "pip install 'holdall[aws-async]' brings versions that fit")
        if all(usable):
            self._check_store()
            self._check_lock()

    def _schemes(self) -> list[str]:
        return sorted({parse_url(config.url).scheme for config in self._configs.values()})

    def _check(self, name: str, check: Callable[[], str], mend: str | None = None) -> bool:
        try:
            detail = check()
        except Missing as reason:
            self.findings.append(Finding(name, "not there", str(reason)))
        except Wrong as error:
            self.findings.append(Finding(name, "failed", str(error), mend))
            return False
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a check that fails is what is looked for
            self.unreachable = self.unreachable or status_of(error) == UNREACHABLE
            self.findings.append(Finding(name, "failed", line_of(error), mend or _mend(error)))
            return False
        else:
            self.findings.append(Finding(name, "ok", detail))
        return True

    def _config(self) -> str:
        shown = {str(parse_url(config.url)) for config in self._configs.values()}
        places = "" if "://" in self.target else f" ({', '.join(f'[{section}.{self.target}]' for section in self._configs)})"
        return " and ".join(sorted(shown)) + places

    def _drivers(self, scheme: str) -> str:
        installed = [entry for entry in installed_adapters() if entry.scheme == scheme]
        if not installed or installed[0].extra is None:
            return "none needed"
        drivers = drivers_of(installed[0].distribution.split()[0], installed[0].extra)
        self.versions |= {name: found for name, found in drivers.items() if found is not None}
        missing = [name for name, found in drivers.items() if found is None]
        if missing:
            message = f"not installed: {', '.join(missing)}; {installed[0].install}"
            raise Wrong(message)
        return ", ".join(f"{name} {found}" for name, found in drivers.items())

    def _check_store(self) -> None:
        with contextlib.ExitStack() as open_handles:
            store: Store | None = None

            def connect() -> str:
                nonlocal store
                config = self._of("stores", "store")
                started = boot_time()
                store = open_handles.enter_context(_opened(lambda: open_store(config, timeout=self._timeout)))
                self.store = {name: str(value) for name, value in store.describe().items()}
                self.capabilities = dataclasses.asdict(store.capabilities)
                said = ", ".join(f"{name} {value}" for name, value in self.store.items())
                return f"connected in {readable('seconds', boot_time() - started)}: {said}"

            if self._check("store", connect) and store is not None:
                connected: Store = store
                self._check("latency", lambda: self._latency(connected))
                self._check("records", lambda: self._records(connected))
                self._check("clock", lambda: self._clock(connected))

    def _latency(self, store: Store) -> str:
        times = [store.ping() for _ in range(_PINGS)]
        self.latency = {"pings": _PINGS, "min_seconds": min(times), "median_seconds": statistics.median(times)}
        shown = (readable("seconds", self.latency[name]) for name in ("min_seconds", "median_seconds"))
        return f"min {next(shown)}, median {next(shown)} of {_PINGS} pings"

    def _records(self, store: Store) -> str:
        try:
            first = store.put(self._scope, "probe", {"step": 1}, expect=ABSENT)
            store.put(self._scope, "probe", {"step": 2}, expect=first)
            _expect_conflict(store, self._scope, first)
            found = store.get(self._scope, "probe")
            if found is None or found.value != {"step": 2}:
                message = "a record that was just written cannot be read"
                raise Wrong(message)
        finally:
            store.delete(self._scope, "probe")
        if store.get(self._scope, "probe") is not None:
            message = "a record that was deleted is still there"
            raise Wrong(message)
        return "put, compare-and-set, refused stale write, delete"

    def _clock(self, store: Store) -> str:
        capabilities = store.capabilities
        boot = _boot()
        ttl = max(_PROBE_TTL, 2 * capabilities.min_ttl)
        try:
            store.put(self._scope, "clock", None, ttl=ttl)
            found = store.get(self._scope, "clock")
        finally:
            store.delete(self._scope, "clock")
        left = None if found is None else found.expires_in
        if left is None or not 0 < left <= ttl + capabilities.expiry_margin:
            message = f"a record that should last {ttl:g} s has {left if left is None else round(left, 3)} s left"
            raise Wrong(message)
        return f"{capabilities.expiry_clock}, {boot}; of {ttl:g} s a record has {left:.2f} s left"

    def _check_lock(self) -> None:
        with contextlib.ExitStack() as open_handles:
            lock: Lock | None = None

            def connect() -> str:
                nonlocal lock
                config = self._of("locks", "lock")
                started = boot_time()
                lock = open_handles.enter_context(_opened(lambda: open_lock(config, timeout=self._timeout)))
                self.capabilities = self.capabilities or dataclasses.asdict(lock.capabilities)
                return f"connected in {readable('seconds', boot_time() - started)}"

            if self._check("lock", connect) and lock is not None:
                connected: Lock = lock
                self._check("lease", lambda: self._lease(connected))

    def _lease(self, lock: Lock) -> str:
        ttl = max(_PROBE_TTL, lock.capabilities.min_ttl)
        started = boot_time()
        lease = lock.acquire(self._key, ttl=ttl, timeout=5, owner=f"holdall doctor, process {os.getpid()}")
        try:
            lock.renew(lease)
            holder = lock.holder(self._key)
            if holder is None or holder.token != lease.token:
                message = "a lease that was just acquired has no holder"
                raise Wrong(message)
        finally:
            released = lock.release(lease)
        if not released:
            message = "a live lease could not be released"
            raise Wrong(message)
        return f"acquired (token {lease.token}), renewed, released in {readable('seconds', boot_time() - started)}"

    def _of(self, section: Section, kind: str) -> StoreConfig:
        if section not in self._configs:
            message = f"no [{section}.{self.target}]: set its url to use {self.target!r} as a {kind}"
            raise Missing(message)
        return self._configs[section]


def _resolved(target: str) -> dict[Section, StoreConfig]:
    if "://" in target:
        return {"stores": StoreConfig(url=target), "locks": StoreConfig(url=target)}
    config, found, errors = load_config(), dict[Section, StoreConfig](), list[ConfigError]()
    sections: tuple[Section, ...] = ("stores", "locks")
    for section in sections:
        try:
            found[section] = config.find(section, target)
        except ConfigError as error:
            if _names(config, section, target):
                raise
            errors.append(error)
    if not found:
        raise errors[0]
    return found


def _names(config: Config, section: Section, target: str) -> bool:
    return target in (config.stores if section == "stores" else config.locks)


@contextlib.contextmanager
def _opened(opening: Callable[[], Any]) -> Iterator[Any]:
    """Open a handle, taking an adapter that has no such thing as nothing to check."""
    try:
        handle = opening()
    except Unsupported as error:
        raise Missing(str(error)) from error
    with handle:
        yield handle


def _adapter(scheme: str) -> str:
    adapter = load_adapter(scheme)
    installed = [entry.distribution for entry in installed_adapters() if entry.scheme == scheme]
    return f"{adapter.name} of {installed[0] if installed else 'a plugin registered in code'}: {adapter.summary}"


def _driver_conflicts() -> str:
    conflict = botocore_conflict()
    if conflict.exists:
        raise Wrong(conflict.detail)
    return conflict.detail


def _expect_conflict(store: Store, scope: str, stale: str) -> None:
    try:
        store.put(scope, "probe", {"step": 3}, expect=stale)
    except Conflict:
        return
    message = "a compare-and-set with a stale version was not refused"
    raise Wrong(message)


def _boot() -> str:
    try:
        return f"boot id {boot_id()[:8]}..."
    except (OSError, subprocess.SubprocessError):
        return "boot id not known"


def _mend(error: BaseException) -> str | None:
    return next((mend for kind, mend in _MENDS if isinstance(error, kind)), None)
