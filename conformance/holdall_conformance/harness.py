"""What a scenario works with: ways to open the backend again and again, and scopes of its own."""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Self, cast

import holdall
from holdall_conformance.absence import Absent, Lacking
from holdall_conformance.bridge import BridgedLock, BridgedStore, LoopThread
from holdall_conformance.processors import on_one_processor
from holdall_conformance.sources import Source, UrlSource, source_from

if TYPE_CHECKING:
    from holdall import Capabilities, Lock, Store
    from holdall_conformance.results import Level
    from holdall_conformance.simulation import Subject

__all__ = ["Harness"]

_SHORT_TTL, _NETWORK_TTL = 0.05, 0.3
_SLACK = 0.02
_FEW = 2
"""How many processes race at the level base."""


class Harness:
    """One backend, seen from one side.

    Attributes:
        source: opens the backend; whoever opens it again, also in another process, finds the same storage.
        asynchronous: whether the handles are those of the asynchronous side, behind a synchronous face.
        level: "base" or "full"; at base fewer processes race.
        effort: by how much to do more than usual, or less.
        seed: what `chance` grows from.
        patience: seconds that a ttl which is meant to be short must leave for a few operations.
        absent: operations that the backend does not have.
        run: what the names of all scopes of one run begin with.

    """

    def __init__(
        self,
        source: Source | str,
        *,
        asynchronous: bool = False,
        level: Level = "full",
        effort: float = 1.0,
        seed: str = "",
        patience: float = _SHORT_TTL,
        absent: Collection[str] = (),
        run: str = "",
    ) -> None:
        self.source = UrlSource(source) if isinstance(source, str) else source
        self.asynchronous = asynchronous
        self.level: Level = level
        self.effort = effort
        self.seed = seed or os.urandom(8).hex()
        self.chance = random.Random(self.seed)
        self.patience = patience
        self.absent = frozenset(absent)
        self.run = run or f"kit-{os.urandom(4).hex()}"
        self._closing = contextlib.ExitStack()
        self._thread: LoopThread | None = None
        self._store: Store | None = None
        self._lock: Lock | None = None

    @classmethod
    def told(cls, told: list[Any]) -> Self:
        """Return the harness that another process told of with `tell`."""
        source, settings = told
        return cls(source_from(source), **settings)

    def tell(self, *, asynchronous: bool | None = None) -> list[Any]:
        """Return what a child process needs to open the same storage, as JSON values.

        Args:
            asynchronous: the side that the child is to work with, by default the same.

        """
        return [
            self.source.told(),
            {
                "asynchronous": self.asynchronous if asynchronous is None else asynchronous,
                "level": self.level,
                "effort": self.effort,
                "seed": self.seed,
                "patience": self.patience,
                "absent": sorted(self.absent),
                "run": self.run,
            },
        ]

    def __enter__(self) -> Self:
        """Return the harness."""
        if self.asynchronous:
            self._closing.enter_context(on_one_processor())
            self._thread = LoopThread()
            self._closing.callback(self._thread.stop)
        return self

    def __exit__(self, *_: object) -> None:
        """Close every handle that was opened."""
        self._closing.close()

    @property
    def url(self) -> str | None:
        """The URL of the storage, None where functions open it."""
        return self.source.url

    def open_store(self, **settings: Any) -> Store:
        """Open another handle on the store; it is closed with the harness."""
        bare = self.bare_store(**settings)
        opened = bare if self._thread is None else BridgedStore(bare, self._thread)
        return cast("Store", self._closing.enter_context(self._lacking(opened)))

    def open_lock(self, **settings: Any) -> Lock:
        """Open another handle on the lock; it is closed with the harness."""
        bare = self.bare_lock(**settings)
        opened = bare if self._thread is None else BridgedLock(bare, self._thread)
        return cast("Lock", self._closing.enter_context(self._lacking(opened)))

    def share_lock(self, store: Store) -> Lock:
        """Open a lock that shares the connection of a store; it is closed with the harness."""
        bare = self.bare(store)
        if not hasattr(bare, "link"):
            message = "only a store that holdall opened shares its connection with a lock"
            raise Absent(message)
        if self._thread is None:
            return self._closing.enter_context(holdall.open_lock(bare))
        bridged = BridgedLock(holdall.open_async_lock(bare), self._thread)
        return cast("Lock", self._closing.enter_context(bridged))

    def bare_store(self, *, asynchronous: bool | None = None, **settings: Any) -> Any:
        """Open a store with nothing of the kit before it; whoever asks closes it.

        Args:
            asynchronous: the side, by default that of the harness.
            settings: such as a timeout.

        """
        side = self.asynchronous if asynchronous is None else asynchronous
        return self.source.open_store(asynchronous=side, settings=settings)

    def bare_lock(self, *, asynchronous: bool | None = None, **settings: Any) -> Any:
        """Open a lock with nothing of the kit before it; whoever asks closes it."""
        side = self.asynchronous if asynchronous is None else asynchronous
        return self.source.open_lock(asynchronous=side, settings=settings)

    def _lacking(self, handle: Any) -> Any:
        return Lacking(handle, self.absent) if self.absent else handle

    @staticmethod
    def bare(handle: Any) -> Any:
        """Return the handle itself, without what the kit has put before it."""
        while isinstance(handle, BridgedStore | BridgedLock | Lacking):
            handle = handle.inner
        return handle

    @property
    def short_ttl(self) -> float:
        """The shortest ttl that leaves time for a few operations, in seconds."""
        over_network = _NETWORK_TTL if self.capabilities.cross_host else 0.0
        return max(self.capabilities.min_ttl, self.patience, over_network)

    def scaled(self, number: int) -> int:
        """Return how often to do what is usually done so many times: more or less by the effort, at least once."""
        return max(1, round(number * self.effort))

    def racers(self, most: int) -> int:
        """Return how many processes are to race: by the effort at level full, a few at level base."""
        return max(_FEW, self.scaled(most)) if self.level == "full" else min(most, _FEW)

    def subject_of_simulation(self) -> Subject:
        """Return what the simulation is to run, if the backend gives something that can be simulated."""
        if not str(dict(self.store.describe()).get("storage", "")).startswith("derived from the primitives"):
            message = "the backend is no core over a port that can be simulated"
            raise Absent(message)
        from holdall_conformance.simulation import derived_subject  # noqa: PLC0415 - most clauses have no use for it

        return derived_subject(self.capabilities.expiry_clock)

    def occupy(self, seconds: float) -> None:
        """Keep the program busy: block the event loop where there is one, otherwise the thread."""
        if self._thread is None:
            time.sleep(seconds)
        else:
            self._thread.run(_block(seconds))

    def outlast(self, ttl: float) -> None:
        """Wait until what was written before with a ttl must have expired."""
        time.sleep(ttl + self.capabilities.expiry_margin + _SLACK)

    @property
    def store(self) -> Store:
        """A handle on the store, opened once."""
        if self._store is None:
            self._store = self.open_store()
        return self._store

    @property
    def lock(self) -> Lock:
        """A handle on the lock, opened once."""
        if self._lock is None:
            self._lock = self.open_lock()
        return self._lock

    @property
    def capabilities(self) -> Capabilities:
        """What the backend declares."""
        try:
            return self.store.capabilities
        except Absent as absent:
            try:
                return self.lock.capabilities
            except Absent:
                raise absent from None

    def new_scope(self) -> str:
        """Return a scope that nobody else uses."""
        return f"{self.run}-{os.urandom(6).hex()}"

    def new_key(self) -> str:
        """Return a key that nobody else uses."""
        return f"{self.run}-key-{os.urandom(6).hex()}"


async def _block(seconds: float) -> None:
    time.sleep(seconds)  # noqa: ASYNC251 - blocking the loop is the point
