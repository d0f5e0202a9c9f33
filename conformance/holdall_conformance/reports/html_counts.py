"""The table of groups on the HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from holdall_conformance.reports.html_parts import shown
from holdall_conformance.reports.text import SIDES
from holdall_conformance.results import Outcome, Report, Result

__all__ = ["groups_section"]

_COLUMNS: tuple[Outcome, ...] = ("passed", "failed", "absent")


def groups_section(report: Report) -> str:
    """Return a table of how many clauses of each group passed, failed and were absent, a row for each side.

    Args:
        report: what the run found.

    """
    if not report.results:
        return ""
    heads = "".join(f'<th scope="col" class="number">{each}</th>' for each in (*_COLUMNS, "seconds"))
    head = f'<thead><tr><th scope="col">group</th><th scope="col">side</th>{heads}</tr></thead>'
    bodies = [_body(group, [each for each in report.results if each.group == group]) for group in report.by_group()]
    total = _body("total", report.results, "total")
    table = "\n".join(['<table class="counts">', head, *bodies, total, "</table>"])
    return f'<div class="scrolls" tabindex="0" role="region" aria-label="Groups">{table}</div>'


def _body(name: str, results: Sequence[Result], style: str = "") -> str:
    parts = [[each for each in results if each.side == side] for side in SIDES]
    rows = [part for part in parts if part]
    lines = list(_rows(name, rows))
    return "\n".join([f'<tbody class="{style}">' if style else "<tbody>", *lines, "</tbody>"])


def _rows(name: str, rows: Sequence[Sequence[Result]]) -> Iterator[str]:
    for number, results in enumerate(rows):
        head = "" if number else f'<th scope="rowgroup" rowspan="{len(rows)}">{shown(name)}</th>'
        yield f'<tr>{head}<th scope="row">{results[0].side}</th>{"".join(_cells(results))}</tr>'


def _cells(results: Sequence[Result]) -> Iterator[str]:
    count: Counter[Outcome] = Counter(result.outcome for result in results)
    for outcome in _COLUMNS:
        style = f"number {outcome}" if count[outcome] else "number quiet"
        yield f'<td class="{style}">{count[outcome]:,}</td>'
    yield f'<td class="number">{sum(result.seconds for result in results):.2f}</td>'
