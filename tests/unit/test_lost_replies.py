"""The derived parts over a backend that loses requests and replies: applied once, or OutcomeUnknown, never a lie.

Two clients work on the same keys, one after the other in small steps, so that a lost reply is followed by somebody
else's write. The seed decides where a fault strikes.
"""

from __future__ import annotations

import random

import pytest

from holdall.derived import derive
from holdall.drive import drive
from holdall.environment import BlockingEnvironment
from holdall.errors import Conflict, HoldallError, OutcomeUnknown, Unavailable
from holdall.spi import ABSENT, ANY, AppendRequest, DeleteRequest, LogRequest, PutRequest
from holdall_adapters.memory import CAPABILITIES
from holdall_adapters.memory.backend import MemoryBackend
from holdall_adapters.memory.port import Space

SEEDS = 60


class Quick(BlockingEnvironment):
    """An environment in which sleeping takes no time."""

    def __init__(self, on_sleep=None):
        self.on_sleep = on_sleep

    async def sleep(self, seconds):
        if self.on_sleep:
            self.on_sleep()


class Faulty(MemoryBackend):
    """Loses some requests, and some replies of writes that were applied."""

    def __init__(self, space, dice, rate):
        super().__init__(space)
        self.dice = dice
        self.rate = rate
        self.outage = 0

    def _stumble(self):
        """Refuse now and then, and sometimes for so long that patience ends."""
        if self.rate and self.dice.random() < 0.01:
            self.outage = self.dice.randrange(1, 15)
        self.outage = max(0, self.outage - 1)
        if self.outage or self.dice.random() < self.rate:
            raise Unavailable("refused")

    async def get(self, key):
        self._stumble()
        return await super().get(key)

    async def scan(self, prefix, after, limit):
        self._stumble()
        return await super().scan(prefix, after, limit)

    async def put(self, key, payload, expect):
        return await self._write(super().put(key, payload, expect))

    async def delete(self, key, expect):
        return await self._write(super().delete(key, expect))

    async def _write(self, call):
        fate = self.dice.random()
        try:
            self._stumble()
        except Unavailable:
            call.close()
            raise
        if fate < 2 * self.rate:
            call.close()
            raise OutcomeUnknown("the request was lost")
        result = await call
        if fate < 3 * self.rate:
            raise OutcomeUnknown("the reply was lost")
        return result


@pytest.fixture(params=range(SEEDS))
def world(request):
    """A store over a faulty backend, and one over a sound backend with the same items."""
    dice, space = random.Random(request.param), Space()
    sound = drive(derive(MemoryBackend(space), CAPABILITIES, Quick(), 5.0))
    faulty = Faulty(space, dice, 0.0)
    connection = drive(derive(faulty, CAPABILITIES, Quick(), 5.0))
    faulty.rate = 0.12
    return dice, connection, sound


def append(store, number, **named):
    request = AppendRequest("s", "log", [str(number).encode()] * 3, f"{number:032x}", ANY, None, None, None)
    return drive(store.append(request._replace(**named)))


def test_appends_are_applied_once(world):
    dice, connection, sound = world
    fates = {}
    for number in range(150):
        store = connection.store if dice.random() < 0.7 else sound.store
        big = [b"x" * 9_000] if dice.random() < 0.2 else None
        try:
            named = {"payloads": [str(number).encode(), *big]} if big else {}
            fates[number] = append(store, number, **named)
        except OutcomeUnknown:
            fates[number] = None
        except Unavailable:
            fates[number] = False
    entries = drive(sound.store.read("s", "log", 0, None, None))
    positions = {}
    for position, payload in enumerate(entries.payloads):
        if payload[:1] != b"x":
            positions.setdefault(int(payload), []).append(position)
    for number, fate in fates.items():
        found = positions.get(number, [])
        size = 1 if len(found) == 1 else 3
        assert len(found) in (0, size)
        if fate is False:
            assert not found
        elif fate is not None:
            assert found[0] == fate.start, number
            assert fate.head.length == fate.start + fate.count


def test_a_chain_of_compare_and_set_meets_no_false_conflict(world):
    _, connection, sound = world
    version, value = ABSENT, None
    for number in range(80):
        request = PutRequest("s", "k", str(number).encode(), f"{number + 1:032x}", version, None, None)
        try:
            drive(connection.store.put(request))
        except OutcomeUnknown:
            stored = drive(sound.store.get("s", "k"))
            assert stored is None or stored.version in (version, request.version)
            version = stored.version if stored else ABSENT
            value = stored.payload if stored else None
            continue
        except Unavailable:
            continue
        version, value = request.version, request.payload
    stored = drive(sound.store.get("s", "k"))
    assert (stored.payload if stored else None) == value


def test_a_conflict_is_one(world):
    """A rival writes between the tries: the caller hears of success only if its write got in, once."""
    dice, connection, sound = world
    rival = [0]

    def interfere():
        if dice.random() < 0.3:
            rival[0] += 1
            drive(sound.store.put(PutRequest("s", "k", b"rival", f"{rival[0]:030x}ff", ANY, None, None)))

    connection.store._access.environment.on_sleep = interfere
    written = []
    for number in range(60):
        before = drive(sound.store.get("s", "k"))
        expect = before.version if before else ABSENT
        request = PutRequest("s", "k", b"mine", f"{number:030x}aa", expect, None, None)
        rivals = rival[0]
        try:
            drive(connection.store.put(request))
        except Conflict:
            assert rival[0] > rivals
        except HoldallError:
            pass
        else:
            written.append(request.version)
            after = drive(sound.store.get("s", "k"))
            assert after.version == request.version or rival[0] > rivals


def test_logs_survive_faults_in_truncate_and_drop(world):
    dice, connection, sound = world
    model_first, length = 0, 0
    for number in range(60):
        choice = dice.random()
        try:
            if choice < 0.7:
                length = append(connection.store, number).head.length
            elif choice < 0.95:
                drive(connection.store.truncate(LogRequest("s", "log", ANY, None), length - 4))
            else:
                drive(connection.store.drop(LogRequest("s", "log", ANY, None)))
        except (OutcomeUnknown, Unavailable):
            pass
        head = drive(sound.store.head("s", "log"))
        model_first, length = (head.first, head.length) if head else (0, 0)
        entries = drive(sound.store.read("s", "log", model_first, None, None))
        assert len(entries.payloads) == length - model_first
    drive(sound.store.sweep())
    assert drive(sound.store.head("s", "log")) == head


def test_deletes_and_leases_tell_the_truth(world):
    _, connection, sound = world
    for number in range(40):
        fence = 3 if number % 2 else None
        drive(sound.store.put(PutRequest("s", f"d{number}", b"1", f"{number:032x}", ANY, None, fence)))
        try:
            assert drive(connection.store.delete(DeleteRequest("s", f"d{number}", ANY, None))) is True
        except (OutcomeUnknown, Unavailable):
            continue
        assert drive(sound.store.get("s", f"d{number}")) is None
    tokens = []
    for number in range(40):
        nonce = f"{number:032x}"
        try:
            token = drive(connection.lock.acquire("lease", nonce, "me", 0.000001))
        except (OutcomeUnknown, Unavailable):
            continue
        if token is not None:
            tokens.append(token)
    assert tokens == sorted(set(tokens))


class Late(MemoryBackend):
    """Loses the first write under some keys, which arrives later all the same."""

    def __init__(self, space, kind):
        super().__init__(space)
        self.kind = kind
        self.late = None
        self.done = False

    async def put(self, key, payload, expect):
        if key[:1] == self.kind and not self.done:
            if self.late is None:
                self.late = (key, payload, expect)
                raise OutcomeUnknown("lost")
            self.done = True
            await super().put(*self.late)
        return await super().put(key, payload, expect)


def test_an_acquisition_that_arrives_late_is_its_own():
    backend = Late(Space(), b"k")
    connection = drive(derive(backend, CAPABILITIES, Quick(), 5.0))
    assert drive(connection.lock.acquire("k", "a" * 32, "me", 60.0)) == 1
    assert backend.done
    assert drive(connection.lock.holder("k")).owner == "me"


class FailsToDelete(MemoryBackend):
    """Deletes nothing."""

    async def delete(self, key, expect):
        raise Unavailable("no deletes today")


def test_what_is_done_is_not_reported_as_undone_because_of_the_cleaning_up():
    space = Space()
    sound = drive(derive(MemoryBackend(space), CAPABILITIES, Quick(), 5.0))
    failing = drive(derive(FailsToDelete(space), CAPABILITIES, Quick(), 5.0))
    for number in range(20):
        append(sound.store, number, payloads=[b"1" * 20_000])
    assert drive(failing.store.truncate(LogRequest("s", "log", ANY, None), 15)) == 15
    assert drive(sound.store.sweep()) > 0
    assert len(drive(sound.store.read("s", "log", 15, None, None)).payloads) == 5
    assert drive(sound.store.sweep()) == 0


def test_two_sweeps_at_once_are_in_nobodys_way():
    space = Space()
    first = drive(derive(MemoryBackend(space), CAPABILITIES, Quick(), 5.0))
    for number in range(20):
        append(first.store, number, payloads=[b"1" * 20_000], batch_id=str(number), digest="d")
    for key in [key for key in space.items if key[:1] == b"l"]:
        drive(MemoryBackend(space).delete(key, ANY))

    class Overtaken(MemoryBackend):
        async def delete(self, key, expect):
            await MemoryBackend(space).delete(key, ANY)
            return await super().delete(key, expect)

    second = drive(derive(Overtaken(space), CAPABILITIES, Quick(), 5.0))
    assert drive(second.store.sweep()) > 0
    assert [key for key in space.items if key[:1] in {b"c", b"b"}] == []


def test_nothing_is_said_for_certain_while_a_write_may_still_arrive():
    """The record expires while the reply to a write of it is waited for: neither Conflict nor False would be true."""
    space = Space()

    class Expiring(BlockingEnvironment):
        ahead = 0.0

        async def sleep(self, seconds):
            Expiring.ahead = 100.0

        def boot_time(self):
            return super().boot_time() + Expiring.ahead

    class LosesAll(MemoryBackend):
        async def put(self, key, payload, expect):
            if key[:1] == b"r" and payload.endswith(b"new"):
                raise OutcomeUnknown("lost")
            return await super().put(key, payload, expect)

    connection = drive(derive(LosesAll(space), CAPABILITIES, Expiring(), 500.0))
    old, new = "0" * 31 + "1", "0" * 31 + "2"
    drive(connection.store.put(PutRequest("s", "k", b"old", old, ABSENT, 10.0, None)))
    with pytest.raises(OutcomeUnknown, match="may still arrive"):
        drive(connection.store.put(PutRequest("s", "k", b"new", new, old, None, None)))
