"""Truncating, dropping and restoring logs."""

from __future__ import annotations

import pytest

from holdall import ABSENT, AlreadyExists, Appended, Conflict, Head, NotFound, Truncated
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import append_all, head_of, values_of


@scenario("logs.truncate-forgets-below")
def truncate_forgets_below(harness: Harness) -> None:
    """Truncate forgets what lies below a position, at any place of any batch; positions and length go on."""
    store, scope = harness.store, harness.new_scope()
    for size in (1, 5, 2, 9, 1):
        length = store.head(scope, "k")
        start = 0 if length is None else length.length
        store.append(scope, "k", list(range(start, start + size)))
    first = 0
    for before in (1, 1, 2, 3, 0, 6, 8, 9, 10, 16, 17):
        assert store.truncate(scope, "k", before) == max(0, before - first)
        first = max(first, before)
        head = head_of(store, scope, "k")
        assert head[:2] == (first, 18)
        entries = store.read(scope, "k", first)
        assert [entry.position for entry in entries] == values_of(entries) == list(range(first, 18))
        assert values_of(store.tail(scope, "k", 100)) == list(range(first, 18))
        assert values_of(store.tail(scope, "k", 1)) == [17]
    assert store.append(scope, "k", [18]).start == 18
    assert values_of(store.read(scope, "k", 17)) == [17, 18]


@scenario("logs.truncated-position-raises")
def truncated_position_raises(harness: Harness) -> None:
    """Reading from below the first kept position raises Truncated with that position, whatever the limit."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", [0, 1, 2, 3, 4])
    store.truncate(scope, "k", 3)
    for start in (0, 1, 2):
        for call in (
            lambda start=start: store.read(scope, "k", start),
            lambda start=start: store.read(scope, "k", start, 1),
            lambda start=start: store.read(scope, "k", start, 0),
            lambda start=start: list(store.iter_entries(scope, "k", start)),
            lambda start=start: list(store.follow(scope, "k", start, timeout=0)),
        ):
            with pytest.raises(Truncated) as caught:
                call()
            assert caught.value.first == 3
            assert isinstance(caught.value, LookupError)
    assert values_of(store.read(scope, "k", 3)) == [3, 4]


@scenario("logs.truncate-clamps")
def truncate_clamps(harness: Harness) -> None:
    """Truncating beyond the end forgets what there is and no more: the next position stays the length."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", [0, 1, 2])
    assert store.truncate(scope, "k", 10**30) == 3
    assert head_of(store, scope, "k")[:2] == (3, 3)
    assert store.truncate(scope, "k", 100) == 0
    assert store.append(scope, "k", [3]).start == 3
    assert store.truncate(scope, "k", 0) == 0
    assert store.truncate(scope, "k", 2) == 0
    assert values_of(store.read(scope, "k", 3)) == [3]


@scenario("logs.truncated-to-nothing-exists")
def truncated_to_nothing_exists(harness: Harness) -> None:
    """A log truncated to nothing exists: it has a head, is listed, conflicts with ABSENT and 0, and goes on growing."""
    store, scope = harness.store, harness.new_scope()
    incarnation = store.append(scope, "k", [0, 1, 2, 3, 4]).head.incarnation
    assert store.truncate(scope, "k", 5) == 5
    head = Head(5, 5, incarnation)
    assert store.head(scope, "k") == head
    for entries in (store.read(scope, "k", 5), store.read(scope, "k", 6), store.tail(scope, "k", 3)):
        assert list(entries) == []
        assert entries.head == head
    with pytest.raises(Truncated):
        store.read(scope, "k", 4)
    with pytest.raises(Truncated):
        store.read(scope, "k")
    for expect in (ABSENT, 0):
        with pytest.raises(Conflict) as caught:
            store.append(scope, "k", ["x"], expect=expect)
        assert caught.value.current == head
    assert list(store.logs(scope).items) == ["k"]
    assert list(store.log_scopes(scope).items) == [scope]
    store.sweep()
    assert harness.open_store().append(scope, "k", ["next"], expect=5) == Appended(5, 1, Head(5, 6, incarnation))
    assert values_of(store.read(scope, "k", 5)) == ["next"]


@scenario("logs.drop-deletes")
def drop_deletes(harness: Harness) -> None:
    """Drop returns True once, and the log is gone for every reader; a new one begins at 0."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", list(range(100)))
    assert store.drop(scope, "k") is True
    assert store.drop(scope, "k") is False
    assert store.head(scope, "k") is None
    assert (list(store.read(scope, "k", 50)), store.read(scope, "k").head) == ([], None)
    assert list(store.tail(scope, "k", 5)) == []
    assert list(store.logs(scope).items) == list(store.log_scopes(scope).items) == []
    assert store.append(scope, "k", ["new"], expect=ABSENT).start == 0
    assert values_of(store.read(scope, "k")) == ["new"]


@scenario("logs.drop-of-a-truncated-log")
def drop_of_a_truncated_log(harness: Harness) -> None:
    """A log that was truncated and dropped begins again at 0, without a first position of its former life."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", [0, 1, 2])
    store.truncate(scope, "k", 3)
    assert store.drop(scope, "k") is True
    assert store.append(scope, "k", ["a"]).head[:2] == (0, 1)
    assert values_of(store.read(scope, "k")) == ["a"]


@scenario("logs.restore-begins-at-a-position")
def restore_begins_at_a_position(harness: Harness) -> None:
    """restore_log makes a log that begins at a position, and appends go on behind its entries."""
    store, scope = harness.store, harness.new_scope()
    head = store.restore_log(scope, "k", 1000, ["a", "b"])
    assert head == store.head(scope, "k")
    assert head[:2] == (1000, 1002)
    with pytest.raises(Truncated) as caught:
        store.read(scope, "k")
    assert caught.value.first == 1000
    assert [tuple(entry) for entry in store.read(scope, "k", 1000)] == [(1000, "a"), (1001, "b")]
    assert store.append(scope, "k", ["c"], expect=head) == Appended(1002, 1, Head(1000, 1003, head.incarnation))
    assert values_of(store.tail(scope, "k", 10)) == ["a", "b", "c"]


@scenario("logs.restore-of-nothing")
def restore_of_nothing(harness: Harness) -> None:
    """restore_log without entries makes a log that is truncated to nothing at the position."""
    store, scope = harness.store, harness.new_scope()
    for first in (0, 7):
        key = f"k{first}"
        head = store.restore_log(scope, key, first, [])
        assert head[:2] == (first, first)
        assert store.head(scope, key) == head
        with pytest.raises(Conflict):
            store.append(scope, key, ["x"], expect=ABSENT)
        assert store.append(scope, key, ["a"], expect=head).start == first


@scenario("logs.restore-at-zero")
def restore_at_zero(harness: Harness) -> None:
    """A log restored at 0 is like one that was appended."""
    store, scope = harness.store, harness.new_scope()
    head = store.restore_log(scope, "k", 0, [1, 2])
    assert values_of(store.read(scope, "k")) == [1, 2]
    assert store.append(scope, "k", [3], expect=2).start == 2
    assert head_of(store, scope, "k").incarnation == head.incarnation


@scenario("logs.restore-of-an-existing-log-refused")
def restore_of_an_existing_log_refused(harness: Harness) -> None:
    """restore_log refuses a log that exists, also one truncated to nothing, and changes nothing."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "full", [1, 2])
    store.append(scope, "empty", [1])
    store.truncate(scope, "empty", 1)
    for key in ("full", "empty"):
        head = store.head(scope, key)
        with pytest.raises(AlreadyExists):
            store.restore_log(scope, key, 9, ["x"])
        assert store.head(scope, key) == head
        store.drop(scope, key)
        restored = store.restore_log(scope, key, 9, ["x"])
        assert head is not None
        assert restored.incarnation != head.incarnation
        assert values_of(store.read(scope, key, 9)) == ["x"]


@scenario("logs.restore-far-away")
def restore_far_away(harness: Harness) -> None:
    """Positions beyond 32 bits are exact."""
    store, scope, first = harness.store, harness.new_scope(), 2**33 + 1
    store.restore_log(scope, "k", first, ["a"])
    assert store.append(scope, "k", ["b", "c"]).start == first + 1
    assert [tuple(entry) for entry in store.read(scope, "k", first + 1)] == [(first + 1, "b"), (first + 2, "c")]
    assert store.truncate(scope, "k", first + 2) == 2
    assert head_of(store, scope, "k")[:2] == (first + 2, first + 3)


@scenario("logs.iterating-notices-truncate-and-drop", level="full")
def iterating_notices_truncate_and_drop(harness: Harness) -> None:
    """iter_entries raises Truncated or NotFound when what it has yet to read is gone; it skips nothing."""
    store, scope = harness.store, harness.new_scope()
    for key, error in (("truncated", Truncated), ("dropped", NotFound), ("regrown", NotFound)):
        append_all(store, scope, key, range(6_000))
        iterator = iter(store.iter_entries(scope, key))
        seen = [next(iterator).position]
        if key == "truncated":
            store.truncate(scope, key, 5_900)
        else:
            store.drop(scope, key)
        if key == "regrown":
            append_all(store, scope, key, ["other"] * 6_000)
        with pytest.raises(error):
            seen += [entry.position for entry in iterator]
        assert seen == list(range(len(seen)))
