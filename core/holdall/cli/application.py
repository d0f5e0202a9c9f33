"""The group of commands: plugins add to it, and no error of theirs or ours leaves it as a traceback."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from holdall.cli.adapters import adapters
from holdall.cli.copy import copy
from holdall.cli.demo import demo
from holdall.cli.doctor import doctor
from holdall.cli.export import export
from holdall.cli.failures import DONE, STATUSES, USAGE, complain, line_of, one_line, status_of
from holdall.cli.importing import import_
from holdall.cli.listing import ls
from holdall.cli.log import log
from holdall.cli.records import get, put
from holdall.plugins import load_plugins, manager

__all__ = ["Application", "main"]

_EPILOG = "\b\nExit statuses:\n" + "\n".join(f"  {status:>3}  {meaning}" for status, meaning in STATUSES.items())


class _Escaped(Exception):
    """Carries past click what it would answer in its own way: Ctrl-C and broken pipes."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


class Application(click.Group):
    """The group `holdall`; as a program it always ends with one of the documented statuses."""

    _asked_plugins = False

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, those of plugins included."""
        self._ask_plugins()
        return super().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, one of a plugin if need be."""
        self._ask_plugins()
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; see `click.Command.invoke`."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, OSError) as error:
            raise _Escaped(error) from error

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,  # noqa: ARG002 - holdall runs where shells expand arguments
        **extra: Any,
    ) -> Any:
        """Run the command line; see `click.Command.main`."""
        if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            extra.setdefault("color", False)
        if not standalone_mode:
            return self._run_bare(args, prog_name, complete_var=complete_var, **extra)
        _print_whatever_comes()
        try:
            status = self._run(args, prog_name, complete_var=complete_var, **extra)
            sys.stdout.flush()
        except _Escaped as escaped:
            _end(escaped.error)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the end of the program: no traceback
            _end(error)
        sys.exit(status if isinstance(status, int) else DONE)

    def _run_bare(self, args: Sequence[str] | None, prog_name: str | None, **extra: Any) -> Any:
        try:
            return self._run(args, prog_name, **extra)
        except _Escaped as escaped:
            raise escaped.error from None

    def _run(self, args: Sequence[str] | None, prog_name: str | None, **extra: Any) -> Any:
        return super().main(args=args, prog_name=prog_name, standalone_mode=False, **extra)

    def _ask_plugins(self) -> None:
        if self._asked_plugins:
            return
        self._asked_plugins = True
        with warnings.catch_warnings(record=True) as broken:
            warnings.simplefilter("always")
            load_plugins()
        for warning in broken:
            complain(one_line(str(warning.message)))
        for implementation in manager.hook.holdall_register_commands.get_hookimpls():
            try:
                implementation.function(*[self for _ in implementation.argnames])
            except Exception as error:  # noqa: BLE001 - a stranger's plugin must not disturb the rest
                complain(one_line(f"plugin {implementation.plugin_name!r} cannot add its commands: {error!r}"))


def _print_whatever_comes() -> None:
    """Print what the terminal's encoding lacks as escapes: a strange file name must not end the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _end(error: BaseException) -> NoReturn:
    with contextlib.suppress(OSError):
        if os.environ.get("HOLDALL_TRACEBACK") and not isinstance(error, click.ClickException):
            traceback.print_exception(error)
        if not isinstance(error, BrokenPipeError):
            complain(line_of(error))
    if isinstance(error, OSError):
        _forget_output()
    sys.exit(status_of(error))


def _forget_output() -> None:
    """Keep the interpreter from trying, at its end, to write once more what could not be written."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@click.group(
    cls=Application,
    epilog=_EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="holdall", message="%(prog)s %(version)s", help="Show the version and exit.")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Durable records, logs and leases on whatever storage you already have."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        sys.exit(USAGE)


for _command in (adapters, doctor, demo, ls, get, put, log, copy, export, import_):
    main.add_command(_command)
