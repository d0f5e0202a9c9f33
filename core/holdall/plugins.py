"""Discovery: which adapters are installed, and loading exactly the one that a URL asks for.

The built-in adapters are found as anybody's are. Listing reads the metadata of the installed distributions and imports
nothing.
"""

from __future__ import annotations

import importlib
import os
import re
import threading
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from typing import Any

import pluggy

from holdall import hookspecs
from holdall.descriptions import checked
from holdall.errors import AdapterBroken, AdapterNotFound, DriverMissing
from holdall.hints import did_you_mean
from holdall.spi import Adapter

__all__ = [
    "ADAPTERS",
    "PLUGINS",
    "InstalledAdapter",
    "import_driver",
    "installed_adapters",
    "load_adapter",
    "load_plugins",
    "manager",
    "observers",
    "register",
    "unregister",
    "wrap_store",
]

ADAPTERS = "holdall.adapters"
PLUGINS = "holdall.plugins"

manager = pluggy.PluginManager("holdall")
manager.add_hookspecs(hookspecs)

_DISTRIBUTION = re.compile(r"[A-Za-z0-9._-]+")
_loading = threading.RLock()
_adapters: dict[str, Adapter] = {}
_loaded_plugins = False


@dataclass(frozen=True, slots=True)
class InstalledAdapter:
    """An adapter as the metadata of its distribution tells of it.

    Attributes:
        scheme: the URL scheme.
        module: what is imported when it is opened.
        distribution: name and version of the distribution, such as "holdall 0.1.0".
        extra: the extra that brings its driver, or None.
        missing: distributions of that extra that are not installed.

    """

    scheme: str
    module: str
    distribution: str
    extra: str | None
    missing: tuple[str, ...]

    @property
    def install(self) -> str | None:
        """The command that brings the driver, or None where nothing is missing."""
        return f"pip install '{self.distribution.split()[0]}[{self.extra}]'" if self.missing else None


def installed_adapters() -> list[InstalledAdapter]:
    """Return the adapters that are installed, sorted by scheme; nothing is imported."""
    return sorted(map(_describe, entry_points(group=ADAPTERS)), key=lambda entry: (entry.scheme, entry.distribution))


def _describe(entry: EntryPoint) -> InstalledAdapter:
    extra = entry.extras[0] if entry.extras else None
    origin = entry.dist
    name = "unknown" if origin is None else f"{origin.name} {origin.version}"
    names = [] if origin is None or extra is None else _names_of_extra(origin.requires or [], extra)
    missing = tuple(filter(_is_missing, names))
    return InstalledAdapter(entry.name, entry.module, name, extra, missing)


def _names_of_extra(requires: Iterable[str], extra: str) -> list[str]:
    """Return the distributions that an extra brings, from requirements such as `psycopg>=3; extra == "postgres"`."""
    marker = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    found = (_DISTRIBUTION.match(requirement) for requirement in requires if marker.search(requirement))
    return [match[0] for match in found if match]


def _is_missing(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return True
    return False


def load_adapter(scheme: str) -> Adapter:
    """Return the adapter for a URL scheme, importing its plugin the first time; threads that race get the same.

    Args:
        scheme: such as "sqlite".

    Raises:
        AdapterNotFound: none is installed.
        AdapterBroken: its plugin cannot be used, or several distributions claim the scheme.
        DriverMissing: its plugin needs a driver that is not installed.

    """
    adapter = _adapters.get(scheme)
    if adapter is None:
        with _loading:
            adapter = _adapters.get(scheme) or _load(scheme)
            _adapters[scheme] = adapter
    return adapter


def _load(scheme: str) -> Adapter:
    registered = [adapter for adapter in _call("holdall_adapter", _registered()) if scheme in adapter.schemes]
    if registered:
        return checked(f"a plugin for {scheme}:// registered in code", registered[-1])
    entry = _entry_point(scheme)
    what = f"the plugin of {scheme}:// from {_origin(entry)} ({entry.value})"
    plugin = _import(entry, what)
    fresh = _register(plugin, what)
    try:
        return _adapter_of(plugin, what)
    except AdapterBroken:
        if fresh:
            manager.unregister(plugin)  # none of its other hooks is to run either
        raise


def _register(plugin: Any, what: str) -> bool:
    """Register a plugin and return whether it was not registered before."""
    if manager.is_registered(plugin):
        return False
    try:
        manager.register(plugin)
    except Exception as error:
        if manager.is_registered(plugin):
            manager.unregister(plugin)
        message = f"{what} has a hook that does not fit: {' '.join(str(error).split())}"
        raise AdapterBroken(message) from error
    return True


def _adapter_of(plugin: Any, what: str) -> Adapter:
    found = _call("holdall_adapter", [plugin], what)
    if len(found) != 1:
        message = f"{what} has no hook named holdall_adapter marked with holdall.hookimpl"
        raise AdapterBroken(message)
    return checked(what, found[0])


def _entry_point(scheme: str) -> EntryPoint:
    candidates = list(
        {(entry.value, _origin(entry)): entry for entry in entry_points(group=ADAPTERS, name=scheme)}.values()
    )
    if len(candidates) > 1:
        claimants = ", ".join(sorted(f"{_origin(entry)} ({entry.value})" for entry in candidates))
        message = f"several distributions claim {scheme}://: {claimants}. Uninstall all but one"
        raise AdapterBroken(message)
    if not candidates:
        raise AdapterNotFound(_not_found(scheme))
    return candidates[0]


def _origin(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "unknown"


def _not_found(scheme: str) -> str:
    names = sorted({entry.name for entry in entry_points(group=ADAPTERS)})
    hint = did_you_mean(scheme, names, f"installed are {', '.join(names) or 'none'}")
    return f"no installed adapter serves {scheme}://: {hint}"


def _import(entry: EntryPoint, what: str) -> Any:
    try:
        return entry.load()
    except DriverMissing:
        raise
    except (Exception, SystemExit) as error:
        message = f"{what} cannot be imported: {error!r}"
        raise AdapterBroken(message) from error


def _call(hook: str, plugins: Iterable[Any], what: str = "a plugin registered in code") -> list[Any]:
    wanted = list(plugins)
    others = [plugin for plugin in manager.get_plugins() if not any(plugin is kept for kept in wanted)]
    caller: Callable[[], list[Any]] = manager.subset_hook_caller(hook, others)
    try:
        return caller()
    except (Exception, SystemExit) as error:
        message = f"the hook {hook} of {what} failed: {error!r}"
        raise AdapterBroken(message) from error


_in_code: list[Any] = []


def _unlock() -> None:
    """Free the lock in a forked child: the thread that held it is not there."""
    global _loading  # noqa: PLW0603 - it belongs to the process
    _loading = threading.RLock()


os.register_at_fork(after_in_child=_unlock)


def _registered() -> list[Any]:
    return list(_in_code)


def register(plugin: object) -> None:
    """Register a plugin in code; an adapter that it brings comes before installed ones of the same scheme.

    Args:
        plugin: a module or object with hooks marked by `holdall.hookimpl`.

    """
    with _loading:
        manager.register(plugin)
        _in_code.append(plugin)
        _adapters.clear()


def unregister(plugin: object) -> None:
    """Take back what `register` did.

    Args:
        plugin: what was registered.

    """
    with _loading:
        manager.unregister(plugin)
        _in_code.remove(plugin)
        _adapters.clear()


def load_plugins() -> None:
    """Load the plugins of the group `holdall.plugins`, once; one that is broken is named in a warning."""
    global _loaded_plugins  # noqa: PLW0603 - loading is once per process
    if _loaded_plugins:
        return
    with _loading:
        if not _loaded_plugins:
            _loaded_plugins = True
            for entry in entry_points(group=PLUGINS):
                _load_plugin(entry)


def _load_plugin(entry: EntryPoint) -> None:
    try:
        manager.register(entry.load(), name=entry.name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's plugin may fail in any way and must not disturb the rest
        warnings.warn(f"holdall plugin {entry.name!r} ({entry.value}) is broken: {error!r}", stacklevel=4)


def wrap_store(store: Any, config: Any) -> Any:
    """Return a store after every `holdall_wrap_store` hook had its turn, in the order of registration.

    Args:
        store: the store that was opened.
        config: with what it was opened.

    """
    for implementation in manager.hook.holdall_wrap_store.get_hookimpls():
        arguments = {"store": store, "config": config}
        chosen = [arguments[name] for name in implementation.argnames]
        store = implementation.function(*chosen) or store
    return store


def observers() -> Callable[..., Any] | None:
    """Return the caller of all `holdall_operation` hooks, or None if nobody observes."""
    hook = manager.hook.holdall_operation
    return hook if hook.get_hookimpls() else None


def import_driver(module: str, adapter: str, extra: str) -> Any:
    """Import the driver of an adapter.

    Args:
        module: what to import.
        adapter: name of the adapter that needs it.
        extra: the extra of holdall that brings it.

    Raises:
        DriverMissing: it is not installed; the message names the extra.

    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        message = f"adapter {adapter!r} needs {error.name}: pip install 'holdall[{extra}]'"
        raise DriverMissing(message) from error
