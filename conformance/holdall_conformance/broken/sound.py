"""Backends that are unusual but sound: every clause must hold on them, or name what they lack."""
# ruff: noqa: D102 - the docstring of a class says what its methods do

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar

from holdall.spi import PutRequest, StoredPage
from holdall_conformance.broken.designs import Design
from holdall_conformance.broken.plain_lock import PlainLock
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import openable
from holdall_conformance.broken.rooms import FileRoom, MemoryRoom
from holdall_conformance.broken.state import LeaseState
from holdall_conformance.broken.wrapping import (
    WrappedAsyncLock,
    WrappedAsyncStore,
    WrappedLock,
    WrappedRecords,
    WrappedStore,
)

__all__ = [
    "AsyncOnly",
    "Jittery",
    "LockOnly",
    "OneCounter",
    "Plain",
    "PlainFile",
    "RecordsOnly",
    "Reordering",
    "ShortPages",
    "Slow",
    "TrailingPage",
    "Wrapped",
    "WrappedFile",
]

Row = TypeVar("Row")

_WRAPPERS: Mapping[str, Callable[[Any], Any]] = {
    "store": WrappedStore,
    "lock": WrappedLock,
    "async_store": WrappedAsyncStore,
    "async_lock": WrappedAsyncLock,
}


class Plain:
    """The parts as they should be, in memory."""


class PlainFile:
    """The parts as they should be, in a file that processes share."""


class Wrapped:
    """Handles that are not holdall's, on the parts as they should be."""


class WrappedFile:
    """Handles that are not holdall's, on a file that processes share."""


openable(Plain, Design(name="plain"))
openable(PlainFile, Design(name="plain-file", room=FileRoom))
openable(Wrapped, Design(name="wrapped", wrappers=_WRAPPERS))
openable(WrappedFile, Design(name="wrapped-file", room=FileRoom, wrappers=_WRAPPERS))


class SlowRoom(MemoryRoom):
    """Memory that takes as long as a disk for every turn."""

    io: ClassVar[Literal["none", "blocking", "suspending"]] = "blocking"

    def turn(self, *, write: bool = False) -> Any:
        time.sleep(0.001 if write else 0.0003)
        return super().turn(write=write)


class Slow:
    """Memory that takes as long as a disk for every operation."""


class JitteryRoom(MemoryRoom):
    """Memory that now and then takes twenty times as long as usual, before or after a turn."""

    io: ClassVar[Literal["none", "blocking", "suspending"]] = "blocking"
    chance = random.Random()  # noqa: S311 - not for secrets

    def turn(self, *, write: bool = False) -> Any:
        if self.chance.random() < 0.05:  # noqa: PLR2004 - now and then
            time.sleep(self.chance.uniform(0, 0.01))
        return super().turn(write=write)


class Jittery:
    """Memory whose operations now and then take long."""


openable(Slow, Design(name="slow", room=SlowRoom))
openable(Jittery, Design(name="jittery", room=JitteryRoom))


class ShortPages(PlainStore):
    """Ends pages early, with a cursor to go on from, as a database that counts bytes does."""

    def page(self, rows: Iterable[Row], limit: int, name: Callable[[Row], str]) -> StoredPage[Row]:
        return super().page(rows, min(limit, 8), name)


class Reordering(PlainStore):
    """Carries out in another order what the contract leaves open: put_many, delete_many and sweeps."""

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        await super().put_many(random.sample(requests, len(requests)))

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        return await super().delete_many(scope, random.sample(keys, len(keys)))


class TrailingPage(PlainStore):
    """Gives a cursor after every full page, also after the last one, behind which there is an empty page."""

    def page(self, rows: Iterable[Row], limit: int, name: Callable[[Row], str]) -> StoredPage[Row]:
        found = super().page(rows, limit, name)
        full = found.next is None and len(found.rows) == limit
        return StoredPage(found.rows, name(found.rows[-1])) if full else found


class OneCounter(PlainLock):
    """Takes the tokens of all keys from one sequence, as one of a database."""

    def grant(self, lease: LeaseState, nonce: str, owner: str, ttl: float) -> int:
        with self.room.turn(write=True) as space:
            space.notes["token"] = max(space.notes.get("token", 0), lease.floor) + 3
            lease.token = space.notes["token"] - 1
        return super().grant(lease, nonce, owner, ttl)


openable(TrailingPage, Design(name="trailing-page", store=TrailingPage))
openable(OneCounter, Design(name="one-counter", lock=OneCounter))
openable(ShortPages, Design(name="short-pages", store=ShortPages))
openable(Reordering, Design(name="reordering", store=Reordering))


class RecordsOnly(WrappedRecords):
    """A store that keeps records and has neither logs nor commits."""


openable(RecordsOnly, Design(name="records-only", wrappers={"store": RecordsOnly}))


class LockOnly(PlainLock):
    """A lock, without any store."""


openable(LockOnly, Design(name="lock-only", lock=LockOnly))


class AsyncOnly:
    """An asynchronous store and lock that are not holdall's, without a synchronous side."""


openable(AsyncOnly, Design(name="async-only", wrappers=_WRAPPERS))
