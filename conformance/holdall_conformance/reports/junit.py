"""The report as JUnit XML, as Jenkins, GitLab and GitHub's actions read it.

There is no standard; what the readers have in common is described at https://github.com/testmoapp/junitxml.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from holdall_conformance.reports.text import SIDES, declared, rerun_of, visible
from holdall_conformance.results import Outcome, Report, Result, Side

__all__ = ["to_junit"]

_HOST = "localhost"


def to_junit(report: Report) -> str:
    """Return the report as an XML document with a suite for each group and side.

    Args:
        report: what the run found.

    """
    root = Element("testsuites", {"name": visible(f"holdall check {report.title}")})
    _count(root, report.results, report.seconds)
    for group in report.by_group():
        for side in SIDES:
            results = [each for each in report.results if (each.group, each.side) == (group, side)]
            if results:
                root.append(_suite(report, group, side, results))
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _count(element: Element, results: Sequence[Result], seconds: float) -> None:
    count: Counter[Outcome] = Counter(result.outcome for result in results)
    element.set("tests", str(len(results)))
    element.set("failures", str(count["failed"]))
    element.set("errors", "0")
    element.set("skipped", str(count["absent"]))
    element.set("time", f"{seconds:.3f}")


def _suite(report: Report, group: str, side: Side, results: Sequence[Result]) -> Element:
    suite = Element("testsuite", {"name": visible(f"{group} ({side})")})
    _count(suite, results, sum(result.seconds for result in results))
    started = _utc(report.started)
    if started is not None:
        suite.set("timestamp", started)
    suite.set("hostname", _HOST)
    properties = SubElement(suite, "properties")
    for name, value in _properties(report):
        SubElement(properties, "property", {"name": visible(name), "value": visible(value)})
    suite.extend(_case(report, result) for result in results)
    return suite


def _utc(started: str) -> str | None:
    """Return a time in the form that readers share, which has no offset; None where it is no time."""
    try:
        return datetime.fromisoformat(started).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except ValueError:
        return None


def _properties(report: Report) -> Iterator[tuple[str, str]]:
    yield "subject", report.title
    yield "adapter", report.adapter
    yield "level", report.level
    yield "seed", str(report.seed)
    yield "effort", f"{report.effort:g}"
    yield "verdict", report.verdict
    yield from ((f"version.{name}", version) for name, version in report.versions.items())
    yield from ((f"environment.{name}", value) for name, value in report.environment.items())
    yield from ((f"capability.{name}", declared(name, value)) for name, value in report.capabilities.items())
    yield from ((f"absent-operation.{number}", name) for number, name in enumerate(report.absent_operations, 1))
    yield from ((f"remark.{number}", remark) for number, remark in enumerate(report.remarks, 1))


def _case(report: Report, result: Result) -> Element:
    place = f"holdall_conformance.{result.side}.{result.group}"
    case = Element("testcase", {"classname": visible(place), "name": visible(result.id)})
    case.set("time", f"{result.seconds:.3f}")
    if result.outcome == "failed":
        message = visible(result.reason) or "the clause failed"
        failure = SubElement(case, "failure", {"type": "ClauseFailed", "message": message})
        failure.text = _told(report, result)
    elif result.outcome == "absent":
        SubElement(case, "skipped", {"message": visible(result.reason) or "absent; no reason was given"})
    return case


def _told(report: Report, result: Result) -> str:
    parts = [f"proves: {visible(result.proves)}", f"reason: {visible(result.reason)}"]
    parts += [visible(result.detail.rstrip(), lines=True)] if result.detail.strip() else []
    parts += [f"hint: {visible(result.hint)}"] if result.hint else []
    return "\n\n".join([*parts, f"again: {rerun_of(report, result)}"])
