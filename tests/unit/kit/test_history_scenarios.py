"""The clauses of histories catch stores that are wrong only when several work at once, and accuse no other."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace

import pytest

from holdall import ANY, hookimpl, plugins
from holdall.derived.layout import LOG
from holdall.spi import Adapter, BackendItem
from holdall_adapters.memory import CAPABILITIES
from holdall_adapters.memory.backend import MemoryBackend
from holdall_adapters.memory.port import space_named
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import all_scenarios

HISTORIES = [clause for clause in all_scenarios() if clause.id.startswith("concurrency.history-")]
NAMES = itertools.count()


class ChecksThenWrites(MemoryBackend):
    """Checks and writes in two steps, so that another may come between."""

    async def put(self, key, payload, expect):
        self._check(key, expect)
        for _ in range(200):
            pass
        return await super().put(key, payload, ANY)


class LastAppendWins(MemoryBackend):
    """Does not check the head of a log that an append read before."""

    async def put(self, key, payload, expect):
        return await super().put(key, payload, ANY if key.startswith(LOG) else expect)


class ReadsFromItsCache(MemoryBackend):
    """Every handle keeps what it has read for a few reads, unless it writes there itself."""

    def __init__(self, space):
        super().__init__(space)
        self.kept = {}
        self.guard = threading.Lock()

    async def get(self, key):
        with self.guard:
            item, left = self.kept.get(key, (None, 0))
            if left:
                self.kept[key] = item, left - 1
                return item
        item = await super().get(key)
        with self.guard:
            self.kept[key] = item, 3
        return item

    async def put(self, key, payload, expect):
        with self.guard:
            self.kept.pop(key, None)
        return await super().put(key, payload, expect)


class IsSlow(MemoryBackend):
    """Right, but never done at once."""

    async def get(self, key):
        for _ in range(100):
            pass
        return await super().get(key)

    async def put(self, key, payload, expect):
        for _ in range(100):
            pass
        return await super().put(key, payload, expect)


class GivesNewItems(MemoryBackend):
    """Right, with items of its own."""

    async def get(self, key):
        item = await super().get(key)
        return None if item is None else BackendItem(item.key, bytes(item.payload), item.tag)


@pytest.fixture
def backend(request):
    async def open_backend(target):
        return request.param(space_named(f"histories-{target.url.authority}"))

    class Plugin:
        @hookimpl
        def holdall_adapter(self):
            return Adapter(
                name="broken",
                schemes=("broken",),
                summary="-",
                capabilities=replace(CAPABILITIES, atomic_commit=False),
                io="none",
                backend=open_backend,
            )

    plugin = Plugin()
    plugins.register(plugin)
    yield request.param
    plugins.unregister(plugin)


def complaints(clauses=HISTORIES, **settings):
    """Run every clause that applies, and return what they say is wrong."""
    found = {}
    for clause in clauses:
        with Harness(f"broken://h{next(NAMES)}", **settings) as harness:
            if clause.lacking(harness.capabilities):
                continue
            try:
                clause.run(harness)
            except AssertionError as error:
                found[clause.id] = str(error)
    return found


def first_complaint(clauses):
    """Run clauses until one complains: races are likely in each run, not certain."""
    runs = (complaints(clauses) for _ in range(20))
    return next(text for found in runs for text in found.values())


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("backend", [MemoryBackend, IsSlow, GivesNewItems], indirect=True)
def test_right_ones_are_not_accused(backend, asynchronous):
    assert complaints(asynchronous=asynchronous) == {}


@pytest.mark.parametrize(
    "backend, kinds",
    [(ChecksThenWrites, ("record", "log")), (LastAppendWins, ("log",)), (ReadsFromItsCache, ("record", "log"))],
    indirect=["backend"],
)
def test_wrong_ones_are_caught_with_a_history_that_shows_it(backend, kinds):
    lengths = []
    for kind in kinds:
        text = first_complaint([clause for clause in HISTORIES if f"-{kind}" in clause.id])
        first, *lines = text.splitlines()
        assert first.startswith(f"no order of the calls on the {kind} ")
        assert lines[-2].startswith("No order explains this")
        assert lines[-1].startswith("seed ")
        lengths.append(len(lines))
    assert min(lengths) <= 12


@pytest.mark.parametrize("backend", [LastAppendWins], indirect=True)
def test_what_is_not_wrong_is_not_accused(backend):
    assert complaints([clause for clause in HISTORIES if "-record" in clause.id]) == {}


@pytest.mark.parametrize("backend", [ReadsFromItsCache], indirect=True)
def test_the_seed_is_told(backend):
    clause = next(clause for clause in HISTORIES if clause.id == "concurrency.history-record")
    raising = pytest.raises(AssertionError, match="seed fixed")
    with Harness(f"broken://h{next(NAMES)}", seed="fixed") as harness, raising:
        clause.run(harness)
