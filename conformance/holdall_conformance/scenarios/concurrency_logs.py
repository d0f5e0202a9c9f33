"""Threads and several handles at once, on logs."""

from __future__ import annotations

from typing import Any

from holdall import ABSENT, Appended, Conflict, Entry, Fenced, Head, Store, Truncated
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.concurrency import flat, handles_for, together
from holdall_conformance.scenarios.support import head_of, value_of, values_of

_WRITERS = 6
_ROUNDS = 12


def _check_batches(store: Store, scope: str, appended: list[Appended], values: list[Any]) -> None:
    """Check that acknowledged batches fill the log without gap or overlap, each whole and in its place."""
    entries = store.read(scope, "k")
    assert [entry.position for entry in entries] == list(range(len(entries)))
    spans = sorted(zip(appended, values, strict=True), key=lambda span: span[0].start)
    end = 0
    for result, batch in spans:
        assert result.start == end, f"a gap or overlap at {end}"
        assert values_of(entries[result.start : result.start + result.count]) == batch
        assert result.head.length == result.start + result.count
        end += result.count
    assert end == len(entries)


@scenario("concurrency.appends-whole-and-gapless")
def appends_whole_and_gapless(harness: Harness) -> None:
    """Concurrent appends of different sizes are whole, without gaps, where append said, each writer's in order."""
    scope = harness.new_scope()

    def work(store: Store, number: int) -> list[tuple[Appended, list[Any]]]:
        done = []
        for turn in range(_ROUNDS):
            batch = [[number, turn, index] for index in range(1 + (number + turn) % 5)]
            done.append((store.append(scope, "k", batch), batch))
        starts = [result.start for result, _ in done]
        assert starts == sorted(starts)
        return done

    done = flat(together(handles_for(harness, _WRITERS), work))
    _check_batches(harness.store, scope, [result for result, _ in done], [batch for _, batch in done])
    assert len({result.head.incarnation for result, _ in done}) == 1


@scenario("concurrency.sweep-disturbs-nobody", level="full")
def sweep_disturbs_nobody(harness: Harness) -> None:
    """While one sweeps without a pause, others write, and everything acknowledged is there afterwards."""
    scope, stores = harness.new_scope(), handles_for(harness, 4)
    busy = [len(stores) - 1]

    def work(store: Store, number: int) -> int:
        if number == 0:
            while busy[0] > 0:
                store.sweep()
            return 0
        try:
            for turn in range(_ROUNDS):
                store.put(scope, f"{number}-{turn}", turn)
                store.append(scope, f"{number}", [turn], batch_id=f"{turn}")
                store.append(scope, f"{number}-{turn}", [turn])
                store.update(scope, f"{number}", lambda value: (value or 0) + 1)
                store.put(scope, f"{number}-ttl", turn, ttl=600)
                store.delete(scope, f"{number}-{turn - 6}")
        finally:
            busy[0] -= 1
        return number

    together(stores, work)
    for number in range(1, len(stores)):
        assert value_of(harness.store, scope, f"{number}") == _ROUNDS
        assert value_of(harness.store, scope, f"{number}-ttl") == _ROUNDS - 1
        assert values_of(harness.store.read(scope, f"{number}")) == list(range(_ROUNDS))
        for turn in range(_ROUNDS):
            assert values_of(harness.store.read(scope, f"{number}-{turn}")) == [turn]
            record = harness.store.get(scope, f"{number}-{turn}")
            assert (record is None) == (turn < _ROUNDS - 6), f"record {turn} of {number}"


@scenario("concurrency.one-change-per-head", level="full")
def one_change_per_head(harness: Harness) -> None:
    """Of appends, truncates and drops that all expect one head exactly one succeeds, and nothing else is lost."""
    scope, stores = harness.new_scope(), handles_for(harness, 9)
    for turn in range(8):
        key = f"k{turn}"
        head = harness.store.append(scope, key, ["a", "b", "c"]).head

        def change(store: Store, number: int, key: str = key, head: Head = head) -> str | None:
            try:
                if number % 3 == 0:
                    store.drop(scope, key, expect=head)
                elif number % 3 == 1:
                    store.truncate(scope, key, 2, expect=head)
                else:
                    store.append(scope, key, [number], expect=head)
            except Conflict:
                return None
            return ("drop", "truncate", "append")[number % 3]

        won = [result for result in together(stores, change) if result is not None]
        assert len(won) == 1, f"round {turn}: {won} all succeeded at one head"
        left = harness.store.head(scope, key)
        expected = {"drop": None, "truncate": (2, 3), "append": (0, 4)}[won[0]]
        assert (None if left is None else left[:2]) == expected, f"round {turn}: {won[0]} left {left}"


@scenario("concurrency.large-appends-whole", level="full")
def large_appends_whole(harness: Harness) -> None:
    """Concurrent appends of many KiB, with and without batch ids, are whole and gapless while readers read."""
    scope = harness.new_scope()

    def work(store: Store, number: int) -> list[tuple[Appended, list[Any]]]:
        done: list[tuple[Appended, list[Any]]] = []
        for turn in range(8):
            if number == 0:
                entries = store.read(scope, "k", max(0, turn * 3 - 2))
                assert [entry.position for entry in entries] == list(range(max(0, turn * 3 - 2), _end(entries, turn)))
                continue
            batch = [f"{number}-{turn}-{index}".ljust(9_000) for index in range(1 + turn % 3)]
            batch_id = f"{number}-{turn}" if turn % 2 else None
            result = store.append(scope, "k", batch, batch_id=batch_id)
            assert batch_id is None or store.append(scope, "k", batch, batch_id=batch_id) == result
            done.append((result, batch))
        return done

    done = flat(together(handles_for(harness, 5), work))
    _check_batches(harness.store, scope, [result for result, _ in done], [batch for _, batch in done])


def _end(entries: Any, turn: int) -> int:
    return int(entries[-1].position) + 1 if entries else max(0, turn * 3 - 2)


def check_current(conflict: Conflict) -> None:
    """Check that the loser of a race learns the head that won."""
    assert conflict.current is not None


@scenario("concurrency.one-winner-per-length")
def one_winner_per_length(harness: Harness) -> None:
    """Of many appends that expect one length, or ABSENT, exactly one succeeds, round after round."""
    scope, stores = harness.new_scope(), handles_for(harness, 12)
    length = 0
    for turn in range(6):
        expect: Any = ABSENT if turn == 0 else length if turn % 2 else head_of(harness.store, scope, "k")

        def add(store: Store, number: int, expect: Any = expect) -> Appended | None:
            try:
                return store.append(scope, "k", [number] * (1 + number % 3), expect=expect)
            except Conflict as conflict:
                check_current(conflict)
                return None

        results = together(stores, add)
        winners = [number for number, result in enumerate(results) if result is not None]
        assert len(winners) == 1, f"{len(winners)} winners"
        count = 1 + winners[0] % 3
        assert results[winners[0]].start == length
        assert values_of(harness.store.tail(scope, "k", count)) == [winners[0]] * count
        length += count
        assert head_of(harness.store, scope, "k").length == length


@scenario("concurrency.one-batch-per-id")
def one_batch_per_id(harness: Harness) -> None:
    """Many that append the same batch under one id at once append it once, and all get the same result."""
    scope, stores = harness.new_scope(), handles_for(harness, 10)
    for turn in range(5):

        def add(store: Store, _: int, turn: int = turn) -> Appended:
            return store.append(scope, "k", [turn, turn], batch_id=f"b{turn}")

        results = together(stores, add)
        assert results == [results[0]] * len(stores)
        assert results[0].start == 2 * turn
    assert values_of(harness.store.read(scope, "k")) == [turn for turn in range(5) for _ in range(2)]


@scenario("concurrency.appends-with-truncates")
def appends_with_truncates(harness: Harness) -> None:
    """Appends, truncates and reads at once: positions go on, readers get what is kept or Truncated."""
    scope = harness.new_scope()
    harness.store.append(scope, "k", ["begin"])

    def work(store: Store, number: int) -> list[int]:
        starts = []
        for turn in range(12):
            if number == 0:
                store.truncate(scope, "k", max(0, head_of(store, scope, "k").length - 3))
            elif number == 1:
                _read_from_the_first(store, scope)
            else:
                starts.append(store.append(scope, "k", [[number, turn]] * 2).start)
        return starts

    results = together(handles_for(harness, 5), work)
    starts = sorted(flat(results))
    assert starts == list(range(1, 1 + 2 * len(starts), 2))
    head = head_of(harness.store, scope, "k")
    assert head.length == 1 + 2 * len(starts)
    kept = harness.store.read(scope, "k", head.first)
    assert [entry.position for entry in kept] == list(range(head.first, head.length))


def _read_from_the_first(store: Store, scope: str) -> None:
    first = head_of(store, scope, "k").first
    try:
        entries: list[Entry] = list(store.read(scope, "k", first))
    except Truncated:
        assert head_of(store, scope, "k").first > first
        return
    assert [entry.position for entry in entries] == list(range(first, first + len(entries)))


@scenario("concurrency.drops-with-appends")
def drops_with_appends(harness: Harness) -> None:
    """Drops and appends at once: every append lands whole in one incarnation, and what is left is gapless."""
    scope = harness.new_scope()

    def work(store: Store, number: int) -> list[Appended]:
        done = []
        for turn in range(10):
            if number == 0:
                store.drop(scope, "k")
            else:
                done.append(store.append(scope, "k", [[number, turn]] * 3))
        return done

    done = flat(together(handles_for(harness, 4), work))
    assert len({(result.head.incarnation, result.start) for result in done}) == len(done), "two batches in one place"
    entries = harness.store.read(scope, "k")
    if entries.head is not None:
        last = [result for result in done if result.head.incarnation == entries.head.incarnation]
        assert sum(result.count for result in last) == len(entries)
        assert [entry.position for entry in entries] == list(range(len(entries)))


@scenario("concurrency.seal-shuts-out", level="full")
def seal_shuts_out(harness: Harness) -> None:
    """After a seal has returned, none of the old token's appends that race with it gets in."""
    scope = harness.new_scope()
    for turn in range(5):
        key = f"k{turn}"
        harness.store.append(scope, key, ["begin"], fence=1)

        def work(store: Store, number: int, key: str = key) -> Any:
            if number == 0:
                return store.seal(scope, key, 2, log=True)
            done = []
            for step in range(15):
                try:
                    done.append(store.append(scope, key, [[number, step]], fence=1))
                except Fenced:
                    break
            return done

        sealed, *others = together(handles_for(harness, 4), work)
        length = head_of(harness.store, scope, key).length
        assert sealed.length == length, "an append of the old token followed the seal"
        assert length == 1 + sum(map(len, others))
