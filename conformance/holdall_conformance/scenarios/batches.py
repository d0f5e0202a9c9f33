"""Batches: whole or absent, and applied once under their id."""

from __future__ import annotations

from typing import Any

import pytest

from holdall import (
    ABSENT,
    Append,
    Appended,
    BatchMismatch,
    Conflict,
    Fenced,
    Head,
    InvalidArgument,
    InvalidKey,
    InvalidValue,
    TooLarge,
)
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import head_of, values_of


@scenario("batches.repeat-appends-nothing")
def repeat_appends_nothing(harness: Harness) -> None:
    """The same batch id with the same entries appends nothing and returns the first result, also later."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", ["before"])
    first = store.append(scope, "k", ["a", "b"], batch_id="id")
    for other in (store, harness.open_store()):
        assert other.append(scope, "k", ["a", "b"], batch_id="id") == first
    store.append(scope, "k", ["after"])
    store.append(scope, "k", ["x"], batch_id="other")
    assert store.append(scope, "k", ["a", "b"], batch_id="id") == first
    assert first == Appended(1, 2, Head(0, 3, first.head.incarnation))
    assert values_of(store.read(scope, "k")) == ["before", "a", "b", "after", "x"]


@scenario("batches.first-batch-of-a-log")
def first_batch_of_a_log(harness: Harness) -> None:
    """The batch that began a log can be repeated too, and does not begin it twice."""
    store, scope = harness.store, harness.new_scope()
    first = store.append(scope, "k", ["a"], batch_id="id", expect=ABSENT)
    assert store.append(scope, "k", ["a"], batch_id="id", expect=ABSENT) == first
    assert head_of(store, scope, "k") == first.head


@scenario("batches.other-entries-refused")
def other_entries_refused(harness: Harness) -> None:
    """A batch id that comes again with other entries is a ValueError and appends nothing."""
    store, scope = harness.store, harness.new_scope()
    head = store.append(scope, "k", ["a", {"n": 1}], batch_id="id").head
    others: list[list[Any]] = [["a"], ["a", {"n": 1}, "c"], [{"n": 1}, "a"], ["a", {"n": 2}], ["a", {"n": 1.0}]]
    others += [["a", {"n": True}], ["a", {"m": 1}], ["a", [1]], ["A", {"n": 1}], [["a", {"n": 1}]]]
    for entries in others:
        with pytest.raises(BatchMismatch) as caught:
            store.append(scope, "k", entries, batch_id="id")
        assert isinstance(caught.value, ValueError)
    assert store.head(scope, "k") == head


@scenario("batches.same-entries-whatever-their-order-of-keys")
def same_entries_whatever_their_order_of_keys(harness: Harness) -> None:
    """Entries are the same if they are equal as JSON: tuples as lists, keys in any order."""
    store, scope = harness.store, harness.new_scope()
    first = store.append(scope, "k", [{"a": 1, "b": [1, 2]}, 2**70, -0.0], batch_id="id")
    assert store.append(scope, "k", ({"b": (1, 2), "a": 1}, 2**70, -0.0), batch_id="id") == first


@scenario("batches.ids-belong-to-one-log")
def ids_belong_to_one_log(harness: Harness) -> None:
    """The same batch id in another log, or scope, is another batch."""
    store, scope, other = harness.store, harness.new_scope(), harness.new_scope()
    for where in ((scope, "a"), (scope, "b"), (other, "a")):
        assert store.append(*where, [list(where)], batch_id="id").start == 0
    assert values_of(store.read(scope, "b")) == [[scope, "b"]]


@scenario("batches.any-text-is-an-id")
def any_text_is_an_id(harness: Harness) -> None:
    """Batch ids are exact texts: case, Unicode form, spaces and odd characters tell them apart."""
    store, scope = harness.store, harness.new_scope()
    ids = ["a", "A", "a ", "é", "e\u0301", "\x00", "a\x00", "a/b", "a%", "😀", "\U0010ffff", "'", '"', "0", "x" * 512]
    for number, batch_id in enumerate(ids):
        assert store.append(scope, "k", [number], batch_id=batch_id).start == number
    for number, batch_id in enumerate(ids):
        assert store.append(scope, "k", [number], batch_id=batch_id).start == number
    assert head_of(store, scope, "k").length == len(ids)


@scenario("batches.ids-refused")
def ids_refused(harness: Harness) -> None:
    """A batch id that is empty, no text, or holds surrogates is refused; "" never means "no id"."""
    store, scope = harness.store, harness.new_scope()
    wrong: list[Any] = ["", "\ud800", 1, b"id", True, ["id"]]
    for batch_id in wrong:
        with pytest.raises((InvalidKey, InvalidArgument)):
            store.append(scope, "k", [1], batch_id=batch_id)
    assert store.head(scope, "k") is None


@scenario("batches.without-id-always-appended")
def without_id_always_appended(harness: Harness) -> None:
    """Without a batch id the same entries are appended as often as they come."""
    store, scope = harness.store, harness.new_scope()
    for number in range(5):
        assert store.append(scope, "k", ["same"], batch_id=None).start == number


@scenario("batches.id-before-fence-before-expect")
def id_before_fence_before_expect(harness: Harness) -> None:
    """The batch id is checked first, then the fence, then the expectation."""
    store, scope = harness.store, harness.new_scope()
    first = store.append(scope, "k", ["a"], batch_id="id", fence=3, expect=ABSENT)
    store.append(scope, "k", ["b"], fence=5)
    assert store.append(scope, "k", ["a"], batch_id="id", fence=3, expect=ABSENT) == first
    assert store.append(scope, "k", ["a"], batch_id="id", fence=1, expect=77) == first
    with pytest.raises(BatchMismatch):
        store.append(scope, "k", ["other"], batch_id="id", fence=1, expect=77)
    with pytest.raises(Fenced):
        store.append(scope, "k", ["c"], batch_id="new", fence=4, expect=77)
    with pytest.raises(Conflict):
        store.append(scope, "k", ["c"], batch_id="new", fence=5, expect=77)
    assert values_of(store.read(scope, "k")) == ["a", "b"]


@scenario("batches.repeat-raises-no-mark")
def repeat_raises_no_mark(harness: Harness) -> None:
    """A repeated batch writes nothing, its higher fence included."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", ["a"], batch_id="id", fence=3)
    store.append(scope, "k", ["a"], batch_id="id", fence=9)
    assert store.append(scope, "k", ["b"], fence=3).start == 1


@scenario("batches.refused-leaves-no-id")
def refused_leaves_no_id(harness: Harness) -> None:
    """A refused batch leaves no id behind: the id can be used for other entries."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", ["a"], fence=5)
    refusals: list[tuple[type[Exception], dict[str, Any], list[Any]]] = [
        (Conflict, {"expect": 7}, ["x"]),
        (Conflict, {"expect": ABSENT}, ["x"]),
        (Fenced, {"fence": 4}, ["x"]),
        (InvalidValue, {}, ["x", b"y"]),
        (InvalidArgument, {}, []),
        (TooLarge, {}, ["x" * harness.capabilities.max_value_bytes]),
    ]
    for kind, settings, entries in refusals:
        with pytest.raises(kind):
            store.append(scope, "k", entries, batch_id="id", **settings)
    assert store.append(scope, "k", ["good"], batch_id="id").start == 1
    with pytest.raises(Conflict):
        store.append(scope, "absent", ["x"], batch_id="id", expect=3)
    assert store.append(scope, "absent", ["y"], batch_id="id").start == 0


@scenario("batches.id-survives-truncate")
def id_survives_truncate(harness: Harness) -> None:
    """A batch whose entries were truncated, whole or in part, is still known, with its first result."""
    store, scope = harness.store, harness.new_scope()
    results = [store.append(scope, "k", [number] * 3, batch_id=f"b{number}") for number in range(10)]
    for before in (1, 10, 14, 30):
        store.truncate(scope, "k", before)
        for number, result in enumerate(results):
            assert store.append(scope, "k", [number] * 3, batch_id=f"b{number}") == result
    with pytest.raises(BatchMismatch):
        store.append(scope, "k", ["other"], batch_id="b0")
    assert head_of(store, scope, "k")[:2] == (30, 30)
    later = store.append(scope, "k", ["later"], batch_id="later")
    assert later.head.first == 30
    assert store.append(scope, "k", ["later"], batch_id="later") == later


@scenario("batches.id-survives-sweep")
def id_survives_sweep(harness: Harness) -> None:
    """A sweep forgets no batch id."""
    store, scope = harness.store, harness.new_scope()
    results = [store.append(scope, "k", ["x" * 3_000], batch_id=f"b{number}") for number in range(60)]
    store.truncate(scope, "k", 30)
    store.sweep()
    for number, result in enumerate(results):
        assert store.append(scope, "k", ["x" * 3_000], batch_id=f"b{number}") == result


@scenario("batches.last-thousand-kept-after-truncate", level="full")
def last_thousand_kept_after_truncate(harness: Harness) -> None:
    """A batch is known as long as an entry of it is kept, and the last 1,000 also after everything was truncated."""
    store, scope = harness.store, harness.new_scope()
    first = store.append(scope, "k", ["a", "b"], batch_id="first")
    for number in range(1_001):
        store.append(scope, "k", [number], batch_id=f"b{number}")
    assert store.truncate(scope, "k", 1) == 1
    assert store.append(scope, "k", ["a", "b"], batch_id="first") == first
    assert store.truncate(scope, "k", 1_003) == 1_002
    for number in (1, 2, 500, 937, 999, 1_000):
        assert store.append(scope, "k", [number], batch_id=f"b{number}").start == number + 2
    assert head_of(store, scope, "k")[:2] == (1_003, 1_003)


@scenario("batches.id-known-as-long-as-its-entries")
def id_known_as_long_as_its_entries(harness: Harness) -> None:
    """A batch whose entries are kept is known after large and many batches followed, and after a truncate below it."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", ["gone"], batch_id="gone")
    first = store.append(scope, "k", ["a", "b"], batch_id="id")
    for number in range(120):
        store.append(scope, "k", [f"{number}".ljust(2_000)])
    store.truncate(scope, "k", 2)
    assert store.append(scope, "k", ["a", "b"], batch_id="id") == first
    assert head_of(store, scope, "k")[:2] == (2, 123)


@scenario("batches.long-ids-distinct")
def long_ids_distinct(harness: Harness) -> None:
    """Long batch ids that differ only in their last or first character are two."""
    store, scope = harness.store, harness.new_scope()
    for size in (16, 32, 36, 63, 64, 127, 128, 255, 256, 511):
        ids = ["a" * size + "x", "a" * size + "y", "x" + "a" * size]
        results = [store.append(scope, f"{size}", [batch_id[-1:]], batch_id=batch_id) for batch_id in ids]
        assert [result.start for result in results] == [0, 1, 2], size
        assert [store.append(scope, f"{size}", [one[-1:]], batch_id=one) for one in ids] == results, size


@scenario("batches.drop-forgets")
def drop_forgets(harness: Harness) -> None:
    """Drop forgets the batch ids, of large logs and of marked ones too."""
    store, scope = harness.store, harness.new_scope()
    for fence in (None, 3):
        for number in range(50):
            store.append(scope, "k", ["x" * 3_000], batch_id=f"b{number}", fence=fence)
        store.drop(scope, "k", fence=fence)
        appended = store.append(scope, "k", ["other"], batch_id="b0", fence=fence)
        assert (appended.start, appended.count) == (0, 1)
        assert store.append(scope, "k", ["other"], batch_id="b49", fence=fence).start == 1
        store.drop(scope, "k", fence=fence)


@scenario("batches.many-ids-in-a-large-log", level="full")
def many_ids_in_a_large_log(harness: Harness) -> None:
    """Every batch of a large log of mixed batch sizes can be repeated, and none is confused with another."""
    store, scope = harness.store, harness.new_scope()
    batches = [[f"{number}".ljust(2_500)] * (1 + number % 4) for number in range(80)]
    results = [store.append(scope, "k", batch, batch_id=f"b{number}") for number, batch in enumerate(batches)]
    for number, (batch, result) in enumerate(zip(batches, results, strict=True)):
        assert store.append(scope, "k", batch, batch_id=f"b{number}") == result
        with pytest.raises(BatchMismatch):
            store.append(scope, "k", [*batch, "more"], batch_id=f"b{number}")
    assert head_of(store, scope, "k") == results[-1].head


@scenario("batches.repeat-in-a-commit")
def repeat_in_a_commit(harness: Harness) -> None:
    """An append in a commit is remembered and repeated by its batch id as any other."""
    store, scope = harness.store, harness.new_scope()
    first = store.commit([Append(scope, "k", ["a"], batch_id="id", expect=ABSENT)])
    assert store.commit([Append(scope, "k", ["a"], batch_id="id", expect=ABSENT)]) == first
    assert store.append(scope, "k", ["a"], batch_id="id") == first[0]
    with pytest.raises(BatchMismatch):
        store.commit([Append(scope, "k", ["b"], batch_id="id")])
    assert values_of(store.read(scope, "k")) == ["a"]
