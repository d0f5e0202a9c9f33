"""`holdall check`: the kit as a command."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import click

from holdall import ConfigError, Corrupt
from holdall_conformance.results import LEVELS, Level, Report, Result, Side

__all__ = ["check"]

_SIDES: dict[str, tuple[Side, ...]] = {"both": ("sync", "async"), "sync": ("sync",), "async": ("async",)}


class _Unusable(click.ClickException):
    """What was given cannot be used, and nothing was done."""

    exit_code = 2


@click.command()
@click.argument("target", required=False)
@click.option("--lock", metavar="FUNCTION", help="module:function that opens the lock; no TARGET for a lock alone.")
@click.option("--level", type=click.Choice(LEVELS), default="base", show_default=True, help="How much to prove.")
@click.option(
    "--side", type=click.Choice(list(_SIDES)), default="both", show_default=True, help="Which handles to try."
)
@click.option(
    "--only", multiple=True, metavar="CLAUSE", help="Run this clause, group or pattern only; may be repeated."
)
@click.option("--effort", type=float, default=1.0, show_default=True, help="Try so many times as often.")
@click.option("--seed", type=int, help="The seed of every random choice; a report names it.")
@click.option("--json", "json_file", type=Path, metavar="FILE", help="Write the report as JSON.")
@click.option("--junit", "junit_file", type=Path, metavar="FILE", help="Write it as JUnit XML.")
@click.option("--html", "html_file", type=Path, metavar="FILE", help="Write it as a page.")
@click.option("--badge", "badge_file", type=Path, metavar="FILE", help="Write a badge, as SVG.")
@click.option("--compare", nargs=2, type=Path, metavar="OLD NEW", help="Compare two JSON reports; no TARGET then.")
@click.option("--list", "listing", is_flag=True, help="List the clauses of the level and exit.")
def check(
    target: str | None,
    lock: str | None,
    level: Level,
    side: str,
    only: Sequence[str],
    effort: float,
    seed: int | None,
    json_file: Path | None,
    junit_file: Path | None,
    html_file: Path | None,
    badge_file: Path | None,
    compare: tuple[Path, Path] | None,
    listing: bool,  # noqa: FBT001 - click hands flags over as booleans
) -> None:
    """Prove that a backend keeps the contract.

    TARGET is a URL, a name of the configuration, or module:function, which opens a store. The clauses run in scopes of
    their own, which are removed at the end. The exit status is 0 only if every clause that applies holds.
    """
    _demand_extra()
    if compare is not None:
        if target is not None:
            message = "--compare takes two reports and no TARGET: run the check first, with --json"
            raise click.UsageError(message)
        _compare(*compare)
    elif listing:
        _list(level, only)
    else:
        files = {"json": json_file, "junit": junit_file, "html": html_file, "badge": badge_file}
        wanted = {kind: file for kind, file in files.items() if file is not None}
        for file in wanted.values():
            _check_place(file)
        report = _run(target, lock, level, side, only, _checked_effort(effort), seed)
        _write(report, wanted)
        click.echo(_text_of(report), nl=False)
        sys.exit(0 if report.holds else 1)


def _demand_extra() -> None:
    missing = [name for name in ("pytest", "hypothesis") if find_spec(name) is None]
    if missing:
        message = f"the kit needs {' and '.join(missing)}: pip install 'holdall[conformance]'"
        raise ConfigError(message)


def _checked_effort(effort: float) -> float:
    if not 0 < effort < float("inf"):
        message = f"--effort is a number above 0, not {effort:g}"
        raise click.UsageError(message)
    return effort


def _check_place(file: Path) -> None:
    if file.is_dir() or not file.absolute().parent.is_dir():
        why = "is a folder" if file.is_dir() else f"there is no folder {file.parent}"
        message = f"{file}: {why}"
        raise _Unusable(message)
    if not os.access(file.absolute().parent, os.W_OK):
        message = f"{file}: nothing can be written to {file.parent}"
        raise _Unusable(message)


def _run(
    target: str | None, lock: str | None, level: Level, side: str, only: Sequence[str], effort: float, seed: int | None
) -> Report:
    from holdall_conformance.runner import Plan, run  # noqa: PLC0415 - it imports every clause
    from holdall_conformance.sources import source_of  # noqa: PLC0415 - as above

    with tempfile.TemporaryDirectory(prefix="holdall-check-") as folder:
        source = source_of(target, lock, Path(folder))
        plan = Plan(source=source, level=level, sides=_SIDES[side], only=only, effort=effort)
        if seed is not None:
            plan = Plan(source=source, level=level, sides=_SIDES[side], only=only, effort=effort, seed=seed)
        for ending in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(ending, _end)
        with _progress() as notice:
            try:
                return run(plan, notice=notice)
            except Corrupt as error:
                raise _Unusable(str(error)) from error
            except (KeyboardInterrupt, SystemExit):
                click.echo(f"what the clauses wrote into scopes that begin with {plan.run} was left", err=True)
                raise


def _end(number: int, _: object) -> NoReturn:
    """End on a signal as on Ctrl-C, so that processes and temporary files go too."""
    sys.exit(128 + number)


@contextlib.contextmanager
def _progress() -> Generator[Callable[[Result], None]]:
    """Give a function that shows on a terminal how far the run has come."""
    counts = {"passed": 0, "failed": 0, "absent": 0}
    shown = sys.stderr.isatty()

    def notice(result: Result) -> None:
        counts[result.outcome] += 1
        if shown:
            told = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
            click.echo(f"\r\x1b[K{told}  {result.id}", nl=False, err=True)

    yield notice
    if shown:
        click.echo("\r\x1b[K", nl=False, err=True)


def _text_of(report: Report) -> str:
    from holdall_conformance.reports.terminal import to_text  # noqa: PLC0415 - only what is asked for is imported

    return to_text(report, colour=sys.stdout.isatty() and not os.environ.get("NO_COLOR"))


def _write(report: Report, files: dict[str, Path]) -> None:
    from holdall_conformance.reports.badge import to_badge  # noqa: PLC0415 - only what is asked for is imported
    from holdall_conformance.reports.html_report import to_html  # noqa: PLC0415 - as above
    from holdall_conformance.reports.json_report import to_json  # noqa: PLC0415 - as above
    from holdall_conformance.reports.junit import to_junit  # noqa: PLC0415 - as above

    forms = {"json": to_json, "junit": to_junit, "html": to_html, "badge": to_badge}
    for kind, file in files.items():
        _put(file, forms[kind](report))


def _put(file: Path, text: str) -> None:
    """Write a file that appears whole or not at all."""
    draft = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        message = f"{file}: {error.strerror}"
        raise click.ClickException(message) from error


def _compare(old: Path, new: Path) -> None:
    from holdall_conformance.reports.compare import compare  # noqa: PLC0415 - only what is asked for is imported
    from holdall_conformance.reports.json_report import UnusableReport, read_report  # noqa: PLC0415 - as above

    try:
        comparison = compare(read_report(old), read_report(new))
    except UnusableReport as error:
        raise _Unusable(str(error)) from error
    click.echo(comparison.to_text(), nl=False)
    sys.exit(1 if comparison.worse else 0)


def _list(level: Level, only: Sequence[str]) -> None:
    from holdall_conformance.runner import chosen  # noqa: PLC0415 - it imports every clause

    for scenario in chosen(level, only):
        needs = f" [needs {', '.join(scenario.needs)}]" if scenario.needs else ""
        click.echo(f"{scenario.id} ({scenario.level}): {scenario.proves}{needs}")
