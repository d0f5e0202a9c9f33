"""Fencing of logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from holdall import ABSENT, Conflict, Fenced, InvalidValue, Store, TooLarge
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import head_of, values_of

_Write = Callable[[Store, str, str, Any], Any]

_WRITES: dict[str, _Write] = {
    "append": lambda store, scope, key, fence: store.append(scope, key, ["stale"], fence=fence),
    "truncate": lambda store, scope, key, fence: store.truncate(scope, key, 1, fence=fence),
    "drop": lambda store, scope, key, fence: store.drop(scope, key, fence=fence),
    "seal": lambda store, scope, key, fence: store.seal(scope, key, fence, log=True),
}


def _refused_by(store: Store, scope: str, key: str, mark: int) -> None:
    """Check that the mark of a log is exactly `mark`, changing nothing else."""
    for name, write in _WRITES.items():
        with pytest.raises(Fenced) as caught:
            write(store, scope, key, mark - 1)
        assert caught.value.mark == mark, name
    store.seal(scope, key, mark, log=True)


@scenario("fencing.stale-log-writes-refused")
def stale_log_writes_refused(harness: Harness) -> None:
    """Every change of a log with a lower token than it has seen raises Fenced with the mark, and changes nothing."""
    store, scope = harness.store, harness.new_scope()
    head = store.append(scope, "k", ["a", "b"], fence=5).head
    for fence in (1, 4):
        for write in _WRITES.values():
            with pytest.raises(Fenced) as caught:
                write(store, scope, "k", fence)
            assert caught.value.mark == 5
    assert store.head(scope, "k") == head
    assert values_of(store.read(scope, "k")) == ["a", "b"]
    assert store.append(scope, "k", ["c"], fence=5).start == 2
    assert store.append(scope, "k", ["d"], fence=8).start == 3
    _refused_by(store, scope, "k", 8)


@scenario("fencing.every-log-write-raises-the-mark")
def every_log_write_raises_the_mark(harness: Harness) -> None:
    """append, truncate, drop and seal raise the mark, on logs that are there and on logs that are not."""
    store, scope = harness.store, harness.new_scope()
    for name, write in _WRITES.items():
        for key in (f"{name} present", f"{name} absent"):
            if "present" in key:
                store.append(scope, key, ["a"])
            write(store, scope, key, 7)
            _refused_by(store, scope, key, 7)
    assert list(store.logs(scope).items) == ["append absent", "append present", "seal present", "truncate present"]


@scenario("fencing.log-mark-survives")
def log_mark_survives(harness: Harness) -> None:
    """The mark of a log survives drop, truncate, sweep, restore and the appends after them."""
    store, scope = harness.store, harness.new_scope()
    for key in ("dropped", "truncated", "restored"):
        store.append(scope, key, ["a", "b"], fence=6)
    store.drop(scope, "dropped")
    store.truncate(scope, "truncated", 2)
    store.drop(scope, "restored")
    _refused_by(store, scope, "dropped", 6)
    store.sweep()
    store.restore_log(scope, "restored", 3, ["r"])
    for key in ("dropped", "truncated", "restored"):
        _refused_by(store, scope, key, 6)
        store.append(scope, key, ["unfenced"])
        _refused_by(store, scope, key, 6)
        assert store.append(scope, key, ["fenced"], fence=6).count == 1
    store.sweep()
    _refused_by(store, scope, "dropped", 6)


@scenario("fencing.unfenced-keeps-the-mark-of-a-log")
def unfenced_keeps_the_mark_of_a_log(harness: Harness) -> None:
    """Changes without a fence are let in whatever the mark, and leave the mark as it is."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", ["a"], fence=5)
    store.append(scope, "k", ["b"])
    _refused_by(store, scope, "k", 5)
    assert store.truncate(scope, "k", 1) == 1
    _refused_by(store, scope, "k", 5)
    assert store.drop(scope, "k") is True
    _refused_by(store, scope, "k", 5)
    store.append(scope, "k", ["c"], expect=ABSENT)
    _refused_by(store, scope, "k", 5)


@scenario("fencing.mark-of-a-large-log")
def mark_of_a_large_log(harness: Harness) -> None:
    """The mark stays through thousands of bytes of appends, fenced and not."""
    store, scope = harness.store, harness.new_scope()
    for number in range(60):
        store.append(scope, "k", ["x" * 4_000], fence=5 if number % 3 else None)
    _refused_by(store, scope, "k", 5)
    assert head_of(store, scope, "k").length == 60


@scenario("fencing.seal-of-a-present-log")
def seal_of_a_present_log(harness: Harness) -> None:
    """A seal returns the head, changes no entry, and shuts out the old holder from then on."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", ["a", "b"], fence=3)
    store.truncate(scope, "k", 1)
    head = head_of(store, scope, "k")
    for fence in (4, 4, 6):
        assert store.seal(scope, "k", fence, log=True) == head
    assert store.head(scope, "k") == head
    assert values_of(store.read(scope, "k", 1)) == ["b"]
    _refused_by(store, scope, "k", 6)
    assert store.append(scope, "k", ["c"], expect=head, fence=6).start == 2


@scenario("fencing.seal-of-an-absent-log")
def seal_of_an_absent_log(harness: Harness) -> None:
    """A seal of an absent log returns None, creates nothing that reads can see, and keeps the mark."""
    store, scope = harness.store, harness.new_scope()
    assert store.seal(scope, "k", 4, log=True) is None
    assert store.seal(scope, "k", 4, log=True) is None
    assert store.head(scope, "k") is None
    assert store.read(scope, "k").head is None
    assert list(store.logs(scope).items) == list(store.log_scopes(scope).items) == []
    assert store.drop(scope, "k") is False
    _refused_by(store, scope, "k", 4)
    store.sweep()
    _refused_by(store, scope, "k", 4)
    appended = store.append(scope, "k", ["a"], expect=ABSENT, fence=4)
    assert (appended.start, appended.head.first) == (0, 0)


@scenario("fencing.seal-then-read-then-append")
def seal_then_read_then_append(harness: Harness) -> None:
    """Between a new holder's seal and its append nothing of the old holder's gets in."""
    store, old, scope = harness.store, harness.open_store(), harness.new_scope()
    old.append(scope, "k", ["old"], fence=1)
    head = store.seal(scope, "k", 2, log=True)
    assert head is not None
    for _ in range(3):
        with pytest.raises(Fenced):
            old.append(scope, "k", ["late"], fence=1)
    assert values_of(store.read(scope, "k")) == ["old"]
    store.append(scope, "k", ["new"], expect=head_of(store, scope, "k"), fence=2)
    assert values_of(store.read(scope, "k")) == ["old", "new"]


@scenario("fencing.refused-log-write-leaves-no-mark")
def refused_log_write_leaves_no_mark(harness: Harness) -> None:
    """A change of a log that is refused for another reason does not raise the mark and begins no log."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "present", ["a"], fence=2)
    for key in ("present", "absent"):
        for change in (
            lambda key=key: store.append(scope, key, ["x"], expect=7, fence=9),
            lambda key=key: store.truncate(scope, key, 1, expect=7, fence=9),
            lambda key=key: store.drop(scope, key, expect=7, fence=9),
        ):
            with pytest.raises(Conflict):
                change()
        with pytest.raises(InvalidValue):
            store.append(scope, key, [b""], fence=9)
        with pytest.raises(TooLarge):
            store.append(scope, key, ["x" * harness.capabilities.max_value_bytes], fence=9)
        assert store.append(scope, key, ["b"], fence=2).count == 1
        _refused_by(store, scope, key, 2)


@scenario("fencing.log-fence-before-expectation")
def log_fence_before_expectation(harness: Harness) -> None:
    """A change of a log that is both stale and unexpected raises Fenced."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", ["a"], fence=5)
    for change in (
        lambda: store.append(scope, "k", ["x"], expect=ABSENT, fence=4),
        lambda: store.truncate(scope, "k", 1, expect=7, fence=4),
        lambda: store.drop(scope, "k", expect=7, fence=4),
    ):
        with pytest.raises(Fenced):
            change()
