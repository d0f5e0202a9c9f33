"""The program as a whole: statuses, error lines, plugins, colour, pipes."""

import os
import pty
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import pytest

import holdall
from holdall import plugins
from holdall.cli import main
from holdall.cli.failures import STATUSES, line_of, status_of


def test_importing_holdall_does_not_import_click():
    code = "import sys, holdall; sys.exit('click' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_version_and_module(run):
    result = run("--version")
    assert (result.returncode, result.stdout) == (0, f"holdall {version('holdall')}\n")


def test_help_names_every_command_and_status(call):
    result = call("--help")
    assert result.exit_code == 0
    assert all(f"{status}  {meaning}" in result.output for status, meaning in STATUSES.items())
    assert all(name in result.output for name in ("adapters", "doctor", "demo"))
    assert "..." not in result.output.partition("Commands:")[2]


def test_no_command_shows_help_and_is_wrong_usage(run):
    result = run()
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Usage: holdall")


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("demoo",), "No such command 'demoo'"),
        (("doctor",), "Missing argument 'URL_OR_NAME'"),
        (("demo", "--nope"), "No such option"),
        (("doctor", "memory://", "--timeout", "0"), "Invalid value for '--timeout'"),
        (("doctor", "memory://", "--timeout", "soon"), "Invalid value for '--timeout'"),
        (("demo", "a", "b"), "unexpected extra argument"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(call, arguments, said):
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("holdall: ")
    assert result.stderr.count("\n") == 1
    assert said in result.stderr
    assert "--help'" in result.stderr


@pytest.fixture
def raising():
    """A command of a plugin that raises what it is given."""
    errors = []

    class Plugin:
        @holdall.hookimpl
        def holdall_register_commands(self, cli):
            @cli.command(name="raising")
            def raising():
                raise errors[0]

    plugin = Plugin()
    plugins.register(plugin)
    main._asked_plugins = False
    yield errors.append
    plugins.unregister(plugin)
    main._asked_plugins = False
    main.commands.pop("raising", None)


@pytest.mark.parametrize(
    "error, status, line",
    [
        (holdall.Conflict("too late"), 1, "too late"),
        (holdall.Corrupt("torn"), 1, "torn"),
        (holdall.NotFound("nothing"), 1, "nothing"),
        (holdall.InvalidArgument("no ttl"), 2, "no ttl"),
        (holdall.InvalidKey("no key"), 2, "no key"),
        (holdall.InvalidValue("no value"), 2, "no value"),
        (holdall.TooLarge("value", 1, 2), 2, "value is too large: 2 is above the limit of 1"),
        (holdall.Unsupported("not here"), 2, "not here"),
        (holdall.ConfigError("two\nlines"), 2, "two lines"),
        (holdall.DriverMissing("pip install it"), 2, "pip install it"),
        (holdall.Unavailable("no answer"), 3, "no answer"),
        (holdall.StoreTimeout("too slow"), 3, "too slow"),
        (holdall.HoldallError("postgresql://me:secret@host/db"), 1, "postgresql://me:***@host/db"),
        (FileNotFoundError(2, "No such file or directory", "a.txt"), 1, "a.txt: No such file or directory"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.ClickException("from click"), 1, "from click"),
        (TypeError("oops"), 1, "internal error: TypeError: oops (HOLDALL_TRACEBACK=1 shows where)"),
    ],
)
def test_every_error_is_one_line(call, raising, error, status, line):
    raising(error)
    result = call("raising")
    assert (result.exit_code, result.stdout, result.stderr) == (status, "", f"holdall: {line}\n")


def test_a_traceback_is_shown_to_who_asks(call, raising, monkeypatch):
    monkeypatch.setenv("HOLDALL_TRACEBACK", "1")
    raising(TypeError("oops"))
    assert "Traceback" in call("raising").stderr


@pytest.mark.parametrize("name", [name for name in holdall.errors.__all__ if name != "TooLarge"])
def test_every_error_of_holdall_has_a_status_and_a_line(name):
    error = getattr(holdall.errors, name).__new__(getattr(holdall.errors, name))
    holdall.HoldallError.__init__(error, "what happened")
    assert status_of(error) in {1, 2, 3}
    assert line_of(error) == "what happened"


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:hunter2@host/db",
        "no such thing as 'mongodb:/me:hunter2@host'",
        "s3://bucket?secret_key=hunter2&region=x",
        "postgresql://me:hunter2/more@host/db",
    ],
)
def test_passwords_never_show(text):
    assert "hunter2" not in line_of(holdall.HoldallError(text))


def test_a_reader_that_goes_away_is_no_error():
    with subprocess.Popen(
        [sys.executable, "-m", "holdall.cli", "adapters"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 141


def test_a_full_disk_is_one_line():
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "holdall.cli", "adapters"]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (result.returncode, result.stderr) == (1, "holdall: No space left on device\n")


def test_an_installed_plugin_adds_a_command(run, distribution):
    source = """
        import click, holdall

        @holdall.hookimpl
        def holdall_register_commands(cli):
            @cli.command()
            def greet():
                "Greet."
                click.echo("hello")
    """
    distribution("greeter", plugins={"greeter": "greeter_module"}, source=source)
    assert run("greet").stdout == "hello\n"
    assert "greet" in run("--help").stdout


@pytest.mark.parametrize("source", ["import nothing_of_that_name", "raise RuntimeError('no')"])
def test_a_broken_plugin_is_named_and_disturbs_nothing(run, distribution, source):
    distribution("sick", plugins={"sick": "sick_module"}, source=source)
    result = run("adapters", "--json")
    assert result.returncode == 0
    assert result.stderr.startswith("holdall: holdall plugin 'sick'")
    assert result.stderr.count("\n") == 1


def test_a_plugin_whose_hook_fails_is_named(run, distribution):
    source = """
        import holdall

        @holdall.hookimpl
        def holdall_register_commands():
            raise RuntimeError("not today")
    """
    distribution("sick", plugins={"sick": "sick_module"}, source=source)
    result = run("doctor", "memory://")
    assert result.returncode == 0
    assert result.stderr == "holdall: plugin 'sick' cannot add its commands: RuntimeError('not today')\n"


@pytest.mark.parametrize("settings, coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour_only_on_a_terminal(settings, coloured):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "holdall.cli", "doctor", "memory://"]
    with subprocess.Popen(command, stdout=theirs, env={**os.environ, "TERM": "xterm", **settings}) as process:
        os.close(theirs)
        output = b""
        while chunk := _read(ours):
            output += chunk
    os.close(ours)
    assert process.returncode == 0
    assert (b"\x1b[" in output) is coloured


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side is closed
        return b""


def test_no_colour_in_a_pipe(run):
    assert "\x1b" not in run("doctor", "memory://").stdout
