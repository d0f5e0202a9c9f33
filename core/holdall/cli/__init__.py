"""The command line: `holdall`, also as `python -m holdall.cli`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdall.cli.application import main

__all__ = ["main"]


def __getattr__(name: str) -> Any:
    """Import the commands when they are asked for, so that `holdall.cli.program` can begin before them."""
    if name != "main":
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from holdall.cli.application import main  # noqa: PLC0415 - see above

    globals()["main"] = main
    return main
