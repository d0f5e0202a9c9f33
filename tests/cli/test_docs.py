"""docs/cli.md and --help: every command, option, status and step is in both, and what the page runs works."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import holdall
from holdall.cli import main
from holdall.cli.failures import STATUSES

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
COMMANDS = {
    name: command for name, command in main.commands.items() if command.callback.__module__.startswith("holdall.")
}


def section(name):
    return re.search(rf"^## holdall {name}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]


def test_there_are_these_commands():
    names = {"adapters", "doctor", "demo", "ls", "get", "put", "log", "copy", "export", "import"}
    assert set(COMMANDS) == names
    assert all(f"`holdall {name}`" in PAGE for name in names)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help_and_stands_in_the_docs(name, call):
    command, text = COMMANDS[name], section(name)
    assert command.help
    shown = call(name, "--help")
    assert shown.exit_code == 0
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert f"| `{parameter.opts[-1]}` |" in text
        else:
            assert f"`{parameter.human_readable_name.upper()}`" in text
            assert parameter.human_readable_name.upper() in command.help


def test_no_option_is_documented_that_does_not_exist():
    for name, command in COMMANDS.items():
        known = {option for parameter in command.params for option in parameter.opts}
        assert set(re.findall(r"^\| `(--[a-z-]+)`", section(name), re.MULTILINE)) <= known


def test_every_status_is_documented():
    for status, meaning in STATUSES.items():
        assert f"| {status} | {meaning} |" in PAGE


def test_what_the_page_runs_works(run):
    blocks = re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    assert len(lines) >= 4
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "holdall"
        if arguments != ["demo"]:  # test_demo runs it
            assert run(*arguments).returncode == 0, line


def test_what_the_guide_runs_works(own_folder, tmp_path, monkeypatch):
    page = (Path(__file__).parents[2] / "docs" / "guide" / "moving-data.md").read_text("utf-8")
    program = tmp_path / "holdall"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m holdall.cli "$@"\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with holdall.open_store("sqlite:///app.db") as store:
        store.put("users", "ada", {"name": "Ada"})
        store.append("chat", "42", ["hello"])
    blocks = re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    assert len(lines) == 4
    for line in lines:
        subprocess.run(["bash", "-o", "pipefail", "-c", line], check=True, capture_output=True)
    for name in ("new", "restored", "piped"):
        with holdall.open_store(f"sqlite:///{name}.db") as store:
            assert store.get("users", "ada").value == {"name": "Ada"}
            assert store.tail("chat", "42", 1)[0].value == "hello"
