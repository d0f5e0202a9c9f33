"""Limits: taken exactly as declared, refused one beyond, before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from holdall import Append, HoldallError, Put, TooLarge
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import text_of, value_of, values_of

_KNOWN_AS_UNLIMITED = 64 * 2**20


def _too_large(call: Callable[[], Any], limit: int, actual: int) -> None:
    with pytest.raises(TooLarge) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    assert (caught.value.limit, caught.value.actual) == (limit, actual)
    assert f"{limit:,}" in str(caught.value) or str(limit) in str(caught.value)


@scenario("limits.minimums-declared")
def minimums_declared(harness: Harness) -> None:
    """What is declared is at least what every adapter promises, and sane."""
    limits = harness.capabilities
    assert limits.max_scope_bytes >= 128
    assert limits.max_key_bytes >= 512
    assert limits.max_value_bytes >= 2**20
    assert limits.max_batch_entries >= 1_000
    assert limits.max_batch_bytes >= 3_000_000
    assert limits.max_batch_bytes >= limits.max_value_bytes
    assert limits.max_commit_operations >= (2 if limits.atomic_commit else 1)
    assert limits.expiry_margin >= 0
    assert limits.min_ttl > 0
    assert limits.expiry_clock in {"server", "boot", "estimated", "client"}
    assert harness.lock.capabilities.min_ttl == limits.min_ttl


@scenario("limits.minimums-work")
def minimums_work(harness: Harness) -> None:
    """A value and an entry of 1 MiB, a batch of 1,000 entries and one of 3 MB work with the longest promised names."""
    store, fill = harness.store, harness.new_scope()
    scope, key = fill.ljust(128, "s"), "k" * 512
    store.put(scope, key, text_of(2**20))
    assert value_of(store, scope, key) == text_of(2**20)
    store.append(scope, key, [text_of(2**20)])
    store.append(scope, key, list(range(1_000)))
    store.append(scope, key, [text_of(1_000_000)] * 3)
    entries = values_of(store.read(scope, key))
    assert len(entries) == 1_004
    assert entries[0] == text_of(2**20)
    assert entries[1:1_001] == list(range(1_000))
    assert entries[-1] == text_of(1_000_000)


@scenario("limits.scopes-and-keys")
def scopes_and_keys(harness: Harness) -> None:
    """Names of exactly the declared bytes of UTF-8 are taken, one byte more is refused by every operation."""
    store, limits = harness.store, harness.capabilities
    fill = harness.new_scope()
    for character in ("a", "é", "😀"):
        width = len(character.encode())
        scope = _filled(fill, character, limits.max_scope_bytes, width)
        key = _filled("", character, limits.max_key_bytes, width)
        store.put(scope, key, 1)
        store.append(scope, key, [1])
        assert list(store.keys(scope).items) == list(store.logs(scope).items) == [key]
        for name, call in _named_calls(harness, scope + "x", "k").items():
            _too_large(call, limits.max_scope_bytes, limits.max_scope_bytes + 1)
            assert name
        for call in _named_calls(harness, scope, key + "x").values():
            _too_large(call, limits.max_key_bytes, limits.max_key_bytes + 1)
        assert list(store.keys(scope).items) == list(store.logs(scope).items) == [key]


def _filled(start: str, character: str, size: int, width: int) -> str:
    room = size - len(start)
    return start + "x" * (room % width) + character * (room // width)


def _named_calls(harness: Harness, scope: str, key: str) -> dict[str, Callable[[], Any]]:
    store = harness.store
    return {
        "get": lambda: store.get(scope, key),
        "get_many": lambda: store.get_many(scope, [key]),
        "put": lambda: store.put(scope, key, 1),
        "touch": lambda: store.touch(scope, key, 60),
        "delete": lambda: store.delete(scope, key),
        "put_many": lambda: store.put_many(scope, {"a": 1, key: 1}),
        "delete_many": lambda: store.delete_many(scope, [key]),
        "append": lambda: store.append(scope, key, [1]),
        "read": lambda: store.read(scope, key),
        "head": lambda: store.head(scope, key),
        "drop": lambda: store.drop(scope, key),
        "seal": lambda: store.seal(scope, key, 1),
        "commit": lambda: store.commit([Put(scope, key, 1)]),
        "restore_log": lambda: store.restore_log(scope, key, 0, []),
    }


@scenario("limits.values", level="full")
def values(harness: Harness) -> None:
    """A value of exactly the declared bytes is taken, one byte more is refused everywhere, and nothing is written."""
    store, scope, most = harness.store, harness.new_scope(), harness.capabilities.max_value_bytes
    if most > _KNOWN_AS_UNLIMITED:
        return
    store.put(scope, "old", 1)
    over = text_of(most + 1)
    for call in (
        lambda: store.put(scope, "old", over),
        lambda: store.put(scope, "new", over),
        lambda: store.put_many(scope, {"new": 1, "old": over}),
        lambda: store.update(scope, "old", lambda _: over),
        lambda: store.append(scope, "new", [1, over]),
        lambda: store.commit([Put(scope, "new", over)]),
        lambda: store.restore_log(scope, "new", 0, [over]),
    ):
        _too_large(call, most, most + 1)
    assert value_of(store, scope, "old") == 1
    assert list(store.keys(scope).items) == ["old"]
    assert list(store.logs(scope).items) == []
    store.put(scope, "full", text_of(most))
    assert value_of(store, scope, "full") == text_of(most)
    store.append(scope, "full", [text_of(most)])
    assert values_of(store.tail(scope, "full", 1)) == [text_of(most)]


@scenario("limits.bytes-not-characters", level="full")
def bytes_not_characters(harness: Harness) -> None:
    """The limit of values counts bytes of UTF-8 and of escapes, not characters."""
    store, scope, most = harness.store, harness.new_scope(), harness.capabilities.max_value_bytes
    if most > _KNOWN_AS_UNLIMITED:
        return
    for character, width in (("é", 2), ("😀", 4), ("\n", 2)):
        with pytest.raises(TooLarge):
            store.put(scope, "k", character * (most // width))
    assert store.get(scope, "k") is None


@scenario("limits.batch-entries")
def batch_entries(harness: Harness) -> None:
    """A batch of exactly the declared number of entries is taken, one more is refused and the log does not begin."""
    store, scope, most = harness.store, harness.new_scope(), harness.capabilities.max_batch_entries
    for call in (
        lambda: store.append(scope, "k", [0] * (most + 1), batch_id="id"),
        lambda: store.restore_log(scope, "k", 0, [0] * (most + 1)),
        lambda: store.commit([Append(scope, "k", [0] * (most + 1))]),
    ):
        _too_large(call, most, most + 1)
    assert store.head(scope, "k") is None
    appended = store.append(scope, "k", list(range(most)), batch_id="id")
    assert appended.count == most
    assert values_of(store.read(scope, "k")) == list(range(most))


@scenario("limits.batch-bytes", level="full")
def batch_bytes(harness: Harness) -> None:
    """A batch of exactly the declared bytes is taken, one byte more is refused and the log does not grow."""
    store, scope, limits = harness.store, harness.new_scope(), harness.capabilities
    most = limits.max_batch_bytes
    if most > _KNOWN_AS_UNLIMITED or most < 4:
        return
    pieces = 2 * -(-most // limits.max_value_bytes)
    each = most // pieces
    batch = [text_of(each)] * (pieces - 1)
    last = most - each * (pieces - 1)
    head = store.append(scope, "k", ["first"]).head
    _too_large(lambda: store.append(scope, "k", [*batch, text_of(last + 1)]), most, most + 1)
    assert store.head(scope, "k") == head
    assert store.append(scope, "k", [*batch, text_of(last)]).count == pieces
    assert list(map(len, values_of(store.read(scope, "k", 1)))) == [each - 2] * (pieces - 1) + [last - 2]


@scenario("limits.commit-bytes", "atomic_commit", level="full")
def commit_bytes(harness: Harness) -> None:
    """The bytes of all values of a commit count together, and one beyond the limit writes nothing."""
    store, scope, limits = harness.store, harness.new_scope(), harness.capabilities
    most = limits.max_batch_bytes
    pieces = 2 * -(-most // limits.max_value_bytes)
    if most > _KNOWN_AS_UNLIMITED or pieces > limits.max_commit_operations:
        return
    each = most // pieces
    last = most - each * (pieces - 1)
    puts = [Put(scope, f"k{number}", text_of(each)) for number in range(pieces - 1)]
    _too_large(lambda: store.commit([*puts, Append(scope, "log", [text_of(last + 1)])]), most, most + 1)
    assert list(store.keys(scope).items) == list(store.logs(scope).items) == []
    store.commit([*puts, Append(scope, "log", [text_of(last)])])
    assert len(store.keys(scope).items) == pieces - 1


@scenario("limits.refused-not-crashed")
def refused_not_crashed(harness: Harness) -> None:
    """Names far beyond every limit, in any place, give errors of holdall's and not the backend's."""
    store, lock, huge = harness.store, harness.lock, "x" * 2_000_000
    scope = harness.new_scope()
    for call in (
        lambda: store.put(huge, "k", 1),
        lambda: store.put(scope, huge, 1),
        lambda: store.append(scope, "k", [1], batch_id=huge),
        lambda: store.keys(scope, huge),
        lambda: store.keys(scope, after=huge),
        lambda: store.scopes(huge),
        lambda: lock.try_acquire(huge),
        lambda: lock.try_acquire("k", owner=huge),
        lambda: lock.set_flag(huge),
    ):
        with pytest.raises(HoldallError) as caught:
            call()
        assert isinstance(caught.value, ValueError)
        assert len(str(caught.value)) < 10_000


@scenario("limits.values-with-everything-beside", level="full")
def values_with_everything_beside(harness: Harness) -> None:
    """A value of exactly the declared bytes is taken with the longest names, a ttl, the highest token and an id."""
    store, limits = harness.store, harness.capabilities
    most = limits.max_value_bytes
    if most > _KNOWN_AS_UNLIMITED:
        return
    scope = harness.new_scope().ljust(limits.max_scope_bytes, "s")
    key, full, mark = "k" * limits.max_key_bytes, text_of(most), 2**63 - 1
    store.put(scope, key, full, ttl=86_400, fence=mark)
    assert value_of(store, scope, key) == full
    assert store.touch(scope, key, 80_000, fence=mark) is True
    store.commit([Put(scope, key, full, ttl=86_400, fence=mark)])
    batch_id = "b" * 512
    first = store.append(scope, key, [full], fence=mark, batch_id=batch_id)
    assert store.append(scope, key, [full], fence=mark, batch_id=batch_id) == first
    assert values_of(store.read(scope, key)) == [full]
    assert value_of(store, scope, key) == full
