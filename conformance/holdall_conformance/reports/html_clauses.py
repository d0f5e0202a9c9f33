"""The clauses on the HTML page: those that failed, those that are absent, and all of them by group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from holdall_conformance.reports.absences import absences_of
from holdall_conformance.reports.html_parts import code, command, facts, pre, shown
from holdall_conformance.reports.text import duration, rerun_of
from holdall_conformance.results import Outcome, Report, Result

__all__ = ["absent_section", "clauses_section", "failures_section"]

_OPEN = 5
"""So many failures are unfolded when the page opens."""


def failures_section(report: Report) -> str:
    """Return what failed, each with everything that is known about it.

    Args:
        report: what the run found.

    """
    return "\n".join(_failure(report, result, number) for number, result in enumerate(report.failures))


def _failure(report: Report, result: Result, number: int) -> str:
    unfolded = " open" if number < _OPEN else ""
    heading = f'<h3 class="failed">{code(result.id)}</h3> <span class="quiet">{result.side}</span>'
    told = {"Proves": shown(result.proves), "Reason": shown(result.reason) or "none was given"}
    told |= {"Hint": shown(result.hint)} if result.hint else {}
    detail = pre(result.detail.rstrip(), f"Detail of {result.id}") if result.detail.strip() else ""
    again = f"<p>To try it again:</p>{command(rerun_of(report, result))}"
    body = f"<summary>{heading}</summary>{facts(told)}{detail}{again}"
    return f'<details class="failure"{unfolded}>{body}</details>'


def absent_section(report: Report) -> str:
    """Return every reason why clauses are absent, and which these are.

    Args:
        report: what the run found.

    """
    parts: list[str] = []
    for absence in absences_of(report):
        items = "".join(f"<li>{code(name)}</li>" for name in absence.ids)
        heading = f'<summary><span class="absent">{shown(absence.sentence)}</span></summary>'
        parts.append(f"<details>{heading}<ul>{items}</ul></details>")
    return "\n".join(parts)


def clauses_section(report: Report) -> str:
    """Return all clauses by group, with what each proves and what came of it on each side.

    Args:
        report: what the run found.

    """
    groups: dict[str, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for result in report.results:
        groups[result.group][result.id].append(result)
    return "\n".join(_group(name, list(clauses.values())) for name, clauses in sorted(groups.items()))


def _group(name: str, clauses: Sequence[Sequence[Result]]) -> str:
    count: Counter[Outcome] = Counter(result.outcome for results in clauses for result in results)
    said = ", ".join(_counted(outcome, count[outcome]) for outcome in ("passed", "failed", "absent") if count[outcome])
    items = "\n".join(map(_clause, clauses))
    heading = f"<summary><h3>{shown(name)}</h3> {said}</summary>"
    return f'<details>{heading}<ul class="clauses">\n{items}\n</ul></details>'


def _counted(outcome: Outcome, number: int) -> str:
    return f'<span class="{outcome}">{number:,} {outcome}</span>'


def _clause(results: Sequence[Result]) -> str:
    first = results[0]
    outcomes = "; ".join(_outcomes(results))
    return f"<li>{code(first.id)}<p>{shown(first.proves)}</p><p>{outcomes}</p></li>"


def _outcomes(results: Sequence[Result]) -> Iterator[str]:
    for result in results:
        took = "" if result.outcome == "absent" else f" in {duration(result.seconds)}"
        said = f'{result.side}: <span class="{result.outcome}">{result.outcome}</span>{took}'
        yield f"{said} ({shown(result.reason)})" if result.outcome == "absent" and result.reason else said
