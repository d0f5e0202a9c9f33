"""What the child processes of the group "processes" do; it imports no test tool, so that they start quickly."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from typing import Any

from holdall import ABSENT, Conflict, Entry, Head, Store, Truncated
from holdall.clock import boot_time
from holdall_conformance.children import PATIENCE, Parent, wait_until
from holdall_conformance.harness import Harness

MOST_IN_BATCH = 20
_REST = 0.002
"""Seconds between the rounds of who does the same until told to stop, so that others get their turn at any lock."""


def patient_store(harness: Harness) -> Store:
    """Return a store whose operations may wait long: what is proved with it is order, not how fair the waiting is.

    Args:
        harness: the storage.

    """
    return harness.open_store(timeout=PATIENCE)


def _begin(parent: Parent) -> None:
    parent.say("ready")
    wait_until(parent.hear())


def _told_to_stop(parent: Parent) -> bool:
    """Rest, and tell whether there is to be no further round."""
    time.sleep(_REST)
    return parent.told()


def increment_by_version(parent: Parent, harness: Harness, scope: str, times: int, _: int) -> None:
    """Increment a record by compare-and-set, and say the versions that were written."""
    store = patient_store(harness)
    _begin(parent)
    parent.say([_increment(store, scope) for _ in range(times)])


def _increment(store: Store, scope: str) -> str:
    while True:
        record = store.get(scope, "n")
        value, expect = (0, ABSENT) if record is None else (record.value, record.version)
        try:
            return store.put(scope, "n", value + 1, expect=expect)
        except Conflict as conflict:
            if conflict.current == expect:
                raise


def increment_by_update(parent: Parent, harness: Harness, scope: str, times: int, _: int) -> None:
    """Increment a record by update, and say the versions that were written."""
    store = patient_store(harness)
    _begin(parent)
    parent.say([store.update(scope, "n", lambda value: (value or 0) + 1).version for _ in range(times)])


def increment_under_lock(parent: Parent, harness: Harness, scope: str, times: int, _: int) -> None:
    """Increment a record that nothing but the lock guards, and say the tokens under which it was done."""
    store, lock = harness.store, harness.lock
    _begin(parent)
    tokens = []
    for _ in range(times):
        lease = lock.acquire(scope, ttl=PATIENCE, timeout=PATIENCE)
        record = store.get(scope, "n")
        store.put(scope, "n", 1 if record is None else record.value + 1)
        tokens.append(lease.token)
        if not lock.release(lease):
            message = "a live lease could not be released"
            raise AssertionError(message)
    parent.say(tokens)


def race(parent: Parent, harness: Harness, scope: str, number: int) -> None:
    """Do again and again what the parent names, at the moment it names, and say what came of it."""
    store, lock = harness.store, harness.lock
    parent.say("ready")
    while (order := parent.hear()) is not None:
        kind, key, expect, moment = order
        wait_until(moment)
        try:
            match kind:
                case "put":
                    parent.say(store.put(scope, key, number, expect=ABSENT))
                case "append":
                    parent.say(store.append(scope, key, [number], expect=expect).start)
                case "acquire":
                    lease = lock.try_acquire(key, ttl=PATIENCE)
                    parent.say(None if lease is None else lease.token)
                case _:
                    raise ValueError(kind)
        except Conflict:
            parent.say(None)


def append_batches(parent: Parent, harness: Harness, scope: str, key: str, batches: int, number: int) -> None:
    """Append batches of many sizes, read each back at once, and say what was acknowledged."""
    store, chance = patient_store(harness), random.Random(number)
    _begin(parent)
    acknowledged = []
    for batch in range(batches):
        size = chance.randint(1, MOST_IN_BATCH)
        appended = store.append(scope, key, [[number, batch, index, size] for index in range(size)])
        acknowledged.append([appended.start, appended.count, list(appended.head)])
    parent.say(acknowledged)


def check_batches(entries: Sequence[Entry], *, from_start: bool) -> None:
    """Refuse torn, interleaved, doubled or reordered batches and gaps between positions.

    Args:
        entries: consecutive entries, up to the end that the log had when they were read.
        from_start: whether the first of them must begin a batch.

    Raises:
        AssertionError: the entries are not whole batches in each writer's order.

    """
    last: dict[int, int] = {}
    inside: list[int] | None = None
    for offset, (position, value) in enumerate(entries):
        writer, batch, index, size = value
        expected = index == 0 if inside is None else value == inside
        if position != entries[0].position + offset or not (expected or (offset == 0 and not from_start)):
            message = f"entry {position} is {value}, not what follows the one before it"
            raise AssertionError(message)
        if index == 0 and last.get(writer, batch - 1) != batch - 1:
            message = f"batch {batch} of writer {writer} follows its batch {last[writer]}"
            raise AssertionError(message)
        last[writer] = batch
        inside = [writer, batch, index + 1, size] if index + 1 < size else None
    if inside is not None:
        message = f"the last batch is torn: {inside} is missing"
        raise AssertionError(message)


def read_along(parent: Parent, harness: Harness, scope: str, key: str) -> None:
    """Read a growing log in every way until told to stop, and say how often it was seen."""
    store, looks = patient_store(harness), 0
    parent.say("ready")
    while not _told_to_stop(parent):
        before, entries, last, after = (
            store.head(scope, key),
            store.read(scope, key),
            store.tail(scope, key, 30),
            store.head(scope, key),
        )
        _check_heads([head for head in (before, entries.head, last.head, after) if head is not None])
        check_batches(entries, from_start=True)
        check_batches(last, from_start=False)
        for found in (entries, last):
            if found.head is not None and found[-1].position + 1 != found.head.length:
                message = f"{found!r} does not end where its head says"
                raise AssertionError(message)
        looks += 1
    parent.say(looks)


def _check_heads(heads: list[Head]) -> None:
    lengths = [head.length for head in heads]
    if lengths != sorted(lengths) or any((head.first, head.incarnation) != (0, heads[0].incarnation) for head in heads):
        message = f"the head went astray: {heads}"
        raise AssertionError(message)


def follow_along(parent: Parent, harness: Harness, scope: str, key: str) -> None:
    """Follow a log from before its beginning to the entry "end", and say what came."""
    parent.say("ready")
    seen: list[Any] = []
    for entry in harness.store.follow(scope, key, timeout=PATIENCE):
        if entry.position != len(seen):
            message = f"entry {entry.position} came after {len(seen)} others"
            raise AssertionError(message)
        if entry.value == "end":
            break
        seen.append(entry.value)
    parent.say(seen)


def truncate_along(parent: Parent, harness: Harness, scope: str, key: str) -> None:
    """Truncate a growing log again and again until told to stop, and say how many entries were forgotten."""
    store, gone = patient_store(harness), 0
    parent.say("ready")
    while not _told_to_stop(parent):
        head = store.head(scope, key)
        if head is not None and head.length > head.first + MOST_IN_BATCH:
            forgotten = store.truncate(scope, key, head.length - 5)
            if forgotten != head.length - 5 - head.first:
                message = f"truncating {head} before {head.length - 5} forgot {forgotten}"
                raise AssertionError(message)
            gone += forgotten
    parent.say(gone)


def read_truncated(parent: Parent, harness: Harness, scope: str, key: str) -> None:
    """Read a log that is truncated meanwhile until told to stop, and say how often it was seen."""
    store, looks = patient_store(harness), 0
    parent.say("ready")
    while not _told_to_stop(parent):
        head = store.head(scope, key)
        try:
            entries = store.read(scope, key, 0 if head is None else head.first)
        except Truncated as truncated:
            if truncated.first <= (0 if head is None else head.first):
                raise
            continue
        check_batches(entries, from_start=False)
        if head is not None and entries[0].position != head.first:
            message = f"a read from {head.first} began at {entries[0].position}"
            raise AssertionError(message)
        looks += 1
    parent.say(looks)


def drop_along(parent: Parent, harness: Harness, scope: str, key: str) -> None:
    """Drop a log whenever it has grown, until told to stop, and say which incarnations were dropped."""
    store, dropped = patient_store(harness), []
    parent.say("ready")
    while not _told_to_stop(parent):
        head = store.head(scope, key)
        if head is None or head.length < MOST_IN_BATCH:
            continue
        try:
            if store.drop(scope, key, expect=head):
                dropped.append(head.incarnation)
        except Conflict:
            continue
    parent.say(dropped)


def load(parent: Parent, harness: Harness, scope: str, seconds: float, number: int) -> None:
    """Read and write in every way for a while; any error ends this process."""
    store, chance = harness.store, random.Random(number)
    _begin(parent)
    end, done = boot_time() + seconds, 0
    while boot_time() < end:
        _some_operation(harness, scope, chance, number)
        done += 1
    mine = store.get(scope, f"sum-{number}")
    parent.say([done, 0 if mine is None else mine.value])


def _some_operation(harness: Harness, scope: str, chance: random.Random, number: int) -> None:
    store, key = harness.store, f"k{chance.randrange(20)}"
    match chance.randrange(8):
        case 0:
            store.put(scope, key, [number, "x" * chance.randrange(2_000)])
        case 1:
            store.update(scope, "shared", lambda value: (value or 0) + 1)
            store.update(scope, f"sum-{number}", lambda value: (value or 0) + 1)
        case 2:
            store.append(scope, "log", [number] * chance.randint(1, 5))
        case 3:
            _check_whole(store.tail(scope, "log", 20))
        case 4:
            store.scan(scope, "k", limit=10)
        case 5:
            store.delete(scope, key)
        case 6:
            lease = harness.lock.try_acquire(f"{scope}-{key}", ttl=PATIENCE)
            if lease is not None:
                harness.lock.release(lease)
        case _:
            store.get_many(scope, [key, "shared"])


def _check_whole(entries: Iterable[Entry]) -> None:
    positions = [entry.position for entry in entries]
    if positions != list(range(positions[0], positions[0] + len(positions)) if positions else []):
        message = f"a tail has gaps: {positions}"
        raise AssertionError(message)
