"""Writers killed at random moments: what was acknowledged is there, nothing is torn, nothing is there twice."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from holdall import Head, Store
from holdall.clock import boot_time
from holdall_conformance.children import PATIENCE, Child, Children
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.crash_work import batch_of, lease_ttl, log_model, padded
from holdall_conformance.scenarios.processes_work import check_batches
from holdall_conformance.scenarios.support import eventually

_WORK = "holdall_conformance.scenarios.crash_work"
_LONGEST_LIFE = 0.03
_LOOK = 0.001
_OPENS_WITHIN = 15.0
_FEWEST_WRITERS, _MOST_WRITERS = 2, 4


@dataclass
class Writer:
    """A writer, and what it reported: results by the number of the operation."""

    child: Child
    number: int
    results: list[Any] = field(default_factory=list)

    @property
    def last(self) -> int:
        """The number of its last acknowledged operation."""
        return len(self.results) - 1

    def note(self, report: list[Any]) -> None:
        """Take a report."""
        number, result = report
        assert number == len(self.results)
        self.results.append(result)

    def listen(self) -> None:
        """Take every report that has come."""
        for report in self.child.heard():
            self.note(report)


Check = Callable[[Harness, str, list[Writer]], None]
"""Looks at what the writers of one trial left in their scope."""


def kill_writers(
    harness: Harness,
    kind: str,
    kills: int,
    chance: random.Random,
    inspect: Callable[[], None] | None = None,
    check: Check | None = None,
) -> int:
    """Kill writers at random moments, trial by trial, and check what each trial left.

    Args:
        harness: the storage.
        kind: what they do, one of `crash_work.OPERATIONS`.
        kills: how many to kill.
        chance: decides when; the writers of the next trial already start while those of one are killed.
        inspect: looks at the storage itself after each trial.
        check: looks at what they left; by default what belongs to the kind.

    Returns:
        How many writers were killed while they wrote.

    """
    done = 0
    with Children(harness) as children:
        writers = _start(harness, children, kind, min(kills, _MOST_WRITERS))
        while writers:
            scope, living = writers
            left = kills - done - len(living)
            writers = _start(harness, children, kind, min(left, chance.randint(_FEWEST_WRITERS, _MOST_WRITERS)))
            done += _kill_all(living, chance)
            (check or _CHECKS[kind])(harness, scope, living)
            _clean_up(harness.store, scope)
            if inspect is not None:
                inspect()
    assert eventually(lambda: harness.store.sweep() == 0, PATIENCE), "every sweep finds something left again"
    return done


def _start(harness: Harness, children: Children, kind: str, count: int) -> tuple[str, list[Writer]] | None:
    if count <= 0:
        return None
    scope = harness.new_scope()
    started = children.start_many(count, f"{_WORK}:write", kind, scope)
    return scope, [Writer(child, number) for number, child in enumerate(started)]


def _kill_all(writers: list[Writer], chance: random.Random) -> int:
    for writer in writers:
        assert writer.child.hear() < _OPENS_WITHIN
    for writer in writers:
        writer.note(writer.child.hear())
    living = chance.sample(writers, len(writers))
    while living:
        moment = boot_time() + chance.uniform(0, _LONGEST_LIFE)
        while boot_time() < moment:  # listening all the time, so that no writer waits for room in its pipe
            for each in living:
                each.listen()
            time.sleep(_LOOK)
        writer = living.pop()
        writer.child.check_alive()
        writer.child.kill()
        writer.listen()
        writer.child.discard()
    return len(writers)


def _clean_up(store: Store, scope: str) -> None:
    store.clear(scope)
    for key in store.logs(scope).items:
        store.drop(scope, key)


def _check_records(harness: Harness, scope: str, writers: list[Writer]) -> None:
    tally = harness.store.get(scope, "tally")
    for writer in writers:
        done, maybe = writer.last, writer.last + 1
        own = harness.store.get(scope, f"own-{writer.number}")
        assert own is not None
        assert own.value[1] in {done - done % 2, maybe - maybe % 2}
        assert own.value == padded(writer.number, own.value[1])
        assert own.value[1] > done or own.version == writer.results[own.value[1]]
        counted = 0 if tally is None else tally.value.get(str(writer.number), 0)
        assert counted in {maybe // 2, (maybe + 1) // 2}


def _check_logs(harness: Harness, scope: str, writers: list[Writer]) -> None:
    """Send the batch that was under way, and the one before it, again: each must be there once."""
    for writer in writers:
        for number in (writer.last, writer.last + 1):
            batch, batch_id = batch_of(writer.number, number), f"{writer.number}-{number}"
            appended = harness.store.append(scope, "log", batch, batch_id=batch_id)
            assert appended.count == len(batch)
            if number > writer.last:
                writer.results.append(appended.start)
            assert writer.results[number] == appended.start
    entries = harness.store.read(scope, "log")
    check_batches(entries, from_start=True)
    assert entries.head is not None
    assert entries.head.length == len(entries)
    _check_starts(dict(entries), writers)


def _check_starts(values: dict[int, Any], writers: list[Writer]) -> None:
    count = 0
    for writer in writers:
        for number, start in enumerate(writer.results):
            batch = batch_of(writer.number, number)
            assert [values[start + index] for index in range(len(batch))] == batch
            count += len(batch)
    assert count == len(values)


def _check_commits(harness: Harness, scope: str, writers: list[Writer]) -> None:
    store = harness.store
    for writer in writers:
        plain, padding = store.get_many(scope, [f"a-{writer.number}", f"b-{writer.number}"])
        assert plain is not None
        assert padding is not None
        number = plain.value
        assert number in {writer.last, writer.last + 1}
        assert padding.value == padded(writer.number, number)
        assert [entry.value for entry in store.read(scope, f"log-{writer.number}")] == list(range(number + 1))
        assert list(store.iter_keys(scope, f"step-{writer.number}-")) == [f"step-{writer.number}-{number}"]
        assert writer.results == list(range(writer.last + 1))


def _log_as_it_is(harness: Harness, scope: str, key: str) -> tuple[Head | None, list[Any]]:
    """Return a log at one moment: the last request of a writer that was killed may still be on its way."""
    while True:
        head = harness.store.head(scope, key)
        entries = harness.store.read(scope, key, 0 if head is None else head.first)
        if entries.head == head:
            return head, [entry.value for entry in entries]


def _check_truncates(harness: Harness, scope: str, writers: list[Writer]) -> None:
    for writer in writers:
        head, values = _log_as_it_is(harness, scope, f"log-{writer.number}")
        states = [log_model(number) for number in (writer.last, writer.last + 1)]
        fitting = [
            state
            for state in states
            if (state.exists, state.first, state.length)
            == ((False, 0, 0) if head is None else (True, head.first, head.length))
        ]
        assert fitting, f"{head} is neither of {states}"
        state = fitting[0]
        assert values == [[writer.number, state.generation, at] for at in range(state.first, state.length)]


def _check_leases(harness: Harness, scope: str, writers: list[Writer]) -> None:
    tokens = [token for writer in writers for token in writer.results]
    assert len(tokens) == len(set(tokens))
    for writer in writers:
        assert writer.results == sorted(writer.results)
    guarded = harness.store.get(scope, "guarded")
    assert guarded is not None
    token, number, operation = guarded.value
    assert token >= max(tokens)
    done = writers[number].results
    assert operation == len(done) or done[operation] == token
    lease = harness.lock.acquire(scope, ttl=PATIENCE, timeout=lease_ttl(harness.lock) + PATIENCE)
    assert lease.token > token
    harness.store.seal(scope, "guarded", lease)
    assert harness.lock.release(lease)


_CHECKS: dict[str, Check] = {
    "records": _check_records,
    "logs": _check_logs,
    "commits": _check_commits,
    "truncates": _check_truncates,
    "leases": _check_leases,
}

_KILLS = 4


def _kill_some(harness: Harness, kind: str) -> None:
    kills = harness.scaled(_KILLS)
    assert kill_writers(harness, kind, kills, harness.chance) == kills


@scenario("crash.records", "cross_process", "persistent", level="full")
def crash_records(harness: Harness) -> None:
    """Records whose writers are killed hold the last acknowledged value or the one after it, whole."""
    _kill_some(harness, "records")


@scenario("crash.logs", "cross_process", "persistent", level="full")
def crash_logs(harness: Harness) -> None:
    """A log whose writers are killed holds every acknowledged batch once; one sent again is there once too."""
    _kill_some(harness, "logs")


@scenario("crash.commits", "cross_process", "persistent", "atomic_commit", level="full")
def crash_commits(harness: Harness) -> None:
    """A commit over several keys whose process is killed is there as a whole or not at all."""
    _kill_some(harness, "commits")


@scenario("crash.truncates", "cross_process", "persistent", level="full")
def crash_truncates(harness: Harness) -> None:
    """A log is truncated or dropped, or it is not, when its process is killed; what is left behind is swept."""
    _kill_some(harness, "truncates")


@scenario("crash.leases", "cross_process", "persistent", "durable_tokens", level="full")
def crash_leases(harness: Harness) -> None:
    """Killed holders leave no key for ever, no token is given twice, and no older one writes after a newer."""
    _kill_some(harness, "leases")
