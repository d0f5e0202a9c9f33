"""What became of the records and logs that were to be moved: counts, and the names of what was not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any, Final, Literal

from holdall.cli.terminal import shown_name

__all__ = ["NOT_COPIED", "POLICIES", "Counts", "Kind", "Outcome", "Policy", "Problem"]

Kind = Literal["record", "log"]
Policy = Literal["error", "skip", "overwrite"]
POLICIES: Final[tuple[Policy, ...]] = ("error", "skip", "overwrite")

NOT_COPIED: Final = {
    "leases and flags": "stop their holders first; in DST every lease is free and every flag is down",
    "fencing tokens": "lock.raise_floor(key, token) in DST, with the token of a last acquire in SRC",
    "fencing marks": "a new holder calls store.seal(scope, key, lease) before its first write, as always",
    "batch ids": "a batch that is sent again under its id is appended again: settle open retries first",
    "versions, incarnations": "DST draws new ones: read again before you compare and set",
}
"""What stays behind, and what to do about it."""

_NAMED = 10
_LONGEST_SHOWN = 60


@dataclass(slots=True)
class Counts:
    """How many records, or how many logs.

    Attributes:
        copied: were written where nothing was, or continued.
        present: were there and equal.
        overwritten: took the place of something else.
        skipped: something else was there, and was left.
        conflicts: something else was there, and that counts as a failure.
        refused: the destination does not take them.
        damaged: cannot be read; of a log, perhaps only its end.
        expired: expired on the way.

    """

    copied: int = 0
    present: int = 0
    overwritten: int = 0
    skipped: int = 0
    conflicts: int = 0
    refused: int = 0
    damaged: int = 0
    expired: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """A record or log that was not moved, or that differs.

    Attributes:
        kind: "record" or "log".
        scope: its scope.
        key: its key, or "" for all that the scope holds of this kind from somewhere on; both are "" for all scopes from
            somewhere on.
        why: what is the matter.

    """

    kind: Kind
    scope: str
    key: str
    why: str

    def __str__(self) -> str:
        """Return one line that a terminal can show."""
        if not self.key:
            where = f"scope {_short(self.scope)}" if self.scope else "further scopes"
            return f"{self.kind}s of {where}: {self.why}"
        return f"{self.kind} {_short(self.key)} in scope {_short(self.scope)}: {self.why}"


def _short(name: str) -> str:
    shown = shown_name(name)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}... ({len(name):,} characters)"


@dataclass(slots=True)
class Outcome:
    """What was done so far.

    Attributes:
        records: the records.
        logs: the logs.
        entries: how many entries of logs were written.
        problems: the first of what was not moved.

    """

    records: Counts = field(default_factory=Counts)
    logs: Counts = field(default_factory=Counts)
    entries: int = 0
    problems: list[Problem] = field(default_factory=list[Problem])
    _passed_over: set[bytes] = field(default_factory=set[bytes])

    @property
    def failures(self) -> int:
        """How many records and logs were not moved, though nobody asked to skip them."""
        return sum(counts.conflicts + counts.refused + counts.damaged for counts in (self.records, self.logs))

    @property
    def did_something(self) -> bool:
        """Whether anything was written."""
        return bool(self.entries or any(each.copied or each.overwritten for each in (self.records, self.logs)))

    def counts(self, kind: Kind) -> Counts:
        """Return the counts of records or of logs."""
        return self.records if kind == "record" else self.logs

    def conflict(self, problem: Problem, policy: Policy) -> None:
        """Note that something else is there and stays there.

        Args:
            problem: what it is.
            policy: "skip" or "error".

        """
        counts = self.counts(problem.kind)
        if policy == "skip":
            counts.skipped += 1
        else:
            counts.conflicts += 1
            self._name(problem)
        self._pass_over(problem)

    def refuse(self, problem: Problem) -> None:
        """Note that the destination does not take something.

        Args:
            problem: what it is.

        """
        self.counts(problem.kind).refused += 1
        self._name(problem)
        self._pass_over(problem)

    def damage(self, problem: Problem) -> None:
        """Note that something cannot be read; the same is noted once, however often it is met.

        Args:
            problem: what it is.

        """
        if self.was_passed_over(problem.kind, problem.scope, problem.key):
            return
        self.counts(problem.kind).damaged += 1
        self._name(problem)
        self._pass_over(problem)

    def was_passed_over(self, kind: str, scope: str, key: str) -> bool:
        """Return whether a record or log was left out, so that it need not be equal."""
        return bool(self._passed_over) and _print_of(kind, scope, key) in self._passed_over

    def as_json(self) -> dict[str, Any]:
        """Return the outcome for scripts."""
        return {
            "records": asdict(self.records),
            "logs": {**asdict(self.logs), "entries_written": self.entries},
            "failures": self.failures,
            "problems": [asdict(problem) for problem in self.problems],
        }

    def lines(self) -> Iterator[str]:
        """Yield a line for each of the first problems."""
        yield from map(str, self.problems)
        if self.failures > len(self.problems):
            yield f"... and {self.failures - len(self.problems):,} more"

    def _name(self, problem: Problem) -> None:
        if len(self.problems) < _NAMED:
            self.problems.append(problem)

    def _pass_over(self, problem: Problem) -> None:
        self._passed_over.add(_print_of(problem.kind, problem.scope, problem.key))


def _print_of(kind: str, scope: str, key: str) -> bytes:
    """Stand for a name with few bytes, since there may be millions."""
    return blake2b(f"{kind}\0{len(scope)}\0{scope}{key}".encode(), digest_size=12).digest()
