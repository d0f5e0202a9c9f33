"""A wrapped store that may change every value on its way in, and every record on its way out."""
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# - values are whatever callers pass

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from holdall import Append, Entries, Head, Page, Put, Record
from holdall_conformance.broken.wrapping import WrappedStore

__all__ = ["TranslatingStore"]


class TranslatingStore(WrappedStore):
    """Passes every value through `taken`, every record through `given`, and every list of entries through `shown`."""

    def taken(self, value: Any) -> Any:
        """Return what is written for a value."""
        return value

    def given(self, record: Record) -> Record:
        """Return what a reader gets for a record."""
        return record

    def shown(self, entries: Entries) -> Entries:
        """Return what a reader gets for entries."""
        return entries

    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        """Write a record."""
        return self.inner.put(scope, key, self.taken(value), **named)

    def put_many(self, scope: str, values: Any, **named: Any) -> Any:
        """Write records."""
        if isinstance(values, Mapping):
            values = {key: self.taken(value) for key, value in values.items()}
        return self.inner.put_many(scope, values, **named)

    def update(self, scope: str, key: str, function: Any, **named: Any) -> Any:
        """Replace a value."""
        if callable(function):
            return self.given(self.inner.update(scope, key, lambda value: self.taken(function(value)), **named))
        return self.inner.update(scope, key, function, **named)

    def append(self, scope: str, key: str, entries: Any, **named: Any) -> Any:
        """Append a batch."""
        return self.inner.append(scope, key, self._each(entries), **named)

    def restore_log(self, scope: str, key: str, first: int, entries: Any) -> Head:
        """Restore a log."""
        found: Head = self.inner.restore_log(scope, key, first, self._each(entries))
        return found

    def _each(self, entries: Any) -> Any:
        plain = isinstance(entries, Iterable) and not isinstance(entries, str | bytes | Mapping)
        return [self.taken(entry) for entry in entries] if plain else entries

    def commit(self, operations: Any) -> list[Any]:
        """Commit a batch."""
        if isinstance(operations, Iterable) and not isinstance(operations, str | bytes):
            operations = [self._translated(operation) for operation in operations]
        found: list[Any] = self.inner.commit(operations)
        return found

    def _translated(self, operation: Any) -> Any:
        if isinstance(operation, Put):
            return replace(operation, value=self.taken(operation.value))
        return replace(operation, entries=self._each(operation.entries)) if isinstance(operation, Append) else operation

    def get(self, scope: str, key: str) -> Record | None:
        """Read a record."""
        found = self.inner.get(scope, key)
        return None if found is None else self.given(found)

    def get_many(self, scope: str, keys: Iterable[str]) -> list[Record | None]:
        """Read records."""
        found = self.inner.get_many(scope, keys)
        return [None if record is None else self.given(record) for record in found]

    def scan(self, scope: str, prefix: str = "", **named: Any) -> Page[Record]:
        """List records."""
        page = self.inner.scan(scope, prefix, **named)
        return Page([self.given(record) for record in page.items], page.next)

    def iter_records(self, scope: str, prefix: str = "", *, after: str | None = None) -> Iterator[Record]:
        """Iterate over records."""
        given: Callable[[Record], Record] = self.given
        return map(given, self.inner.iter_records(scope, prefix, after=after))

    def read(self, scope: str, key: str, start: int = 0, limit: int | None = None) -> Entries:
        """Read entries."""
        return self.shown(self.inner.read(scope, key, start, limit))

    def tail(self, scope: str, key: str, count: int) -> Entries:
        """Read the last entries."""
        return self.shown(self.inner.tail(scope, key, count))
