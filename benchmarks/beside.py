"""Operations of a store and a lock beside hand-written ones on the bare driver: what is measured, and how it is shown.

The ratio is what counts; times are of whatever machine this runs on.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from embedded import VALUE, row_of, show

import holdall

__all__ = ["BATCH", "KEYS", "READ", "Floor", "cases", "main", "measure"]

Call = Callable[[int], Awaitable[Any]]
Case = tuple[str, Call, Call, int]
Rows = list[dict[str, Any]]
Side = Callable[[str, int], Awaitable[Rows]]
KEYS = 100
BATCH = 100
READ = 1_000


class Floor(Protocol):
    """What a careful user would write by hand on the bare driver."""

    async def put(self, number: int) -> None:
        """Write a record."""

    async def swap(self, number: int) -> None:
        """Write a record that has the version it had."""

    async def get(self, number: int) -> Any:
        """Read a record."""

    async def append(self, count: int) -> None:
        """Append entries."""

    async def read(self, start: int) -> list[Any]:
        """Read entries."""

    async def pair(self) -> None:
        """Take a lease and give it back."""

    async def commit(self, number: int) -> None:
        """Write two records and an entry, all or nothing."""


class Ours:
    """The same by holdall; a synchronous store is called as it is."""

    def __init__(self, store: Any, lock: Any) -> None:
        self.store, self.lock = store, lock
        self.is_async = isinstance(store, holdall.AsyncStore)
        self.versions: dict[int, str] = {}

    async def done(self, result: Any) -> Any:
        return await result if self.is_async else result

    async def put(self, number: int) -> None:
        self.versions[number] = await self.done(self.store.put("s", f"k{number}", VALUE))

    async def swap(self, number: int) -> None:
        put = self.store.put("s", f"k{number}", VALUE, expect=self.versions[number])
        self.versions[number] = await self.done(put)

    async def pair(self) -> None:
        lease = await self.done(self.lock.try_acquire("k"))
        if lease is None or not await self.done(self.lock.release(lease)):
            raise RuntimeError

    async def commit(self, number: int) -> None:
        puts = [holdall.Put("s", f"k{each % KEYS}", VALUE) for each in (number, number + 1)]
        await self.done(self.store.commit([*puts, holdall.Append("s", "log", [VALUE])]))

    async def call(self, name: str, *arguments: Any) -> Any:
        return await self.done(getattr(self.store, name)(*arguments))


def cases(store: Any, lock: Any, floor: Floor) -> list[Case]:
    ours = Ours(store, lock)
    return [
        ("put", lambda n: ours.put(n % KEYS), lambda n: floor.put(n % KEYS), 300),
        ("put, version", lambda n: ours.swap(n % KEYS), lambda n: floor.swap(n % KEYS), 300),
        ("get", lambda n: ours.call("get", "s", f"k{n % KEYS}"), lambda n: floor.get(n % KEYS), 300),
        ("append 1", lambda n: ours.call("append", "s", "log", [VALUE]), lambda n: floor.append(1), 300),
        (
            f"append {BATCH}",
            lambda n: ours.call("append", "s", "log", [VALUE] * BATCH),
            lambda n: floor.append(BATCH),
            30,
        ),
        (f"read {READ:,}", lambda n: ours.call("read", "s", "log", 0, READ), lambda n: floor.read(0), 10),
        ("lease pair", lambda n: ours.pair(), lambda n: floor.pair(), 200),
        *([("commit of 3", ours.commit, floor.commit, 100)] if store.capabilities.atomic_commit else ()),
    ]


async def median(call: Call, count: int) -> float:
    times: list[int] = []
    for number in range(count):
        started = time.perf_counter_ns()
        await call(number)
        times.append(time.perf_counter_ns() - started)
    return statistics.median(times) / 1000


async def measure(name: str, cases: list[Case], rounds: int) -> Rows:
    """Measure both sides in turn; the first round warms both up and does not count."""
    rows: Rows = []
    for operation, ours, floor, count in cases:
        pairs = [(await median(ours, count), await median(floor, count)) for _ in range(rounds + 1)][1:]
        rows.append(row_of(name, operation, pairs))
    return rows


def main(name: str, sides: Sequence[Side], server: Callable[[], AbstractContextManager[str]]) -> None:
    """Measure both sides on a server, and show it.

    Args:
        name: what is measured, for the help.
        sides: take a URL and how many rounds, and return rows.
        server: starts a server where no URL is given.

    """
    parser = argparse.ArgumentParser(description=name)
    parser.add_argument("--url", help="a database to write to; by default a server is started")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    rounds = 3 if chosen.quick else 11
    if chosen.url:
        show(_rows(sides, chosen.url, rounds), as_json=chosen.json)
        return
    with server() as url:
        show(_rows(sides, url, rounds), as_json=chosen.json)


def _rows(sides: Sequence[Side], url: str, rounds: int) -> Rows:
    async def run(side: Side) -> Rows:
        return await side(url, rounds)

    return [row for side in sides for row in asyncio.run(run(side))]
