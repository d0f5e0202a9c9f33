"""Pieces of HTML; whatever text comes in is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from holdall_conformance.reports.text import visible

__all__ = ["code", "command", "facts", "pre", "section", "shown", "table"]


def shown(text: str) -> str:
    """Return text as HTML on one line, controls and marks of direction shown as escapes.

    Args:
        text: any text.

    """
    return escape(visible(text))


def code(text: str) -> str:
    """Return a name or command as HTML that may break at its dots and underscores.

    Args:
        text: any text.

    """
    return f"<code>{shown(text).replace('_', '_<wbr>').replace('.', '.<wbr>')}</code>"


def pre(text: str, label: str) -> str:
    """Return text of several lines as a block that wraps, and scrolls where it is long.

    Args:
        text: any text.
        label: what it is, for those who do not see it.

    """
    return f'<pre tabindex="0" role="region" aria-label="{shown(label)}">{escape(visible(text, lines=True))}</pre>'


def command(text: str) -> str:
    """Return a command to copy as a block, whose options do not break.

    Args:
        text: the command, on one line.

    """
    options = re.sub(r"(?<= )--[a-z]+(?= )", r'<span class="option">\g<0></span>', shown(text))
    return f'<pre tabindex="0" role="region" aria-label="Command">{options}</pre>'


def section(name: str, body: str) -> str:
    """Return a section with a heading that links can lead to.

    Args:
        name: one word of ASCII letters.
        body: HTML.

    """
    return f'<section aria-labelledby="{name.lower()}">\n<h2 id="{name.lower()}">{name}</h2>\n{body}\n</section>'


def facts(pairs: Mapping[str, str]) -> str:
    """Return names and what they stand for, as HTML.

    Args:
        pairs: HTML by HTML.

    """
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in pairs.items()) + "</dl>"


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column names its rows.

    Args:
        caption: what it shows, text.
        headings: one for each column, text.
        rows: cells of HTML.

    """
    heads = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    lines = [
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in further)}</tr>'
        for first, *further in rows
    ]
    head = f"<caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead>"
    return "\n".join(['<table class="declared">', head, "<tbody>", *lines, "</tbody>", "</table>"])
