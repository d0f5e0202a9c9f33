"""Reading source and destination again after a copy, and comparing digests of what they hold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from holdall.cli.bounds import Pace
from holdall.cli.damage import Damaged, problem_of
from holdall.cli.outcome import Outcome, Problem
from holdall.cli.progress import Progress
from holdall.cli.reading import Log, Selection, looked_up
from holdall.codec import digest
from holdall.errors import Corrupt
from holdall.values import Record

__all__ = ["Side", "Verification", "Verifier"]

_NAMED = 10
_ENDING = 5.0
"""Seconds before its end at which a record may be gone on one side only."""


class Side:
    """What one side holds: counts, and a digest of everything in its order."""

    def __init__(self) -> None:
        self.records = self.logs = self.entries = 0
        self._digest = hashlib.sha256()

    def take(self, line: str) -> None:
        """Take the digest of one thing."""
        self._digest.update(line.encode())

    @property
    def digest(self) -> str:
        """64 hex digits."""
        return self._digest.hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Return it for scripts."""
        return {"records": self.records, "logs": self.logs, "entries": self.entries, "digest": self.digest}


@dataclass(slots=True)
class Verification:
    """What the comparison found.

    Attributes:
        source: what the source holds.
        destination: what the destination holds under the same names.
        differences: how many records and logs are not equal.
        named: the first of them.

    """

    source: Side = field(default_factory=Side)
    destination: Side = field(default_factory=Side)
    differences: int = 0
    named: list[Problem] = field(default_factory=list[Problem])

    @property
    def equal(self) -> bool:
        """Whether both sides hold the same."""
        return not self.differences and self.source.digest == self.destination.digest

    def differ(self, problem: Problem) -> None:
        """Note a difference."""
        self.differences += 1
        if len(self.named) < _NAMED:
            self.named.append(problem)


class Verifier:
    """Compares; what was passed over when it was copied is passed over here too."""

    def __init__(self, source: Selection, destination: Selection, outcome: Outcome, progress: Progress) -> None:
        self._source = source
        self._destination = destination
        self._outcome = outcome
        self._progress = progress
        self._pace = Pace()
        self.found = Verification()

    def run(self) -> Verification:
        """Read everything once more.

        Returns:
            What was found.

        """
        for scope in self._source.scopes():
            self._records(scope)
            for key in self._source.log_keys(scope):
                if not self._outcome.was_passed_over("log", scope, key):
                    self._log(scope, key)
        return self.found

    # ------------------------------------------------------------------------------------------------------ records

    def _records(self, scope: str) -> None:
        for chunk in self._source.chunks(scope):
            passed_over = self._outcome.was_passed_over
            records = [record for record in chunk.records if not passed_over("record", scope, record.key)]
            for record, found in looked_up(self._destination.store, scope, records, self._pace):
                self._record(record, found)
            self._progress.add(scope, records=len(chunk.records))

    def _record(self, record: Record, found: Record | Corrupt | None) -> None:
        if found is None and self._is_ending(record):
            return
        source, destination = self.found.source, self.found.destination
        mine = _record_line(record)
        source.records += 1
        source.take(mine)
        if isinstance(found, Corrupt):
            self.found.differ(problem_of("record", record.scope, record.key, "DST", found))
            return
        if found is None:
            self.found.differ(Problem("record", record.scope, record.key, "is not in DST"))
            return
        theirs = _record_line(found)
        destination.records += 1
        destination.take(theirs)
        if mine != theirs:
            self.found.differ(Problem("record", record.scope, record.key, "the values differ"))

    def _is_ending(self, record: Record) -> bool:
        """Return whether a record has so little time that it may be gone on one side."""
        margins = (side.store.capabilities.expiry_margin for side in (self._source, self._destination))
        return record.expires_in is not None and record.expires_in <= _ENDING + sum(margins)

    # --------------------------------------------------------------------------------------------------------- logs

    def _log(self, scope: str, key: str) -> None:
        try:
            mine = self._source.log(scope, key)
        except Damaged as error:  # it was sound when it was copied, or made since
            self._outcome.damage(problem_of("log", scope, key, "SRC", error))
            return
        if mine is None:
            return
        try:
            theirs = self._destination.log(scope, key)
            why = self._difference(mine, theirs)
        except Damaged as error:
            why = f"cannot be read: {error}"
        if why is not None:
            self.found.differ(Problem("log", scope, key, why))

    def _difference(self, mine: Log, theirs: Log | None) -> str | None:
        """Take in both logs to their ends; return the first difference."""
        why: str | None = None
        positions = range(mine.first, max(mine.length, mine.first if theirs is None else theirs.length))
        pairs = zip_longest(_lines(mine, self.found.source), _lines(theirs, self.found.destination))
        for number, (one, other) in enumerate(pairs):
            if one != other and why is None:
                why = _said(mine, theirs, positions[number - 1] if number else None)
            if one is not None and number:
                self._progress.add(mine.scope, entries=1)
        return why


def _record_line(record: Record) -> str:
    return digest(["record", record.scope, record.key, record.value, record.expires_in is not None])


def _lines(log: Log | None, side: Side) -> Iterator[str]:
    """Yield a digest of the log's extent, then one of each entry, taking each in."""
    if log is None:
        return
    side.logs += 1
    line = digest(["log", log.scope, log.key, log.first, log.length])
    side.take(line)
    yield line
    for position, value in enumerate(log.values, log.first):
        line = digest([position, value])
        side.take(line)
        side.entries += 1
        yield line


def _said(mine: Log, theirs: Log | None, position: int | None) -> str:
    if theirs is None:
        return "is not in DST"
    if position is None:
        extents = (f"{log.first:,} to {log.length:,}" for log in (mine, theirs))
        return "the positions differ: {} in SRC, {} in DST".format(*extents)
    return f"the entries at position {position:,} differ"
