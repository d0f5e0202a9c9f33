"""Large values, batches and commits: readers see them whole while writers write."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from holdall import AlreadyExists, Head, Put, Record, Store
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.concurrency import handles_for, together
from holdall_conformance.scenarios.support import fill, head_of, keys_of, record_of, values_of

_SIZES = (64 * 1024, 250_000, 1024 * 1024)
_TURNS = 8
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _beside(
    harness: Harness, writers: int, write: Callable[[Store, int], None], read: Callable[[Store, int], None]
) -> None:
    """Run writers, and two readers that read until the writers have ended."""
    busy = [object()] * writers
    stores = handles_for(harness, 2 * (writers + 2) - 1)[::2]

    def work(store: Store, number: int) -> None:
        if number < writers:
            try:
                write(store, number)
            finally:
                busy.pop()
            return
        for turn in itertools.count():
            read(store, turn)
            if not busy:
                break

    together(stores, work)


@scenario("concurrency.large-values-whole", level="full")
def large_values_whole(harness: Harness) -> None:
    """Readers see values of 64 KiB to 1 MiB whole while writers replace them by others of equal and other sizes."""
    scope, most = harness.new_scope(), harness.capabilities.max_value_bytes

    def text(letter: int, size: int) -> str:
        return _LETTERS[letter % len(_LETTERS)] * (min(size, most) - 2)

    def write(store: Store, number: int) -> None:
        for turn in range(_TURNS):
            for place, size in enumerate(_SIZES):
                store.put(scope, f"{size}", text(2 * turn + number, size))
                store.put(scope, "mixed", text(place + 3 * number, size))

    def read(store: Store, turn: int) -> None:
        sizes = {f"{size}": {min(size, most) - 2} for size in _SIZES}
        sizes["mixed"] = {min(size, most) - 2 for size in _SIZES}
        key = [*sizes][turn % len(sizes)]
        found = store.get(scope, key) if turn % 3 else store.get_many(scope, [key])[0]
        assert found is None or set(found.value) == {found.value[0]}, "a value is a mixture of two"
        assert found is None or len(found.value) in sizes[key], "a value has a length that none was written with"

    _beside(harness, 2, write, read)


def _batches_whole(harness: Harness, count: int, width: int) -> None:
    """Append batches of one length by two writers, and check that readers see whole ones only."""
    scope, filler = harness.new_scope(), "x" * width

    def write(store: Store, number: int) -> None:
        for turn in range(_TURNS):
            batch = [[number, turn, index, filler] for index in range(count)]
            assert store.append(scope, "k", batch).start % count == 0, "a batch begins within another"

    def read(store: Store, turn: int) -> None:
        head = store.head(scope, "k")
        last = store.tail(scope, "k", 2)
        for seen in (head, last.head):
            assert seen is None or seen.length % count == 0, f"a head of {seen}, where each batch has {count} entries"
        if head is None or turn % 4:
            return
        for entry in store.read(scope, "k", head.length - count, count):
            assert entry.value[2] == entry.position % count, "an entry is not in its place"

    _beside(harness, 2, write, read)
    values = [entry.value[:3] for entry in harness.store.iter_entries(scope, "k")]
    assert len(values) == 2 * _TURNS * count
    for start in range(0, len(values), count):
        first = values[start]
        assert values[start : start + count] == [[*first[:2], index] for index in range(count)]


@scenario("concurrency.long-batches-whole", level="full")
def long_batches_whole(harness: Harness) -> None:
    """Readers see batches of 1,000 entries whole while writers append."""
    _batches_whole(harness, min(1000, harness.capabilities.max_batch_entries), 10)


@scenario("concurrency.large-batches-whole", level="full")
def large_batches_whole(harness: Harness) -> None:
    """Readers see batches of a megabyte whole while writers append."""
    capabilities = harness.capabilities
    size = min(1_000_000, capabilities.max_batch_bytes - 1000)
    _batches_whole(harness, 20, min(size // 20, capabilities.max_value_bytes) - 50)


@scenario("concurrency.large-commits-whole", "atomic_commit", level="full")
def large_commits_whole(harness: Harness) -> None:
    """Readers that have seen one write of a commit of many operations see all of it from then on."""
    scope = harness.new_scope()
    keys = [f"k{number:03}" for number in range(min(100, harness.capabilities.max_commit_operations))]

    def write(store: Store, _: int) -> None:
        for turn in range(1, 4 * _TURNS):
            store.commit([Put(scope, key, turn) for key in keys])

    def read(store: Store, turn: int) -> None:
        order = (keys[0], keys[-1], keys[len(keys) // 2])
        first, *others = order if turn % 2 else (order[1], order[0], order[2])
        seen = record_of(store, scope, first).value
        for key in others:
            assert record_of(store, scope, key).value >= seen, f"of commit {seen} the write of {key} is not there"

    harness.store.commit([Put(scope, key, 0) for key in keys])
    _beside(harness, 1, write, read)
    assert {record_of(harness.store, scope, key).value for key in keys} == {4 * _TURNS - 1}


@scenario("concurrency.put-many-whole")
def put_many_whole(harness: Harness) -> None:
    """While put_many replaces records, readers see each of them, whole and never older than before."""
    scope, keys, width = harness.new_scope(), [f"k{number}" for number in range(8)], 100
    harness.store.put_many(scope, {key: [0] * width for key in keys})
    oldest: dict[tuple[int, str], int] = {}

    def see(who: int, record: Record | None) -> None:
        assert record is not None, "a record that is being replaced is not there"
        assert len(record.value) == width
        assert len(set(record.value)) == 1, "a value is a mixture of two"
        assert record.value[0] >= oldest.get((who, record.key), 0), "an older value after a newer one"
        oldest[who, record.key] = record.value[0]

    def write(store: Store, _: int) -> None:
        for turn in range(1, 3 * _TURNS):
            store.put_many(scope, {key: [turn] * width for key in keys})

    def read(store: Store, turn: int) -> None:
        who = id(store)
        if turn % 3 == 0:
            see(who, store.get(scope, keys[turn % len(keys)]))
        elif turn % 3 == 1:
            for record in store.get_many(scope, keys):
                see(who, record)
        else:
            found = list(store.iter_records(scope))
            assert [record.key for record in found] == keys, "a listing misses a record that is being replaced"
            for record in found:
                see(who, record)

    _beside(harness, 1, write, read)
    assert {record.value[0] for record in harness.store.iter_records(scope)} == {3 * _TURNS - 1}


@scenario("concurrency.listings-of-what-is-rewritten")
def listings_of_what_is_rewritten(harness: Harness) -> None:
    """Listings name every record that is replaced at the same time, once."""
    scope, keys = harness.new_scope(), [f"k{number}" for number in range(4)]
    fill(harness.store, scope, dict.fromkeys(keys, 0))

    def write(store: Store, _: int) -> None:
        for turn in range(3 * _TURNS):
            store.put(scope, keys[turn % len(keys)], turn)

    def read(store: Store, turn: int) -> None:
        found = list(store.iter_keys(scope)) if turn % 2 else keys_of(store.iter_records(scope))
        assert found == keys, f"a listing of {keys} while they are replaced gives {found}"

    _beside(harness, 1, write, read)


@scenario("concurrency.one-restorer")
def one_restorer(harness: Harness) -> None:
    """Of several that restore one log at once exactly one succeeds, and an append beside it is kept."""
    scope, stores = harness.new_scope(), handles_for(harness, 7)[::2]
    for turn in range(6):
        with_append = turn % 2 == 1

        def work(store: Store, number: int, key: str = f"k{turn}", append: bool = with_append) -> Head | int | None:  # noqa: FBT001
            if append and number == 0:
                return store.append(scope, key, ["appended"]).start
            try:
                return store.restore_log(scope, key, 5, [number, number])
            except AlreadyExists:
                return None

        first, *others = together(stores, work)
        won = [number for number, head in enumerate([None if with_append else first, *others]) if head is not None]
        entries = harness.store.read(scope, f"k{turn}", head_of(harness.store, scope, f"k{turn}").first)
        if with_append and first == 0:
            assert (won, values_of(entries)) == ([], ["appended"]), "a log was restored over one that was there"
            continue
        assert len(won) == 1, f"{len(won)} restored one log"
        assert values_of(entries) == [won[0]] * 2 + ["appended"] * with_append
        assert [entry.position for entry in entries] == list(range(5, 5 + len(entries)))
