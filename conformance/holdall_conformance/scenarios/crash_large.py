"""Writers of large values, batches and restored logs, killed while they write: each is there whole or not at all."""

from __future__ import annotations

import contextlib

from holdall import AlreadyExists, Entries, Store
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.crash import Check, Writer, kill_writers
from holdall_conformance.scenarios.crash_work import large_batch, large_text, restored
from holdall_conformance.scenarios.support import record_of, values_of

_KILLS = 6


def _kill_some(harness: Harness, kind: str, check: Check) -> None:
    kills = harness.scaled(_KILLS)
    assert kill_writers(harness, kind, kills, harness.chance, check=check) == kills


def _check_values(harness: Harness, scope: str, writers: list[Writer]) -> None:
    for writer in writers:
        found = record_of(harness.store, scope, f"own-{writer.number}")
        texts = [large_text(writer.number, number) for number in (writer.last, writer.last + 1)]
        assert found.value in texts, "a large value is torn, or an older one than was acknowledged"
        assert found.value != texts[0] or found.version == writer.results[-1]


def _check_batches(harness: Harness, scope: str, writers: list[Writer]) -> None:
    for writer in writers:
        key, expected = f"log-{writer.number}", list[str]()
        for number, start in enumerate(writer.results):
            assert start == len(expected)
            expected += large_batch(writer.number, number)
        found = values_of(harness.store.read(scope, key))
        maybe = [*expected, *large_batch(writer.number, writer.last + 1)]
        assert found in (expected, maybe), f"of {len(expected)} or {len(maybe)} entries {len(found)} are there"
        start = harness.store.append(scope, key, ["next"]).start
        assert start in {len(found), len(maybe)}, "what a killed writer sent may come late, and then whole"


def _check_restored(harness: Harness, scope: str, writers: list[Writer]) -> None:
    store = harness.store
    for writer in writers:
        key = f"log-{writer.number}"
        left, other = (restored(writer.number, number) for number in (writer.last, writer.last + 1))
        log = left or other
        assert log is not None
        first, batch = log
        entries = _restored(store, scope, key, first, batch)
        assert entries.head is not None
        assert entries.head[:2] == (first, first + len(batch)), f"a log that was restored has {entries.head}"
        assert values_of(entries) == batch, "a log was restored in part"


def _restored(store: Store, scope: str, key: str, first: int, batch: list[str]) -> Entries:
    """Restore a log unless it is there, and read it; a server may carry out late what a killed writer sent."""
    for _ in range(2):
        with contextlib.suppress(AlreadyExists):
            store.restore_log(scope, key, first, batch)
        entries = store.read(scope, key, first)
        if entries.head is not None:
            return entries
    raise AssertionError("a log that was dropped or restored is neither there nor can it be restored")


@scenario("crash.large-values", "cross_process", "persistent", level="full")
def crash_large_values(harness: Harness) -> None:
    """A value of up to a megabyte whose writer is killed is the one before or the new one, whole."""
    _kill_some(harness, "large-values", _check_values)


@scenario("crash.large-batches", "cross_process", "persistent", level="full")
def crash_large_batches(harness: Harness) -> None:
    """A batch of up to 1,000 entries or two megabytes whose writer is killed is there whole or not at all."""
    _kill_some(harness, "large-batches", _check_batches)


@scenario("crash.restores", "cross_process", "persistent", level="full")
def crash_restores(harness: Harness) -> None:
    """A log whose restorer is killed is there whole or not at all, and can then be restored."""
    _kill_some(harness, "restores", _check_restored)
