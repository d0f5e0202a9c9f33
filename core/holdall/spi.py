"""What an adapter implements. This module is public and versioned.

An adapter is a plugin: a module with a `holdall_adapter` hook that returns an `Adapter`, found through the entry point
group `holdall.adapters` by the scheme of its URLs. It gives one of these:

* a `Backend`, one flat ordered keyspace of bytes with five primitives: holdall derives everything else from it;
* a `Connection` of a `StoreDriver` and a `LockDriver` of its own, native to the backend;
* a whole `Store`, `AsyncStore`, `Lock` or `AsyncLock` of its own.

All methods are `async def`. The logic in them awaits only the ports it was given, so the same code serves synchronous
programs, where no port suspends and `holdall.drive` runs it without a loop. Sleeping, the clock, ids and randomness
come from the `Environment`, so that a simulation can own them.

What reaches a driver has been checked: names, values, limits and times are valid, values are bytes of JSON.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from holdall.capabilities import Capabilities
from holdall.markers import hookimpl
from holdall.values import ABSENT, ANY, Appended, Expect, ExpectHead, Head, Holder

if TYPE_CHECKING:
    from pathlib import Path

    from holdall.lock import AsyncLock, Lock
    from holdall.store import AsyncStore, Store
    from holdall.url import Url

__all__ = [
    "ABSENT",
    "ANY",
    "SPI_VERSION",
    "Adapter",
    "AppendRequest",
    "Backend",
    "BackendItem",
    "Capabilities",
    "CheckLogRequest",
    "CheckRequest",
    "Connection",
    "DeleteRequest",
    "Environment",
    "InputOutput",
    "LeaseRequest",
    "LockDriver",
    "LogRequest",
    "Mismatch",
    "Option",
    "PutRequest",
    "StoreDriver",
    "StoredEntries",
    "StoredPage",
    "StoredRecord",
    "Tag",
    "Target",
    "WriteRequest",
    "hookimpl",
]

SPI_VERSION = 1

Row = TypeVar("Row")
Tag = Any
"""What a backend returns to recognise a state of a key: an ETag, a revision, or the payload itself."""

InputOutput = Literal["none", "blocking", "suspending"]


class Environment(Protocol):
    """Sleeping, clock, ids and randomness; the only source of them for an adapter's logic."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    def boot_time(self) -> float:
        """Return the boot clock in seconds."""
        ...

    def boot_id(self) -> str:
        """Return the id of this boot."""
        ...

    def wall_time(self) -> float:
        """Return the wall clock in seconds since 1970; good for bridging a boot and for nothing else."""
        ...

    def new_id(self) -> str:
        """Return 32 random hexadecimal digits."""
        ...

    def random(self) -> float:
        """Return a random number from 0 up to 1."""
        ...


class Mismatch(Exception):
    """Raised by a `Backend` whose key is not as `expect` says; nothing was changed."""


class BackendItem(NamedTuple):
    """A key as a `Backend` holds it.

    Attributes:
        key: the key.
        payload: the bytes under it.
        tag: what recognises this state of the key; core never writes the same payload under a key twice, so a backend
            without revisions may give the payload itself.

    """

    key: bytes
    payload: bytes
    tag: Tag


class Backend(Protocol):
    """One flat, ordered keyspace of bytes: the least that holdall needs of a storage.

    A backend may add `async def now(self) -> float`, the storage's own clock in seconds; expiry is then judged by it.
    An error that leaves open whether a write was applied is `OutcomeUnknown`; `Unavailable` and `StoreTimeout` say
    that it was not.
    """

    async def get(self, key: bytes) -> BackendItem | None:
        """Return what is under a key, as of the last acknowledged write."""
        ...

    async def put(self, key: bytes, payload: bytes, expect: Tag) -> Tag:
        """Write atomically if the key is as expected, and return the new tag.

        Args:
            key: the key.
            payload: the bytes to put under it.
            expect: `ANY`, `ABSENT`, or the tag of the state that must still be there.

        Raises:
            Mismatch: the key is not as expected.

        """
        ...

    async def delete(self, key: bytes, expect: Tag) -> None:
        """Delete atomically if the key is as expected; deleting what is not there with `ANY` does nothing.

        Args:
            key: the key.
            expect: `ANY`, or the tag of the state that must still be there.

        Raises:
            Mismatch: the key is not as expected.

        """
        ...

    async def scan(self, prefix: bytes, after: bytes | None, limit: int) -> Sequence[BackendItem]:
        """Return up to `limit` items in the order of their keys, as unsigned bytes.

        Args:
            prefix: what the keys begin with.
            after: the keys lie strictly behind this one; it need not exist.
            limit: the most that may be returned; fewer mean that there are no more.

        """
        ...

    async def close(self) -> None:
        """Give back what the backend holds."""
        ...


class StoredRecord(NamedTuple):
    """A live record as a driver returns it; `expires_in` in seconds."""

    key: str
    payload: bytes
    version: str
    expires_in: float | None


@dataclass(frozen=True, slots=True)
class StoredPage(Generic[Row]):
    """A page as a driver returns it; `next` is None only at the end."""

    rows: Sequence[Row]
    next: str | None


class StoredEntries(NamedTuple):
    """Entries as a driver returns them: the head, the position of the first, and the bytes of each."""

    head: Head | None
    start: int
    payloads: Sequence[bytes]


class PutRequest(NamedTuple):
    """A put; `version` is the random id of the write, and sending the same again is settled by it."""

    scope: str
    key: str
    payload: bytes
    version: str
    expect: Expect
    ttl: float | None
    fence: int | None


class DeleteRequest(NamedTuple):
    """A delete of a record."""

    scope: str
    key: str
    expect: Expect
    fence: int | None


class AppendRequest(NamedTuple):
    """An append of one batch; `digest` is that of its values, given where there is a `batch_id`."""

    scope: str
    key: str
    payloads: Sequence[bytes]
    write_id: str
    expect: ExpectHead
    fence: int | None
    batch_id: str | None
    digest: str | None


class CheckRequest(NamedTuple):
    """A condition of a commit on a record."""

    scope: str
    key: str
    expect: Expect


class CheckLogRequest(NamedTuple):
    """A condition of a commit on a log."""

    scope: str
    key: str
    expect: ExpectHead


class LogRequest(NamedTuple):
    """A truncate or drop of a log."""

    scope: str
    key: str
    expect: ExpectHead
    fence: int | None


WriteRequest = PutRequest | DeleteRequest | AppendRequest | CheckRequest | CheckLogRequest


class StoreDriver(Protocol):
    """The operations of a store on checked and encoded data; what `holdall.store.Store` says of each holds here."""

    async def get(self, scope: str, key: str) -> StoredRecord | None:
        """Return a live record."""
        ...

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        """Return live records in the order asked."""
        ...

    async def put(self, request: PutRequest) -> None:
        """Write a record; raises `Fenced` or `Conflict`."""
        ...

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        """Set a new expiry, None for none; return whether the record is there; raises `Fenced`."""
        ...

    async def delete(self, request: DeleteRequest) -> bool:
        """Delete a record; raises `Fenced` or `Conflict`."""
        ...

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        """Write up to a thousand records without conditions; on error `done` says which, unless none."""
        ...

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        """Delete up to a thousand records without conditions; return how many there were."""
        ...

    async def scan(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[StoredRecord]:
        """Return a page of live records."""
        ...

    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of the keys of live records."""
        ...

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of the scopes that hold a live record."""
        ...

    async def append(self, request: AppendRequest) -> Appended:
        """Append a batch; raises `BatchMismatch`, `Fenced` or `Conflict`."""
        ...

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        """Return entries from a position on; at least one if there is one, then up to `max_bytes`."""
        ...

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        """Return the last entries."""
        ...

    async def head(self, scope: str, key: str) -> Head | None:
        """Return the head of a log."""
        ...

    async def truncate(self, request: LogRequest, before: int) -> int:
        """Forget entries below a position; return how many."""
        ...

    async def drop(self, request: LogRequest) -> bool:
        """Delete a log; return whether there was one."""
        ...

    async def logs(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of the keys of logs."""
        ...

    async def log_scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of the scopes that hold a log."""
        ...

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        """Create a log that begins at a position; raises `AlreadyExists`."""
        ...

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        """Raise the mark of a record and return its version."""
        ...

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        """Raise the mark of a log and return its head."""
        ...

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        """Apply all or none; the requests name distinct records and logs.

        Returns:
            For each request: None of a put, bool of a delete, `Appended`, or the version or head that was checked.

        """
        ...

    async def sweep(self) -> int:
        """Remove what has expired and what crashes left; return how many items."""
        ...

    async def describe(self) -> Mapping[str, str]:
        """Reach the backend and return what a person wants to know of it: versions, place, durability."""
        ...


class LeaseRequest(NamedTuple):
    """Names a lease that was granted; `timeout` bounds the call, in seconds."""

    key: str
    nonce: str
    token: int
    timeout: float


class LockDriver(Protocol):
    """The operations of a lock on checked data; what `holdall.lock.Lock` says of each holds here."""

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        """Take a free or expired key and return the token, or None if it is held."""
        ...

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        """Extend a lease that is live; return whether it was."""
        ...

    async def release(self, request: LeaseRequest) -> bool:
        """Free a lease that is the current one; return whether it was."""
        ...

    async def holder(self, key: str) -> Holder | None:
        """Return who has the key."""
        ...

    async def raise_floor(self, key: str, token: int) -> None:
        """Make the next token higher than `token`."""
        ...

    async def set_flag(self, key: str, ttl: float) -> None:
        """Raise a flag."""
        ...

    async def flag(self, key: str) -> bool:
        """Return whether a flag is raised."""
        ...

    async def clear_flag(self, key: str) -> None:
        """Lower a flag."""
        ...


async def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """An open way to a storage.

    Attributes:
        store: its store, or None if it has none.
        lock: its lock, or None if it has none.
        capabilities: what it can do, found out where that depends on the server.
        close: gives back what it holds.
        sibling: opens another connection to the same storage, for the thread that renews leases; None opens the
            adapter's target once more.
        wait: waits until a log may be longer than a position, or for some seconds at most: scope, key, position,
            seconds; it returns whether there was a way to wait, and may be wrong, since core looks all the same. None
            where the backend tells of nothing, and core polls.

    """

    store: StoreDriver | None
    lock: LockDriver | None
    capabilities: Capabilities
    close: Callable[[], Awaitable[None]] = _nothing
    sibling: Callable[[], Awaitable[Connection]] | None = None
    wait: Callable[[str, str, int, float], Awaitable[bool]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option that a URL or the configuration may set.

    Attributes:
        name: how it is called there.
        kind: str, int, float or bool.
        default: its value where nothing is set.
        help: one line for a person.
        choices: the values it may have, empty for any.
        layout: it shapes what is stored: it is kept at creation, and opening with another is an error.

    """

    name: str
    kind: type[str | int | float | bool]
    default: str | float | bool | None
    help: str
    choices: tuple[str, ...] = ()
    layout: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What an adapter is asked to open.

    Attributes:
        url: the parsed URL.
        options: every option that the adapter declares, with its value.
        timeout: seconds that bound every operation.
        client: a driver client, pool or session of the caller's, or None.
        environment: sleeping, clock, ids and randomness.
        suspending: whether the calls may suspend, because an event loop runs them; otherwise they must block.
        folder: what relative paths are relative to: the folder of the configuration file, else the working directory.

    """

    url: Url
    options: Mapping[str, Any]
    timeout: float
    client: Any
    environment: Environment
    suspending: bool
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """The description of an adapter, returned by its `holdall_adapter` hook.

    Give either `backend` or `connect`; `store`, `async_store`, `lock` and `async_lock` are for an adapter that brings
    whole objects of its own, and come first where they are given.

    Attributes:
        name: how people call it.
        schemes: the URL schemes it serves.
        summary: one line for a person.
        capabilities: what it can do, as far as that is known without a server.
        options: what its URLs may set.
        io: "none" never waits (memory); "blocking" has no async driver, so async programs run it in a thread of the
            handle's; "suspending" has both.
        backend: opens a `Backend`.
        connect: opens a `Connection`.
        store: opens a whole `Store`.
        async_store: opens a whole `AsyncStore`.
        lock: opens a whole `Lock`.
        async_lock: opens a whole `AsyncLock`.
        spi_version: the version of this module that it was written for.

    """

    name: str
    schemes: tuple[str, ...]
    summary: str
    capabilities: Capabilities
    options: tuple[Option, ...] = ()
    io: InputOutput = "blocking"
    backend: Callable[[Target], Awaitable[Backend]] | None = None
    connect: Callable[[Target], Awaitable[Connection]] | None = None
    store: Callable[[Target], Store] | None = None
    async_store: Callable[[Target], AsyncStore] | None = None
    lock: Callable[[Target], Lock] | None = None
    async_lock: Callable[[Target], AsyncLock] | None = None
    spi_version: int = field(default=SPI_VERSION)
