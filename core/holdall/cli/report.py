"""What `copy`, `export` and `import` say at the end to a person."""

from __future__ import annotations

from dataclasses import fields

import click

from holdall.cli.outcome import Counts, Outcome
from holdall.cli.terminal import Table, counted
from holdall.cli.verifying import Side, Verification

__all__ = ["contents_of", "print_not_copied", "print_outcome", "print_verification", "verdict_of"]

_SHOWN = 12
_SAID = {"present": "already there"}


def print_outcome(outcome: Outcome) -> None:
    """Print a table of what became of records and logs, and the first of what was not moved.

    Args:
        outcome: what was done.

    """
    names = [field.name for field in fields(Counts)]
    used = [name for name in names if name in {"copied", "present"} or _of_both(outcome, name) != (0, 0)]
    headings = ("", *(_SAID.get(name, name).upper() for name in used))
    rows = [(f"{kind}s", *(f"{getattr(outcome.counts(kind), name):,}" for name in used)) for kind in ("record", "log")]
    table = Table.fitted(headings, rows)
    table.print_heading()
    for row in rows:
        table.print_row(row)
    if outcome.entries:
        click.echo(f"{counted(outcome.entries, 'entry')} of logs written")
    for line in outcome.lines():
        click.echo(f"not copied: {line}")


def _of_both(outcome: Outcome, name: str) -> tuple[int, int]:
    return getattr(outcome.records, name), getattr(outcome.logs, name)


def print_verification(found: Verification) -> None:
    """Print both digests, and the first differences.

    Args:
        found: the verification.

    """
    if found.equal:
        click.echo(f"both sides: {_side(found.source)}")
        return
    click.echo(f"SRC: {_side(found.source)}\nDST: {_side(found.destination)}")
    for problem in found.named:
        click.echo(f"differs: {problem}")
    if found.differences > len(found.named):
        click.echo(f"... and {found.differences - len(found.named):,} more")


def _side(side: Side) -> str:
    return f"{contents_of(side.records, side.logs, side.entries)}, digest {side.digest[:_SHOWN]}"


def contents_of(records: int, logs: int, entries: int) -> str:
    """Return what a storage or an export holds.

    Args:
        records: how many records.
        logs: how many logs.
        entries: how many entries these have.

    """
    return f"{counted(records, 'record')}, {counted(logs, 'log')} of {counted(entries, 'entry')}"


def verdict_of(outcome: Outcome, good: str) -> str:
    """Return what became of everything, in one sentence without its end.

    Args:
        outcome: what was done.
        good: what to say where nothing failed.

    """
    said = f"{outcome.failures:,} not copied, everything else is" if outcome.failures else good
    conflicts = outcome.records.conflicts + outcome.logs.conflicts
    if conflicts:
        said += f"; {_differing(conflicts)}: --on-conflict skip leaves it, --on-conflict overwrite replaces it"
    kinds = ((outcome.records.skipped, "record"), (outcome.logs.skipped, "log"))
    skipped = " and ".join(counted(number, kind) for number, kind in kinds if number)
    if skipped:
        said += f"; {skipped} skipped and not compared: DST holds something else"
    return said


def _differing(conflicts: int) -> str:
    return f"under {counted(conflicts, 'name')} DST holds something else"


def print_not_copied() -> None:
    """Print what stays behind, in one line."""
    click.echo(
        "Not copied: leases, flags, fencing tokens and marks, batch ids, versions; see docs/guide/moving-data.md"
    )
