"""docs/cli.md and --help: every command, option, status and step is in both, and what the page runs works."""

import re
import shlex
from pathlib import Path

import click
import pytest

from holdall.cli import main
from holdall.cli.failures import STATUSES

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
COMMANDS = {
    name: command for name, command in main.commands.items() if command.callback.__module__.startswith("holdall.")
}


def section(name):
    return re.search(rf"^## holdall {name}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]


def test_there_are_the_three_commands():
    assert set(COMMANDS) == {"adapters", "doctor", "demo"}


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
