"""The report as text: a table of groups, then failures, absences and remarks, and the verdict as the last line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from holdall_conformance.reports.absences import absences_of
from holdall_conformance.reports.text import duration, joined, rerun_of, sides_of, visible, wrapped
from holdall_conformance.results import Report, Result, Tally

__all__ = ["to_text"]

_GAP = "  "
_COLUMNS = ("passed", "failed", "absent", "seconds")
_CODES = {"bold": "1", "red": "31", "green": "32", "yellow": "33"}
_LABEL = 9


def to_text(report: Report, *, colour: bool = False) -> str:
    """Return the report for a terminal or a pipe, 80 columns wide except for commands and details.

    Args:
        report: what the run found.
        colour: whether a terminal that knows ANSI colours shows it.

    """
    pen = _Pen(colour=colour)
    blocks = [_heading(report, pen), _table(report, pen), *_failures(report, pen)]
    blocks += [_absences(report, pen), _remarks(report, pen)]
    return "\n\n".join([*filter(None, blocks), _verdict(report, pen)]) + "\n"


class _Pen:
    """Writes in colour, or plainly."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def write(self, text: str, style: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self._colour and text.strip() else text


def _heading(report: Report, pen: _Pen) -> str:
    sides = joined(sides_of(report)) if report.results else "no side"
    run = f"{report.adapter}, level {report.level}, {sides}, seed {report.seed}, effort {report.effort:g}"
    when = f"started {report.started}, took {duration(report.seconds)}"
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    place = ", ".join(f"{name} {value}" for name, value in report.environment.items())
    first = pen.write(visible(f"holdall check {report.title}"), "bold")
    return "\n".join([first, *(wrapped(line) for line in (run, when, versions, place) if line)])


def _table(report: Report, pen: _Pen) -> str:
    """Draw a row for each group; where both sides ran, they stand side by side."""
    sides = sides_of(report)
    if not sides:
        return ""
    parts = [replace(report, results=[each for each in report.results if each.side == side]) for side in sides]
    tallies = [part.by_group() for part in parts]
    groups = list(report.by_group())
    first = max(len("total"), *(len(visible(group)) for group in groups))
    rows = [_row(visible(group).ljust(first), [tally.get(group) for tally in tallies], pen) for group in groups]
    total = _row("total".ljust(first), [_sum(tally.values()) for tally in tallies], pen)
    heading = _GAP.join(["group".ljust(first), *(_GAP.join(_COLUMNS) for _ in sides)])
    lines = [*_sides_line(sides, first), heading]
    return "\n".join([*(pen.write(line, "bold") for line in lines), *rows, total])


def _sides_line(sides: Sequence[str], first: int) -> Iterator[str]:
    if len(sides) > 1:
        width = len(_GAP.join(_COLUMNS))
        yield _GAP.join([" " * first, *(f" {side} ".center(width, "-") for side in sides)])


def _sum(tallies: Iterable[Tally]) -> Tally:
    found = list(tallies)
    return Tally(
        sum(each.passed for each in found),
        sum(each.failed for each in found),
        sum(each.absent for each in found),
        sum(each.seconds for each in found),
    )


def _row(name: str, tallies: Sequence[Tally | None], pen: _Pen) -> str:
    return _GAP.join([name, *(_GAP.join(_cells(tally, pen)) for tally in tallies)])


def _cells(tally: Tally | None, pen: _Pen) -> Iterator[str]:
    """Yield the cells of one side; a dash stands for none, so that what failed is seen at once."""
    shown = tally or Tally(0, 0, 0, 0.0)
    counts = (shown.passed, shown.failed, shown.absent)
    for heading, number, style in zip(_COLUMNS, counts, ("green", "red", "yellow"), strict=False):
        cell = (f"{number:,}" if number else "-").rjust(len(heading))
        yield pen.write(cell, style) if number else cell
    yield ("-" if tally is None else f"{tally.seconds:.2f}").rjust(len(_COLUMNS[-1]))


def _failures(report: Report, pen: _Pen) -> Iterator[str]:
    for result in report.failures:
        yield "\n".join(_failure(report, result, pen))


def _failure(report: Report, result: Result, pen: _Pen) -> Iterator[str]:
    yield pen.write(visible(f"FAILED {result.id} ({result.side})"), "red")
    yield _labelled("proves", result.proves)
    yield _labelled("reason", result.reason or "none was given")
    if result.detail.strip():
        yield ""
        yield textwrap.indent(visible(result.detail.rstrip(), lines=True), "    ")
        yield ""
    if result.hint:
        yield _labelled("hint", result.hint)
    yield f"  {'again:'.ljust(_LABEL)}{rerun_of(report, result)}"


def _labelled(label: str, text: str) -> str:
    return wrapped(text, f"  {f'{label}:'.ljust(_LABEL)}", " " * (_LABEL + 2))


def _absences(report: Report, pen: _Pen) -> str:
    lines = [wrapped(f"absent: {each.sentence} ({each.groups})", "", "        ") for each in absences_of(report)]
    return "\n".join(pen.write(line, "yellow") for line in lines)


def _remarks(report: Report, pen: _Pen) -> str:
    return "\n".join(pen.write(wrapped(f"note: {remark}", "", "      "), "yellow") for remark in report.remarks)


def _verdict(report: Report, pen: _Pen) -> str:
    style = "green" if report.conforms else "red" if report.failures else "yellow"
    return pen.write(visible(report.verdict), style)
