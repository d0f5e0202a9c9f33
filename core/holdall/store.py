"""The Store: versioned JSON records and append-only logs, synchronous and asynchronous.

`Store` and `AsyncStore` have the same methods; those of the second are awaited. Everything is addressed by a scope and
a key, both non-empty str of any Unicode text. Records and logs are two separate keyspaces.

Every operation may also raise `InvalidKey`, `InvalidArgument` and `TooLarge` before anything is sent, `Unavailable`
and `StoreTimeout` when nothing was applied, and `ClosedHandle`, `ForkedHandle` and `WrongLoop`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from holdall.capabilities import Capabilities
from holdall.values import (
    ANY,
    Appended,
    CommitOperation,
    Entries,
    Entry,
    Expect,
    ExpectHead,
    Fence,
    Head,
    Lease,
    Page,
    Record,
)

__all__ = ["AsyncStore", "AsyncTransaction", "Store", "Transaction"]

Result = TypeVar("Result")


class Transaction(Protocol):
    """What a function given to `Store.transaction` works with; its writes are buffered until it returns."""

    def get(self, scope: str, key: str) -> Record | None:
        """Read a record; a record that this transaction wrote comes back with version ""."""
        ...

    def get_many(self, scope: str, keys: Iterable[str]) -> list[Record | None]:
        """Read several records."""
        ...

    def head(self, scope: str, key: str) -> Head | None:
        """Read the head of a log, as it was before this transaction."""
        ...

    def put(self, scope: str, key: str, value: Any, *, ttl: float | None = None, fence: Fence = None) -> None:
        """Write a record at commit."""
        ...

    def delete(self, scope: str, key: str, *, fence: Fence = None) -> None:
        """Delete a record at commit."""
        ...

    def append(
        self, scope: str, key: str, entries: Iterable[Any], *, fence: Fence = None, batch_id: str | None = None
    ) -> None:
        """Append to a log at commit."""
        ...


class AsyncTransaction(Protocol):
    """What a function given to `AsyncStore.transaction` works with; its writes are buffered until it returns."""

    async def get(self, scope: str, key: str) -> Record | None:
        """Read a record; a record that this transaction wrote comes back with version ""."""
        ...

    async def get_many(self, scope: str, keys: Iterable[str]) -> list[Record | None]:
        """Read several records."""
        ...

    async def head(self, scope: str, key: str) -> Head | None:
        """Read the head of a log, as it was before this transaction."""
        ...

    def put(self, scope: str, key: str, value: Any, *, ttl: float | None = None, fence: Fence = None) -> None:
        """Write a record at commit."""
        ...

    def delete(self, scope: str, key: str, *, fence: Fence = None) -> None:
        """Delete a record at commit."""
        ...

    def append(
        self, scope: str, key: str, entries: Iterable[Any], *, fence: Fence = None, batch_id: str | None = None
    ) -> None:
        """Append to a log at commit."""
        ...


@runtime_checkable
class Store(Protocol):
    """The synchronous store; its handles may be shared by threads."""

    @property
    def adapter(self) -> str:
        """The name of the adapter."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What the backend can do."""
        ...

    def get(self, scope: str, key: str) -> Record | None:
        """Return the live record under a key, or None.

        Args:
            scope: its scope.
            key: its key.
        """
        ...

    def get_many(self, scope: str, keys: Iterable[str]) -> list[Record | None]:
        """Return the live records under several keys, in the order asked, None for what is absent.

        Args:
            scope: their scope.
            keys: their keys.
        """
        ...

    def put(
        self, scope: str, key: str, value: Any, *, expect: Expect = ANY, ttl: float | None = None, fence: Fence = None
    ) -> str:
        """Write a record and return its new version.

        Args:
            scope: its scope.
            key: its key.
            value: any JSON value.
            expect: `ANY`, `ABSENT`, or the version that must still be there.
            ttl: seconds until it expires; without it a former expiry is cleared.
            fence: the lease of its guard, or that lease's token.

        Raises:
            Conflict: the record is not as expected; nothing was changed.
            Fenced: a higher token has been seen; nothing was changed.
            InvalidValue: the value is not JSON.
            TooLarge: the value is above the limit.
            OutcomeUnknown: the reply was lost and cannot be settled.
        """
        ...

    def update(
        self, scope: str, key: str, function: Callable[[Any], Any], *, ttl: float | None = None, fence: Fence = None
    ) -> Record:
        """Replace a value by what a function makes of it, with compare-and-set until nobody was faster.

        Args:
            scope: its scope.
            key: its key.
            function: takes the value, or None if there is none, and returns the new one; it may run several times.
            ttl: seconds until it expires.
            fence: the lease of its guard, or that lease's token.

        Returns:
            The record that was written.

        Raises:
            Conflict: others were faster until the time was up.
            Fenced: a higher token has been seen.
        """
        ...

    def touch(self, scope: str, key: str, ttl: float | None, *, fence: Fence = None) -> bool:
        """Give a record a new expiry, keeping value and version; return whether it was there.

        Args:
            scope: its scope.
            key: its key.
            ttl: seconds from now, or None for never.
            fence: the lease of its guard, or that lease's token.

        Raises:
            Fenced: a higher token has been seen.
        """
        ...

    def delete(self, scope: str, key: str, *, expect: Expect = ANY, fence: Fence = None) -> bool:
        """Delete a record and return whether it was there; its fencing mark stays.

        Args:
            scope: its scope.
            key: its key.
            expect: `ANY`, `ABSENT`, or the version that must still be there.
            fence: the lease of its guard, or that lease's token.

        Raises:
            Conflict: the record is not as expected.
            Fenced: a higher token has been seen.
        """
        ...

    def put_many(self, scope: str, values: Mapping[str, Any], *, ttl: float | None = None) -> int:
        """Write many records in as few requests as the backend allows, and return how many.

        It is not atomic: on error, the `done` of the exception names the keys that were written. All values are checked
        before the first is written.

        Args:
            scope: their scope.
            values: the values by key.
            ttl: seconds until they expire.
        """
        ...

    def delete_many(self, scope: str, keys: Iterable[str]) -> int:
        """Delete many records in as few requests as the backend allows, and return how many there were.

        It is not atomic: on error, the `done` of the exception names the keys that were handled.

        Args:
            scope: their scope.
            keys: their keys.
        """
        ...

    def clear(self, scope: str) -> int:
        """Delete all records of a scope and return how many there were; logs and fencing marks stay.

        Args:
            scope: the scope.
        """
        ...

    def scan(self, scope: str, prefix: str = "", *, after: str | None = None, limit: int = 100) -> Page[Record]:
        """Return a page of live records in code-point order of their keys.

        Args:
            scope: their scope.
            prefix: what their keys begin with, literally.
            after: the `next` of the page before; the key it names may be gone.
            limit: the most that the page may hold.
        """
        ...

    def keys(self, scope: str, prefix: str = "", *, after: str | None = None, limit: int = 1000) -> Page[str]:
        """Return a page of the keys of live records, as `scan` does.

        Args:
            scope: their scope.
            prefix: what they begin with, literally.
            after: the `next` of the page before.
            limit: the most that the page may hold.
        """
        ...

    def scopes(self, prefix: str = "", *, after: str | None = None, limit: int = 1000) -> Page[str]:
        """Return a page of the scopes that hold a live record.

        Args:
            prefix: what they begin with, literally.
            after: the `next` of the page before.
            limit: the most that the page may hold.
        """
        ...

    def append(
        self,
        scope: str,
        key: str,
        entries: Iterable[Any],
        *,
        expect: ExpectHead = ANY,
        fence: Fence = None,
        batch_id: str | None = None,
    ) -> Appended:
        """Append a batch of entries to a log, all or none; the log is made if there is none.

        Checked in this order: batch id, fence, expectation.

        Args:
            scope: its scope.
            key: its key.
            entries: JSON values, at least one.
            expect: `ANY`, `ABSENT`, the length that the log must have, or its `Head`.
            fence: the lease of its guard, or that lease's token.
            batch_id: your own id of the batch: the same id with the same entries again appends nothing and returns the
                first result.

        Raises:
            BatchMismatch: the batch id was used for other entries.
            Conflict: the log is not as expected; `current` is its head.
            Fenced: a higher token has been seen.
            InvalidArgument: the batch is empty.
            InvalidValue: an entry is not JSON.
            TooLarge: an entry, the batch or their number is above the limit.
            OutcomeUnknown: the reply was lost and cannot be settled.
        """
        ...

    def read(self, scope: str, key: str, start: int = 0, limit: int | None = None) -> Entries:
        """Return entries of a log from a position on; empty, with `head` None, where there is no log.

        Args:
            scope: its scope.
            key: its key.
            start: the first position.
            limit: the most entries to return, None for all.

        Raises:
            Truncated: `start` lies below the first position that is kept.
        """
        ...

    def tail(self, scope: str, key: str, count: int) -> Entries:
        """Return the last entries of a log, in order.

        Args:
            scope: its scope.
            key: its key.
            count: how many, at the most.
        """
        ...

    def head(self, scope: str, key: str) -> Head | None:
        """Return the head of a log, or None.

        Args:
            scope: its scope.
            key: its key.
        """
        ...

    def truncate(self, scope: str, key: str, before: int, *, expect: ExpectHead = ANY, fence: Fence = None) -> int:
        """Forget the entries below a position and return how many; positions and length go on.

        Args:
            scope: its scope.
            key: its key.
            before: the first position to keep.
            expect: `ANY`, `ABSENT`, a length or a `Head`.
            fence: the lease of its guard, or that lease's token.

        Raises:
            Conflict: the log is not as expected.
            Fenced: a higher token has been seen.
        """
        ...

    def drop(self, scope: str, key: str, *, expect: ExpectHead = ANY, fence: Fence = None) -> bool:
        """Delete a log and return whether there was one; its fencing mark stays, its batch ids are forgotten.

        Args:
            scope: its scope.
            key: its key.
            expect: `ANY`, `ABSENT`, a length or a `Head`.
            fence: the lease of its guard, or that lease's token.

        Raises:
            Conflict: the log is not as expected.
            Fenced: a higher token has been seen.
        """
        ...

    def logs(self, scope: str, prefix: str = "", *, after: str | None = None, limit: int = 1000) -> Page[str]:
        """Return a page of the keys of logs, in code-point order.

        Args:
            scope: their scope.
            prefix: what they begin with, literally.
            after: the `next` of the page before.
            limit: the most that the page may hold.
        """
        ...

    def log_scopes(self, prefix: str = "", *, after: str | None = None, limit: int = 1000) -> Page[str]:
        """Return a page of the scopes that hold a log.

        Args:
            prefix: what they begin with, literally.
            after: the `next` of the page before.
            limit: the most that the page may hold.
        """
        ...

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: float | None = None) -> Iterator[Entry]:
        """Iterate over the entries of a log from a position on, waiting for new ones and for the log itself.

        Args:
            scope: its scope.
            key: its key.
            start: the first position.
            timeout: seconds without a new entry that end the iteration, None for never.

        Yields:
            Every entry, in order, none skipped.

        Raises:
            Truncated: the log was truncated past the next position.
            NotFound: the log was dropped.
        """
        ...

    def restore_log(self, scope: str, key: str, first: int, entries: Iterable[Any]) -> Head:
        """Make a log that begins at a position, for copies and restores.

        Args:
            scope: its scope.
            key: its key.
            first: the position of its first entry.
            entries: its entries; none make a log that is truncated to nothing.

        Raises:
            AlreadyExists: there is such a log.
        """
        ...

    def seal(self, scope: str, key: str, fence: Lease | int, *, log: bool = False) -> Head | str | None:
        """Raise the fencing mark without writing anything else: from then on no former holder's write gets in.

        Args:
            scope: its scope.
            key: its key.
            fence: the lease of its guard, or that lease's token.
            log: whether it is a log; otherwise it is a record.

        Returns:
            The head of the log or the version of the record, or None if it is absent, which it stays.

        Raises:
            Fenced: a higher token has been seen.
        """
        ...

    def commit(self, operations: Iterable[CommitOperation]) -> list[Any]:
        """Apply a batch of `Put`, `Delete`, `Append` and `Check`, all or none.

        Args:
            operations: at least one; each names another record or log.

        Returns:
            For each operation: the version of a put, whether a delete found something, the `Appended` of an append, and
            the version or head that a check found.

        Raises:
            Conflict: an expectation does not hold.
            Fenced: a higher token has been seen.
            Unsupported: there are several, and `capabilities.atomic_commit` is false.
            TooLarge: there are more than `capabilities.max_commit_operations`, or they are too large.
        """
        ...

    def transaction(self, function: Callable[[Transaction], Result], *, attempts: int = 10) -> Result:
        """Run a function that reads and buffers writes, and commit them if nothing it read has changed since.

        Args:
            function: takes the transaction; it may run several times.
            attempts: how many times it may run.

        Returns:
            What the function returned.

        Raises:
            Conflict: somebody was faster in every attempt.
        """
        ...

    def sweep(self) -> int:
        """Remove what has expired and what crashes left behind, and return how many items; marks and tokens stay."""
        ...

    def iter_records(self, scope: str, prefix: str = "", *, after: str | None = None) -> Iterator[Record]:
        """Iterate over live records in code-point order, in bounded memory.

        Args:
            scope: their scope.
            prefix: what their keys begin with, literally.
            after: begin behind this key.
        """
        ...

    def iter_keys(self, scope: str, prefix: str = "", *, after: str | None = None) -> Iterator[str]:
        """Iterate over the keys of live records in code-point order, in bounded memory.

        Args:
            scope: their scope.
            prefix: what they begin with, literally.
            after: begin behind this key.
        """
        ...

    def iter_entries(self, scope: str, key: str, start: int = 0) -> Iterator[Entry]:
        """Iterate over the entries that a log has now, in bounded memory.

        Args:
            scope: its scope.
            key: its key.
            start: the first position.

        Raises:
            Truncated: the next position has been forgotten.
            NotFound: the log was dropped meanwhile.
        """
        ...

    def ping(self) -> float:
        """Reach the backend and return how many seconds that took."""
        ...

    def describe(self) -> Mapping[str, str]:
        """Return what a person wants to know of the backend: versions, place, durability."""
        ...

    def close(self) -> None:
        """Close the handle; closing twice does nothing."""
        ...

    def __enter__(self) -> Self:
        """Return the store itself."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the handle."""
        ...


@runtime_checkable
class AsyncStore(Protocol):
    """The asynchronous store: the methods of `Store`, awaited."""

    @property
    def adapter(self) -> str:
        """The name of the adapter."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What the backend can do."""
        ...

    async def get(self, scope: str, key: str) -> Record | None:
        """As `Store.get`."""
        ...

    async def get_many(self, scope: str, keys: Iterable[str]) -> list[Record | None]:
        """As `Store.get_many`."""
        ...

    async def put(
        self, scope: str, key: str, value: Any, *, expect: Expect = ANY, ttl: float | None = None, fence: Fence = None
    ) -> str:
        """As `Store.put`."""
        ...

    async def update(
        self, scope: str, key: str, function: Callable[[Any], Any], *, ttl: float | None = None, fence: Fence = None
    ) -> Record:
        """As `Store.update`."""
        ...

    async def touch(self, scope: str, key: str, ttl: float | None, *, fence: Fence = None) -> bool:
        """As `Store.touch`."""
        ...

    async def delete(self, scope: str, key: str, *, expect: Expect = ANY, fence: Fence = None) -> bool:
        """As `Store.delete`."""
        ...

    async def put_many(self, scope: str, values: Mapping[str, Any], *, ttl: float | None = None) -> int:
        """As `Store.put_many`."""
        ...

    async def delete_many(self, scope: str, keys: Iterable[str]) -> int:
        """As `Store.delete_many`."""
        ...

    async def clear(self, scope: str) -> int:
        """As `Store.clear`."""
        ...

    async def scan(self, scope: str, prefix: str = "", *, after: str | None = None, limit: int = 100) -> Page[Record]:
        """As `Store.scan`."""
        ...

    async def keys(self, scope: str, prefix: str = "", *, after: str | None = None, limit: int = 1000) -> Page[str]:
        """As `Store.keys`."""
        ...

    async def scopes(self, prefix: str = "", *, after: str | None = None, limit: int = 1000) -> Page[str]:
        """As `Store.scopes`."""
        ...

    async def append(
        self,
        scope: str,
        key: str,
        entries: Iterable[Any],
        *,
        expect: ExpectHead = ANY,
        fence: Fence = None,
        batch_id: str | None = None,
    ) -> Appended:
        """As `Store.append`."""
        ...

    async def read(self, scope: str, key: str, start: int = 0, limit: int | None = None) -> Entries:
        """As `Store.read`."""
        ...

    async def tail(self, scope: str, key: str, count: int) -> Entries:
        """As `Store.tail`."""
        ...

    async def head(self, scope: str, key: str) -> Head | None:
        """As `Store.head`."""
        ...

    async def truncate(
        self, scope: str, key: str, before: int, *, expect: ExpectHead = ANY, fence: Fence = None
    ) -> int:
        """As `Store.truncate`."""
        ...

    async def drop(self, scope: str, key: str, *, expect: ExpectHead = ANY, fence: Fence = None) -> bool:
        """As `Store.drop`."""
        ...

    async def logs(self, scope: str, prefix: str = "", *, after: str | None = None, limit: int = 1000) -> Page[str]:
        """As `Store.logs`."""
        ...

    async def log_scopes(self, prefix: str = "", *, after: str | None = None, limit: int = 1000) -> Page[str]:
        """As `Store.log_scopes`."""
        ...

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: float | None = None) -> AsyncIterator[Entry]:
        """As `Store.follow`."""
        ...

    async def restore_log(self, scope: str, key: str, first: int, entries: Iterable[Any]) -> Head:
        """As `Store.restore_log`."""
        ...

    async def seal(self, scope: str, key: str, fence: Lease | int, *, log: bool = False) -> Head | str | None:
        """As `Store.seal`."""
        ...

    async def commit(self, operations: Iterable[CommitOperation]) -> list[Any]:
        """As `Store.commit`."""
        ...

    async def transaction(
        self, function: Callable[[AsyncTransaction], Awaitable[Result]], *, attempts: int = 10
    ) -> Result:
        """As `Store.transaction`."""
        ...

    async def sweep(self) -> int:
        """As `Store.sweep`."""
        ...

    def iter_records(self, scope: str, prefix: str = "", *, after: str | None = None) -> AsyncIterator[Record]:
        """As `Store.iter_records`."""
        ...

    def iter_keys(self, scope: str, prefix: str = "", *, after: str | None = None) -> AsyncIterator[str]:
        """As `Store.iter_keys`."""
        ...

    def iter_entries(self, scope: str, key: str, start: int = 0) -> AsyncIterator[Entry]:
        """As `Store.iter_entries`."""
        ...

    async def ping(self) -> float:
        """As `Store.ping`."""
        ...

    async def describe(self) -> Mapping[str, str]:
        """As `Store.describe`."""
        ...

    async def close(self) -> None:
        """As `Store.close`."""
        ...

    async def __aenter__(self) -> Self:
        """Return the store itself, connected."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the handle."""
        ...
