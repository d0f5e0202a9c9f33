"""Broken in what errors are and tell."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdall import (
    AlreadyExists,
    BatchMismatch,
    Conflict,
    Entry,
    Fenced,
    HoldallError,
    InvalidValue,
    LeaseLost,
    NotFound,
    Truncated,
)
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.wrapping import WrappedLock, WrappedStore


class _Complaining(WrappedStore):
    """Raises other errors than the store behind it."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        return error

    def called(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        try:
            return super().called(name, arguments, named)
        except HoldallError as error:
            found = self.complaint(error, arguments)
            if found is error:
                raise
            raise found from error


@broken("conflict-is-a-value-error", "errors", "versions")
class ConflictIsAValueError(_Complaining):
    """Raises a bare ValueError for a conflict."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        return ValueError(error.message) if isinstance(error, Conflict) else error


@broken("fenced-is-a-conflict", "errors", "fencing")
class FencedIsAConflict(_Complaining):
    """Raises Conflict where a holder is fenced off, so that it tries again."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        return Conflict(error.message) if isinstance(error, Fenced) else error


@broken("errors-of-the-driver", "errors")
class ErrorsOfTheDriver(_Complaining):
    """Lets the error of a unique index through where a log already exists."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        return KeyError(error.message) if isinstance(error, AlreadyExists) else error


@broken("errors-show-values", "errors")
class ErrorsShowValues(_Complaining):
    """Puts into the message of a conflict what was to be written."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        if isinstance(error, Conflict):
            error.message += f" when writing {arguments!r}"
        return error


@broken("errors-keep-values", "errors")
class ErrorsKeepValues(_Complaining):
    """Keeps in an error the arguments of the operation."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        error.__dict__["arguments"] = arguments
        return error


@broken("invalid-value-shows-it", "errors")
class InvalidValueShowsIt(_Complaining):
    """Puts a refused value into the message."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        return InvalidValue(f"{error.message}: {arguments}", error.path) if isinstance(error, InvalidValue) else error


@broken("errors-without-place", "errors")
class ErrorsWithoutPlace(_Complaining):
    """Does not tell which scope and key an error is about."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        error.scope = error.key = None
        return error


@broken("errors-without-operation", "errors")
class ErrorsWithoutOperation(_Complaining):
    """Does not tell which operation failed."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        error.operation = None
        return error


@broken("errors-stay-in-their-process", "errors")
class ErrorsStayInTheirProcess(_Complaining):
    """Puts into errors what cannot be pickled."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        error.__dict__["retry"] = lambda: None
        return error


class _OwnConflict(Conflict):
    """A conflict that wants more to be made than a pickle has."""

    def __init__(self, message: str, current: Any, store: Any) -> None:
        super().__init__(message, current)
        self.store = repr(store)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message,)


@broken("errors-cannot-be-unpickled", "errors")
class ErrorsCannotBeUnpickled(_Complaining):
    """Raises errors of its own that cannot be made again from their pickle."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        if not isinstance(error, Conflict):
            return error
        own = _OwnConflict(error.message, error.current, self)
        own.located(error.adapter or "", error.operation or "", error.scope, error.key)
        return own


@broken("mismatch-is-a-conflict", "errors", "batches")
class MismatchIsAConflict(_Complaining):
    """Raises Conflict where a batch id came with other entries."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        return Conflict(error.message) if isinstance(error, BatchMismatch) else error


@broken("truncated-without-first", "errors", "logs")
class TruncatedWithoutFirst(_Complaining):
    """Raises Truncated without the first position that is kept."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        if isinstance(error, Truncated):
            error.first = 0
        return error


@broken("invalid-value-without-path", "values", "errors")
class InvalidValueWithoutPath(_Complaining):
    """Does not tell where in a value it found what is no JSON."""

    def complaint(self, error: HoldallError, arguments: tuple[Any, ...]) -> Exception:
        if isinstance(error, InvalidValue):
            error.path = "$"
        return error


@broken("follow-raises-bare-errors", "errors", "follow")
class FollowRaisesBareErrors(WrappedStore):
    """Raises from follow errors that do not tell where they happened."""

    def follow(self, scope: str, key: str, start: int = 0, **named: Any) -> Iterator[Entry]:
        try:
            yield from self.inner.follow(scope, key, start, **named)
        except NotFound as error:
            raise NotFound(error.message) from None


@broken("lease-lost-is-a-timeout", "errors", "leases")
class LeaseLostIsATimeout(WrappedLock):
    """Raises TimeoutError where a lease is lost."""

    def renew(self, lease: Any, **named: Any) -> Any:
        try:
            return self.inner.renew(lease, **named)
        except LeaseLost as error:
            raise TimeoutError(error.message) from error


@broken("lock-errors-without-key", "errors")
class LockErrorsWithoutKey(WrappedLock):
    """Does not tell which key an error of the lock is about."""

    def called(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        try:
            return super().called(name, arguments, named)
        except HoldallError as error:
            error.key = None
            raise


@broken("refused-append-begins-the-log", "errors", "logs")
class RefusedAppendBeginsTheLog(WrappedStore):
    """Makes an empty log before it looks at what is to be appended."""

    def append(self, scope: str, key: str, entries: Any, **named: Any) -> Any:
        try:
            return self.inner.append(scope, key, entries, **named)
        except HoldallError:
            if self.inner.head(scope, key) is None:
                self.inner.restore_log(scope, key, 0, [])
            raise
