"""`holdall export`: everything in a storage as JSON Lines."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from pathlib import Path
from typing import IO, Any

import click

from holdall.cli.damage import Damaged, problem_of
from holdall.cli.export_writer import ExportWriter
from holdall.cli.failures import DONE, FAILED, complain
from holdall.cli.new_file import check_free, new_file
from holdall.cli.outcome import NOT_COPIED, Outcome
from holdall.cli.progress import Progress
from holdall.cli.reading import Selection
from holdall.cli.report import contents_of, print_not_copied
from holdall.cli.signals import ended_by_exception
from holdall.cli.storages import Storage, as_json, of_scopes, quiet, timeout
from holdall.cli.terminal import print_json

__all__ = ["export"]

_PIPE = Path("-")


@click.command(short_help="Write everything in a storage as JSON Lines.")
@click.argument("url")
@click.argument("file", default="-", type=click.Path(path_type=Path))
@of_scopes
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@as_json("Print one JSON object in place of the summary; only with a FILE.")
@quiet
@timeout
def export(
    url: str,
    file: Path,
    scopes: tuple[str, ...],
    records: bool,
    logs: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
    timeout: float | None,
) -> None:
    """Write all records and logs of the storage that URL stands for to FILE, or to standard output.

    FILE appears whole or not at all, and only its owner may read it. holdall import reads it back exactly.
    """
    to_pipe = file == _PIPE
    if to_pipe and as_json:
        message = "--json needs a FILE: standard output is the export itself"
        raise click.UsageError(message)
    if not to_pipe:
        check_free(file, force=force)
    outcome = Outcome()
    with ended_by_exception(), Storage.of(url).open_to_read(timeout) as store:
        chosen = Selection.of(store, scopes, outcome.damage, records=records, logs=logs)
        with _opened(file, force=force) as target, Progress(quiet=quiet) as progress:
            writer = ExportWriter(target)
            _write(chosen, writer, outcome, progress)
    if as_json:
        print_json(_json(file, writer, outcome))
    elif to_pipe:
        for line in outcome.lines():
            complain(f"not exported: {line}")
    elif outcome.failures or not quiet:
        _print(file, writer, outcome)
    sys.exit(FAILED if outcome.failures else DONE)


def _print(file: Path, writer: ExportWriter, outcome: Outcome) -> None:
    for line in outcome.lines():
        click.echo(f"not exported: {line}")
    if writer.records or writer.logs:
        print_not_copied()
    contents = contents_of(writer.records, writer.logs, writer.entries)
    failed = f"; {outcome.failures:,} not exported, or not whole" if outcome.failures else ""
    click.echo(f"{file}: {contents}, digest {writer.digest[:12]}{failed}.")


@contextlib.contextmanager
def _opened(file: Path, *, force: bool) -> Generator[IO[bytes]]:
    if file == _PIPE:
        yield sys.stdout.buffer
        return
    with new_file(file, force=force) as made:
        yield made


def _write(chosen: Selection, writer: ExportWriter, outcome: Outcome, progress: Progress) -> None:
    progress.phase("exporting")
    writer.begin()
    for scope in chosen.scopes():
        for chunk in chosen.chunks(scope):
            writer.chunk(chunk)
            progress.add(scope, records=len(chunk.records))
        for key in chosen.log_keys(scope):
            try:
                log = chosen.log(scope, key)
                if log is not None:
                    writer.log(log)
                    progress.add(scope, entries=log.length - log.first)
            except Damaged as error:
                outcome.damage(problem_of("log", scope, key, "SRC", error))
    writer.end(outcome.failures)


def _json(file: Path, writer: ExportWriter, outcome: Outcome) -> dict[str, Any]:
    report = outcome.as_json()
    return {
        "file": str(file),
        "ok": not outcome.failures,
        "records": writer.records,
        "logs": writer.logs,
        "entries": writer.entries,
        "sha256": writer.digest,
        "failures": report["failures"],
        "problems": report["problems"],
        "not_copied": NOT_COPIED,
    }
