"""Fencing of records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from holdall import ABSENT, Conflict, Fenced, InvalidArgument, InvalidValue, Store
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import lease_of, record_of, value_of

_Write = Callable[[Store, str, str, Any], Any]

RECORD_WRITES: dict[str, _Write] = {
    "put": lambda store, scope, key, fence: store.put(scope, key, "stale", fence=fence),
    "update": lambda store, scope, key, fence: store.update(scope, key, lambda _: "stale", fence=fence),
    "touch": lambda store, scope, key, fence: store.touch(scope, key, 600, fence=fence),
    "delete": lambda store, scope, key, fence: store.delete(scope, key, fence=fence),
    "seal": lambda store, scope, key, fence: store.seal(scope, key, fence),
}


def refused_by(store: Store, scope: str, key: str, mark: int) -> None:
    """Check that the mark of a record is exactly `mark`, changing nothing else."""
    if mark > 1:
        for name, write in RECORD_WRITES.items():
            with pytest.raises(Fenced) as caught:
                write(store, scope, key, mark - 1)
            assert caught.value.mark == mark, name
            assert isinstance(caught.value, PermissionError)
    store.seal(scope, key, mark)


@scenario("fencing.stale-writes-refused")
def stale_writes_refused(harness: Harness) -> None:
    """Every write with a lower token than the record has seen raises Fenced with the mark, and changes nothing."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "k", "good", fence=5)
    for fence in (1, 2, 4):
        for write in RECORD_WRITES.values():
            with pytest.raises(Fenced) as caught:
                write(store, scope, "k", fence)
            assert caught.value.mark == 5
    assert record_of(store, scope, "k") == (scope, "k", "good", version, None)


@scenario("fencing.same-token-repeats")
def same_token_repeats(harness: Harness) -> None:
    """Writes with the token of the mark go on freely, a higher one raises the mark."""
    store, scope = harness.store, harness.new_scope()
    for number in range(5):
        store.put(scope, "k", number, fence=5)
    assert store.update(scope, "k", lambda value: value + 1, fence=5).value == 5
    assert store.touch(scope, "k", 600, fence=5) is True
    assert store.delete(scope, "k", fence=5) is True
    store.put(scope, "k", "next", fence=8)
    refused_by(store, scope, "k", 8)


@scenario("fencing.every-write-raises-the-mark")
def every_write_raises_the_mark(harness: Harness) -> None:
    """put, update, touch, delete and seal raise the mark, each on its own."""
    store, scope = harness.store, harness.new_scope()
    for name, write in RECORD_WRITES.items():
        store.put(scope, name, 1)
        write(store, scope, name, 7)
        refused_by(store, scope, name, 7)


@scenario("fencing.mark-survives", waits=True)
def mark_survives(harness: Harness) -> None:
    """The mark survives delete, delete_many, clear, expiry, sweep and a put after them."""
    store, scope, ttl = harness.store, harness.new_scope(), harness.short_ttl
    removals: dict[str, Callable[[], Any]] = {
        "delete": lambda: store.delete(scope, "delete"),
        "fenced delete": lambda: store.delete(scope, "fenced delete", fence=6),
        "delete_many": lambda: store.delete_many(scope, ["delete_many"]),
        "clear": lambda: store.clear(scope),
    }
    for name, remove in removals.items():
        store.put(scope, name, 1, fence=6)
        remove()
        assert store.get(scope, name) is None
    for name in ("expired", "swept"):
        store.put(scope, name, 1, ttl=ttl, fence=6)
    harness.outlast(ttl)
    refused_by(store, scope, "expired", 6)
    store.sweep()
    for name in (*removals, "expired", "swept"):
        refused_by(store, scope, name, 6)
        assert store.get(scope, name) is None
        store.put(scope, name, 2, expect=ABSENT)
        refused_by(store, scope, name, 6)
    store.sweep()
    refused_by(store, scope, "swept", 6)


@scenario("fencing.unfenced-keeps-the-mark")
def unfenced_keeps_the_mark(harness: Harness) -> None:
    """A write without a fence is let in whatever the mark, and leaves the mark as it is."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "k", 1, fence=5)
    store.put(scope, "k", 2)
    refused_by(store, scope, "k", 5)
    store.put_many(scope, {"k": 3})
    refused_by(store, scope, "k", 5)
    store.update(scope, "k", lambda value: value + 1)
    assert store.touch(scope, "k", 600) is True
    refused_by(store, scope, "k", 5)
    store.delete(scope, "k")
    store.put(scope, "k", 5, expect=ABSENT)
    refused_by(store, scope, "k", 5)
    assert value_of(store, scope, "k") == 5


@scenario("fencing.seal-of-a-present-record")
def seal_of_a_present_record(harness: Harness) -> None:
    """A seal returns the version and keeps value, version and expiry; from then on lower tokens are refused."""
    store, scope = harness.store, harness.new_scope()
    version = store.put(scope, "k", "value", ttl=600)
    for fence in (4, 4, 6):
        assert store.seal(scope, "k", fence) == version
    record = record_of(store, scope, "k")
    assert (record.value, record.version) == ("value", version)
    assert record.expires_in is not None
    assert record.expires_in > 500
    refused_by(store, scope, "k", 6)
    store.put(scope, "k", "new", expect=version, fence=6)


@scenario("fencing.token-on-what-is-absent-counts", waits=True)
def token_on_what_is_absent_counts(harness: Harness) -> None:
    """A touch or delete of what is absent or expired, with a fence, lets no lower token in afterwards."""
    store, scope = harness.store, harness.new_scope()
    for expired in (False, True):
        for name in ("touch", "delete"):
            key = f"{name}-{expired}"
            if expired:
                store.put(scope, key, 1, ttl=harness.short_ttl)
                harness.outlast(harness.short_ttl)
            assert RECORD_WRITES[name](store, scope, key, 5) is False
            assert store.get(scope, key) is None
            for stale in ("put", "touch", "delete"):
                with pytest.raises(Fenced):
                    RECORD_WRITES[stale](store, scope, key, 4)
            store.put(scope, key, 2, fence=5)


@scenario("fencing.seal-of-an-absent-record")
def seal_of_an_absent_record(harness: Harness) -> None:
    """A seal of what is absent returns None, creates nothing that reads can see, and keeps the mark."""
    store, scope = harness.store, harness.new_scope()
    assert store.seal(scope, "k", 4) is None
    assert store.seal(scope, "k", 4) is None
    assert store.get(scope, "k") is None
    assert list(store.keys(scope).items) == list(store.scopes(scope).items) == []
    assert store.delete(scope, "k") is False
    refused_by(store, scope, "k", 4)
    store.sweep()
    refused_by(store, scope, "k", 4)
    store.put(scope, "k", 1, expect=ABSENT, fence=4)


@scenario("fencing.refused-leaves-no-mark")
def refused_leaves_no_mark(harness: Harness) -> None:
    """A write that is refused for another reason does not raise the mark."""
    store, scope = harness.store, harness.new_scope()
    for key in ("present", "absent"):
        if key == "present":
            store.put(scope, key, 1, fence=2)
        with pytest.raises(Conflict):
            store.put(scope, key, 2, expect="stale", fence=9)
        with pytest.raises(Conflict):
            store.delete(scope, key, expect="stale", fence=9)
        with pytest.raises(InvalidValue):
            store.put(scope, key, float("nan"), fence=9)
        with pytest.raises(InvalidArgument):
            store.put(scope, key, 1, ttl=-1, fence=9)
        store.put(scope, key, 3, fence=2)
        refused_by(store, scope, key, 2)


@scenario("fencing.fence-before-expectation")
def fence_before_expectation(harness: Harness) -> None:
    """A write that is both stale and unexpected raises Fenced."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "k", 1, fence=5)
    with pytest.raises(Fenced):
        store.put(scope, "k", 2, expect=ABSENT, fence=4)
    with pytest.raises(Fenced):
        store.delete(scope, "k", expect="stale", fence=4)
    with pytest.raises(Conflict):
        store.put(scope, "k", 2, expect=ABSENT, fence=5)


@scenario("fencing.tokens-refused")
def tokens_refused(harness: Harness) -> None:
    """0, bools, negatives, floats, texts and too large numbers are no fence: a ValueError, and nothing is written."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "k", 1)
    store.append(scope, "k", [1])
    wrong: list[Any] = [0, True, False, -1, 1.0, "1", b"1", 2**63, 10**30, (1,)]
    for fence in wrong:
        for write in RECORD_WRITES.values():
            with pytest.raises(InvalidArgument) as caught:
                write(store, scope, "k", fence)
            assert isinstance(caught.value, ValueError)
        for call in (
            lambda fence=fence: store.append(scope, "k", [2], fence=fence),
            lambda fence=fence: store.truncate(scope, "k", 1, fence=fence),
            lambda fence=fence: store.drop(scope, "k", fence=fence),
            lambda fence=fence: store.seal(scope, "k", fence, log=True),
        ):
            with pytest.raises(InvalidArgument):
                call()
    for log in (False, True):
        with pytest.raises(InvalidArgument):
            store.seal(scope, "k", None, log=log)  # type: ignore[arg-type]
    assert value_of(store, scope, "k") == 1
    store.put(scope, "k", 2, fence=1)
    assert store.append(scope, "k", [2], fence=1).head[:2] == (0, 2)


@scenario("fencing.large-tokens")
def large_tokens(harness: Harness) -> None:
    """Tokens up to 2**63-1 are exact."""
    store, scope = harness.store, harness.new_scope()
    most = 2**63 - 1
    store.put(scope, "k", 1, fence=most - 1)
    store.append(scope, "k", [1], fence=most - 1)
    store.put(scope, "k", 1, fence=most)
    store.append(scope, "k", [1], fence=most)
    for call in (
        lambda: store.put(scope, "k", 2, fence=most - 1),
        lambda: store.append(scope, "k", [2], fence=most - 1),
    ):
        with pytest.raises(Fenced) as caught:
            call()
        assert caught.value.mark == most


@scenario("fencing.takes-a-lease")
def takes_a_lease(harness: Harness) -> None:
    """A Lease as fence counts as its token: the old holder is refused once the new one has written or sealed."""
    store, lock, scope, key = harness.store, harness.lock, harness.new_scope(), harness.new_key()
    old = lease_of(lock, key)
    store.put(scope, "k", "old", fence=old)
    lock.release(old)
    new = lease_of(lock, key)
    store.put(scope, "k", "late", fence=old)
    store.seal(scope, "k", new)
    store.seal(scope, "k", new, log=True)
    with pytest.raises(Fenced) as caught:
        store.put(scope, "k", "too late", fence=old)
    assert caught.value.mark == new.token
    with pytest.raises(Fenced):
        store.append(scope, "k", ["too late"], fence=old)
    store.put(scope, "k", "new", fence=new)
    assert value_of(store, scope, "k") == "new"
    lock.release(new)
    with pytest.raises(Fenced):
        store.put(scope, "k", "too late", fence=old)


@scenario("fencing.paused-holder-refused", waits=True)
def paused_holder_refused(harness: Harness) -> None:
    """A holder that paused past its lease between check and write is refused once another has written."""
    first, second, scope, key = harness.open_store(), harness.open_store(), harness.new_scope(), harness.new_key()
    lock, ttl = harness.lock, harness.short_ttl
    old = lease_of(lock, key, ttl=ttl)
    version = first.put(scope, "k", "first", fence=old)
    harness.outlast(ttl)
    new = lease_of(harness.open_lock(), key)
    assert new.token > old.token
    second.put(scope, "k", "second", fence=new)
    with pytest.raises(Fenced):
        first.put(scope, "k", "first again", fence=old)
    with pytest.raises(Fenced):
        first.put(scope, "k", "first again", expect=version, fence=old)
    assert value_of(first, scope, "k") == "second"


@scenario("fencing.marks-of-their-own")
def marks_of_their_own(harness: Harness) -> None:
    """Every record and every log has a mark of its own."""
    store, scope, other = harness.store, harness.new_scope(), harness.new_scope()
    store.put(scope, "k", 1, fence=9)
    store.append(scope, "l", [1], fence=9)
    store.put(scope, "l", 1, fence=1)
    store.append(scope, "k", [1], fence=1)
    store.put(other, "k", 1, fence=1)
    store.put(scope, "kk", 1, fence=1)
    store.append(other, "l", [1], fence=1)
    refused_by(store, scope, "k", 9)
