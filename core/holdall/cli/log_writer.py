"""Writing logs into a destination: made whole, continued where a copy stopped, or replaced."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import IO, Any, Final

from holdall.cli.bounds import Limits, in_batches, name_fault, same, size_of, value_fault
from holdall.cli.damage import Damaged, problem_of
from holdall.cli.outcome import Outcome, Policy, Problem
from holdall.cli.reading import Log
from holdall.cli.terminal import counted
from holdall.codec import decode, encode
from holdall.errors import AlreadyExists, Conflict, Corrupt, HoldallError
from holdall.store import Store
from holdall.values import Head

__all__ = ["LogWriter"]

_END: Final = object()


class Refused(Exception):
    """The destination does not take an entry."""


class LogWriter:
    """Writes logs, each in a single reading of its entries."""

    def __init__(self, store: Store, policy: Policy, outcome: Outcome) -> None:
        self._store = store
        self._policy: Policy = policy
        self._outcome = outcome
        self._limits = Limits.of(store.capabilities)

    def write(self, log: Log) -> None:
        """Write a log; what is there and equal is only read.

        Args:
            log: the log.

        Raises:
            Conflict: somebody else is writing it, in the source or in the destination.
            HoldallError: one of both failed.

        """
        why = name_fault(log.scope, log.key, self._store.capabilities)
        if why is not None:
            self._outcome.refuse(self._problem(log, why))
            return
        try:
            with _told(log):
                self._write(log)
        except Refused as refused:
            self._outcome.refuse(self._problem(log, str(refused)))
        except Damaged as error:
            problem = problem_of("log", log.scope, log.key, "SRC", error)
            self._outcome.damage(replace(problem, why=f"{problem.why}; {self._left(log)}"))
        except Corrupt as error:
            self._outcome.damage(problem_of("log", log.scope, log.key, "DST", error))

    def _left(self, log: Log) -> str:
        """Say what of a log that is damaged in the source the destination holds."""
        head = self._store.head(log.scope, log.key)
        if head is None:
            return "nothing of it is in DST"
        return f"under its name DST holds positions {head.first:,} to {head.length:,}, without the last"

    def _write(self, log: Log) -> None:
        counts, head = self._outcome.logs, self._store.head(log.scope, log.key)
        if head is None:
            self._make(log, log.values)
            counts.copied += 1
            return
        agreed, rest = self._compared(log, head)
        if agreed < head.length or head.first != log.first:
            self._settle(log, head, agreed, rest)
        elif agreed == log.length:
            counts.present += 1
        else:
            self._append(log, head, rest)
            counts.copied += 1

    def _compared(self, log: Log, head: Head) -> tuple[int, Iterator[Any]]:
        """Return the position up to which both are the same, and the source's values from there on."""
        if head.first != log.first:
            return log.first, log.values
        position = head.first
        for entry in self._store.iter_entries(log.scope, log.key, head.first):
            value = next(log.values, _END)
            if value is _END:
                return position, iter(())
            if not same(value, entry.value):
                return position, chain([value], log.values)
            position += 1
        return position, log.values

    def _settle(self, log: Log, head: Head, agreed: int, rest: Iterator[Any]) -> None:
        """Do what is to be done where the destination holds another log."""
        if self._policy == "overwrite":
            self._replace(log, head, agreed, rest)
            self._outcome.logs.overwritten += 1
        else:
            self._outcome.conflict(self._problem(log, _difference(log, head, agreed)), self._policy)

    def _replace(self, log: Log, head: Head, agreed: int, rest: Iterator[Any]) -> None:
        """Put a log in the place of another, which is dropped only when all entries lie ready in a temporary file."""
        with tempfile.TemporaryFile() as file:
            if agreed > log.first:
                before = self._store.iter_entries(log.scope, log.key, log.first)
                for entry in before:
                    if entry.position == agreed:
                        break
                    file.write(encode(entry.value) + b"\n")
            for position, value in enumerate(rest, agreed):
                self._check_size(position, size_of(value))
                file.write(encode(value) + b"\n")
            file.seek(0)
            self._store.drop(log.scope, log.key, expect=head)
            self._make(log, _read_back(file))

    def _make(self, log: Log, values: Iterable[Any]) -> None:
        batches = self._batches(log.first, values)
        batch: list[Any] = next(batches, list[Any]())
        head = self._store.restore_log(log.scope, log.key, log.first, batch)
        self._outcome.entries += len(batch)
        self._append_batches(log, head, batches)

    def _append(self, log: Log, head: Head, values: Iterable[Any]) -> None:
        self._append_batches(log, head, self._batches(head.length, values))

    def _append_batches(self, log: Log, head: Head, batches: Iterator[list[Any]]) -> None:
        for batch in batches:
            head = self._store.append(log.scope, log.key, batch, expect=head).head
            self._outcome.entries += len(batch)

    def _batches(self, start: int, values: Iterable[Any]) -> Iterator[list[Any]]:
        def sized() -> Iterator[tuple[Any, int]]:
            for position, value in enumerate(values, start):
                size = size_of(value)
                self._check_size(position, size)
                yield value, size

        return in_batches(sized(), self._limits.items, self._limits.bytes)

    def _check_size(self, position: int, size: int) -> None:
        why = value_fault(size, self._store.capabilities, f"the entry at position {position:,}")
        if why is not None:
            raise Refused(why)

    @staticmethod
    def _problem(log: Log, why: str) -> Problem:
        return Problem("log", log.scope, log.key, why)


def _read_back(file: IO[bytes]) -> Iterator[Any]:
    return (decode(line.removesuffix(b"\n")) for line in file)


def _difference(log: Log, head: Head, agreed: int) -> str:
    if head.first != log.first:
        return f"DST holds it from position {head.first:,} on, not {log.first:,}"
    if agreed == log.length:
        return f"DST holds {counted(head.length - agreed, 'entry')} more"
    return f"DST holds another entry at position {agreed:,}"


@contextlib.contextmanager
def _told(log: Log) -> Generator[None]:
    """Say of a conflict what it means here."""
    try:
        yield
    except (AlreadyExists, Conflict) as error:
        message = "somebody else is writing this log: let them finish, then run the same command again"
        told: HoldallError = Conflict(message, getattr(error, "current", None))
        told.scope, told.key = log.scope, log.key
        raise told from error
