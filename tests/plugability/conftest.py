"""An environment full of plugins, good and bad, all installed by pip from wheels.

These tests install and uninstall: they run only in the environment that `nox -s plugability` makes for them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

WHEEL = os.environ.get("HOLDALL_EXAMPLE_WHEEL")
if WHEEL is None:
    collect_ignore_glob = ["test_*.py"]

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "1.5"

[project.entry-points."{group}"]
{entry} = "{module}"

[tool.hatch.build.targets.wheel]
only-include = ["{module}.py"]
"""
MEMORY = """
from dataclasses import replace
from holdall.plugins import load_adapter
from holdall.spi import hookimpl

@hookimpl
def holdall_adapter():
    return replace(load_adapter("memory"), name="{entry}", schemes=("{entry}",){more})
"""
HOOK = "from holdall.spi import hookimpl\n@hookimpl\ndef holdall_adapter({arguments}):\n    {body}\n"

# Name of the distribution: scheme, and the source of its module.
CROWD = {
    "bad-raises": ("raises", "raise RuntimeError('out of order')"),
    "bad-syntax": ("syntax", "def ("),
    "bad-imports": ("imports", "import nowhere_to_be_found"),
    "bad-older": ("older", "from holdall.spi import NameOfALaterRelease"),
    "bad-exits": ("exits", "raise SystemExit(7)"),
    "bad-hookless": ("hookless", "adapter = 1"),
    "bad-nonsense": ("nonsense", HOOK.format(arguments="", body="return 'an adapter'")),
    "bad-nothing": ("nothing", HOOK.format(arguments="", body="return None")),
    "bad-hook-raises": ("hook-raises", HOOK.format(arguments="", body="raise RuntimeError('out of order')")),
    "bad-hook-exits": ("hook-exits", HOOK.format(arguments="", body="raise SystemExit(7)")),
    "bad-arguments": ("arguments", HOOK.format(arguments="url", body="return None")),
    "bad-described": ("described", MEMORY.format(entry="described", more=", io='perhaps'")),
    "from-the-future": ("future", MEMORY.format(entry="future", more=", spi_version=99")),
    "from-the-past": ("past", MEMORY.format(entry="past", more=", spi_version=0")),
    "twin-one": ("twin", MEMORY.format(entry="twin", more="")),
    "twin-two": ("twin", MEMORY.format(entry="twin", more="")),
    "good-beside": ("beside", MEMORY.format(entry="beside", more="")),
}
GENERAL = {"bad-general": ("general", "raise RuntimeError('out of order')")}


def pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "-q", *arguments], check=True)


def lay_out(folder: Path, name: str, group: str, entry: str, source: str) -> str:
    """Write the source of a distribution and return its folder."""
    module = f"crowd_{name.replace('-', '_')}"
    place = folder / name
    place.mkdir()
    text = PYPROJECT.format(name=name, group=group, entry=entry, module=module)
    (place / "pyproject.toml").write_text(text, encoding="utf-8")
    (place / f"{module}.py").write_text(textwrap.dedent(source), encoding="utf-8")
    return str(place)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """All the plugins of the crowd, installed at once."""
    folder = tmp_path_factory.mktemp("crowd")
    groups = (("holdall.adapters", CROWD), ("holdall.plugins", GENERAL))
    trees = [lay_out(folder, name, group, *what) for group, plugins in groups for name, what in plugins.items()]
    pip("wheel", "--no-deps", "--no-build-isolation", "-w", str(folder / "wheels"), *trees)
    pip("install", "--no-deps", "--no-index", "--no-compile", *map(str, (folder / "wheels").glob("*.whl")))
    yield
    pip("uninstall", "-y", *CROWD, *GENERAL)


@pytest.fixture
def without_the_example():
    """An environment that had the example, until pip uninstalled it; afterwards it is back."""
    pip("uninstall", "-y", "holdall-lmdb")
    yield
    pip("install", "--no-deps", "--no-index", WHEEL)


@pytest.fixture
def clean(tmp_path, monkeypatch):
    """A working directory, and an environment without anything that leads to the tree or to a configuration."""
    for name in [name for name in os.environ if name.startswith(("HOLDALL_", "PYTHON"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def python(clean):
    """Run code in an interpreter of its own, and return what it printed; warnings are errors."""

    def run(code, *arguments):
        command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture
def command(clean):
    """Run the installed program."""

    def run(*arguments):
        program = str(Path(sys.executable).with_name("holdall"))
        return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)

    return run
