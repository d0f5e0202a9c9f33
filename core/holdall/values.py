"""The plain values that go into and come out of stores and locks."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar, overload

__all__ = [
    "ABSENT",
    "ANY",
    "Append",
    "Appended",
    "Check",
    "CommitOperation",
    "Delete",
    "Entries",
    "Entry",
    "Expect",
    "ExpectHead",
    "Fence",
    "Head",
    "Holder",
    "Lease",
    "Page",
    "Put",
    "Record",
    "Sentinel",
]

Item = TypeVar("Item")


class Sentinel(enum.Enum):
    """The two expectations that are not a version: `ANY` checks nothing, `ABSENT` wants nothing to be there."""

    ANY = "any"
    ABSENT = "absent"

    def __repr__(self) -> str:
        """Return the name under which it is imported."""
        return f"holdall.{self.name}"


ANY: Final = Sentinel.ANY
ABSENT: Final = Sentinel.ABSENT

Expect: TypeAlias = Literal[Sentinel.ANY, Sentinel.ABSENT] | str


class Record(NamedTuple):
    """A live record as it was read.

    Attributes:
        scope: its scope.
        key: its key.
        value: its value, the caller's own copy.
        version: the opaque id of the write that made it, for `expect`.
        expires_in: seconds it has left, or None if it does not expire.

    """

    scope: str
    key: str
    value: Any
    version: str
    expires_in: float | None = None

    def __repr__(self) -> str:
        """Return a line that names the record and hides its value."""
        return _hidden(self, "value")


class Head(NamedTuple):
    """The extent of a log.

    Attributes:
        first: the first position that is kept.
        length: the position that the next entry will have; truncating does not lower it.
        incarnation: opaque id; a log that was dropped and grew again has another one.

    """

    first: int
    length: int
    incarnation: str


ExpectHead: TypeAlias = Literal[Sentinel.ANY, Sentinel.ABSENT] | int | Head


class Entry(NamedTuple):
    """One entry of a log.

    Attributes:
        position: its place, counted from 0 without gaps.
        value: its value, the caller's own copy.

    """

    position: int
    value: Any

    def __repr__(self) -> str:
        """Return a line that names the entry and hides its value."""
        return _hidden(self, "value")


class Entries(Sequence[Entry]):
    """Entries in order, with the head of the log at the moment they were read.

    Attributes:
        head: the head of the log, or None if there was no log.

    """

    __slots__ = ("_entries", "head")

    def __init__(self, entries: Iterable[Entry], head: Head | None) -> None:
        self._entries = tuple(entries)
        self.head = head

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | Sequence[Entry]:
        """Return one entry or a slice of them."""
        return self._entries[index]

    def __len__(self) -> int:
        """Return how many entries there are."""
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        """Compare entries and head."""
        if not isinstance(other, Entries):
            return NotImplemented
        return self._entries == other._entries and self.head == other.head

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return a line with the extent, without values."""
        span = f"{self._entries[0].position}..{self._entries[-1].position}" if self._entries else "empty"
        return f"Entries({span}, head={self.head!r})"


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append did.

    Attributes:
        start: position of the first entry of the batch.
        count: how many entries the batch has.
        head: the head of the log right after the batch; for a batch id that is repeated, the head right after its
            first time.

    """

    start: int
    count: int
    head: Head


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a listing.

    Attributes:
        items: what it holds, in code-point order; it may be fewer than `limit`, even none.
        next: what to pass as `after` for the next page; None only at the end.

    """

    items: Sequence[Item]
    next: str | None


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to a key for a while; plain data that can be pickled.

    Attributes:
        key: what it is a lease of.
        owner: a label for people; it is never compared.
        token: the fencing token, 1 or more; it rises with every new holder of the key, for ever.
        ttl: seconds it lasts from the moment it was granted or renewed.
        nonce: random id of this acquisition; renewing and releasing compare it.
        deadline: when the holder must stop, on this host's boot clock in seconds (`holdall.clock.boot_time`); it lies
            before the moment at which the store gives the key to somebody else.

    """

    key: str
    owner: str
    token: int
    ttl: float
    nonce: str
    deadline: float


Fence: TypeAlias = Lease | int | None


class Holder(NamedTuple):
    """Who has a key.

    Attributes:
        owner: the label that the holder gave itself.
        token: its fencing token.
        expires_in: about how many seconds the lease has left.

    """

    owner: str
    token: int
    expires_in: float


@dataclass(frozen=True, slots=True)
class Put:
    """A put in a commit; see `Store.put`."""

    scope: str
    key: str
    value: Any = field(repr=False)
    expect: Expect = ANY
    ttl: float | None = None
    fence: Fence = None


@dataclass(frozen=True, slots=True)
class Delete:
    """A delete in a commit; see `Store.delete`."""

    scope: str
    key: str
    expect: Expect = ANY
    fence: Fence = None


@dataclass(frozen=True, slots=True)
class Append:
    """An append in a commit; see `Store.append`."""

    scope: str
    key: str
    entries: Iterable[Any] = field(repr=False)
    expect: ExpectHead = ANY
    fence: Fence = None
    batch_id: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A condition in a commit that writes nothing.

    Attributes:
        scope: scope of the record or log.
        key: its key.
        expect: a version or `ABSENT`; for a log a length, a `Head` or `ABSENT`.
        log: whether it is a log.

    """

    scope: str
    key: str
    expect: Expect | ExpectHead
    log: bool = False


CommitOperation: TypeAlias = Put | Delete | Append | Check


def _hidden(row: Any, name: str) -> str:
    shown: Mapping[str, Any] = row._asdict()
    parts = (f"{key}=<{type(value).__name__}>" if key == name else f"{key}={value!r}" for key, value in shown.items())
    return f"{type(row).__name__}({', '.join(parts)})"
