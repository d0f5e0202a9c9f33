"""Tables and JSON for people and scripts."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

__all__ = [
    "WIDTH",
    "Table",
    "counted",
    "json_text",
    "print_json",
    "readable",
    "rounded_size",
    "safe_json",
    "shown_name",
]

WIDTH = 100
_GAP = "  "
_KIB = 1024
_WIDE_ENOUGH = 8
# What JSON leaves as it is and a terminal would obey or hide: controls from DEL on, marks of direction and of no width.
_UNSAFE = re.compile(r"[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")


class Table:
    """Columns of fixed widths, so that rows can be printed while things happen."""

    def __init__(self, headings: Sequence[str], widths: Sequence[int]) -> None:
        self._headings = headings
        self._widths = widths

    @classmethod
    def fitted(cls, headings: Sequence[str], rows: Iterable[Sequence[str]], width: int = WIDTH) -> Table:
        """Return a table as wide as its rows, its widest columns narrowed until it fits.

        Args:
            headings: one for each column.
            rows: all rows that will be printed.
            width: the most characters of a line.

        """
        widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
        room = width - len(_GAP) * (len(widths) - 1)
        while sum(widths) > room and max(widths) > _WIDE_ENOUGH:
            widths[widths.index(max(widths))] -= 1
        return cls(headings, widths)

    def print_heading(self) -> None:
        """Print the headings."""
        self.print_row(self._headings, dict.fromkeys(range(len(self._headings)), "bold"))

    def print_row(self, cells: Sequence[str], styles: Mapping[int, str] | None = None) -> None:
        """Print a row, on as many lines as it needs.

        Args:
            cells: one for each column.
            styles: "bold" or a colour by the index of the column; it shows on a terminal only.

        """
        columns = [self._wrapped(cell, width) for cell, width in zip(cells, self._widths, strict=True)]
        for number in range(max(map(len, columns))):
            parts = [column[number] if number < len(column) else "" for column in columns]
            padded = [part.ljust(width) for part, width in zip(parts, self._widths, strict=True)]
            padded[-1] = parts[-1]
            blank = all(not part for part in parts[1:])
            shown = [_styled(part, (styles or {}).get(index)) for index, part in enumerate(padded)]
            click.echo(parts[0] if blank else _GAP.join(shown).rstrip())

    @staticmethod
    def _wrapped(cell: str, width: int) -> list[str]:
        return textwrap.wrap(cell, width, break_on_hyphens=False) or [""]


def _styled(text: str, style: str | None) -> str:
    if style is None or not text.strip():
        return text
    return click.style(text, bold=True) if style == "bold" else click.style(text, fg=style)


def print_json(content: Any) -> None:
    """Print JSON for a script: one object, indented, keys in a fixed order.

    Args:
        content: what to print.

    """
    click.echo(json_text(content))


def json_text(content: Any) -> str:
    """Return JSON of several lines that a terminal shows and does not obey.

    Args:
        content: what `json` takes.

    """
    return safe_json(json.dumps(content, indent=2, ensure_ascii=False))


def safe_json(text: str) -> str:
    """Return JSON whose strings have escapes in place of what a terminal would obey or hide.

    Args:
        text: JSON.

    """
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def shown_name(name: str) -> str:
    """Return a scope or key as it can be printed: as it is, or as a JSON string where that would not be clear.

    Args:
        name: the name.

    """
    plain = name.isprintable() and name == name.strip() and not name.startswith('"')
    return name if plain else json.dumps(name)


def counted(number: int, what: str) -> str:
    """Return a number of things as a person says it.

    Args:
        number: how many.
        what: one of them.

    """
    if number != 1:
        what = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number:,} {what}"


def readable(name: str, value: Any) -> str:
    """Return a figure as a person reads it.

    Args:
        name: what it is; names that end in "bytes" or "seconds" bring a unit.
        value: the figure.

    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("seconds"):
        return _duration(value)
    if isinstance(value, int):
        return _size(value) if name.endswith("bytes") else f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def _size(count: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < _KIB or count % _KIB:
            return f"{count:,} {unit}"
        count //= _KIB
    return f"{count:,} GiB"


def rounded_size(count: int) -> str:
    """Return a number of bytes with three digits and a unit.

    Args:
        count: the bytes.

    """
    size, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= _KIB and len(units) > 1:
        size /= _KIB
        del units[0]
    return f"{count} B" if units[0] == "B" else f"{size:,.{max(0, 2 - len(str(int(size))) + 1)}f} {units[0]}"
