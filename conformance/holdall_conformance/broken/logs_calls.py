"""Broken in the calls that read and write logs, before they come to the storage."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from holdall import ANY, Append, Appended, Entries, Entry
from holdall.spi import AppendRequest, StoredEntries
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Log, Space
from holdall_conformance.broken.wrapping import WrappedStore


def _as_list(entries: Any) -> list[Any]:
    found: list[Any] = [*entries] if type(entries) is list else []
    return found


@broken("head-late", "logs")
class HeadLate(WrappedStore):
    """Remembers in each handle the head of a log, and renews it only when it appends itself."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.known: dict[Any, Any] = {}

    def head(self, scope: str, key: str) -> Any:
        return self.known.setdefault((scope, key), self.inner.head(scope, key))

    def append(self, scope: str, key: str, entries: Any, **named: Any) -> Any:
        self.known.pop((scope, key), None)
        return self.inner.append(scope, key, entries, **named)


@broken("bool-is-a-length", "logs")
class BoolIsALength(WrappedStore):
    """Takes False for the length 0 and True for 1."""

    def append(self, scope: str, key: str, entries: Any, *, expect: Any = ANY, **named: Any) -> Any:
        return self.inner.append(scope, key, entries, expect=int(expect) if expect in (0, 1) else expect, **named)


@broken("empty-batch-is-nothing", "logs")
class EmptyBatchIsNothing(WrappedStore):
    """Takes an empty batch, and appends nothing."""

    def append(self, scope: str, key: str, entries: Any, **named: Any) -> Any:
        entries = list(entries)
        if not entries:
            return None
        return self.inner.append(scope, key, entries, **named)


@broken("letters-for-entries", "logs")
class LettersForEntries(WrappedStore):
    """Takes a text in place of a batch for its letters."""

    def append(self, scope: str, key: str, entries: Any, **named: Any) -> Any:
        return self.inner.append(scope, key, list(entries) if isinstance(entries, str) else entries, **named)


@broken("half-a-batch", "logs", "values")
class HalfABatch(WrappedStore):
    """Appends the entries before one that is refused."""

    def append(self, scope: str, key: str, entries: Any, **named: Any) -> Any:
        try:
            return self.inner.append(scope, key, entries, **named)
        except ValueError:
            for entry in _as_list(entries):
                self.inner.append(scope, key, [entry], **named)
            raise


@broken("beyond-the-end-raises", "logs")
class BeyondTheEndRaises(WrappedStore):
    """Raises IndexError for a read from behind the end."""

    def read(self, scope: str, key: str, start: int = 0, limit: int | None = None) -> Any:
        found = self.inner.read(scope, key, start, limit)
        if found.head is not None and start >= found.head.length:
            raise IndexError(start)
        return found


@broken("absent-log-raises", "logs")
class AbsentLogRaises(WrappedStore):
    """Raises KeyError for a read of a log that does not exist."""

    def read(self, scope: str, key: str, start: int = 0, limit: int | None = None) -> Any:
        found = self.inner.read(scope, key, start, limit)
        if found.head is None:
            raise KeyError(key)
        return found


@broken("iterates-on-and-on", "logs")
class IteratesOnAndOn(WrappedStore):
    """Goes on with entries that were appended after an iteration began."""

    def iter_entries(self, scope: str, key: str, start: int = 0) -> Iterator[Entry]:
        while True:
            found: Iterable[Entry] = self.inner.read(scope, key, start, 100)
            entries = list(found)
            yield from entries
            start += len(entries)
            if not entries:
                return


@broken("plain-lists-for-entries", "logs")
class PlainListsForEntries(WrappedStore):
    """Returns from tail a bare list without a head."""

    def tail(self, scope: str, key: str, count: int) -> Any:
        return [*self.inner.tail(scope, key, count)]


@broken("positions-from-one", "logs")
class PositionsFromOne(WrappedStore):
    """Counts positions from 1."""

    def read(self, scope: str, key: str, start: int = 0, limit: int | None = None) -> Any:
        found: Entries = self.inner.read(scope, key, start, limit)
        return Entries([Entry(entry.position + 1, entry.value) for entry in found], found.head)


@broken("commit-forgets-expected-heads", "logs", "commits")
class CommitForgetsExpectedHeads(WrappedStore):
    """Appends in a commit whatever head there is."""

    def commit(self, operations: Any) -> Any:
        return self.inner.commit([replace(one, expect=ANY) if isinstance(one, Append) else one for one in operations])


@broken("tail-of-nothing-is-all", "logs")
class TailOfNothingIsAll(PlainStore):
    """Gives the whole log for a tail of 0, as a slice from -0 on does."""

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        return await super().tail(scope, key, count or 10**9)


@broken("read-of-nothing-is-all", "logs")
class ReadOfNothingIsAll(WrappedStore):
    """Reads everything where the limit is 0."""

    def read(self, scope: str, key: str, start: int = 0, limit: int | None = None) -> Any:
        return self.inner.read(scope, key, start, limit or None)


@broken("negative-start-is-from-the-end", "logs")
class NegativeStartIsFromTheEnd(WrappedStore):
    """Takes a negative start for one counted from the end, as slices do."""

    def read(self, scope: str, key: str, start: int = 0, limit: int | None = None) -> Any:
        if type(start) is int and start < 0:
            head = self.inner.head(scope, key)
            start = 0 if head is None else max(head.first, head.length + start)
        return self.inner.read(scope, key, start, limit)


@broken("equal-entries-once", "logs")
class EqualEntriesOnce(PlainStore):
    """Stores an entry that equals the one before it only once."""

    def extend(self, log: Log, payloads: Sequence[bytes]) -> Appended:
        last = log.payloads[-1:]
        result = super().extend(log, payloads)
        if last and [*payloads] == last:
            log.payloads.pop()
        return result


@broken("entries-of-a-batch-backwards", "logs")
class EntriesOfABatchBackwards(PlainStore):
    """Stores the entries of a batch backwards."""

    def extend(self, log: Log, payloads: Sequence[bytes]) -> Appended:
        return super().extend(log, payloads[::-1])


@broken("append-tells-the-head-before", "logs")
class AppendTellsTheHeadBefore(PlainStore):
    """Tells as the head after an append the one before it."""

    async def append(self, request: AppendRequest) -> Appended:
        result = await super().append(request)
        return replace(result, head=result.head._replace(length=result.start))


@broken("logs-of-a-scope-mix", "logs")
class LogsOfAScopeMix(PlainStore):
    """Counts the positions of all logs of a scope together."""

    def apply_append(self, space: Space, request: AppendRequest) -> Appended:
        log = self.log_at(space, request.scope, request.key)
        if log.incarnation is None:
            log.first = sum(len(other.payloads) for other in space.logs.get(request.scope, {}).values())
            log.incarnation = self.new_incarnation()
            self.keep_log(space, request.scope, request.key, log)
        return super().apply_append(space, request)
