"""Writing records into a destination: only what is not there and equal, and never over somebody's write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from holdall.cli.bounds import Limits, Pace, in_batches, name_fault, same, size_of, value_fault
from holdall.cli.damage import problem_of
from holdall.cli.outcome import Outcome, Policy, Problem
from holdall.cli.reading import Chunk, looked_up
from holdall.clock import boot_time
from holdall.errors import Conflict, Corrupt
from holdall.store import Store
from holdall.values import ABSENT, Expect, Put, Record

__all__ = ["RecordWriter"]

_ATTEMPTS = 10
_ALIKE = 10.0
"""Seconds by which the remaining times of two copies of a record may differ: writing takes its time."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A record that is to be written."""

    record: Record
    read_at: float
    expect: Expect
    kind: Literal["copied", "overwritten"]


class RecordWriter:
    """Writes records.

    Every write names what it found there, `ABSENT` or a version, so it can never hit what somebody else wrote since.
    """

    def __init__(self, store: Store, policy: Policy, outcome: Outcome) -> None:
        self._store = store
        self._policy: Policy = policy
        self._outcome = outcome
        self._limits = Limits.of(store.capabilities)
        self._pace = Pace()

    def write(self, chunk: Chunk) -> None:
        """Write some records of a scope.

        Args:
            chunk: the records.

        Raises:
            HoldallError: the destination failed.

        """
        sized = [(record, size_of(record.value)) for record in chunk.records]
        fitting = [record for record, size in sized if self._fits(record, size)]
        limits = self._limits
        for group in in_batches(self._wanted(chunk, fitting), limits.operations, limits.bytes):
            self._write_group(group)

    def _fits(self, record: Record, size: int) -> bool:
        capabilities = self._store.capabilities
        why = name_fault(record.scope, record.key, capabilities) or value_fault(size, capabilities)
        if why is not None:
            self._outcome.refuse(Problem("record", record.scope, record.key, why))
        return why is None

    def _wanted(self, chunk: Chunk, records: list[Record]) -> Iterator[tuple[Wanted, int]]:
        for record, found in looked_up(self._store, chunk.scope, records, self._pace):
            if isinstance(found, Corrupt):
                self._damaged(record, found)
                continue
            wanted = self._judged(record, chunk.read_at, found)
            if wanted is not None:
                yield wanted, size_of(record.value)

    def _damaged(self, record: Record, error: Corrupt) -> None:
        self._outcome.damage(problem_of("record", record.scope, record.key, "DST", error))

    def _judged(self, record: Record, read_at: float, found: Record | None) -> Wanted | None:
        """Return what is to be written, or note why nothing is."""
        if found is None:
            return Wanted(record, read_at, ABSENT, "copied")
        why = self._difference(record, read_at, found)
        if why is None:
            self._outcome.records.present += 1
        elif self._policy == "overwrite":
            return Wanted(record, read_at, found.version, "overwritten")
        else:
            self._outcome.conflict(Problem("record", record.scope, record.key, why), self._policy)
        return None

    def _difference(self, record: Record, read_at: float, found: Record) -> str | None:
        if not same(record.value, found.value):
            return "DST holds another value"
        if (record.expires_in is None) != (found.expires_in is None):
            return "DST holds it with an expiry" if record.expires_in is None else "DST holds it without expiry"
        if self._policy != "overwrite" or record.expires_in is None or found.expires_in is None:
            return None
        apart = abs(self._left(record, read_at) - found.expires_in)
        return "it expires at another time" if apart > _ALIKE + self._slack else None

    @property
    def _slack(self) -> float:
        return self._store.capabilities.min_ttl + self._store.capabilities.expiry_margin

    @staticmethod
    def _left(record: Record, read_at: float) -> float:
        return (record.expires_in or 0.0) - (boot_time() - read_at)

    def _put(self, wanted: Wanted) -> Put | None:
        """Return the operation, or None if the record has expired on the way."""
        record, ttl = wanted.record, None
        if record.expires_in is not None:
            ttl = self._left(record, wanted.read_at)
            if ttl <= 0:
                self._outcome.records.expired += 1
                return None
            ttl = max(ttl, self._store.capabilities.min_ttl)
        return Put(record.scope, record.key, record.value, expect=wanted.expect, ttl=ttl)

    def _write_group(self, group: list[Wanted]) -> None:
        """Write records at once; if one of them is in the way of the others, write them one by one."""
        alive = [(wanted, put) for wanted in group if (put := self._put(wanted)) is not None]
        if len(alive) > 1:
            try:
                self._store.commit([put for _, put in alive])
            except (Conflict, Corrupt):
                pass
            else:
                for wanted, _ in alive:
                    self._count(wanted)
                return
        for wanted, put in alive:
            try:
                self._write_one(wanted, put)
            except Corrupt as error:
                self._damaged(wanted.record, error)

    def _write_one(self, wanted: Wanted, put: Put) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                self._store.put(put.scope, put.key, put.value, expect=put.expect, ttl=put.ttl)
            except Conflict:
                if attempt == _ATTEMPTS - 1:
                    raise
                judged = self._judged(wanted.record, wanted.read_at, self._store.get(put.scope, put.key))
                if judged is None:
                    return
                wanted, put = judged, replace(put, expect=judged.expect)
            else:
                self._count(wanted)
                return

    def _count(self, wanted: Wanted) -> None:
        if wanted.kind == "copied":
            self._outcome.records.copied += 1
        else:
            self._outcome.records.overwritten += 1
