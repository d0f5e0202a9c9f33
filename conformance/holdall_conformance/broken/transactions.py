"""Broken in what a transaction reads, buffers and checks."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from holdall import Conflict
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.wrapping import WrappedStore


class Passing:
    """A transaction that passes every call on to another one.

    Args:
        inner: the other transaction.
        store: the store, past the transaction.

    """

    def __init__(self, inner: Any, store: Any) -> None:
        self.inner = inner
        self.store = store
        self.written: dict[tuple[str, str], int] = {}

    def is_written(self, scope: str, key: str) -> bool:
        """Tell whether this transaction has written a record."""
        return (scope, key) in self.written

    def get(self, scope: str, key: str) -> Any:
        return self.inner.get(scope, key)

    def get_many(self, scope: str, keys: Iterable[str]) -> Any:
        return self.inner.get_many(scope, keys)

    def head(self, scope: str, key: str) -> Any:
        return self.inner.head(scope, key)

    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        result = self.inner.put(scope, key, value, **named)
        self.written[scope, key] = self.written.get((scope, key), 0) + 1
        return result

    def delete(self, scope: str, key: str, **named: Any) -> Any:
        result = self.inner.delete(scope, key, **named)
        self.written[scope, key] = self.written.get((scope, key), 0) + 1
        return result

    def append(self, scope: str, key: str, entries: Iterable[Any], **named: Any) -> Any:
        return self.inner.append(scope, key, entries, **named)


class _Transacting(WrappedStore):
    """Puts another transaction before that of the store."""

    passing: Callable[[Any, Any], Passing] = Passing

    def transaction(self, function: Any, **named: Any) -> Any:
        if not callable(function):
            return self.inner.transaction(function, **named)

        def run(inner: Any) -> Any:
            return function(type(self).passing(inner, self.inner))

        return self.inner.transaction(run, **named)


class _UncheckedReads(Passing):
    def get(self, scope: str, key: str) -> Any:
        return self.inner.get(scope, key) if self.is_written(scope, key) else self.store.get(scope, key)


@broken("transaction-checks-no-reads", "transactions")
class TransactionChecksNoReads(_Transacting):
    """Reads past the transaction, so that what was read may have changed at commit."""

    passing = _UncheckedReads


class _UncheckedAbsence(Passing):
    def get(self, scope: str, key: str) -> Any:
        absent = not self.is_written(scope, key) and self.store.get(scope, key) is None
        return None if absent else self.inner.get(scope, key)


@broken("transaction-forgets-what-was-absent", "transactions")
class TransactionForgetsWhatWasAbsent(_Transacting):
    """Does not check at commit that what was absent still is."""

    passing = _UncheckedAbsence


class _UncheckedMany(Passing):
    def get_many(self, scope: str, keys: Iterable[str]) -> Any:
        keys = list(keys)
        own = any(self.is_written(scope, key) for key in keys)
        return self.inner.get_many(scope, keys) if own else self.store.get_many(scope, keys)


@broken("transaction-forgets-get-many", "transactions")
class TransactionForgetsGetMany(_Transacting):
    """Does not check at commit what get_many read."""

    passing = _UncheckedMany


class _UncheckedHead(Passing):
    def head(self, scope: str, key: str) -> Any:
        return self.store.head(scope, key)


@broken("transaction-forgets-heads", "transactions")
class TransactionForgetsHeads(_Transacting):
    """Does not check at commit the heads that were read."""

    passing = _UncheckedHead


class _NotOwn(Passing):
    def get(self, scope: str, key: str) -> Any:
        return self.store.get(scope, key) if self.is_written(scope, key) else self.inner.get(scope, key)


@broken("transaction-does-not-see-itself", "transactions")
class TransactionDoesNotSeeItself(_Transacting):
    """Reads in a transaction what was there before, not what it has written."""

    passing = _NotOwn


class _AtOnce(Passing):
    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        super().put(scope, key, value, **named)
        self.store.put(scope, key, value)


@broken("transaction-writes-at-once", "transactions")
class TransactionWritesAtOnce(_Transacting):
    """Writes at once, and not when the function returns."""

    passing = _AtOnce


class _Afresh(Passing):
    def get(self, scope: str, key: str) -> Any:
        found = self.inner.get(scope, key)
        return found if self.is_written(scope, key) else self.store.get(scope, key)


@broken("transaction-reads-change", "transactions")
class TransactionReadsChange(_Transacting):
    """Reads the same record twice in one transaction and finds another value."""

    passing = _Afresh


class _KeepsFirst(Passing):
    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        return None if self.is_written(scope, key) else super().put(scope, key, value, **named)


@broken("transaction-keeps-the-first-write", "transactions")
class TransactionKeepsTheFirstWrite(_Transacting):
    """Lets the first of several puts to one key count."""

    passing = _KeepsFirst


class _WithoutFence(Passing):
    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        fence = named.pop("fence", None)
        return super().put(scope, key, value, fence=None if type(fence) is int and fence > 0 else fence, **named)


@broken("transaction-without-fences", "transactions", "fencing")
class TransactionWithoutFences(_Transacting):
    """Forgets the fences of what a transaction puts."""

    passing = _WithoutFence


class _LastBatch(Passing):
    def __init__(self, inner: Any, store: Any) -> None:
        super().__init__(inner, store)
        self.appended: set[Any] = set()

    def append(self, scope: str, key: str, entries: Iterable[Any], **named: Any) -> Any:
        if (scope, key) in self.appended:
            return None
        self.appended.add((scope, key))
        return self.inner.append(scope, key, entries, **named)


@broken("transaction-appends-once", "transactions")
class TransactionAppendsOnce(_Transacting):
    """Forgets the second append to one log."""

    passing = _LastBatch


@broken("transaction-hides-conflicts", "transactions")
class TransactionHidesConflicts(WrappedStore):
    """Returns None when every attempt has met a conflict."""

    def transaction(self, function: Any, **named: Any) -> Any:
        try:
            return self.inner.transaction(function, **named)
        except Conflict:
            return None


@broken("transaction-tries-once", "transactions")
class TransactionTriesOnce(WrappedStore):
    """Raises Conflict after the first attempt."""

    def transaction(self, function: Any, *, attempts: Any = 10) -> Any:
        if type(attempts) is not int or attempts < 1:
            return self.inner.transaction(function, attempts=attempts)
        return self.inner.transaction(function, attempts=1)


@broken("transaction-tries-more", "transactions")
class TransactionTriesMore(WrappedStore):
    """Runs the function more often than it was told to."""

    def transaction(self, function: Any, *, attempts: Any = 10) -> Any:
        more = attempts + 5 if type(attempts) is int and attempts > 0 else attempts
        return self.inner.transaction(function, attempts=more)


@broken("transaction-commits-after-errors", "transactions")
class TransactionCommitsAfterErrors(WrappedStore):
    """Commits what a function has written before it raised."""

    def transaction(self, function: Any, **named: Any) -> Any:
        failure: list[Exception] = []

        def guarded(inner: Any) -> Any:
            try:
                return function(inner)
            except Exception as error:  # noqa: BLE001 - raised again below
                failure.append(error)
                return None

        result = self.inner.transaction(guarded if callable(function) else function, **named)
        if failure:
            raise failure[-1]
        return result


@broken("transaction-returns-the-commit", "transactions")
class TransactionReturnsTheCommit(WrappedStore):
    """Returns True, and not what the function returned."""

    def transaction(self, function: Any, **named: Any) -> Any:
        self.inner.transaction(function, **named)
        return True
