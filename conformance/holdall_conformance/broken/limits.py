"""Broken in what is too large."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from dataclasses import replace
from typing import Any

from holdall import TooLarge
from holdall.codec import encode
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.wrapping import WrappedStore

_MEBIBYTE = 2**20
_MORE = {"max_value_bytes": 4 * _MEBIBYTE, "max_batch_bytes": 12 * _MEBIBYTE, "max_batch_entries": 5_000}


class _Declaring(WrappedStore):
    """Declares other limits than those of the store behind it."""

    says: dict[str, Any]

    @property
    def capabilities(self) -> Any:
        return replace(self.inner.capabilities, **self.says)


@broken("value-limit-unchecked", "limits", declares=_MORE)
class ValueLimitUnchecked(_Declaring):
    """Declares that values take a mebibyte, and takes larger ones."""

    says = {"max_value_bytes": _MEBIBYTE}  # noqa: RUF012 - a constant


@broken("batch-limit-unchecked", "limits", declares=_MORE)
class BatchLimitUnchecked(_Declaring):
    """Declares batches of a thousand entries, and takes larger ones."""

    says = {"max_batch_entries": 1_000}  # noqa: RUF012 - a constant


@broken("bytes-of-a-batch-unchecked", "limits", declares=_MORE)
class BytesOfABatchUnchecked(_Declaring):
    """Declares batches of four mebibytes, and takes larger ones."""

    says = {"max_batch_bytes": 4 * _MEBIBYTE}  # noqa: RUF012 - a constant


@broken("key-limit-unchecked", "limits", declares={"max_key_bytes": 2_000})
class KeyLimitUnchecked(_Declaring):
    """Declares keys of 512 bytes, and takes longer ones."""

    says = {"max_key_bytes": 512}  # noqa: RUF012 - a constant


@broken("scope-limit-unchecked", "limits", declares={"max_scope_bytes": 2_000})
class ScopeLimitUnchecked(_Declaring):
    """Declares scopes of 128 bytes, and takes longer ones."""

    says = {"max_scope_bytes": 128}  # noqa: RUF012 - a constant


@broken("commit-limit-unchecked", "limits", "commits", declares={"max_commit_operations": 500})
class CommitLimitUnchecked(_Declaring):
    """Declares commits of a hundred operations, and takes larger ones."""

    says = {"max_commit_operations": 100}  # noqa: RUF012 - a constant


@broken("declares-more-than-it-takes", "limits")
class DeclaresMoreThanItTakes(_Declaring):
    """Declares values of two mebibytes, and refuses those above one."""

    says = {"max_value_bytes": 2 * _MEBIBYTE}  # noqa: RUF012 - a constant


@broken("refuses-the-limit-itself", "limits", declares={"max_value_bytes": _MEBIBYTE + 99})
class RefusesTheLimitItself(_Declaring):
    """Refuses a value of exactly the declared size."""

    says = {"max_value_bytes": _MEBIBYTE + 100}  # noqa: RUF012 - a constant


@broken("declares-too-little", "limits", declares={"max_key_bytes": 255})
class DeclaresTooLittle(WrappedStore):
    """Declares, and takes, keys of 255 bytes, where every backend must take 512."""


class _CheckingItself(_Declaring):
    """Takes values up to a mebibyte, as it measures them itself."""

    says = {"max_value_bytes": _MEBIBYTE}  # noqa: RUF012 - a constant

    def size(self, value: Any) -> int:
        return len(encode(value))

    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        size = self.size(value)
        if size > _MEBIBYTE:
            self.refuse(size)
        return self.inner.put(scope, key, value, **named)

    def refuse(self, size: int) -> None:
        what = "value"
        raise TooLarge(what, _MEBIBYTE, size)


@broken("counts-characters", "limits", declares=_MORE)
class CountsCharacters(_CheckingItself):
    """Counts the characters of a value, not its bytes."""

    def size(self, value: Any) -> int:
        return len(encode(value).decode())


@broken("refuses-after-writing", "limits", declares=_MORE)
class RefusesAfterWriting(_CheckingItself):
    """Writes a value, and then refuses it for being too large."""

    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        version = self.inner.put(scope, key, value, **named)
        if self.size(value) > _MEBIBYTE:
            self.refuse(self.size(value))
        return version


@broken("too-large-without-numbers", "limits")
class TooLargeWithoutNumbers(WrappedStore):
    """Raises TooLarge without the limit."""

    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        try:
            return self.inner.put(scope, key, value, **named)
        except TooLarge as error:
            error.limit = error.actual = 0
            raise


@broken("too-large-is-a-memory-error", "limits", "errors")
class TooLargeIsAMemoryError(WrappedStore):
    """Raises MemoryError for what is too large."""

    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        try:
            return self.inner.put(scope, key, value, **named)
        except TooLarge as error:
            raise MemoryError(str(error)) from error


@broken("splits-large-batches", "limits")
class SplitsLargeBatches(WrappedStore):
    """Appends a batch above the limit in two."""

    def append(self, scope: str, key: str, entries: Any, **named: Any) -> Any:
        try:
            return self.inner.append(scope, key, entries, **named)
        except TooLarge:
            half = len(entries) // 2
            self.inner.append(scope, key, entries[:half], **named)
            return self.inner.append(scope, key, entries[half:])


@broken("cuts-large-batches", "limits")
class CutsLargeBatches(WrappedStore):
    """Appends of a batch above the limit as much as it takes."""

    def append(self, scope: str, key: str, entries: Any, **named: Any) -> Any:
        most = self.inner.capabilities.max_batch_entries
        return self.inner.append(scope, key, entries[:most] if isinstance(entries, list) else entries, **named)


@broken("put-many-up-to-the-limit", "limits", "records")
class PutManyUpToTheLimit(WrappedStore):
    """Writes the records before one that is too large."""

    def put_many(self, scope: str, values: Any, **named: Any) -> Any:
        try:
            return self.inner.put_many(scope, values, **named)
        except TooLarge:
            for key, value in values.items():
                self.inner.put(scope, key, value, **named)
            raise
