"""Adds `holdall check` to the command line; loaded with the first opening of any storage, so it imports nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdall import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def holdall_register_commands(cli: click.Group) -> None:
    """Add the command.

    Args:
        cli: the group `holdall`.

    """
    from holdall_conformance.command import check  # noqa: PLC0415 - programs that open a store have no use for it

    cli.add_command(check)
