"""`holdall adapters`: which storages there are, what each can do, and what has to be installed for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import click

from holdall.capabilities import Capabilities
from holdall.cli.failures import one_line
from holdall.cli.terminal import WIDTH, Table, print_json, readable
from holdall.errors import DriverMissing
from holdall.plugins import InstalledAdapter, installed_adapters, load_adapter

__all__ = ["UNITS", "adapters"]

_CAPABILITIES = tuple(field.name for field in dataclasses.fields(Capabilities))
UNITS = {"expiry_margin": " s", "min_ttl": " s"}


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """An installed adapter, and what its plugin says or why it says nothing."""

    installed: InstalledAdapter
    summary: str | None = None
    capabilities: Capabilities | None = None
    error: str | None = None

    @classmethod
    def of(cls, installed: InstalledAdapter) -> Row:
        """Load the plugin of an adapter."""
        try:
            adapter = load_adapter(installed.scheme)
            return cls(installed, one_line(str(adapter.summary)), adapter.capabilities)
        except DriverMissing as error:
            return cls(installed, None, None, None if installed.install else one_line(str(error)))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's plugin must not disturb the others
            return cls(installed, None, None, one_line(str(error)))

    @property
    def driver(self) -> str:
        """Whether its driver is there, or how to get it."""
        if self.installed.install is not None:
            return self.installed.install
        return "none needed" if self.installed.extra is None else "installed"

    def as_json(self) -> dict[str, Any]:
        """Return the row for scripts."""
        found = self.installed
        return {
            "scheme": found.scheme,
            "distribution": found.distribution,
            "module": found.module,
            "extra": found.extra,
            "driver_installed": not found.missing,
            "missing": list(found.missing),
            "install": found.install,
            "summary": self.summary,
            "capabilities": None if self.capabilities is None else dataclasses.asdict(self.capabilities),
            "error": self.error,
        }


@click.command(short_help="List the installed adapters and what they can do.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object in place of the tables.")
def adapters(as_json: bool) -> None:
    """List the installed adapters, their drivers and their capabilities.

    An adapter whose plugin is broken is named with the reason; the exit status is 0 all the same.
    """
    rows = [Row.of(installed) for installed in installed_adapters()]
    if as_json:
        print_json({"holdall": version("holdall"), "adapters": [row.as_json() for row in rows]})
        return
    _print_list(rows)
    _print_capabilities([row for row in rows if row.capabilities is not None])


def _print_list(rows: Sequence[Row]) -> None:
    headings = ("SCHEME", "DISTRIBUTION", "DRIVER", "SUMMARY")
    cells = [(row.installed.scheme, row.installed.distribution, row.driver, _summary(row)) for row in rows]
    table = Table.fitted(headings, cells)
    table.print_heading()
    for row, line in zip(rows, cells, strict=True):
        colours = {3: "red"} if row.error else {2: "yellow"} if row.installed.missing else {}
        table.print_row(line, colours)


def _summary(row: Row) -> str:
    if row.error is not None:
        return f"broken: {row.error}"
    return row.summary or "its plugin loads once the driver is installed"


def _print_capabilities(rows: Sequence[Row]) -> None:
    """Print a line for each capability and a column for each adapter, in as many tables as the width takes."""
    while rows:
        count = len(rows)
        while count > 1 and _width(rows[:count]) > WIDTH:
            count -= 1
        click.echo()
        headings = ("CAPABILITY", *(row.installed.scheme for row in rows[:count]))
        lines = [(name, *(_shown(row, name) for row in rows[:count])) for name in _CAPABILITIES]
        table = Table.fitted(headings, lines)
        table.print_heading()
        for line in lines:
            table.print_row(line)
        rows = rows[count:]


def _width(rows: Sequence[Row]) -> int:
    columns = [max(len(row.installed.scheme), *(len(_shown(row, name)) for name in _CAPABILITIES)) for row in rows]
    return max(map(len, _CAPABILITIES)) + sum(column + 2 for column in columns)


def _shown(row: Row, name: str) -> str:
    return readable(name, getattr(row.capabilities, name)) + UNITS.get(name, "")
