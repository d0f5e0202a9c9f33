"""The scenarios of the kit fail on backends that are wrong in one way: they are not blind."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from holdall import ANY, hookimpl, plugins
from holdall.spi import Adapter, BackendItem
from holdall_adapters.memory import CAPABILITIES
from holdall_adapters.memory.backend import MemoryBackend
from holdall_adapters.memory.port import space_named
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import all_scenarios


class IgnoresConditions(MemoryBackend):
    def _check(self, key, expect):
        return


class ChecksBeforeItWrites(MemoryBackend):
    """Checks and writes in two steps, so that another may come between."""

    async def put(self, key, payload, expect):
        self._check(key, expect)
        for _ in range(200):
            pass
        return await super().put(key, payload, ANY)


class LosesWrites(MemoryBackend):
    counter = itertools.count(1)

    async def put(self, key, payload, expect):
        if next(self.counter) % 25 == 0:
            self._check(key, expect)
            return payload
        return await super().put(key, payload, expect)


class ScansOutOfOrder(MemoryBackend):
    async def scan(self, prefix, after, limit):
        found = list(await super().scan(prefix, after, limit))
        return [*found[1:2], *found[:1], *found[2:]]


class StopsAtThousand(MemoryBackend):
    async def scan(self, prefix, after, limit):
        found = await super().scan(prefix, None, 1_000)
        return [item for item in found if after is None or item.key > after][:limit]


class FoldsCase(MemoryBackend):
    async def get(self, key):
        found = await super().get(key.lower())
        return None if found is None else BackendItem(key, found.payload, found.tag)

    async def put(self, key, payload, expect):
        return await super().put(key.lower(), payload, expect)


class NeverDeletes(MemoryBackend):
    async def delete(self, key, expect):
        self._check(key, expect)


BROKEN = {
    IgnoresConditions: ("concurrency", "versions"),
    ChecksBeforeItWrites: ("concurrency",),
    LosesWrites: ("logs", "records", "values", "batches"),
    ScansOutOfOrder: ("paging",),
    StopsAtThousand: ("paging",),
    FoldsCase: ("keys",),
    NeverDeletes: ("records", "versions"),
}


@pytest.fixture
def broken(request):
    kind = request.param

    async def open_backend(target):
        return kind(space_named(f"broken-{target.url.authority}"))

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
    yield kind
    plugins.unregister(plugin)


def fails(scenario, name):
    try:
        with Harness(f"broken://{name}") as harness:
            if not scenario.lacking(harness.capabilities):
                scenario.run(harness)
    except Exception:  # noqa: BLE001 - a scenario may fail in any way
        return True
    return False


@pytest.mark.parametrize("broken", [MemoryBackend], indirect=True)
def test_a_sound_one_passes_them_all(broken):
    groups = {group for groups in BROKEN.values() for group in groups}
    chosen = [scenario for scenario in all_scenarios() if scenario.group in groups]
    failed = [scenario.id for number, scenario in enumerate(chosen) if fails(scenario, f"sound-{number}")]
    assert failed == []


@pytest.mark.parametrize("broken", BROKEN, indirect=True, ids=lambda kind: kind.__name__)
def test_each_is_caught(broken):
    groups = BROKEN[broken]
    chosen = [scenario for scenario in all_scenarios() if scenario.group in groups]
    assert any(fails(scenario, f"{broken.__name__}-{number}") for number, scenario in enumerate(chosen))
