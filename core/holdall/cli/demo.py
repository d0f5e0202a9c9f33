"""`holdall demo`: the main job of holdall on a real conversation, with a real kill."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.resources
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import click

from holdall.cli.conversation import Survey, survey
from holdall.cli.demo_setting import Setting, check_urls, open_first, setting
from holdall.cli.demo_story import Step, Stopped, Story
from holdall.cli.failures import DONE
from holdall.cli.signals import ended_by_exception
from holdall.cli.terminal import Table, print_json, readable

__all__ = ["demo"]

_WIDTHS = (11, 38, 39, 6)
_COUNTED = frozenset(
    ["acknowledged", "appended", "batches", "bytes", "entries", "in_flight", "lines_changed", "lost_leases", "turns"],
)
_ONE = {"batches": "batch", "bytes": "byte", "entries": "entry", "lost leases": "lost lease", "turns": "turn"}


@click.command(short_help="Show on a conversation that nothing is lost.")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--store", metavar="URL", help="The first store; by default a SQLite file in a temporary folder.")
@click.option("--to", "other", metavar="URL", help="The store to swap to; by default one in memory.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object in place of the table.")
@click.option("--keep", is_flag=True, help="Keep the temporary folder, with its holdall.toml, and the logs.")
def demo(file: Path | None, store: str | None, other: str | None, as_json: bool, keep: bool) -> None:
    """Show on a conversation that nothing is lost: two writers, a kill, a takeover, a swap of storages.

    FILE is a conversation as JSON Lines; by default one of 1,200 entries that comes with holdall. Two processes append
    it to one log at once, under a lease. One is killed half-way. The other takes over, the killed one's late write is
    refused, and every acknowledged entry is there once and in order. Then another URL in holdall.toml brings another
    storage, to which the log is copied and where it is the same.
    """
    with ended_by_exception(), _given_or_sample(file) as path:
        found = survey(path)
        check_urls(store, other)
        with setting(store, other, keep=keep) as made:
            open_first(made, found, path)
            status = _run(made, path, found, as_json=as_json, keep=keep)
    sys.exit(status)


@contextlib.contextmanager
def _given_or_sample(file: Path | None) -> Generator[Path]:
    if file is not None:
        yield file
        return
    sample = importlib.resources.files("holdall.cli").joinpath("demo_data", "conversation.jsonl")
    with importlib.resources.as_file(sample) as path:
        yield path


def _run(made: Setting, path: Path, found: Survey, *, as_json: bool, keep: bool) -> int:
    table = Table(("STEP", "WHAT", "FIGURES", "RESULT"), _WIDTHS)
    if not as_json:
        table.print_heading()
    story = Story(made, path, found, (lambda _: None) if as_json else (lambda step: _print_step(table, step)))
    status, summary = DONE, ""
    try:
        story.tell()
        summary = story.summary
    except Stopped as stopped:
        status, summary = stopped.status, f"It does not hold: {stopped.step.step}: {stopped.step.error}."
    kept = str(made.folder) if keep else None
    if as_json:
        _print_as_json(story, status, summary, kept)
    else:
        click.echo(f"\n{summary}" if kept is None else f"\nKept: {kept}\n{summary}")
    return status


def _print_step(table: Table, step: Step) -> None:
    result, colour = ("ok", "green") if step.ok else ("FAILED", "red")
    said = [] if step.error is None else [step.error]
    said += [_figure(name, value) for name, value in step.figures.items()]
    table.print_row((step.step, step.what, ", ".join(said), result), {3: colour})
    sys.stdout.flush()


def _figure(name: str, value: Any) -> str:
    shown = name.removesuffix("_seconds").replace("_", " ")
    if name in _COUNTED:
        return f"{value:,} {_ONE.get(shown, shown) if value == 1 else shown}"
    return f"{shown} {readable(name, value) if isinstance(value, float) else value}"


def _print_as_json(story: Story, status: int, summary: str, kept: str | None) -> None:
    print_json(
        {
            "ok": status == DONE,
            "summary": summary,
            "kept": kept,
            "steps": [dataclasses.asdict(step) for step in story.steps],
        }
    )
