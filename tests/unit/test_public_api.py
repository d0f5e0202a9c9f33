"""What is public is the same on both sides, sorted, documented, and imports no driver."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import holdall
from holdall import errors, hookspecs, spi
from holdall.handles.leases import OPERATIONS as LOCK_OPERATIONS
from holdall.handles.lock import AsyncLockHandle, LockHandle
from holdall.handles.operations import OPERATIONS
from holdall.handles.store import AsyncStoreHandle, StoreHandle
from holdall.plugins import load_adapter

DOCS = Path(__file__).parents[2] / "docs"
PAIRS = [
    (holdall.Store, StoreHandle),
    (holdall.AsyncStore, AsyncStoreHandle),
    (holdall.Lock, LockHandle),
    (holdall.AsyncLock, AsyncLockHandle),
]
ERRORS = [getattr(errors, name) for name in errors.__all__]


def methods(protocol):
    return {name for name in vars(protocol) if not name.startswith("_")}


def parameters(function):
    return [(each.name, each.kind, each.default) for each in inspect.signature(function).parameters.values()]


def test_all_is_sorted_and_complete():
    assert holdall.__all__ == sorted(holdall.__all__)
    for name in holdall.__all__:
        assert getattr(holdall, name) is not None
    assert set(errors.__all__) <= set(holdall.__all__)


def test_both_sides_have_the_same_methods():
    assert methods(holdall.Store) == methods(holdall.AsyncStore)
    assert methods(holdall.Lock) == methods(holdall.AsyncLock)


@pytest.mark.parametrize("protocol,handle", PAIRS)
def test_handles_have_the_signatures_of_the_protocol(protocol, handle):
    for name in methods(protocol):
        declared, made = vars(protocol)[name], getattr(handle, name)
        if isinstance(declared, property):
            assert isinstance(inspect.getattr_static(handle, name), property), name
            continue
        assert parameters(declared) == parameters(made), name
        asynchronous = inspect.iscoroutinefunction(declared)
        assert asynchronous == inspect.iscoroutinefunction(made), name


def test_every_bound_operation_is_public_or_internal_on_purpose():
    assert set(OPERATIONS) - methods(holdall.Store) == {"read_chunk"}
    assert set(LOCK_OPERATIONS) <= methods(holdall.Lock)


@pytest.mark.parametrize("protocol", [pair[0] for pair in PAIRS])
def test_every_method_has_a_docstring_that_names_its_arguments(protocol):
    if "Async" in protocol.__name__:
        return
    for name in methods(protocol):
        text = inspect.getdoc(vars(protocol)[name]) or ""
        assert text, name
        declared = vars(protocol)[name]
        if not isinstance(declared, property):
            for parameter in list(inspect.signature(declared).parameters)[1:]:
                assert f"{parameter}:" in text, (name, parameter)


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_subclass_a_builtin_and_survive_pickling(kind):
    if kind is not errors.HoldallError:
        builtins = {base for base in kind.__mro__ if base.__module__ == "builtins"}
        assert builtins - {Exception, BaseException, object}, kind
        assert kind.__name__ in (errors.__doc__ or "")
        assert kind.__name__ in (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    arguments = {errors.TooLarge: ("x", 1, 2), errors.Truncated: ("x", 5), errors.Fenced: ("x", 6)}.get(kind, ("x",))
    error = kind(*arguments)
    error.located("a", "put", "s", "k")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    assert type(again) is kind
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_import_is_lean():
    heavy = {"asyncio", "sqlite3", "orjson", "psycopg", "boto3", "pymongo", "click", "pytest"}
    code = f"import sys, holdall; print(sorted(set(sys.modules) & {heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_listing_adapters_imports_none():
    code = (
        "import sys; from holdall.plugins import installed_adapters; names = [a.scheme for a in installed_adapters()];"
        "assert 'sqlite' in names and 'memory' in names;"
        "print([m for m in sys.modules if m.startswith('holdall_adapters')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_opening_one_adapter_imports_no_other():
    code = (
        "import sys, holdall; holdall.open_store('memory://x');"
        "print([name for name, module in sys.modules.items()"
        " if name.startswith('holdall_adapters.') and hasattr(module, 'holdall_adapter')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['holdall_adapters.memory']"


def test_hooks_capabilities_and_options_are_documented():
    plugins = (DOCS / "reference" / "plugins.md").read_text(encoding="utf-8")
    for name in vars(hookspecs):
        if name.startswith("holdall_"):
            assert f"`{name}" in plugins, name
    capabilities = (DOCS / "reference" / "capabilities.md").read_text(encoding="utf-8")
    for each in dataclasses.fields(holdall.Capabilities):
        assert f"`{each.name}`" in capabilities, each.name
    for scheme in ("memory", "sqlite"):
        page = (DOCS / "adapters" / f"{scheme}.md").read_text(encoding="utf-8")
        for option in load_adapter(scheme).options:
            assert f"`{option.name}`" in page, option.name


def test_spi_is_documented():
    for name in spi.__all__:
        each = getattr(spi, name)
        if inspect.isclass(each) and each.__module__ == "holdall.spi":
            assert inspect.getdoc(each), name
