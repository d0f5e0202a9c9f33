"""`holdall import`: what `holdall export` wrote, into a storage."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Collection, Generator
from pathlib import Path
from typing import IO

import click

from holdall.cli.copy import on_conflict, resumable
from holdall.cli.export_reader import BadExport, ExportReader
from holdall.cli.failures import DONE, FAILED, standard_input, unusable_file
from holdall.cli.log_writer import LogWriter
from holdall.cli.outcome import NOT_COPIED, Outcome, Policy
from holdall.cli.progress import Progress
from holdall.cli.reading import Chunk
from holdall.cli.record_writer import RecordWriter
from holdall.cli.report import print_not_copied, print_outcome, verdict_of
from holdall.cli.storages import Storage, as_json, of_scopes, quiet, timeout
from holdall.cli.terminal import counted, print_json
from holdall.store import Store

__all__ = ["import_"]

_PIPE = Path("-")


@click.command("import", short_help="Read what export wrote into a storage.")
@click.argument("url")
@click.argument("file", default="-", type=click.Path(path_type=Path))
@of_scopes
@on_conflict
@as_json("Print one JSON object in place of the summary.")
@quiet
@timeout
def import_(
    url: str,
    file: Path,
    scopes: tuple[str, ...],
    records: bool,
    logs: bool,
    on_conflict: Policy,
    as_json: bool,
    quiet: bool,
    timeout: float | None,
) -> None:
    """Read an export from FILE, or from standard input, into the storage that URL stands for.

    Nothing is written before the header was read and understood. A line that is damaged or missing ends the import;
    what came before it stays, and running it again with a whole export passes over what is there and equal.
    """
    storage, outcome = Storage.of(url), Outcome()
    with resumable(), _opened(file) as source, Progress(quiet=quiet) as progress:
        with unusable_file(file):
            reader = ExportReader(source)
        with storage.open(timeout) as store:
            wanted = _Wanted(scopes, records=records or not logs, logs=logs or not records)
            _read(reader, store, wanted, on_conflict, outcome, progress)
    unseen = sorted(set(scopes) - wanted.seen)
    good = not outcome.failures and not unseen and not reader.damaged
    if as_json:
        content = {"destination": storage.shown, "ok": good, **outcome.as_json()}
        print_json({**content, "missing_scopes": unseen, "damaged": reader.damaged, "not_copied": NOT_COPIED})
    elif not (quiet and good):
        print_outcome(outcome)
        for scope in unseen:
            click.echo(f"not in the export: scope {scope!r}")
        if reader.damaged:
            click.echo(f"{reader.damaged:,} not in the export, or not whole: damaged where it was made")
        if outcome.did_something:
            print_not_copied()
        click.echo(f"{storage.shown}: {verdict_of(outcome, 'imported')}.")
    sys.exit(DONE if good else FAILED)


class _Wanted:
    """What of an export is meant, and which of its scopes were seen."""

    def __init__(self, scopes: Collection[str], *, records: bool, logs: bool) -> None:
        self.seen: set[str] = set()
        self._scopes = frozenset(scopes)
        self._records = records
        self._logs = logs

    def __call__(self, scope: str, *, is_record: bool) -> bool:
        if self._scopes and scope not in self._scopes:
            return False
        if self._scopes:
            self.seen.add(scope)
        return self._records if is_record else self._logs


@contextlib.contextmanager
def _opened(file: Path) -> Generator[IO[bytes]]:
    if file == _PIPE:
        yield standard_input()
        return
    with unusable_file(file):
        opened = file.open("rb")
    with opened:
        yield opened


def _read(
    reader: ExportReader, store: Store, wanted: _Wanted, policy: Policy, outcome: Outcome, progress: Progress
) -> None:
    records, logs = RecordWriter(store, policy, outcome), LogWriter(store, policy, outcome)
    progress.phase("importing")
    try:
        for item in reader.items():
            is_record = isinstance(item, Chunk)
            if not wanted(item.scope, is_record=is_record):
                continue
            if isinstance(item, Chunk):
                records.write(item)
                progress.add(item.scope, records=len(item.records))
            else:
                logs.write(item)
                progress.add(item.scope, entries=item.length - item.first)
    except BadExport as error:
        message = f"{error.message}; {_kept(outcome)}"
        raise BadExport(message) from error


def _kept(outcome: Outcome) -> str:
    done = outcome.records.copied + outcome.records.overwritten
    return (
        f"{counted(done, 'record')} and {counted(outcome.entries, 'entry')} were imported and stay; "
        "running it again with a whole export is safe, and where what is there now differs from that it needs "
        "--on-conflict overwrite"
    )
