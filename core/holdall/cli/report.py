"""What `copy` and `import` say at the end to a person."""

from __future__ import annotations

from dataclasses import fields

import click

from holdall.cli.outcome import NOT_COPIED, Counts, Outcome
from holdall.cli.terminal import Table
from holdall.cli.verifying import Side, Verification

__all__ = ["print_not_copied", "print_outcome", "print_verification"]

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
        click.echo(f"{outcome.entries:,} entries of logs written")
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
    counts = f"{side.records:,} records, {side.logs:,} logs of {side.entries:,} entries"
    return f"{counts}, digest {side.digest[:_SHOWN]}"


def print_not_copied() -> None:
    """Print what stays behind, and what to do about it."""
    click.echo()
    table = Table.fitted(("NOT COPIED", "WHAT TO DO"), list(NOT_COPIED.items()))
    table.print_heading()
    for row in NOT_COPIED.items():
        table.print_row(row)
