"""Stores and locks that pass every call on to another one: a broken one replaces some of the methods.

They are no handles of holdall's: they have no link, and know nothing but the public operations.
"""

from __future__ import annotations

from typing import Any, NoReturn, Self

from holdall import AsyncLock, AsyncStore, Lock, Store

__all__ = ["WrappedAsyncLock", "WrappedAsyncStore", "WrappedLock", "WrappedRecords", "WrappedStore"]

_RECORDS = (
    *("get", "get_many", "put", "update", "touch", "delete", "put_many", "delete_many", "clear", "scan"),
    *("keys", "scopes", "iter_records", "iter_keys", "ping", "close"),
)


class Wrapped:
    """What all four have in common.

    Args:
        inner: the store or lock that does the work.

    """

    url = ""
    """What opens another handle on the same storage."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def called(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Carry out an operation.

        Args:
            name: its name.
            arguments: what it was given by position.
            named: what it was given by name.

        """
        return getattr(self.inner, name)(*arguments, **named)

    @property
    def adapter(self) -> Any:
        """The name of the adapter."""
        return self.inner.adapter

    @property
    def capabilities(self) -> Any:
        """What the backend declares."""
        return self.inner.capabilities

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Refuse to be pickled or copied.

        Raises:
            TypeError: always.

        """
        message = f"a {type(self).__name__} stays in its process: open another one there"
        raise TypeError(message)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.inner!r})"


class _WithBlock(Wrapped):
    """The two that are entered with `with`."""

    def __enter__(self) -> Self:
        """Return this handle."""
        self.inner.__enter__()
        return self

    def __exit__(self, *error: object) -> bool | None:
        """Close it."""
        self.inner.__exit__(*error)
        return None


class _AsyncWithBlock(Wrapped):
    """The two that are entered with `async with`."""

    async def __aenter__(self) -> Self:
        """Return this handle, connected."""
        await self.inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close it."""
        await self.inner.__aexit__(*error)


def _passing_on(protocol: type) -> dict[str, Any]:
    """Return a method for each of a protocol, which calls that of the inner handle."""

    def passing(name: str) -> Any:
        def call(self: Wrapped, *arguments: Any, **named: Any) -> Any:
            return self.called(name, arguments, named)

        call.__name__ = name
        return call

    names = [name for name in vars(protocol) if not name.startswith("_") and name not in {"adapter", "capabilities"}]
    return {name: passing(name) for name in names}


class WrappedStore(_WithBlock):
    """A `Store` on another one."""


class WrappedLock(_WithBlock):
    """A `Lock` on another one."""


class WrappedRecords(_WithBlock):
    """The half of a `Store` that keeps records, on another one, without logs, commits and fences."""


class WrappedAsyncStore(_AsyncWithBlock):
    """An `AsyncStore` on another one."""


class WrappedAsyncLock(_AsyncWithBlock):
    """An `AsyncLock` on another one."""


for _kind, _protocol in (
    (WrappedStore, Store),
    (WrappedLock, Lock),
    (WrappedAsyncStore, AsyncStore),
    (WrappedAsyncLock, AsyncLock),
):
    for _name, _method in _passing_on(_protocol).items():
        setattr(_kind, _name, _method)
for _name in _RECORDS:
    setattr(WrappedRecords, _name, getattr(WrappedStore, _name))
