"""`holdall doctor`: whether a storage can be used from here, and if not, why."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence

import click

from holdall.cli.adapters import UNITS
from holdall.cli.diagnosis import Diagnosis, Finding
from holdall.cli.failures import DONE, FAILED, UNREACHABLE, USAGE
from holdall.cli.terminal import Table, print_json, readable

__all__ = ["doctor"]

_COLOURS = {"ok": "green", "failed": "red", "not there": "yellow"}
_WIDTHS = (9, 16, 71)


@click.command(short_help="Check a storage, given by URL or name.")
@click.argument("url_or_name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object in place of the lines.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True, max=86_400),
    metavar="SECONDS",
    help="Seconds that bound every operation; by default those of the configuration, or 10.",
)
def doctor(url_or_name: str, as_json: bool, timeout: float | None) -> None:
    """Check the storage that URL_OR_NAME stands for.

    URL_OR_NAME is a URL such as sqlite:///app.db, or a name such as default, which holdall.toml or the environment
    explains. The doctor connects, reads versions, latency and clock, and tries a record and a lease under names of its
    own, which it removes again. Each check is ok, failed, or finds nothing to check ("not there").
    """
    diagnosis = Diagnosis(url_or_name, timeout)
    diagnosis.run()
    if as_json:
        _print_as_json(diagnosis)
    else:
        _print_lines(diagnosis)
    sys.exit(_status(diagnosis))


def _status(diagnosis: Diagnosis) -> int:
    if all(finding.state != "failed" for finding in diagnosis.findings):
        return DONE
    if diagnosis.unreachable:
        return UNREACHABLE
    return USAGE if diagnosis.misconfigured else FAILED


def _print_as_json(diagnosis: Diagnosis) -> None:
    print_json(
        {
            "target": diagnosis.url,
            "ok": _status(diagnosis) == DONE,
            "checks": [dataclasses.asdict(finding) for finding in diagnosis.findings],
            "versions": diagnosis.versions,
            "store": diagnosis.store,
            "latency": diagnosis.latency,
            "capabilities": diagnosis.capabilities,
        }
    )


def _print_lines(diagnosis: Diagnosis) -> None:
    table = Table(("RESULT", "CHECK", "WHAT WAS FOUND"), _WIDTHS)
    table.print_heading()
    for checks, finding in _once(diagnosis.findings):
        table.print_row((finding.state, checks, _said(finding)), {0: _COLOURS[finding.state]})
    versions = ", ".join(f"{name} {version}" for name, version in diagnosis.versions.items())
    table.print_row(("", "versions", versions))
    if diagnosis.capabilities:
        said = (
            f"{name} {readable(name, value)}{UNITS.get(name, '')}" for name, value in diagnosis.capabilities.items()
        )
        table.print_row(("", "capabilities", ", ".join(said)))
    failed = sum(finding.state == "failed" for finding in diagnosis.findings)
    verdict = f"{failed} of {len(diagnosis.findings)} checks failed" if failed else "can be used from here"
    click.echo(f"\n{diagnosis.url}: {verdict}.")


def _once(findings: Sequence[Finding]) -> list[tuple[str, Finding]]:
    """Return the names of checks with what they found; what several failed for stands there once."""
    shown: list[tuple[str, Finding]] = []
    for finding in findings:
        place, same = next(
            ((place, name) for place, (name, other) in enumerate(shown) if _fails_as(other, finding)), (None, "")
        )
        if place is None:
            shown.append((finding.check, finding))
        else:
            shown[place] = (f"{same}, {finding.check}", finding)
    return shown


def _fails_as(one: Finding, other: Finding) -> bool:
    return one.state == "failed" and dataclasses.replace(one, check=other.check) == other


def _said(finding: Finding) -> str:
    return finding.detail if finding.mend is None else f"{finding.detail}. To mend it: {finding.mend}"
