"""The parts of the simulation: the stand-in, the scheduler and its clock, and what befalls a request."""

from __future__ import annotations

import random

import pytest

from holdall.drive import drive
from holdall.errors import OutcomeUnknown, StoreTimeout, Unavailable
from holdall.spi import ABSENT, ANY, Mismatch
from holdall_adapters.memory.backend import MemoryBackend
from holdall_adapters.memory.port import Space
from holdall_conformance.simulation import PortBackend, StandIn, derived_subject
from holdall_conformance.simulation.choices import Given, Seeded, trimmed
from holdall_conformance.simulation.environment import SimulatedEnvironment
from holdall_conformance.simulation.network import _READ_FATES, _WRITE_FATES, Line
from holdall_conformance.simulation.world import Crashed, Endless, World, until

READS, WRITES = list(_READ_FATES), list(_WRITE_FATES)


def world_of(*choices):
    return World(Given([[], *choices]))


def outcome_of(call, *arguments):
    try:
        return call(*arguments)
    except Mismatch:
        return Mismatch


def driven_outcome_of(call):
    try:
        return drive(call)
    except Mismatch:
        return Mismatch


@pytest.mark.parametrize("seed", range(20))
def test_the_stand_in_agrees_with_the_memory_backend(seed):
    dice, ours, theirs = random.Random(seed), StandIn(), MemoryBackend(Space())
    for number in range(200):
        key = dice.choice([b"a", b"ab", b"b", b"\xff", b""])
        found = ours.get(key)
        assert found == drive(theirs.get(key))
        expect = dice.choice([ANY, ABSENT, b"0", found.tag if found else b"1"])
        if dice.random() < 0.6:
            payload = str(number).encode()
            put = outcome_of(ours.put, key, payload, expect)
            assert put == driven_outcome_of(theirs.put(key, payload, expect))
        elif expect is not ABSENT:
            deleted = outcome_of(ours.delete, key, expect)
            assert deleted == driven_outcome_of(theirs.delete(key, expect))
        prefix, after, limit = dice.choice([b"", b"a"]), dice.choice([None, b"a", b"aa"]), dice.randrange(1, 5)
        assert list(ours.scan(prefix, after, limit)) == drive(theirs.scan(prefix, after, limit))


def test_sleepers_wake_in_the_order_of_their_times_and_not_before():
    world, woken = world_of(), []

    async def sleeper(name, seconds):
        await SimulatedEnvironment(world, "boot", 0.0, 0.0).sleep(seconds)
        woken.append((name, world.clock))

    begun = world.clock
    for name, seconds in (("late", 50.0), ("soon", 1.0), ("at once", 0.0)):
        world.add_client(sleeper(name, seconds))
    world.run()
    assert [name for name, _ in woken] == ["at once", "soon", "late"]
    assert woken[1][1] >= begun + 1.0
    assert begun + 50.0 <= woken[2][1] < begun + 51.0


def test_who_goes_on_is_chosen_at_every_step():
    def run(*choices):
        world, order = world_of(*choices), []

        async def client(name):
            for _ in range(3):
                order.append(name)
                await until(0.0)

        for name in "abc":
            world.add_client(client(name))
        world.run()
        return "".join(order)

    assert run() == "aaabbbccc"
    assert run([1], [0, 1]) == "abb" + "aab" + "ccc"
    assert run([2], [], [1, 0]) == "ac" + "aa" + "bbbcc"


def test_a_run_that_does_not_end_is_given_up():
    world = world_of()

    async def restless():
        while True:
            await until(0.0)

    world.add_client(restless())
    with pytest.raises(Endless, match="did not end"):
        world.run()
    world.close()


def test_moments_are_distinct_and_rise():
    world = world_of()
    moments = [world.moment() for _ in range(100)]
    assert moments == sorted(set(moments))


def test_clocks_of_clients_go_on_with_the_world():
    world = world_of()
    here, there = SimulatedEnvironment(world, "a", 0.0, 0.0), SimulatedEnvironment(world, "b", 500.0, -3_600.0)
    before = here.boot_time(), there.boot_time(), here.wall_time(), there.wall_time()
    world.leap(7.0)
    after = here.boot_time(), there.boot_time(), here.wall_time(), there.wall_time()
    assert [round(late - early, 6) for early, late in zip(before, after, strict=True)] == [7.0] * 4
    assert there.boot_time() - here.boot_time() == 500.0
    assert (here.boot_id(), there.boot_id(), here.right_time()) == ("a", "b", world.clock)
    assert len({environment.new_id()[:16] for environment in (here, there) for _ in range(50)}) == 100
    assert all(0 <= here.random() < 1 for _ in range(100))


class Request:
    """One request of one client, whose fate is chosen, and what came of it."""

    def __init__(self, fate, *, writes, detail=0):
        fates = WRITES if writes else READS
        self.world, self.storage = world_of([fates.index(fate), detail]), StandIn()
        self.storage.put(b"k", b"old", ABSENT)
        self.result = self.error = self.seen_by_client = None
        self.begun = self.world.clock
        line = Line(self.world, "a", derived_subject().fault)
        self.backend = PortBackend(self.storage, line.step)
        self.world.add_client(self._put() if writes else self._get())
        self.world.run()

    async def _put(self):
        try:
            self.result = await self.backend.put(b"k", b"new", b"old")
        except (Exception, Crashed) as error:  # noqa: BLE001 - the test looks at it
            self.error = type(error)
        self.seen_by_client = self.storage.get(b"k").payload

    async def _get(self):
        try:
            self.result = (await self.backend.get(b"k")).payload
        except (Exception, Crashed) as error:  # noqa: BLE001 - the test looks at it
            self.error = type(error)

    @property
    def payload(self):
        return self.storage.get(b"k").payload

    @property
    def took(self):
        return self.world.clock - self.begun


@pytest.mark.parametrize(
    "fate,error,then,at_last",
    [
        ("", None, b"new", b"new"),
        ("reply slow", None, b"new", b"new"),
        ("request slow", None, b"new", b"new"),
        ("clock leaps before", None, b"new", b"new"),
        ("clock leaps after", None, b"new", b"new"),
        ("arrives twice", None, b"new", b"new"),
        ("refused", Unavailable, b"old", b"old"),
        ("timed out", StoreTimeout, b"old", b"old"),
        ("request lost", OutcomeUnknown, b"old", b"old"),
        ("reply lost", OutcomeUnknown, b"new", b"new"),
        ("arrives late", OutcomeUnknown, b"old", b"new"),
        ("client crashes before", Crashed, b"old", b"old"),
        ("client crashes after", Crashed, b"new", b"new"),
        ("client crashes, arrives late", Crashed, b"old", b"new"),
    ],
)
def test_every_fate_of_a_write(fate, error, then, at_last):
    request = Request(fate, writes=True, detail=1)
    assert (request.error, request.seen_by_client, request.payload) == (error, then, at_last)
    assert request.result == (b"new" if error is None else None)
    long = {"reply slow", "request slow", "clock leaps before", "clock leaps after", "arrives late", "arrives twice"}
    assert (request.took > 0.2) == (fate in long or fate == "client crashes, arrives late")


@pytest.mark.parametrize(
    "fate,error",
    [
        ("", None),
        ("reply slow", None),
        ("request slow", None),
        ("clock leaps before", None),
        ("clock leaps after", None),
        ("refused", Unavailable),
        ("timed out", StoreTimeout),
        ("client crashes before", Crashed),
    ],
)
def test_every_fate_of_a_read(fate, error):
    request = Request(fate, writes=False, detail=2)
    assert (request.error, request.result) == (error, b"old" if error is None else None)
    assert (request.took > 2.0) == (fate in {"reply slow", "request slow", "clock leaps before", "clock leaps after"})


def test_the_second_delivery_meets_the_state_that_the_first_made():
    request = Request("arrives twice", writes=True)
    last = request.world.events[-1]
    assert (last.client, last.fate) == ("network for a", "arrives once more")
    assert isinstance(last.result, Mismatch)


def test_a_write_without_a_condition_is_never_delivered_twice():
    world = world_of([WRITES.index("arrives twice")])
    backend = PortBackend(StandIn(), Line(world, "a", derived_subject().fault).step)

    async def put():
        await backend.put(b"k", b"new", ANY)

    world.add_client(put())
    world.run()
    assert [event.fate for event in world.events] == [""]


def test_who_has_crashed_does_nothing_any_more():
    world, storage = world_of([WRITES.index("client crashes before")]), StandIn()
    backend = PortBackend(storage, Line(world, "a", derived_subject().fault).step)

    async def put():
        try:
            await backend.put(b"k", b"1", ANY)
        finally:
            await backend.put(b"k", b"2", ANY)

    async def live():
        with pytest.raises(Crashed):
            await put()

    world.add_client(live())
    world.run()
    assert storage.items == {}


def test_given_choices_that_are_none_are_the_plainest():
    choices = Given([[5], [1, 9]])
    picked = [choices.pick("detail", 3, stream) for stream in (0, 0, 1, 1, 1, 2)]
    assert picked == [0, 0, 1, 0, 0, 0]


def test_seeded_choices_keep_to_their_limits_and_repeat():
    def picked(seed):
        choices = Seeded(seed)
        kinds = ["who", "fate", "operation", "detail"]
        return [choices.pick(kinds[number % 4], 2 + number % 7, 0) for number in range(2_000)]

    for seed in range(10):
        values = picked(seed)
        assert all(0 <= value < 2 + number % 7 for number, value in enumerate(values))
        assert values == picked(seed)
        assert 0 not in values[2::4]  # a client that may still do something does


def test_trimmed_choices_have_no_plain_ones_at_their_ends():
    assert trimmed([[0, 1, 0, 0], [], [0, 0], [3, 0], [0], []]) == [[0, 1], [], [], [3]]
    assert trimmed([[0], []]) == []
