"""`holdall copy`: everything in one storage into another, verified, and resumed by running it again."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import click

from holdall.cli.damage import Damaged, problem_of
from holdall.cli.failures import DONE, FAILED, INTERRUPTED
from holdall.cli.log_writer import LogWriter
from holdall.cli.outcome import NOT_COPIED, POLICIES, Outcome, Policy
from holdall.cli.progress import Progress
from holdall.cli.reading import Log, Selection
from holdall.cli.record_writer import RecordWriter
from holdall.cli.report import print_not_copied, print_outcome, print_verification, verdict_of
from holdall.cli.storages import Storage, as_json, check_differ, of_scopes, quiet, timeout
from holdall.cli.terminal import print_json
from holdall.cli.verifying import Verification, Verifier

__all__ = ["copy", "on_conflict", "resumable"]


class Interrupted(click.ClickException):
    """Ctrl-C, with a word on how to go on."""

    exit_code = INTERRUPTED


@contextlib.contextmanager
def resumable() -> Generator[None]:
    """Say after Ctrl-C that the command can be run again."""
    try:
        yield
    except KeyboardInterrupt:
        message = "interrupted: what was written stays; run the same command again and it goes on from there"
        raise Interrupted(message) from None


on_conflict = click.option(
    "--on-conflict",
    type=click.Choice(POLICIES),
    default="error",
    help="What to do where DST holds something else under a name: by default it is left, named, and a failure.",
)


@click.command(short_help="Copy everything in a storage into another.")
@click.argument("src")
@click.argument("dst")
@of_scopes
@on_conflict
@click.option("--no-verify", is_flag=True, help="Do not read both sides again at the end.")
@as_json("Print one JSON object in place of the summary.")
@quiet
@timeout
def copy(
    src: str,
    dst: str,
    scopes: tuple[str, ...],
    records: bool,
    logs: bool,
    on_conflict: Policy,
    no_verify: bool,
    as_json: bool,
    quiet: bool,
    timeout: float | None,
) -> None:
    """Copy all records and logs of SRC into DST, each a URL or a name.

    Records keep their value and the time they have left, logs their entries and positions. What is in DST and equal is
    not written again, so a copy that was stopped goes on when it is run again. At the end both sides are read again and
    their digests compared. Leases, flags, fencing marks, batch ids, versions and incarnations are not copied.
    """
    source, destination = Storage.of(src), Storage.of(dst)
    check_differ(source, destination)
    outcome, verification = Outcome(), None
    with resumable(), source.open_to_read(timeout) as from_, Progress(quiet=quiet) as progress:
        chosen = Selection.of(from_, scopes, outcome.damage, records=records, logs=logs)
        with destination.open(timeout) as into:
            there = replace(chosen, store=into, side="DST")
            _Copying(chosen, there, on_conflict, outcome, progress).run()
            if not no_verify:
                progress.phase("verifying")
                verification = Verifier(chosen, there, outcome, progress).run()
    good = not outcome.failures and (verification is None or verification.equal)
    if as_json:
        print_json(_json(source, destination, outcome, verification, ok=good))
    elif not (quiet and good):
        _print(source, destination, outcome, verification)
    sys.exit(DONE if good else FAILED)


class _Copying:
    """Copies scope by scope: its records, then its logs."""

    def __init__(
        self, source: Selection, destination: Selection, policy: Policy, outcome: Outcome, progress: Progress
    ) -> None:
        self._source = source
        self._records = RecordWriter(destination.store, policy, outcome)
        self._logs = LogWriter(destination.store, policy, outcome)
        self._progress = progress
        self._outcome = outcome

    def run(self) -> None:
        self._progress.phase("copying")
        for scope in self._source.scopes():
            for chunk in self._source.chunks(scope):
                self._records.write(chunk)
                self._progress.add(scope, records=len(chunk.records))
            for key in self._source.log_keys(scope):
                self._log(scope, key)

    def _log(self, scope: str, key: str) -> None:
        try:
            log = self._source.log(scope, key)
        except Damaged as error:
            self._outcome.damage(problem_of("log", scope, key, "SRC", error))
            return
        if log is not None:
            self._logs.write(self._counted(log))

    def _counted(self, log: Log) -> Log:
        def values() -> Generator[Any]:
            for value in log.values:
                self._progress.add(log.scope, entries=1)
                yield value

        return replace(log, values=values())


def _json(
    source: Storage, destination: Storage, outcome: Outcome, verification: Verification | None, *, ok: bool
) -> dict[str, Any]:
    sides = None
    if verification is not None:
        sides = {
            "equal": verification.equal,
            "source": verification.source.as_json(),
            "destination": verification.destination.as_json(),
            "differences": verification.differences,
            "named": [
                {"kind": one.kind, "scope": one.scope, "key": one.key, "why": one.why} for one in verification.named
            ],
        }
    return {
        "source": source.shown,
        "destination": destination.shown,
        "ok": ok,
        **outcome.as_json(),
        "verification": sides,
        "not_copied": NOT_COPIED,
    }


def _print(source: Storage, destination: Storage, outcome: Outcome, verification: Verification | None) -> None:
    print_outcome(outcome)
    if verification is not None:
        print_verification(verification)
    if outcome.did_something:
        print_not_copied()
    click.echo(f"{source.shown} -> {destination.shown}: {_verdict(outcome, verification)}.")


def _verdict(outcome: Outcome, verification: Verification | None) -> str:
    if verification is not None and not verification.equal:
        return "SRC and DST differ; if somebody writes to one of them, stop that and run the same command again"
    return verdict_of(outcome, "copied, not verified" if verification is None else "copied and verified")
