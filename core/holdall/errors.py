"""Every error that holdall raises, by what the caller must do about it.

::

    HoldallError
    │
    │   mend the call: nothing was sent, the same call fails again
    ├── InvalidArgument    (ValueError)           ttl, fence, expect, limit... out of its domain
    ├── InvalidKey         (ValueError)           scope or key is empty, no str, or not Unicode
    ├── InvalidValue       (ValueError)           not JSON; `path` names the place
    ├── TooLarge           (ValueError)           `limit` and `actual`
    ├── BatchMismatch      (ValueError)           a batch id came again with other entries
    ├── Unsupported        (NotImplementedError)  this backend cannot, and says so in its capabilities
    │
    │   read again and decide: somebody else was faster, nothing was changed
    ├── Conflict           (RuntimeError)         `current` is the version, the head, or None
    ├── AlreadyExists      (RuntimeError)
    ├── NotFound           (LookupError)
    ├── Truncated          (LookupError)          `first` is the first position that is kept
    │
    │   stop: you are not the holder any more
    ├── Fenced             (PermissionError)      `mark` is the highest token seen
    ├── LeaseLost          (RuntimeError)
    │
    │   try again, later or with more patience
    ├── LockTimeout        (TimeoutError)         `holder` says who has it
    ├── Unavailable        (ConnectionError)      nothing was applied
    ├── StoreTimeout       (TimeoutError)         nothing was applied
    │
    │   look before you retry: the write may have been applied
    ├── OutcomeUnknown     (ConnectionError)
    │
    │   open another handle
    ├── WrongLoop          (RuntimeError)
    ├── ForkedHandle       (RuntimeError)
    ├── ClosedHandle       (RuntimeError)
    │
    │   mend the set-up
    ├── ConfigError        (ValueError)
    ├── AdapterNotFound    (LookupError)
    ├── AdapterBroken      (ImportError)
    ├── DriverMissing      (ImportError)          names the extra to install
    │
    │   call a person
    └── Corrupt            (RuntimeError)         what is stored cannot be read

Each carries `adapter`, `operation`, `scope` and `key` where they are known, and keeps the driver's error as its
`__cause__`. No message holds a value or a password.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdall.values import Head, Holder

__all__ = [
    "AdapterBroken",
    "AdapterNotFound",
    "AlreadyExists",
    "BatchMismatch",
    "ClosedHandle",
    "ConfigError",
    "Conflict",
    "Corrupt",
    "DriverMissing",
    "Fenced",
    "ForkedHandle",
    "HoldallError",
    "InvalidArgument",
    "InvalidKey",
    "InvalidValue",
    "LeaseLost",
    "LockTimeout",
    "NotFound",
    "OutcomeUnknown",
    "StoreTimeout",
    "TooLarge",
    "Truncated",
    "Unavailable",
    "Unsupported",
    "WrongLoop",
]


_LONGEST_NAME = 120


class HoldallError(Exception):
    """The root of all errors of holdall.

    Attributes:
        adapter: name of the adapter, or None outside an operation.
        operation: name of the method that failed, or None.
        scope: the scope it worked on, or None.
        key: the key it worked on, or None.
        done: for `put_many`, `delete_many` and `clear`: the keys that were written or removed before the error.

    """

    adapter: str | None = None
    operation: str | None = None
    scope: str | None = None
    key: str | None = None
    done: tuple[str, ...] = ()

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        """Return the message and, in brackets, where it happened."""
        place = [f"adapter {self.adapter}"] if self.adapter else []
        if self.operation:
            place.append(self.operation)
        if self.scope is not None:
            place.append(f"scope {_shortened(self.scope)}")
        if self.key is not None:
            place.append(f"key {_shortened(self.key)}")
        return f"{self.message} [{', '.join(place)}]" if place else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with every attribute, so that an error crosses processes whole."""
        return _restore, (type(self), self.message, self.__dict__)

    def located(self, adapter: str, operation: str, scope: str | None, key: str | None) -> None:
        """Note where the error happened, keeping what is already known.

        Args:
            adapter: name of the adapter.
            operation: name of the method.
            scope: the scope, if there is one.
            key: the key, if there is one.

        """
        self.adapter = self.adapter or adapter
        self.operation = self.operation or operation
        self.scope = scope if self.scope is None else self.scope
        self.key = key if self.key is None else self.key


def _shortened(name: str) -> str:
    return repr(name) if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]!r}... of {len(name):,} characters"


def _restore(kind: type[HoldallError], message: str, attributes: dict[str, Any]) -> HoldallError:
    error = kind.__new__(kind)
    HoldallError.__init__(error, message)
    error.__dict__.update(attributes)
    return error


class InvalidArgument(HoldallError, ValueError):
    """An argument is outside its domain."""


class InvalidKey(HoldallError, ValueError):
    """A scope or key is empty, not a str, or holds what Unicode text cannot."""


class InvalidValue(HoldallError, ValueError):
    """A value is not JSON; `path` names the place, such as `$.messages[3].at`."""

    def __init__(self, message: str, path: str = "$") -> None:
        super().__init__(message)
        self.path = path


class TooLarge(HoldallError, ValueError):
    """Something is larger than the backend takes; nothing was written."""

    def __init__(self, what: str, limit: int, actual: int) -> None:
        super().__init__(f"{what} is too large: {actual:,} is above the limit of {limit:,}")
        self.limit = limit
        self.actual = actual


class BatchMismatch(HoldallError, ValueError):
    """A batch id that was used before came again with other entries."""


class Unsupported(HoldallError, NotImplementedError):
    """This backend cannot do it, and its capabilities say so."""


class Conflict(HoldallError, RuntimeError):
    """A compare-and-set found something else; `current` is the version, the head, or None if it is absent."""

    def __init__(self, message: str, current: str | Head | None = None) -> None:
        super().__init__(message)
        self.current = current


class AlreadyExists(HoldallError, RuntimeError):
    """Something that had to be new exists."""


class NotFound(HoldallError, LookupError):
    """Something that had to exist does not."""


class Truncated(HoldallError, LookupError):
    """A position was asked for that the log has forgotten; `first` is the first one it kept."""

    def __init__(self, message: str, first: int) -> None:
        super().__init__(message)
        self.first = first


class Fenced(HoldallError, PermissionError):
    """A write came with a fencing token lower than `mark`, the highest one seen: another holder has taken over."""

    def __init__(self, message: str, mark: int) -> None:
        super().__init__(message)
        self.mark = mark


class LeaseLost(HoldallError, RuntimeError):
    """The lease is not the live one of its key any more."""


class LockTimeout(HoldallError, TimeoutError):
    """A lease could not be had in time; `holder` says who has it, where that is known."""

    def __init__(self, message: str, holder: Holder | None = None) -> None:
        super().__init__(message)
        self.holder = holder


class Unavailable(HoldallError, ConnectionError):
    """The backend could not be reached or refused to work; nothing was applied."""


class StoreTimeout(HoldallError, TimeoutError):
    """The operation did not get its turn in time; nothing was applied."""


class OutcomeUnknown(HoldallError, ConnectionError):
    """A write was sent and its reply was lost: it may have been applied, once, or not at all."""


class WrongLoop(HoldallError, RuntimeError):
    """An async handle was used from another event loop than its own."""


class ForkedHandle(HoldallError, RuntimeError):
    """A handle was used in a child process made by fork; open a new one there."""


class ClosedHandle(HoldallError, RuntimeError):
    """A handle was used after it was closed."""


class ConfigError(HoldallError, ValueError):
    """A URL, an option or the configuration is wrong."""


class AdapterNotFound(HoldallError, LookupError):
    """No installed adapter serves the scheme of the URL."""


class AdapterBroken(HoldallError, ImportError):
    """An adapter is installed, but its plugin cannot be used."""


class DriverMissing(HoldallError, ImportError):
    """An adapter needs a driver that is not installed; the message names the extra."""


class Corrupt(HoldallError, RuntimeError):
    """What is stored cannot be read."""
