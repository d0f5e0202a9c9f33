"""Where memory spaces live: found by name, guarded by one mutex each."""

from __future__ import annotations

import bisect
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from holdall.keys import text_after
from holdall.values import Appended, Head

__all__ = ["Lease", "Log", "OrderedNames", "Record", "RememberedBatch", "Space", "space_named"]

_SLACK = 64


@dataclass(slots=True)
class Record:
    """A record; without a payload it only keeps a mark."""

    payload: bytes | None
    version: str
    expires: float | None
    mark: int


@dataclass(frozen=True, slots=True)
class RememberedBatch:
    """What a batch id stands for."""

    number: int
    digest: str
    result: Appended


@dataclass(slots=True)
class Log:
    """A log; without an incarnation it only keeps a mark."""

    incarnation: str | None = None
    first: int = 0
    payloads: list[bytes] = field(default_factory=list[bytes])
    mark: int = 0
    batches: int = 0
    remembered: dict[str, RememberedBatch] = field(default_factory=dict[str, RememberedBatch])

    def head(self) -> Head | None:
        """Return its head, or None if there is no log."""
        return None if self.incarnation is None else Head(self.first, self.first + len(self.payloads), self.incarnation)


@dataclass(slots=True)
class Lease:
    """The state of a key of the lock; free without a nonce."""

    nonce: str | None = None
    owner: str = ""
    token: int = 0
    expires: float = 0.0
    floor: int = 0


class OrderedNames:
    """The names of a growing collection in code-point order, sorted when they are read.

    Names that were removed stay until they outnumber the rest; whoever reads checks that a name is still there.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._sorted: list[str] = []
        self._fresh: list[str] = []

    def add(self, name: str) -> None:
        """Note a name."""
        if name not in self._known:
            self._fresh.append(name)
            self._known.add(name)

    def shrink(self, present: Mapping[str, object]) -> None:
        """Forget removed names if they are many.

        Args:
            present: what is there.

        """
        if len(self._known) > 2 * len(present) + _SLACK:
            self._known = set(present)
            self._sorted, self._fresh = sorted(present), []

    def behind(self, prefix: str, after: str | None) -> Iterator[str]:
        """Iterate over the names that begin with a prefix and lie behind another name."""
        if self._fresh:
            self._sorted += self._fresh
            self._fresh = []
            self._sorted.sort()
            if len(self._sorted) != len(self._known):  # an interrupt came between the two steps of `add`
                self._sorted = sorted(set(self._sorted))
        start = bisect.bisect_left(self._sorted, prefix)
        if after is not None:
            start = max(start, bisect.bisect_right(self._sorted, after))
        following = text_after(prefix)
        end = len(self._sorted) if following is None else bisect.bisect_left(self._sorted, following)
        return (self._sorted[index] for index in range(start, end))


@dataclass(slots=True)
class Space:
    """Everything under one name. Whoever touches it holds the mutex, and never awaits while doing so."""

    mutex: threading.RLock = field(default_factory=threading.RLock)
    records: dict[str, dict[str, Record]] = field(default_factory=dict[str, dict[str, Record]])
    record_scopes: OrderedNames = field(default_factory=OrderedNames)
    record_keys: dict[str, OrderedNames] = field(default_factory=dict[str, OrderedNames])
    logs: dict[str, dict[str, Log]] = field(default_factory=dict[str, dict[str, Log]])
    log_scopes: OrderedNames = field(default_factory=OrderedNames)
    log_keys: dict[str, OrderedNames] = field(default_factory=dict[str, OrderedNames])
    leases: dict[str, Lease] = field(default_factory=dict[str, Lease])
    flags: dict[str, float] = field(default_factory=dict[str, float])
    items: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    item_keys: list[bytes] = field(default_factory=list[bytes])


_spaces: dict[str, Space] = {}
_finding = threading.Lock()


def _begin_anew() -> None:
    """Forget every space in a forked child: some thread may have held its mutex, and is not there to release it."""
    global _spaces, _finding
    _spaces, _finding = {}, threading.Lock()


os.register_at_fork(after_in_child=_begin_anew)


def space_named(name: str) -> Space:
    """Return the space of a name, making it the first time; "" is always a new one.

    Args:
        name: the name.

    """
    if not name:
        return Space()
    with _finding:
        return _spaces.setdefault(name, Space())
