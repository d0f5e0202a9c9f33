"""Runs the command line in this process and in others, and installs made-up distributions for it to find."""

import os
import subprocess
import sys
import textwrap

import pytest
from click.testing import CliRunner

import holdall
from holdall.cli import main
from holdall.codec import encode

WORKS = """
    from dataclasses import replace
    from holdall.plugins import load_adapter
    from holdall.spi import hookimpl

    @hookimpl
    def holdall_adapter():
        return replace(load_adapter("memory"), name="{scheme}", schemes=("{scheme}",), summary="made up")
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """A working directory and an environment in which no configuration is found."""
    for name in [name for name in os.environ if name.startswith("HOLDALL_")] + ["NO_COLOR"]:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "work").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path / "work"


@pytest.fixture
def temporary(tmp_path):
    return tmp_path / "temporary"


@pytest.fixture
def call():
    """Run a command in this process."""
    return lambda *arguments: CliRunner().invoke(main, list(arguments), prog_name="holdall")


@pytest.fixture
def quick():
    """Run a command in this process, with a result like that of a process."""

    def quick(*arguments, stdin=None):
        result = CliRunner().invoke(main, list(arguments), input=stdin, prog_name="holdall")
        return subprocess.CompletedProcess(arguments, result.exit_code, result.stdout, result.stderr)

    return quick


@pytest.fixture
def run():
    """Run a command in a process of its own."""

    def run(*arguments, **options):
        command = [sys.executable, "-m", "holdall.cli", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)

    return run


@pytest.fixture
def start():
    """Begin a command in a process of its own."""

    def start(*arguments, **options):
        command = [sys.executable, "-m", "holdall.cli", *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    return start


@pytest.fixture
def contents():
    """Return everything that copies keep: values as they are encoded, whether they expire, first positions."""

    def contents(url):
        with holdall.open_store(url) as store:
            found = {}
            for scope in store.scopes().items:
                for record in store.iter_records(scope):
                    found["record", scope, record.key] = (encode(record.value), record.expires_in is not None)
            for scope in store.log_scopes().items:
                for key in store.logs(scope).items:
                    head = store.head(scope, key)
                    values = [encode(entry.value) for entry in store.iter_entries(scope, key, head.first)]
                    found["log", scope, key] = (head.first, head.length, values)
            return found

    return contents


@pytest.fixture
def distribution(tmp_path, monkeypatch):
    """Install a made-up distribution: its metadata, and a module if there is a source."""
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setenv("PYTHONPATH", str(place))

    def install(name, version="1.0", *, requires=(), adapters=None, plugins=None, source=None):
        info = place / f"{name}-{version}.dist-info"
        info.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        (info / "METADATA").write_text("\n".join([*lines, *(f"Requires-Dist: {each}" for each in requires)]) + "\n")
        groups = {"holdall.adapters": adapters or {}, "holdall.plugins": plugins or {}}
        text = "".join(
            f"[{group}]\n" + "".join(f"{entry} = {value}\n" for entry, value in entries.items())
            for group, entries in groups.items()
        )
        (info / "entry_points.txt").write_text(text)
        if source is not None:
            (place / f"{name}_module.py").write_text(textwrap.dedent(source))

    return install


@pytest.fixture
def works():
    """The source of an adapter that works under a scheme of its own."""
    return lambda scheme: WORKS.replace("{scheme}", scheme)
