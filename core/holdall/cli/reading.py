"""Reading a whole storage in bounded memory: its scopes, their records in chunks, their logs entry by entry."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Any

import click

from holdall.cli.bounds import Pace, size_of
from holdall.cli.damage import Damaged, each, named, problem_of
from holdall.cli.outcome import Kind, Problem
from holdall.clock import boot_time
from holdall.errors import Corrupt, NotFound
from holdall.store import Store
from holdall.values import Entry, Head, Page, Record

__all__ = ["Chunk", "Log", "Selection", "looked_up", "merged_scopes"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some records of a scope, in order.

    Attributes:
        scope: their scope.
        records: the records.
        read_at: when their remaining time was what they say, on the boot clock.

    """

    scope: str
    records: list[Record]
    read_at: float


@dataclass(frozen=True, slots=True)
class Log:
    """A log to be moved.

    Attributes:
        scope: its scope.
        key: its key.
        first: the first position that it keeps.
        length: the position behind its last entry.
        values: its entries from `first` on; they can be read once.

    """

    scope: str
    key: str
    first: int
    length: int
    values: Iterator[Any]


def merged_scopes(*listings: Iterator[str]) -> Iterator[str]:
    """Yield the names of sorted listings in order, each once.

    Args:
        listings: the listings.

    """
    last: str | None = None
    for name in heapq.merge(*listings):
        if name != last:
            yield name
        last = name


def looked_up(
    store: Store, scope: str, records: list[Record], pace: Pace
) -> Iterator[tuple[Record, Record | Corrupt | None]]:
    """Yield records, each with what a store has under its key, or why that cannot be read, a few at a time.

    Args:
        store: the store.
        scope: the scope.
        records: the records.
        pace: how many at a time.

    """
    start = 0
    while start < len(records):
        some = records[start : start + pace.count]
        start += len(some)
        keys = [record.key for record in some]
        found: list[Record | Corrupt | None]
        try:
            found = [*store.get_many(scope, keys)]
        except Corrupt:
            found = [_got(store, scope, key) for key in keys]
        pace.saw(size_of(record.value) for record in found if isinstance(record, Record))
        yield from zip(some, found, strict=True)


def _got(store: Store, scope: str, key: str) -> Record | Corrupt | None:
    try:
        return store.get(scope, key)
    except Corrupt as error:
        return error


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a storage is meant.

    Attributes:
        store: the storage.
        only: the scopes that are meant, none for all.
        records: whether records are meant.
        logs: whether logs are meant.
        damaged: is told of what cannot be read, perhaps of the same several times.
        side: how the storage is called.

    """

    store: Store
    only: Collection[str]
    records: bool
    logs: bool
    damaged: Callable[[Problem], None]
    side: str = "SRC"

    @classmethod
    def of(
        cls, store: Store, only: Collection[str], damaged: Callable[[Problem], None], *, records: bool, logs: bool
    ) -> Selection:
        """Return what the options of a command mean; neither `--records` nor `--logs` means both.

        Raises:
            UsageError: a scope holds nothing.

        """
        chosen = cls(store, only, records or not logs, logs or not records, damaged)
        for scope in only:
            if not chosen._holds(scope):
                message = f"--scope: there is nothing in a scope {scope!r}"
                raise click.UsageError(message)
        return chosen

    def _holds(self, scope: str) -> bool:
        problems: list[Problem] = []
        found = replace(self, damaged=problems.append)
        names = chain(found.first_key(scope), found.log_keys(scope))
        return next(names, None) is not None or bool(problems)

    def first_key(self, scope: str) -> Iterator[str]:
        """Yield the key of the first record of a scope, and perhaps more.

        Args:
            scope: the scope.

        """

        def keys(after: str | None, limit: int) -> Page[str]:
            return self.store.keys(scope, after=after, limit=min(limit, 1))

        return each(keys, self._teller("record", scope)) if self.records else iter(())

    def _teller(self, kind: Kind, scope: str) -> Callable[[str | None, Corrupt], None]:
        def tell(key: str | None, error: Corrupt) -> None:
            self.damaged(problem_of(kind, scope, key or "", self.side, error))

        return tell

    def _scope_teller(self, kind: Kind) -> Callable[[str | None, Corrupt], None]:
        def tell(scope: str | None, error: Corrupt) -> None:
            self.damaged(problem_of(kind, scope or "", "", self.side, error))

        return tell

    def scopes(self) -> Iterator[str]:
        """Yield the scopes, in order."""
        if self.only:
            return iter(sorted(set(self.only)))
        listings = [each(self.store.scopes, self._scope_teller("record"))] if self.records else []
        listings += [each(self.store.log_scopes, self._scope_teller("log"))] if self.logs else []
        return merged_scopes(*listings)

    def chunks(self, scope: str) -> Iterator[Chunk]:
        """Yield the records of a scope.

        Args:
            scope: the scope.

        """
        pace, after = Pace(), None
        while self.records:
            try:
                page, read_at = self.store.scan(scope, after=after, limit=pace.count), boot_time()
            except Corrupt:
                page, read_at = self._page_by_keys(scope, after, pace.count), boot_time()
            pace.saw(size_of(record.value) for record in page.items)
            if page.items:
                yield Chunk(scope, list(page.items), read_at)
            after = page.next
            if after is None:
                return

    def _page_by_keys(self, scope: str, after: str | None, limit: int) -> Page[Record]:
        """Return what can be read of a page, key by key."""
        tell = self._teller("record", scope)
        try:
            page = self.store.keys(scope, after=after, limit=limit)
        except Corrupt as error:
            name = named(error, after)
            tell(name, error)
            return Page([], name)
        got: list[tuple[Record, float]] = []
        for key in page.items:
            found = _got(self.store, scope, key)
            if isinstance(found, Corrupt):
                tell(key, found)
            elif found is not None:
                got.append((found, boot_time()))
        now = boot_time()
        return Page([_aged(record, now - read_at) for record, read_at in got], page.next)

    def log_keys(self, scope: str) -> Iterator[str]:
        """Yield the keys of the logs of a scope.

        Args:
            scope: the scope.

        """
        listing = partial(self.store.logs, scope)
        return each(listing, self._teller("log", scope)) if self.logs else iter(())

    def log(self, scope: str, key: str) -> Log | None:
        """Return a log as it is now, or None if it is gone. What is damaged from a position on ends there.

        Args:
            scope: its scope.
            key: its key.

        Raises:
            Damaged: nothing of it can be read; reading its values raises it where they cannot be read any further.

        """
        head = self._head(scope, key)
        return None if head is None else Log(scope, key, head.first, head.length, self._values(scope, key, head))

    def _head(self, scope: str, key: str) -> Head | None:
        try:
            return self.store.head(scope, key)
        except Corrupt as error:
            raise Damaged(error.message) from error

    def _values(self, scope: str, key: str, head: Head) -> Iterator[Any]:
        position = head.first
        try:
            for entry in islice(self.store.iter_entries(scope, key, position), head.length - position):
                yield entry.value
                position += 1
        except Corrupt:
            for entry in self._one_by_one(scope, key, position, head.length):
                yield entry.value
                position += 1
        now = self._head(scope, key)
        if position < head.length or now is None or now.incarnation != head.incarnation:
            raise _dropped(self.store, scope, key)

    def _one_by_one(self, scope: str, key: str, position: int, length: int) -> Iterator[Entry]:
        """Yield entries up to the first that cannot be read: a reading of many gives none of them."""
        while position < length:
            try:
                found = self.store.read(scope, key, position, 1)
            except Corrupt as error:
                raise Damaged(error.message, position) from error
            if not found:
                return
            yield from found
            position += 1


def _aged(record: Record, seconds: float) -> Record:
    """Return a record as it is after some time."""
    if record.expires_in is None:
        return record
    return record._replace(expires_in=max(0.0, record.expires_in - seconds))


def _dropped(store: Store, scope: str, key: str) -> NotFound:
    message = "the log was dropped while it was read: run the same command again"
    error = NotFound(message)
    error.located(store.adapter, "read", scope, key)
    return error
