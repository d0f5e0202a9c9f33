"""Scopes, keys, values and batch ids of any Unicode, up to the limits that are declared and one byte over.

The tests of an adapter are these, with a fixture `handles` of its own.
"""

from __future__ import annotations

import random

import pytest

from holdall import ABSENT, TooLarge

BATCH_ID = 512
PIECES = ["\0", "a", "'", "%", "\\", "\n", "\t", "é", "\u0301", "ÿ", "߿", "ࠀ", "\ufeff", "\uffff", "😀", "\U0010ffff"]


def stretched(piece, size):
    """Return a name of exactly so many bytes, made of one piece; what is missing is filled with the letter x."""
    count = size // len(piece.encode())
    return piece * count + "x" * (size - count * len(piece.encode()))


def incompressible(size):
    """Return a name of exactly so many bytes that an index cannot store in fewer."""
    chance = random.Random(size)
    return "".join(chr(chance.randrange(128)) for _ in range(size))


NAMES = [*PIECES, "incompressible"]


@pytest.mark.parametrize("piece", NAMES, ids=[f"{ord(piece[0]):x}" for piece in NAMES])
def test_names_at_the_limit(handles, piece):
    make = incompressible if piece == "incompressible" else lambda size: stretched(piece, size)
    run, store, lock, most = handles.run, handles.store, handles.lock, handles.store.capabilities
    scope, key, batch_id = make(most.max_scope_bytes), make(most.max_key_bytes), make(BATCH_ID)
    assert (len(scope.encode()), len(key.encode())) == (most.max_scope_bytes, most.max_key_bytes)
    run(store.delete(scope, key))
    run(store.drop(scope, key))
    run(store.put(scope, key, {piece: piece}, expect=ABSENT))
    assert run(store.get(scope, key)).value == {piece: piece}
    assert [record.key for record in run(store.scan(scope)).items] == [key]
    assert scope in run(store.scopes(scope)).items
    appended = run(store.append(scope, key, [piece], expect=ABSENT, batch_id=batch_id))
    assert run(store.append(scope, key, [piece], batch_id=batch_id)) == appended
    assert [entry.value for entry in run(store.read(scope, key))] == [piece]
    assert run(store.logs(scope)).items == [key]
    assert scope in run(store.log_scopes(scope)).items
    lease = run(lock.acquire(key, timeout=0, owner=piece))
    assert run(lock.holder(key)).owner == piece
    run(lock.set_flag(key))
    assert run(lock.flag(key))
    assert run(lock.release(lease))
    assert run(store.delete(scope, key))
    assert run(store.drop(scope, key))


@pytest.mark.parametrize("piece", ["a", "\0", "😀"])
def test_names_one_byte_over_are_refused_before_anything_is_written(handles, piece):
    run, store, lock, most = handles.run, handles.store, handles.lock, handles.store.capabilities
    scope, key = stretched(piece, most.max_scope_bytes + 1), stretched(piece, most.max_key_bytes + 1)
    for call in (
        lambda: store.put(scope, "k", 1),
        lambda: store.put("s", key, 1),
        lambda: store.append(scope, "k", [1]),
        lambda: store.append("s", key, [1]),
        lambda: store.append("s", "over", [1], batch_id=stretched(piece, BATCH_ID + 1)),
        lambda: lock.try_acquire(key),
        lambda: lock.set_flag(key),
    ):
        with pytest.raises(TooLarge) as caught:
            run(call())
        assert caught.value.actual == caught.value.limit + 1
    assert run(store.head("s", "over")) is None


def test_names_that_differ_in_the_last_byte_are_two(handles):
    run, store = handles.run, handles.store
    keys = [stretched("k", store.capabilities.max_key_bytes - 1) + last for last in ("a", "b", "\0")]
    for key in keys:
        run(store.put("last", key, key[-1]))
    assert [run(store.get("last", key)).value for key in keys] == ["a", "b", "\0"]
    assert run(store.keys("last", keys[0][:-1])).items == sorted(keys)


def test_values_at_the_limit_and_one_byte_over(handles):
    run, store = handles.run, handles.store
    most = "x" * (store.capabilities.max_value_bytes - 2)  # two quotation marks
    run(store.put("size", "k", most))
    assert run(store.get("size", "k")).value == most
    run(store.drop("size", "k"))
    run(store.append("size", "k", [most]))
    assert run(store.tail("size", "k", 1))[0].value == most
    for call in (lambda: store.put("size", "over", most + "x"), lambda: store.append("size", "over", [most + "x"])):
        with pytest.raises(TooLarge):
            run(call())
    assert run(store.get("size", "over")) is None
    assert run(store.head("size", "over")) is None
    run(store.delete("size", "k"))
    run(store.drop("size", "k"))


@pytest.mark.parametrize(
    "value", ["\0", "a\0b", {"\0": ["\0", "\\u0000"]}, "\ufffe\uffff", "\U0010ffff", "e\u0301", "é"]
)
def test_values_of_any_unicode_come_back_exactly(handles, value):
    run, store = handles.run, handles.store
    run(store.put("exact", "k", value))
    run(store.append("exact", "k", [value, value]))
    assert run(store.get("exact", "k")).value == value
    assert [entry.value for entry in run(store.tail("exact", "k", 2))] == [value, value]
