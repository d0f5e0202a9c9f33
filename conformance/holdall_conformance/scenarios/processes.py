"""Several processes at once: nobody's write is lost, and of those who race one wins."""

from __future__ import annotations

import itertools
from typing import Any

from holdall import Head
from holdall_conformance.children import Child, Children, soon, wait_until
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.processes_work import check_batches
from holdall_conformance.scenarios.support import lease_of

_WORK = "holdall_conformance.scenarios.processes_work"
_WRITERS, _TIMES = 6, 25
_RACERS, _ASYNC_RACERS, _ROUNDS = 16, 8, 4
_APPENDERS, _BATCHES = 6, 25
_LOAD_PROCESSES, _LOAD_SECONDS = 8, 2.5  # synchronous and asynchronous, 5 seconds in all


def _all_ready(children: list[Child]) -> None:
    for child in children:
        assert child.hear() == "ready"


def _start_together(children: list[Child]) -> None:
    _all_ready(children)
    moment = soon()
    for child in children:
        child.say(moment)


def _results(children: list[Child]) -> list[Any]:
    results = [child.hear() for child in children]
    for child in children:
        child.finish()
    return results


def _stopped(children: list[Child]) -> list[Any]:
    for child in children:
        child.say("stop")
    return _results(children)


def _increments(harness: Harness, function: str, times: int, writers: int) -> tuple[Any, list[Any]]:
    """Return the final count, and everything that the writers said."""
    scope = harness.new_scope()
    with Children(harness) as children:
        started = children.start_many(writers, f"{_WORK}:{function}", scope, times)
        _start_together(started)
        said = list(itertools.chain.from_iterable(_results(started)))
    record = harness.store.get(scope, "n")
    return None if record is None else record.value, said


@scenario("processes.increments-by-version", "cross_process", level="full")
def increments_by_version(harness: Harness) -> None:
    """Of N processes that each increment a record M times by compare-and-set, no increment is lost."""
    writers, times = harness.racers(_WRITERS), harness.scaled(_TIMES)
    count, versions = _increments(harness, "increment_by_version", times, writers)
    assert count == writers * times == len(versions) == len(set(versions))


@scenario("processes.increments-by-update", "cross_process", level="full")
def increments_by_update(harness: Harness) -> None:
    """Of N processes that each increment a record M times by update, no increment is lost."""
    writers, times = harness.racers(_WRITERS), harness.scaled(_TIMES)
    count, versions = _increments(harness, "increment_by_update", times, writers)
    assert count == writers * times == len(versions) == len(set(versions))


@scenario("processes.increments-under-lock", "cross_process", level="full")
def increments_under_lock(harness: Harness) -> None:
    """Of N processes that each increment an unguarded record M times under a lock, no increment is lost."""
    writers, times = 4, 10
    count, tokens = _increments(harness, "increment_under_lock", times, writers)
    assert count == writers * times
    assert len(tokens) == len(set(tokens)) == writers * times


class _Race:
    """Processes that stand ready to do the same at the same moment."""

    def __init__(self, harness: Harness, children: Children) -> None:
        self.scope = harness.new_scope()
        count = harness.racers(_ASYNC_RACERS if harness.asynchronous else _RACERS)
        self._racers = children.start_many(count, f"{_WORK}:race", self.scope)
        _all_ready(self._racers)

    def run(self, kind: str, key: str, expect: int | None = None) -> list[Any]:
        """Return what came of it for those that won."""
        moment = soon()
        for racer in self._racers:
            racer.say([kind, key, expect, moment])
        results = [racer.hear() for racer in self._racers]
        return [result for result in results if result is not None]

    def end(self) -> None:
        for racer in self._racers:
            racer.say(None)
        for racer in self._racers:
            racer.finish()


@scenario("processes.one-winner-per-expectation", "cross_process", waits=True)
def one_winner_per_expectation(harness: Harness) -> None:
    """Of many processes that race to create a record, or to append at one length, exactly one wins."""
    store = harness.store
    with Children(harness) as children:
        race = _Race(harness, children)
        scope = race.scope
        for number in range(_ROUNDS):
            (version,) = race.run("put", f"k{number}")
            record = store.get(scope, f"k{number}")
            assert record is not None
            assert record.version == version
        for length in range(_ROUNDS):
            assert race.run("append", "log", length) == [length]
        entries = store.read(scope, "log")
        assert [entry.position for entry in entries] == list(range(_ROUNDS))
        race.end()


@scenario("processes.one-winner-per-lease", "cross_process", waits=True)
def one_winner_per_lease(harness: Harness) -> None:
    """Of many processes that race for a free, a released or an expired lease, exactly one wins, with a higher token."""
    lock, key = harness.lock, harness.new_key()
    ttl = max(0.2, harness.capabilities.min_ttl)
    with Children(harness) as children:
        race = _Race(harness, children)
        for number in range(_ROUNDS):
            (token,) = race.run("acquire", f"{key}-{number}")
            assert token >= 1
        for number in range(_ROUNDS):
            name = f"{key}-expires-{number}"
            lease = lease_of(lock, name, ttl=ttl)
            tokens = race.run("acquire", name)
            assert len(tokens) <= 1  # the start may be late, but two never win
            assert all(token > lease.token for token in tokens)
        _race_for_former(race, harness, f"{key}-former", ttl)
        race.end()


def _race_for_former(race: _Race, harness: Harness, key: str, ttl: float) -> None:
    """Race for keys that somebody had: one let it go, the other let it expire."""
    released, expired = (lease_of(harness.lock, f"{key}-{kind}", ttl=ttl) for kind in ("released", "expired"))
    harness.lock.release(released)
    (token,) = race.run("acquire", released.key)
    assert token > released.token
    wait_until(expired.deadline + 3 * harness.capabilities.expiry_margin)
    (token,) = race.run("acquire", expired.key)
    assert token > expired.token


def _check_acknowledged(acknowledged: list[list[Any]], values: dict[int, Any], writer: int) -> None:
    """Check that what one writer was told is what is there now, in its order."""
    end = 0
    for batch, (start, count, _) in enumerate(acknowledged):
        assert start >= end
        end = start + count
        for index in range(count):
            assert values.get(start + index, [writer, batch, index, count]) == [writer, batch, index, count]


def _check_cover(acknowledged: list[list[Any]], length: int) -> None:
    """Check that the batches lie side by side from 0 to the length of the log, and that each told its own head."""
    end = 0
    for start, count, head in sorted(acknowledged, key=lambda batch: batch[0]):
        assert start == end
        end = start + count
        assert Head(*head).length == end
    assert end == length


@scenario("processes.appends-whole-and-in-order", "cross_process", level="full")
def appends_whole_and_in_order(harness: Harness) -> None:
    """Processes that append batches of many sizes at once leave no gap, torn batch or wrong order; readers agree."""
    store, scope = harness.store, harness.new_scope()
    with Children(harness) as children:
        readers = [children.start(f"{_WORK}:{name}", scope, "log") for name in ("read_along", "follow_along")]
        _all_ready(readers)
        writers = children.start_many(harness.racers(_APPENDERS), f"{_WORK}:append_batches", scope, "log", _BATCHES)
        _start_together(writers)
        acknowledged = _results(writers)
        readers[0].say("stop")
        (looks,) = _results(readers[:1])
        entries = store.read(scope, "log")
        store.append(scope, "log", ["end"])
        (followed,) = _results(readers[1:])
    assert looks >= 1
    check_batches(entries, from_start=True)
    assert entries.head is not None
    assert len(entries) == entries.head.length
    assert followed == [entry.value for entry in entries]
    _check_cover(list(itertools.chain.from_iterable(acknowledged)), len(entries))
    values = dict(entries)
    for writer, batches in enumerate(acknowledged):
        assert len(batches) == _BATCHES
        _check_acknowledged(batches, values, writer)


@scenario("processes.truncate-races-appends", "cross_process", level="full")
def truncate_races_appends(harness: Harness) -> None:
    """Truncating while others append forgets what it should and nothing else; positions and length go on."""
    store, scope = harness.store, harness.new_scope()
    with Children(harness) as children:
        others = [children.start(f"{_WORK}:{name}", scope, "log") for name in ("truncate_along", "read_truncated")]
        _all_ready(others)
        writers = children.start_many(3, f"{_WORK}:append_batches", scope, "log", _BATCHES)
        _start_together(writers)
        acknowledged = _results(writers)
        gone, _ = _stopped(others)
    head = store.head(scope, "log")
    assert head is not None
    assert head.first == gone > 0
    entries = store.read(scope, "log", head.first)
    assert [entry.position for entry in entries] == list(range(head.first, head.length))
    check_batches(entries, from_start=False)
    _check_cover(list(itertools.chain.from_iterable(acknowledged)), head.length)
    for writer, batches in enumerate(acknowledged):
        _check_acknowledged(batches, dict(entries), writer)


@scenario("processes.drop-races-appends", "cross_process", level="full")
def drop_races_appends(harness: Harness) -> None:
    """Dropping while others append ends one incarnation after the other, each gapless; what came later stays."""
    store, scope = harness.store, harness.new_scope()
    with Children(harness) as children:
        others = [children.start(f"{_WORK}:drop_along", scope, "log")]
        _all_ready(others)
        writers = children.start_many(3, f"{_WORK}:append_batches", scope, "log", _BATCHES)
        _start_together(writers)
        acknowledged = _results(writers)
        (dropped,) = _stopped(others)
    entries = store.read(scope, "log")
    living = [] if entries.head is None else [entries.head.incarnation]
    by_incarnation: dict[str, list[list[Any]]] = {}
    for batch in itertools.chain.from_iterable(acknowledged):
        by_incarnation.setdefault(Head(*batch[2]).incarnation, []).append(batch)
    assert sorted([*dropped, *living]) == sorted(by_incarnation)
    for incarnation, batches in by_incarnation.items():
        _check_cover(batches, max(start + count for start, count, _ in batches))
        if incarnation in living:
            _check_cover(batches, len(entries))


@scenario("processes.mixed-load", "cross_process", level="full")
def mixed_load(harness: Harness) -> None:
    """Processes that read and write everything at once for seconds meet no error, and every increment counts."""
    scope = harness.new_scope()
    with Children(harness) as children:
        started = children.start_many(_LOAD_PROCESSES, f"{_WORK}:load", scope, _LOAD_SECONDS)
        _start_together(started)
        results = _results(started)
    assert all(done for done, _ in results)
    shared = harness.store.get(scope, "shared")
    assert shared is not None
    assert shared.value == sum(increments for _, increments in results)
