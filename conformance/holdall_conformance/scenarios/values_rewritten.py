"""What is written again and again: nothing of what was there before comes back."""

from __future__ import annotations

from typing import Any

import pytest

from holdall import Conflict, Truncated
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import head_of, record_of, values_of

_SIZES = (200_000, 100_000, 70_000, 1, 200_000, 5 * 2**16, 2 * 2**16, 2**16 + 1, 2**16, 2**16 - 1, 400_000, 2**17, 0)
_WRITES = 300


def _values() -> list[Any]:
    """Return values of which each differs in size and in every byte from those before it."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [letters[number] * (size - 2) if size > 2 else number % 10 for number, size in enumerate(_SIZES)]


@scenario("values.rewritten-larger-and-smaller")
def rewritten_larger_and_smaller(harness: Harness) -> None:
    """A record that grows, shrinks and grows again reads back exactly each time, by every reader."""
    store, scope = harness.store, harness.new_scope()
    for value in _values():
        version = store.put(scope, "k", value)
        for record in (record_of(store, scope, "k"), *store.get_many(scope, ["k"]), *store.scan(scope).items):
            assert record is not None
            assert record.version == version
            assert record.value == value


@scenario("values.recreated-larger-and-smaller")
def recreated_larger_and_smaller(harness: Harness) -> None:
    """A record that is deleted before it is written again, larger or smaller, reads back exactly each time."""
    store, scope = harness.store, harness.new_scope()
    for value in _values():
        store.put(scope, "k", value)
        assert record_of(store, scope, "k").value == value
        assert store.delete(scope, "k") is True
        assert store.get(scope, "k") is None


@scenario("values.log-rewritten-larger-and-smaller")
def log_rewritten_larger_and_smaller(harness: Harness) -> None:
    """A log that is truncated to nothing and grown by larger and smaller entries reads back exactly each time."""
    store, scope, length = harness.store, harness.new_scope(), 0
    for value in _values():
        assert store.append(scope, "k", [value, "next"]).start == length
        assert values_of(store.read(scope, "k", length)) == [value, "next"]
        assert values_of(store.tail(scope, "k", 5)) == [value, "next"]
        length += 2
        assert store.truncate(scope, "k", length) == 2
        assert list(store.read(scope, "k", length)) == []
        assert head_of(store, scope, "k")[:2] == (length, length)


@scenario("versions.first-is-stale-for-ever", level="full")
def first_is_stale_for_ever(harness: Harness) -> None:
    """The first version of a record stays stale through 300 writes: no compare-and-set with it gets through."""
    store, scope = harness.store, harness.new_scope()
    first = version = store.put(scope, "k", 0)
    for number in range(1, _WRITES + 1):
        version = store.put(scope, "k", number)
        with pytest.raises(Conflict) as caught:
            store.put(scope, "k", "stale", expect=first)
        assert caught.value.current == version
    record = record_of(store, scope, "k")
    assert (record.value, record.version) == (_WRITES, version)


@scenario("batches.restored-knows-none")
def restored_knows_none(harness: Harness) -> None:
    """A log that was dropped and restored knows no batch id of the one before: the same and other entries go in."""
    store, scope = harness.store, harness.new_scope()
    for first in (0, 5):
        for number in range(3):
            store.append(scope, "k", ["old", number], batch_id=f"b{number}")
        assert store.drop(scope, "k") is True
        store.restore_log(scope, "k", first, ["old", 0])
        assert store.append(scope, "k", ["old", 0], batch_id="b0").start == first + 2
        assert store.append(scope, "k", ["other"], batch_id="b1").start == first + 4
        assert store.append(scope, "k", ["old", 2], batch_id="b2").start == first + 5
        expected = ["old", 0, "old", 0, "other", "old", 2]
        assert values_of(store.read(scope, "k", first)) == expected
        assert store.append(scope, "k", ["other"], batch_id="b1").start == first + 4, "new ids are known"
        store.drop(scope, "k")


@scenario("logs.restored-has-nothing-below")
def restored_has_nothing_below(harness: Harness) -> None:
    """A log restored above 0 is truncated below its first position by every reader, before and after appends."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", ["gone"] * 9)
    store.drop(scope, "k")
    store.restore_log(scope, "k", 6, ["a", "b"])
    for length in (8, 9):
        for start in (0, 5):
            for read in (
                lambda start=start: store.read(scope, "k", start),
                lambda start=start: store.read(scope, "k", start, 1),
                lambda start=start: list(store.iter_entries(scope, "k", start)),
                lambda start=start: list(store.follow(scope, "k", start, timeout=0)),
            ):
                with pytest.raises(Truncated) as caught:
                    read()
                assert caught.value.first == 6
        assert store.truncate(scope, "k", 6) == 0
        assert head_of(store, scope, "k")[:2] == (6, length)
        assert values_of(store.tail(scope, "k", 20)) == ["a", "b", "c"][: length - 6]
        if length == 8:
            store.append(scope, "k", ["c"])
