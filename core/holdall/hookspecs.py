"""The hooks that a plugin may implement, with pluggy.

An adapter registers under the entry point group `holdall.adapters` and is loaded when a URL with its scheme is first
opened. A plugin that only wraps, observes or adds commands registers under `holdall.plugins`, which is loaded at the
first opening, or in code with `holdall.plugins.register`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    import click

    from holdall.config import StoreConfig
    from holdall.operation import Operation
    from holdall.spi import Adapter

hookspec = pluggy.HookspecMarker("holdall")


@hookspec
def holdall_adapter() -> Adapter:  # type: ignore[empty-body]
    """Return the description of the adapter that the plugin brings."""


@hookspec
def holdall_wrap_store(store: Any, config: StoreConfig) -> Any:
    """Return a store in place of one that was just opened, or None to leave it.

    Args:
        store: a `Store` or an `AsyncStore`.
        config: the URL, timeout and options with which it was opened.

    """


@hookspec
def holdall_operation(operation: Operation) -> None:
    """Observe an operation that has ended; what it raises is logged and goes no further.

    Args:
        operation: its name, adapter, scope, duration and outcome; never a value.

    """


@hookspec
def holdall_register_commands(cli: click.Group) -> None:
    """Add commands to the command line.

    Args:
        cli: the group to which commands are added.

    """
