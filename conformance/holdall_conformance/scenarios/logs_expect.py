"""What an append, truncate or drop may expect of its log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from holdall import ABSENT, ANY, Conflict, Head, InvalidArgument, Store
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import head_of, values_of

_Change = Callable[[Store, str, Any], Any]


def _changes(key: str) -> dict[str, _Change]:
    return {
        "append": lambda store, scope, expect: store.append(scope, key, ["new"], expect=expect),
        "truncate": lambda store, scope, expect: store.truncate(scope, key, 1, expect=expect),
        "drop": lambda store, scope, expect: store.drop(scope, key, expect=expect),
    }


def _refused(harness: Harness, scope: str, key: str, expectations: list[Any]) -> None:
    """Check that every change of a log is refused by each expectation, with the actual head, and changes nothing."""
    store = harness.store
    before, entries = store.head(scope, key), None
    if before is not None:
        entries = store.read(scope, key, before.first)
    for expect in expectations:
        for name, change in _changes(key).items():
            with pytest.raises(Conflict) as caught:
                change(store, scope, expect)
            assert caught.value.current == before, f"{name} expecting {expect!r}"
    assert store.head(scope, key) == before
    if before is not None:
        assert store.read(scope, key, before.first) == entries


@scenario("logs.expect-length")
def expect_length(harness: Harness) -> None:
    """A length lets exactly the append through that finds it; any other conflicts with the actual head."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", ["a", "b", "c"], expect=0)
    _refused(harness, scope, "k", [0, 1, 2, 4, 2**40, 2**63, 10**30])
    assert store.append(scope, "k", ["d"], expect=3).start == 3
    _refused(harness, scope, "k", [3])
    assert store.truncate(scope, "k", 2, expect=4) == 2
    assert store.append(scope, "k", ["e"], expect=4).start == 4
    assert store.drop(scope, "k", expect=5) is True


@scenario("logs.expect-absent")
def expect_absent(harness: Harness) -> None:
    """ABSENT and 0 let the first append through and nothing after it."""
    store, scope = harness.store, harness.new_scope()
    assert store.append(scope, "a", [1], expect=ABSENT).start == 0
    assert store.append(scope, "b", [1], expect=0).start == 0
    for key in ("a", "b"):
        _refused(harness, scope, key, [ABSENT, 0])
    assert store.truncate(scope, "never", 3, expect=ABSENT) == 0
    assert store.truncate(scope, "never", 3, expect=0) == 0
    assert store.drop(scope, "never", expect=ABSENT) is False
    assert store.drop(scope, "never", expect=0) is False
    assert store.head(scope, "never") is None


@scenario("logs.expect-something-of-nothing")
def expect_something_of_nothing(harness: Harness) -> None:
    """A length or head expected of a log that does not exist conflicts, with None as the current head."""
    store, scope = harness.store, harness.new_scope()
    dropped = store.append(scope, "dropped", [1]).head
    store.drop(scope, "dropped")
    for key in ("never", "dropped"):
        _refused(harness, scope, key, [1, 5, dropped, Head(0, 0, "no incarnation")])
    assert list(store.logs(scope).items) == []


@scenario("logs.expect-head")
def expect_head(harness: Harness) -> None:
    """The head that append returned is usable at once as the next expectation; an older one conflicts."""
    store, scope = harness.store, harness.new_scope()
    head = store.append(scope, "k", [0]).head
    heads = []
    for number in range(1, 10):
        heads.append(head)
        head = store.append(scope, "k", [number], expect=head).head
    _refused(harness, scope, "k", [*heads, Head(0, 10, "0" * 32), Head(0, 10, ""), Head(1, 10, head.incarnation)])
    assert store.truncate(scope, "k", 3, expect=head) == 3
    _refused(harness, scope, "k", [head])
    assert store.drop(scope, "k", expect=head_of(store, scope, "k")) is True


@scenario("logs.expect-any")
def expect_any(harness: Harness) -> None:
    """ANY checks nothing."""
    store, scope = harness.store, harness.new_scope()
    assert store.append(scope, "k", [1], expect=ANY).start == 0
    assert store.append(scope, "k", [2], expect=ANY).start == 1
    assert store.truncate(scope, "k", 1, expect=ANY) == 1
    assert store.drop(scope, "k", expect=ANY) is True
    assert store.drop(scope, "k", expect=ANY) is False


@scenario("logs.expect-head-from-before-truncate")
def expect_head_from_before_truncate(harness: Harness) -> None:
    """A head from before a truncate conflicts, though the length is the same; the length still holds."""
    store, scope = harness.store, harness.new_scope()
    stale = store.append(scope, "k", [1, 2, 3]).head
    store.truncate(scope, "k", 2)
    _refused(harness, scope, "k", [stale])
    assert store.append(scope, "k", [4], expect=3).head.first == 2


@scenario("logs.expect-head-of-former-incarnation")
def expect_head_of_former_incarnation(harness: Harness) -> None:
    """A head of a log that was dropped and regrew to the same length conflicts: it has another incarnation."""
    store, scope = harness.store, harness.new_scope()
    heads = []
    for _ in range(4):
        heads.append(store.append(scope, "k", ["a", "b"]).head)
        store.drop(scope, "k")
    store.append(scope, "k", ["a", "b"])
    now = head_of(store, scope, "k")
    assert now[:2] == heads[0][:2] == (0, 2)
    assert len({*(head.incarnation for head in heads), now.incarnation}) == 5
    _refused(harness, scope, "k", list(heads))
    assert store.append(scope, "k", ["c"], expect=now).start == 2


@scenario("logs.expect-after-dropping-a-marked-log")
def expect_after_dropping_a_marked_log(harness: Harness) -> None:
    """A log with a fencing mark gets another incarnation too when it is dropped and regrows, and begins at 0."""
    store, scope = harness.store, harness.new_scope()
    before = store.append(scope, "k", ["a", "b"], fence=3).head
    store.truncate(scope, "k", 1, fence=3)
    store.drop(scope, "k", fence=3)
    after = store.append(scope, "k", ["c", "d"], expect=ABSENT, fence=3)
    assert (after.start, after.head.first, after.head.length) == (0, 0, 2)
    assert after.head.incarnation != before.incarnation
    assert values_of(store.read(scope, "k")) == ["c", "d"]
    _refused(harness, scope, "k", [before])


@scenario("logs.expect-other-spellings-refused")
def expect_other_spellings_refused(harness: Harness) -> None:
    """None, bools, negatives, floats, texts and bare tuples are no expectation about a log: a ValueError."""
    store, scope = harness.store, harness.new_scope()
    head = store.append(scope, "k", [1]).head
    wrong: list[Any] = [None, True, False, -1, 1.0, 0.0, "", "1", head.incarnation, tuple(head), b"1", [1]]
    for expect in wrong:
        for key in ("k", "new"):
            for name, change in _changes(key).items():
                with pytest.raises(InvalidArgument) as caught:
                    change(store, scope, expect)
                assert isinstance(caught.value, ValueError), name
    assert store.head(scope, "k") == head
    assert store.head(scope, "new") is None


@scenario("logs.length-goes-on-whatever-ids-are-kept")
def length_goes_on_whatever_ids_are_kept(harness: Harness) -> None:
    """Truncating to nothing keeps the length, also where only an older batch left its id behind."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", ["a"], batch_id="kept")
    store.append(scope, "k", ["b", "c", "d"])
    assert store.truncate(scope, "k", 4) == 4
    head = store.head(scope, "k")
    assert head is not None
    assert (head.first, head.length) == (4, 4)
    assert store.append(scope, "k", ["e"]).start == 4
    assert [entry.value for entry in store.read(scope, "k", 4)] == ["e"]
    assert store.append(scope, "k", ["a"], batch_id="kept").start == 0


@scenario("logs.an-empty-restored-log-exists")
def an_empty_restored_log_exists(harness: Harness) -> None:
    """A log that was restored with no entries is there: 0 and ABSENT conflict, its head does not."""
    store, scope = harness.store, harness.new_scope()
    head = store.restore_log(scope, "k", 0, [])
    for expect in (0, ABSENT):
        with pytest.raises(Conflict):
            store.append(scope, "k", [1], expect=expect)
    assert store.append(scope, "k", [1], expect=head).start == 0
