"""Pages: everything once, in order, whatever the limit and whatever happens meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from holdall import InvalidArgument, Page
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.listings import everything
from holdall_conformance.scenarios.support import (
    all_items,
    fill,
)

_EDGES = [
    "\x00",
    "\x01",
    "\x1f",
    " ",
    "!",
    "/",
    "0",
    "A",
    "Z",
    "_",
    "a",
    "z",
    "~",
    "\x7f",
    "\x80",
    "\xa0",
    "\xff",
    "\u0100",
]
_EDGES += [
    "\u07ff",
    "\u0800",
    "\u2028",
    "\ud7ff",
    "\ue000",
    "\ufffd",
    "\uffff",
    "\U00010000",
    "\U0001f600",
    "\U0010ffff",
]


@scenario("paging.many-keys", level="full")
def many_keys(harness: Harness) -> None:
    """2,100 keys are listed all, once and in order, with limits from 7 to 50,000."""
    store, scope = harness.store, harness.new_scope()
    keys = [f"{number * 7919 % 2100:05}" for number in range(2100)]
    fill(store, scope, {key: key for key in keys})
    keys.sort()
    for limit in (7, 999, 1000, 1001, 2099, 2100, 2101, 50_000):
        assert list(all_items(store.keys, scope, limit=limit)) == keys, limit
    found = list(all_items(store.scan, scope, limit=50_000))
    assert [(record.key, record.value) for record in found] == list(zip(keys, keys, strict=True))
    for limit in (7, 1000):
        assert list(all_items(store.scan, scope, "01", limit=limit)) == found[1000:2000], limit
    assert list(store.iter_keys(scope)) == keys
    assert [record.key for record in store.iter_records(scope, "00")] == keys[:1000]


@scenario("paging.limits-kept")
def limits_kept(harness: Harness) -> None:
    """No page holds more than its limit, and limits around the number of items lose and repeat nothing."""
    store, scope = harness.store, harness.new_scope()
    keys = [f"k{number:02}" for number in range(12)]
    fill(store, scope, dict.fromkeys(keys, 0))
    for key in keys:
        store.append(scope, key, [0])
    listings: list[Any] = [store.scan, store.keys, store.logs]
    for limit in (1, 2, 3, 11, 12, 13, 10**9, 2**63, 10**30):
        for listing in listings:
            after, seen = None, []
            while True:
                page: Page[Any] = listing(scope, after=after, limit=limit)
                assert len(page.items) <= limit
                seen += [getattr(item, "key", item) for item in page.items]
                after = page.next
                if after is None:
                    break
            assert seen == keys, f"{listing} with limit {limit}"


@scenario("paging.limits-refused")
def limits_refused(harness: Harness) -> None:
    """A limit of 0 or less, a bool, a float or None is a ValueError."""
    store, scope = harness.store, harness.new_scope()
    wrong: list[Any] = [0, -1, True, False, 1.0, "1", None]
    for limit in wrong:
        for listing in (store.scan, store.keys, store.logs):
            with pytest.raises(InvalidArgument):
                listing(scope, limit=limit)
        for scopes in (store.scopes, store.log_scopes):
            with pytest.raises(InvalidArgument):
                scopes(limit=limit)


@scenario("paging.code-point-order")
def code_point_order(harness: Harness) -> None:
    """Keys are listed by code point, across the gap of the surrogates and into the astral planes."""
    store, scope = harness.store, harness.new_scope()
    names = [name for edge in _EDGES for name in (edge, f"a{edge}", f"{edge}a", f"\U0010ffff{edge}", edge * 2)]
    names = list(dict.fromkeys(names))
    fill(store, scope, dict.fromkeys(names, 0))
    for name in names:
        store.append(scope, name, [0])
        store.put(scope + name, "k", 0)
    for limit in (1, 1000):
        assert list(all_items(store.keys, scope, limit=limit)) == sorted(names)
        assert list(all_items(store.logs, scope, limit=limit)) == sorted(names)
        found = list(all_items(store.scopes, scope, limit=limit))
        assert found == [scope, *(scope + name for name in sorted(names))]
    scanned = all_items(store.scan, scope, limit=7)
    assert [record.key for record in scanned] == sorted(names)


@scenario("paging.shorter-before-longer")
def shorter_before_longer(harness: Harness) -> None:
    """A key comes before every key that it begins."""
    store, scope = harness.store, harness.new_scope()
    names = ["a", "a\x00", "a\x00\x00", "a\x01", "aa", "a" * 100, "b", "a/", "a/b", "a-b", "a.b"]
    fill(store, scope, dict.fromkeys(names, 0))
    assert everything(store.keys, scope) == sorted(names)
    assert everything(store.keys, scope, after="a") == sorted(names)[1:]


@scenario("paging.any-cursor")
def any_cursor(harness: Harness) -> None:
    """Any text is a cursor: what lies strictly behind it is listed, whether or not it is a key."""
    store, scope = harness.store, harness.new_scope()
    names = sorted({edge * count for edge in _EDGES for count in (1, 2)})
    fill(store, scope, dict.fromkeys(names, 0))
    for cursor in [*_EDGES, "", "b", "zz", "\ud7ff\U0010ffff", "\ue000\x00", "\U0010ffff" * 3]:
        expected = [name for name in names if name > cursor]
        assert everything(store.keys, scope, after=cursor) == expected, f"behind {cursor!r}"
        assert everything(store.scan, scope, after=cursor) == expected
        assert list(store.iter_keys(scope, after=cursor)) == expected


@scenario("paging.deleted-cursor")
def deleted_cursor(harness: Harness) -> None:
    """A cursor whose key has been deleted still works, and so does deleting every page while listing."""
    store, scope = harness.store, harness.new_scope()
    keys = [f"{number:03}" for number in range(50)]
    fill(store, scope, dict.fromkeys(keys, 0))
    after, seen = None, list[str]()
    while True:
        page = store.keys(scope, after=after, limit=7)
        seen += page.items
        store.delete_many(scope, page.items)
        after = page.next
        if after is None:
            break
    assert seen == keys
    assert list(store.keys(scope).items) == []


@scenario("paging.changes-while-listing")
def changes_while_listing(harness: Harness) -> None:
    """Keys that nobody touches appear exactly once while others are written, changed and deleted between the pages."""
    store, scope = harness.store, harness.new_scope()
    kept = [f"{number:03}-kept" for number in range(40)]
    fill(store, scope, dict.fromkeys([*kept, *(f"{number:03}-doomed" for number in range(40))], 0))
    after, seen, step = None, list[str](), 0
    while True:
        page = store.scan(scope, after=after, limit=9)
        seen += [record.key for record in page.items]
        for number in range(40):
            store.delete(scope, f"{number:03}-doomed")
        store.put(scope, f"{step:03}-added", 0)
        store.put(scope, kept[step % 40], step)
        step += 1
        after = page.next
        if after is None:
            break
    assert [key for key in seen if key.endswith("kept")] == kept
    assert len(set(seen)) == len(seen)
    assert seen == sorted(seen)


@scenario("paging.next-only-while-there-is-more")
def next_only_while_there_is_more(harness: Harness) -> None:
    """`next` is None at the end, and a page that is not the last one has a `next` that goes on behind its items."""
    store, scope = harness.store, harness.new_scope()
    assert (list(store.keys(scope).items), store.keys(scope).next) == ([], None)
    fill(store, scope, {"a": 1, "b": 2, "c": 3})
    full = store.keys(scope, limit=1000)
    assert full.next is None
    first = store.keys(scope, limit=1)
    assert first.next is not None
    assert first.next >= "a"
    last = store.keys(scope, after="b", limit=1000)
    assert (list(last.items), last.next) == (["c"], None)
    beyond = store.scan(scope, after="c")
    assert (list(beyond.items), beyond.next) == ([], None)


@scenario("paging.listed-is-readable")
def listed_is_readable(harness: Harness) -> None:
    """Every key that is listed can be read, with the version and value that scan showed."""
    store, scope = harness.store, harness.new_scope()
    names = [f"{edge}{number}" for edge in _EDGES for number in range(3)]
    fill(store, scope, {name: name for name in names})
    for record in store.scan(scope, limit=1000).items:
        assert store.get(scope, record.key) == record


@scenario("paging.large-values", level="full")
def large_values(harness: Harness) -> None:
    """A scan over large values gives all of them, in as many pages as it takes."""
    store, scope = harness.store, harness.new_scope()
    for number in range(12):
        store.put(scope, f"{number:02}", "x" * 900_000 + str(number))
    found = all_items(store.scan, scope, limit=1000)
    assert [(record.key, record.value[900_000:]) for record in found] == [(f"{n:02}", str(n)) for n in range(12)]
    assert len(list(store.iter_records(scope))) == 12


@scenario("paging.iterators-take-prefix-and-cursor")
def iterators_take_prefix_and_cursor(harness: Harness) -> None:
    """iter_keys and iter_records keep to their prefix and begin behind their cursor."""
    store, scope = harness.store, harness.new_scope()
    fill(store, scope, {f"{letter}{number:03}": number for letter in "abc" for number in range(250)})
    expected = [f"b{number:03}" for number in range(100, 250)]
    assert list(store.iter_keys(scope, "b", after="b099")) == expected
    assert [record.key for record in store.iter_records(scope, "b", after="b099")] == expected
    iterator = store.iter_keys(scope, "c")
    assert next(iter(iterator)) == "c000"
