"""What is no scope, key, prefix or cursor."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from holdall import InvalidKey
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario


def _calls(harness: Harness, scope: Any, key: Any) -> dict[str, Any]:
    store = harness.store
    return {
        "get": lambda: store.get(scope, key),
        "get_many": lambda: store.get_many(scope, [key]),
        "put": lambda: store.put(scope, key, 1),
        "update": lambda: store.update(scope, key, lambda _: 1),
        "touch": lambda: store.touch(scope, key, 60),
        "delete": lambda: store.delete(scope, key),
        "put_many": lambda: store.put_many(scope, {key: 1}),
        "delete_many": lambda: store.delete_many(scope, [key]),
        "append": lambda: store.append(scope, key, [1]),
        "read": lambda: store.read(scope, key),
        "tail": lambda: store.tail(scope, key, 1),
        "head": lambda: store.head(scope, key),
        "truncate": lambda: store.truncate(scope, key, 1),
        "drop": lambda: store.drop(scope, key),
        "restore_log": lambda: store.restore_log(scope, key, 0, [1]),
        "seal": lambda: store.seal(scope, key, 1),
        "seal of a log": lambda: store.seal(scope, key, 1, log=True),
        "follow": lambda: list(store.follow(scope, key, timeout=0)),
        "iter_entries": lambda: list(store.iter_entries(scope, key)),
    }


_NO_NAMES: list[Any] = ["", "\ud800", "a\udc88b", "\ud83d\ude00", None, 1, b"a", True, ("a",), 1.0]


@scenario("keys.refused")
def refused(harness: Harness) -> None:
    """A scope or key that is empty, holds a surrogate or is no str is refused by every operation as a ValueError."""
    scope = harness.new_scope()
    for bad, place in itertools.product(_NO_NAMES, ("scope", "key")):
        pair = (bad, "k") if place == "scope" else (scope, bad)
        for name, call in _calls(harness, *pair).items():
            with pytest.raises(InvalidKey) as caught:
                call()
            assert isinstance(caught.value, ValueError), name
    assert list(harness.store.keys(scope).items) == []
    assert list(harness.store.logs(scope).items) == []


@scenario("keys.refused-in-listings")
def refused_in_listings(harness: Harness) -> None:
    """Listings refuse a bad scope, and a prefix or cursor that is no text."""
    store, scope = harness.store, harness.new_scope()
    listings: list[Any] = [store.scan, store.keys, store.logs]
    for bad, listing in itertools.product(_NO_NAMES, listings):
        with pytest.raises(InvalidKey):
            listing(bad)
    for bad, listing in itertools.product(["\ud800", 1, b"a"], listings):
        with pytest.raises(InvalidKey):
            listing(scope, bad)
        with pytest.raises(InvalidKey):
            listing(scope, "", after=bad)
    scopes: list[Any] = [store.scopes, store.log_scopes]
    for bad, listing in itertools.product(["\ud800", 1, b"a"], scopes):
        with pytest.raises(InvalidKey):
            listing(bad)
    for call in (store.clear, lambda name: list(store.iter_records(name)), lambda name: list(store.iter_keys(name))):
        with pytest.raises(InvalidKey):
            call("")


@scenario("keys.str-subclass-plain")
def str_subclass_plain(harness: Harness) -> None:
    """A key of a subclass of str is that text, whatever the subclass prints, and comes back plain."""

    class Text(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "something else"

    store, scope = harness.store, harness.new_scope()
    store.put(Text(scope), Text("k"), 1)
    record = store.scan(scope).items[0]
    assert (record.key, type(record.key), type(record.scope)) == ("k", str, str)
    got = store.get(Text(scope), Text("k"))
    assert got is not None
    assert (type(got.key), type(got.scope)) == (str, str)
