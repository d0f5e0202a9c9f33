"""One line on a terminal's stderr that says how far a command came."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

import click

from holdall.cli.terminal import WIDTH, counted, shown_name
from holdall.clock import boot_time

__all__ = ["Progress"]

_EVERY = 0.2


class Progress:
    """Counts records and entries; shows them with their rate, if somebody can see it."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._began = self._last = boot_time()
        self._phase = ""
        self._records = self._entries = 0

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        """Clear the line."""
        if self._shown:
            self._write("")

    def phase(self, name: str) -> None:
        """Begin to count anew.

        Args:
            name: what is done now.

        """
        self._phase, self._records, self._entries = name, 0, 0
        self._began = boot_time()

    def add(self, scope: str, *, records: int = 0, entries: int = 0) -> None:
        """Count, and show the counts now and then.

        Args:
            scope: the scope they are of.
            records: how many records.
            entries: how many entries of logs.

        """
        self._records += records
        self._entries += entries
        now = boot_time()
        if self._shown and now - self._last >= _EVERY:
            self._last = now
            rate = (self._records + self._entries) / max(now - self._began, _EVERY)
            counts = f"{counted(self._records, 'record')}, {counted(self._entries, 'entry')}"
            self._write(f"{self._phase}: {counts} ({rate:,.0f}/s), scope {shown_name(scope)}")

    @staticmethod
    def _write(text: str) -> None:
        click.echo(f"\r\x1b[K{text[: WIDTH - 1]}", err=True, nl=False, color=True)
        sys.stderr.flush()
