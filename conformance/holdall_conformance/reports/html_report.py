"""The report as one HTML page that needs no script and nothing from elsewhere."""

from __future__ import annotations

import importlib.resources
import string
from collections.abc import Iterator, Mapping

from holdall_conformance.reports.capability_texts import meaning_of
from holdall_conformance.reports.html_clauses import absent_section, clauses_section, failures_section
from holdall_conformance.reports.html_counts import groups_section
from holdall_conformance.reports.html_parts import code, command, facts, section, shown, table
from holdall_conformance.reports.text import command_of, declared, duration, joined, sides_of
from holdall_conformance.results import Report

__all__ = ["to_html"]


def to_html(report: Report) -> str:
    """Return the report as an HTML page.

    Args:
        report: what the run found.

    """
    page = importlib.resources.files("holdall_conformance.reports").joinpath("page.html").read_text("utf-8")
    title = shown(f"{report.title}: {report.verdict}")
    return string.Template(page).substitute(title=title, content="\n".join(_content(report)))


def _content(report: Report) -> Iterator[str]:
    sections = {name: body for name, body in _sections(report) if body}
    yield f"<h1>holdall conformance of {code(report.title)}</h1>"
    yield f'<p class="verdict {_style(report)}">{shown(report.verdict[:1].upper() + report.verdict[1:])}</p>'
    yield _summary(report)
    yield _navigation(sections)
    yield from (section(name, body) for name, body in sections.items())


def _style(report: Report) -> str:
    return "passed" if report.conforms else "failed" if report.failures else "none"


def _sections(report: Report) -> Iterator[tuple[str, str]]:
    yield "Failures", failures_section(report)
    yield "Groups", groups_section(report)
    yield "Absent", absent_section(report)
    yield "Remarks", _remarks(report)
    yield "Capabilities", _capabilities(report)
    yield "Clauses", clauses_section(report)
    yield "Run", _run(report)


def _summary(report: Report) -> str:
    count = report.count
    numbers = f"{count['passed']:,} passed, {count['failed']:,} failed, {count['absent']:,} absent"
    sides = joined(sides_of(report)) if report.results else "none"
    return facts(
        {
            "Adapter": shown(report.adapter),
            "Level": shown(report.level if report.complete else f"{report.level}, in part"),
            "Sides": sides,
            "Results": numbers,
            "Started": shown(report.started),
            "Took": duration(report.seconds),
        }
    )


def _navigation(sections: Mapping[str, str]) -> str:
    links = "".join(f'<li><a href="#{name.lower()}">{name}</a></li>' for name in sections)
    return f'<nav aria-label="Sections"><ul>{links}</ul></nav>'


def _remarks(report: Report) -> str:
    items = "".join(f"<li>{shown(remark)}</li>" for remark in report.remarks)
    return f'<ul class="reasons">{items}</ul>' if items else ""


def _capabilities(report: Report) -> str:
    rows = [
        (code(name), shown(declared(name, value)), shown(meaning_of(name)))
        for name, value in report.capabilities.items()
    ]
    absent = ", ".join(map(code, report.absent_operations))
    said = f"<p>Operations that it does not have: {absent}.</p>" if absent else ""
    if not rows:
        return said
    return said + table("What the backend declares about itself", ("Capability", "Declared", "What it means"), rows)


def _run(report: Report) -> str:
    again = f"<p>To do the whole run again:</p>{command(command_of(report))}"
    settings = {"Seed": shown(str(report.seed)), "Effort": f"{report.effort:g}"}
    versions = {shown(name): shown(version) for name, version in report.versions.items()}
    environment = {shown(name): shown(value) for name, value in report.environment.items()}
    return again + facts({**settings, **versions, **environment})
