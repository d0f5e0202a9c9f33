"""A third party's core over a port of its own, with a stand-in of its own, under the same scheduler."""

from __future__ import annotations

from holdall.derived import derive
from holdall.spi import ABSENT, ANY, BackendItem, Connection, Mismatch
from holdall_conformance.simulation import (
    NO_ANSWER,
    DerivedSubject,
    PortBackend,
    derived_capabilities,
    describe,
    failures,
    shrink,
    simulate,
)


class Refusal(Exception):
    """What the service says to a write whose condition does not hold."""


class Fault(Exception):
    """What the driver raises; `code` says what it knows."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Table:
    """The stand-in for a service that counts the revisions of every row."""

    def __init__(self):
        self.rows = {}
        self.revision = 0

    def fetch(self, key):
        return self.rows.get(key)

    def store(self, key, payload, revision):
        found = self.rows.get(key)
        if revision is not None and (found[1] if found else 0) != revision:
            raise Refusal
        self.revision += 1
        self.rows[key] = (payload, self.revision)
        return self.revision

    def erase(self, key, revision):
        if revision is not None and self.rows.get(key, (b"", 0))[1] != revision:
            raise Refusal
        self.rows.pop(key, None)

    def list(self, prefix, after, limit):
        keys = sorted(key for key in self.rows if key.startswith(prefix) and (after is None or key > after))
        return [(key, *self.rows[key]) for key in keys[:limit]]


class Core:
    """A backend over the driver of that service: requests go through `send`, faults are translated."""

    def __init__(self, table, send, translate):
        self.table = table
        self.send = send
        self.translate = translate

    async def _ask(self, what, effect, **settings):
        try:
            return await self.send(what, effect, **settings)
        except Refusal:
            raise Mismatch from None
        except Fault as fault:
            raise self.translate(fault.code) from fault

    async def get(self, key):
        row = await self._ask(("fetch", key), lambda: self.table.fetch(key))
        return None if row is None else BackendItem(key, *row)

    async def put(self, key, payload, expect):
        revision = {ANY: None, ABSENT: 0}.get(expect, expect)
        return await self._ask(("store", key), lambda: self.table.store(key, payload, revision), writes=True)

    async def delete(self, key, expect):
        revision = None if expect is ANY else expect
        await self._ask(("erase", key), lambda: self.table.erase(key, revision), writes=True)

    async def scan(self, prefix, after, limit):
        rows = await self._ask(("list", prefix), lambda: self.table.list(prefix, after, limit))
        return [BackendItem(*row) for row in rows]

    async def close(self):
        pass


class ThirdParty:
    """The subject; it shares nothing with that of the derived parts but the errors that faults are translated to."""

    name = "third party"
    capabilities = derived_capabilities("boot")

    def __init__(self, core=Core):
        self.core = core

    def stand_in(self):
        return Table()

    async def connect(self, storage, environment, step) -> Connection:
        core = self.core(storage, step, DerivedSubject().fault)
        return await derive(core, self.capabilities, environment, 5.0)

    def fault(self, kind):
        return Fault(kind)

    def describe(self, what, result):
        return f"{what[0]} {what[1]!r}{'' if result is NO_ANSWER else f' gave {result!r}'}"

    def leftovers(self, storage):
        return []


class Hasty(Core):
    """Says of a lost reply that nothing was applied."""

    async def _ask(self, what, effect, **settings):
        try:
            return await self.send(what, effect, **settings)
        except Refusal:
            raise Mismatch from None
        except Fault as fault:
            raise self.translate("refused") from fault


def test_a_sound_core_survives():
    found = next(failures(ThirdParty(), range(500)), None)
    assert found is None, describe(found)


def test_its_requests_are_those_that_are_interleaved_and_shown():
    outcome = simulate(ThirdParty(), 1)
    shown = {event.what[0] for event in outcome.events if isinstance(event.what, tuple)}
    assert shown >= {"fetch", "store", "append"}
    assert "store b'l" in describe(outcome)


def test_a_broken_core_is_found_and_shrunk():
    subject = ThirdParty(Hasty)
    small = shrink(subject, next(failures(subject, range(500))))
    assert small.steps <= 25
    assert "reply lost" in describe(small) or "still on its way" in describe(small)


class Caching(PortBackend):
    """Keeps what it read."""

    def __init__(self, items, step):
        super().__init__(items, step)
        self.kept = {}

    async def get(self, key):
        if key not in self.kept:
            self.kept[key] = await super().get(key)
        return self.kept[key]

    async def put(self, key, payload, expect):
        self.kept.pop(key, None)
        return await super().put(key, payload, expect)


def test_a_backend_between_core_and_port_is_part_of_what_is_simulated():
    async def core(backend, capabilities, environment, timeout):
        return await derive(Caching(backend._items, backend._step), capabilities, environment, timeout)

    subject = DerivedSubject(core=core)
    small = shrink(subject, next(failures(subject, range(500))))
    assert small.steps <= 25
