"""Logs: positions, reading, tails."""

from __future__ import annotations

from typing import Any

import pytest

from holdall import Appended, Head, InvalidArgument, Truncated
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import append_all, head_of, values_of


@scenario("logs.positions-without-gaps")
def positions_without_gaps(harness: Harness) -> None:
    """Positions are 0, 1, 2, ... without gaps over batches of any size, and append tells where its batch stands."""
    store, scope = harness.store, harness.new_scope()
    length = 0
    for size in (1, 3, 1, 100, 2, 1, 7):
        appended = store.append(scope, "k", [f"{length + index}" for index in range(size)])
        length += size
        assert (appended.start, appended.count) == (length - size, size)
        assert (appended.head.first, appended.head.length) == (0, length)
        assert appended.head == store.head(scope, "k")
    entries = store.read(scope, "k")
    assert [entry.position for entry in entries] == list(range(length))
    assert values_of(entries) == [str(position) for position in range(length)]
    assert entries.head == store.head(scope, "k")


@scenario("logs.types-of-results")
def types_of_results(harness: Harness) -> None:
    """Append returns an Appended with a Head of plain ints and an incarnation that stays while the log lives."""
    store, scope = harness.store, harness.new_scope()
    first = store.append(scope, "k", ["a"])
    second = store.append(scope, "k", ["b"])
    assert type(first) is Appended
    assert type(first.head) is Head
    assert [type(number) for number in (first.start, first.count, *first.head[:2])] == [int] * 4
    assert type(first.head.incarnation) is str
    assert first.head.incarnation
    assert second.head.incarnation == first.head.incarnation
    store.truncate(scope, "k", 2)
    assert head_of(store, scope, "k").incarnation == first.head.incarnation


@scenario("logs.absent-is-empty")
def absent_is_empty(harness: Harness) -> None:
    """A log that does not exist reads as empty with head None, and has no head."""
    store, scope = harness.store, harness.new_scope()
    for entries in (
        store.read(scope, "k"),
        store.read(scope, "k", 5),
        store.tail(scope, "k", 5),
        store.read(scope, "k", 0, 3),
    ):
        assert list(entries) == []
        assert len(entries) == 0
        assert entries.head is None
    assert store.head(scope, "k") is None
    assert store.truncate(scope, "k", 5) == 0
    assert store.drop(scope, "k") is False
    assert list(store.iter_entries(scope, "k")) == []


@scenario("logs.read-from-anywhere")
def read_from_anywhere(harness: Harness) -> None:
    """Read gives exactly the entries from a start on, as many as the limit, whatever batches they came in."""
    store, scope = harness.store, harness.new_scope()
    sizes = (1, 5, 2, 9, 1, 1, 4)
    for size in sizes:
        length = len(store.read(scope, "k"))
        store.append(scope, "k", list(range(length, length + size)))
    total = sum(sizes)
    for start in range(total + 3):
        for limit in (None, 0, 1, 2, 5, total, 10**9):
            entries = store.read(scope, "k", start, limit)
            end = total if limit is None else min(total, start + limit)
            expected = list(range(start, end))
            assert [entry.position for entry in entries] == expected, f"start {start}, limit {limit}"
            assert values_of(entries) == expected
            assert entries.head is not None
            assert entries.head.length == total


@scenario("logs.tail-in-order")
def tail_in_order(harness: Harness) -> None:
    """Tail gives the last entries in order with their positions, all of them where it asks for more, none for 0."""
    store, scope = harness.store, harness.new_scope()
    for size in (1, 5, 2, 9, 1):
        store.append(scope, "k", ["x"] * size)
    for count in (0, 1, 2, 3, 10, 17, 18, 19, 10**9):
        entries = store.tail(scope, "k", count)
        assert [entry.position for entry in entries] == list(range(max(0, 18 - count), 18)), f"tail of {count}"
        assert entries.head == store.head(scope, "k")


@scenario("logs.read-beyond-the-end")
def read_beyond_the_end(harness: Harness) -> None:
    """Reading at or beyond the end gives nothing, with the head, and no error."""
    store, scope = harness.store, harness.new_scope()
    head = store.append(scope, "k", [1, 2, 3]).head
    for start in (3, 4, 100, 2**40, 2**62, 2**63, 10**30):
        entries = store.read(scope, "k", start)
        assert list(entries) == [], f"start {start}"
        assert entries.head == head, f"start {start}"


@scenario("logs.numbers-refused")
def numbers_refused(harness: Harness) -> None:
    """A negative, bool, float or textual position, limit or count is a ValueError."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", [1, 2, 3])
    wrong: list[Any] = [-1, True, False, 1.0, "1", -(2**70)]
    numbers: list[Any] = [*wrong, None]
    for number in numbers:
        for call in (
            lambda number=number: store.read(scope, "k", number),
            lambda number=number: store.tail(scope, "k", number),
            lambda number=number: store.truncate(scope, "k", number),
            lambda number=number: store.restore_log(scope, "new", number, []),
            lambda number=number: list(store.iter_entries(scope, "k", number)),
            lambda number=number: list(store.follow(scope, "k", number, timeout=0)),
        ):
            with pytest.raises(InvalidArgument):
                call()
    for number in wrong:
        with pytest.raises(InvalidArgument):
            store.read(scope, "k", 0, number)
    assert head_of(store, scope, "k")[:2] == (0, 3)


@scenario("logs.empty-batch-refused")
def empty_batch_refused(harness: Harness) -> None:
    """An empty batch is a ValueError and begins no log."""
    store, scope = harness.store, harness.new_scope()
    empties: list[Any] = [[], (), iter([])]
    for empty in empties:
        with pytest.raises(InvalidArgument) as caught:
            store.append(scope, "k", empty, batch_id="b")
        assert isinstance(caught.value, ValueError)
    assert store.head(scope, "k") is None


@scenario("logs.one-entry-is-no-batch")
def one_entry_is_no_batch(harness: Harness) -> None:
    """A str, bytes, a dict or a number in place of the entries is refused and not taken apart."""
    store, scope = harness.store, harness.new_scope()
    wrong: list[Any] = ["text", b"bytes", {"a": 1}, 5, None]
    for entries in wrong:
        with pytest.raises(InvalidArgument):
            store.append(scope, "k", entries)
        with pytest.raises(InvalidArgument):
            store.restore_log(scope, "k", 0, entries)
    assert store.head(scope, "k") is None


@scenario("logs.any-iterable-is-a-batch")
def any_iterable_is_a_batch(harness: Harness) -> None:
    """A tuple, a generator and a dict view are batches as lists are, read once."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", (1, 2))
    store.append(scope, "k", (number for number in (3, 4)), batch_id="b")
    store.append(scope, "k", {"a": 5, "b": 6}.values())
    assert values_of(store.read(scope, "k")) == [1, 2, 3, 4, 5, 6]


@scenario("logs.entries-are-a-sequence")
def entries_are_a_sequence(harness: Harness) -> None:
    """What read returns has a length, indexes, slices and equality."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", ["a", "b", "c"])
    entries = store.read(scope, "k", 1)
    assert len(entries) == 2
    assert (entries[0].position, entries[0].value) == (1, "b")
    assert entries[-1].value == "c"
    assert values_of(entries[:1]) == ["b"]
    assert entries == store.read(scope, "k", 1)
    assert entries != store.read(scope, "k", 2)
    assert values_of(reversed(entries)) == ["c", "b"]


@scenario("logs.any-json-is-an-entry")
def any_json_is_an_entry(harness: Harness) -> None:
    """Entries may be null, empty, multi-line texts or large; none is mistaken for the end or for several."""
    store, scope = harness.store, harness.new_scope()
    entries: list[Any] = [
        None,
        "",
        [],
        {},
        0,
        False,
        "\n",
        "a\nb\r\nc",
        "\u2028",
        "[1]\n[2]",
        2**70,
        ["\n", {"\n": "\n"}],
        "x" * 100_000,
    ]
    store.append(scope, "k", entries)
    for entry in entries:
        store.append(scope, "k", [entry])
    assert values_of(store.read(scope, "k")) == entries * 2
    assert values_of(store.tail(scope, "k", len(entries))) == entries
    for position in range(len(entries) * 2):
        assert values_of(store.read(scope, "k", position, 1)) == [entries[position % len(entries)]]


@scenario("logs.do-not-mix")
def do_not_mix(harness: Harness) -> None:
    """Logs of other keys and scopes grow, are truncated and dropped on their own."""
    store, scope, other = harness.store, harness.new_scope(), harness.new_scope()
    logs = [(scope, "a"), (scope, "b"), (scope, "ab"), (other, "a")]
    for number in range(5):
        for where in logs:
            assert store.append(*where, [[*where, number]]).start == number
    store.truncate(scope, "a", 4)
    store.drop(scope, "b")
    assert values_of(store.read(scope, "ab")) == [[scope, "ab", number] for number in range(5)]
    assert values_of(store.read(other, "a")) == [[other, "a", number] for number in range(5)]
    assert len({head_of(store, *where).incarnation for where in logs if where != (scope, "b")}) == 3


@scenario("logs.handles-agree-at-once")
def handles_agree_at_once(harness: Harness) -> None:
    """What one handle appended, truncated or dropped, every other handle sees at once."""
    first, second, scope = harness.store, harness.open_store(), harness.new_scope()
    for number in range(10):
        writer, reader = (first, second) if number % 2 else (second, first)
        head = writer.append(scope, "k", [number]).head
        assert reader.head(scope, "k") == head
        assert values_of(reader.tail(scope, "k", 1)) == [number]
    first.truncate(scope, "k", 4)
    with pytest.raises(Truncated):
        second.read(scope, "k", 3)
    second.drop(scope, "k")
    assert first.read(scope, "k").head is None


@scenario("logs.iter-entries-stops-at-the-end-it-found")
def iter_entries_stops_at_the_end_it_found(harness: Harness) -> None:
    """iter_entries gives the entries that the log had when it began, and ends, though the log grows meanwhile."""
    store, scope = harness.store, harness.new_scope()
    append_all(store, scope, "k", range(2_500))
    seen = []
    for entry in store.iter_entries(scope, "k", 10):
        seen.append(entry.position)
        if len(seen) % 500 == 0:
            store.append(scope, "k", ["later"])
    assert seen == list(range(10, 2_500))
