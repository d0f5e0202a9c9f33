"""Reading a whole storage in bounded memory: its scopes, their records in chunks, their logs entry by entry."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any

import click

from holdall.cli.bounds import Pace, size_of
from holdall.clock import boot_time
from holdall.errors import NotFound
from holdall.store import Store
from holdall.values import Page, Record

__all__ = ["Chunk", "Log", "Selection", "each", "looked_up", "merged_scopes"]

_PAGE = 500


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


def each(listing: Callable[..., Page[str]]) -> Iterator[str]:
    """Yield all names of a listing, page by page.

    Args:
        listing: takes `after` and `limit`.

    """
    after: str | None = None
    while True:
        page = listing(after=after, limit=_PAGE)
        yield from page.items
        after = page.next
        if after is None:
            return


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


def looked_up(store: Store, scope: str, records: list[Record], pace: Pace) -> Iterator[tuple[Record, Record | None]]:
    """Yield records, each with what a store has under its key, a few at a time.

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
        found = store.get_many(scope, [record.key for record in some])
        pace.saw(size_of(record.value) for record in found if record is not None)
        yield from zip(some, found, strict=True)


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a storage is meant.

    Attributes:
        store: the storage.
        only: the scopes that are meant, none for all.
        records: whether records are meant.
        logs: whether logs are meant.

    """

    store: Store
    only: Collection[str] = ()
    records: bool = True
    logs: bool = True

    @classmethod
    def of(cls, store: Store, only: Collection[str], *, records: bool, logs: bool) -> Selection:
        """Return what the options of a command mean; neither `--records` nor `--logs` means both.

        Raises:
            UsageError: a scope holds nothing.

        """
        chosen = cls(store, only, records or not logs, logs or not records)
        for scope in only:
            if not chosen._holds(scope):
                message = f"--scope: there is nothing in a scope {scope!r}"
                raise click.UsageError(message)
        return chosen

    def _holds(self, scope: str) -> bool:
        names = chain(self._keys(scope), self.log_keys(scope))
        return next(names, None) is not None

    def _keys(self, scope: str) -> Iterator[str]:
        def first_keys(after: str | None, limit: int) -> Page[str]:
            return self.store.keys(scope, after=after, limit=min(limit, 1))

        return each(first_keys) if self.records else iter(())

    def scopes(self) -> Iterator[str]:
        """Yield the scopes, in order."""
        if self.only:
            return iter(sorted(set(self.only)))
        listings = [self.store.scopes] if self.records else []
        listings += [self.store.log_scopes] if self.logs else []
        return merged_scopes(*map(each, listings))

    def chunks(self, scope: str) -> Iterator[Chunk]:
        """Yield the records of a scope.

        Args:
            scope: the scope.

        """
        pace, after = Pace(), None
        while self.records:
            page, read_at = self.store.scan(scope, after=after, limit=pace.count), boot_time()
            pace.saw(size_of(record.value) for record in page.items)
            if page.items:
                yield Chunk(scope, list(page.items), read_at)
            after = page.next
            if after is None:
                return

    def log_keys(self, scope: str) -> Iterator[str]:
        """Yield the keys of the logs of a scope.

        Args:
            scope: the scope.

        """
        return each(partial(self.store.logs, scope)) if self.logs else iter(())

    def log(self, scope: str, key: str) -> Log | None:
        """Return a log as it is now, or None if it is gone.

        Args:
            scope: its scope.
            key: its key.

        """
        head = self.store.head(scope, key)
        if head is None:
            return None

        def values() -> Iterator[Any]:
            entries = islice(self.store.iter_entries(scope, key, head.first), head.length - head.first)
            count = 0
            for entry in entries:
                count += 1
                yield entry.value
            now = self.store.head(scope, key)
            if count < head.length - head.first or now is None or now.incarnation != head.incarnation:
                raise _dropped(self.store, scope, key)

        return Log(scope, key, head.first, head.length, values())


def _dropped(store: Store, scope: str, key: str) -> NotFound:
    message = "the log was dropped while it was read: run the same command again"
    error = NotFound(message)
    error.located(store.adapter, "read", scope, key)
    return error
