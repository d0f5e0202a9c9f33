"""The command line: `holdall`, also as `python -m holdall.cli`."""

from holdall.cli.application import main

__all__ = ["main"]
