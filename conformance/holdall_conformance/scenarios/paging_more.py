"""Listings and answers of many or large items, and cursors outside of a prefix."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from holdall import Page
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.listings import everything
from holdall_conformance.scenarios.support import all_items, fill, has

_MANY = 1_100
"""More than a listing gives on one page by itself."""
_LARGE = 20


def _paged(listing: Callable[..., Page[Any]], *arguments: str) -> list[str]:
    """Return all items of a listing, with pages as large as it makes them when no limit is given."""
    found, after = list[str](), None
    while True:
        page = listing(*arguments, after=after)
        found += page.items
        if page.next is None:
            return found
        assert after is None or page.next > after, "the cursor does not advance"
        after = page.next


@scenario("paging.many-logs", level="full")
def many_logs(harness: Harness) -> None:
    """1,100 logs of one scope are all listed, with pages of every size."""
    store, scope = harness.store, harness.new_scope()
    names = [f"{number:04}" for number in range(_MANY)]
    for name in names:
        store.append(scope, name, [1])
    assert _paged(store.logs, scope) == names
    for limit in (300, 1000, 50_000):
        assert list(all_items(store.logs, scope, limit=limit)) == names, f"limit {limit}"
    assert everything(store.logs, scope, after=names[49]) == names[50:]


@scenario("paging.many-log-scopes", level="full")
def many_log_scopes(harness: Harness) -> None:
    """1,100 scopes of logs, and 1,100 of records, are all listed, with pages of every size."""
    store, base = harness.store, harness.new_scope()
    names = [f"{base}{number:04}" for number in range(_MANY)]
    listings: list[Callable[..., Page[str]]] = []
    if has(store, "append", "log_scopes"):
        for name in names:
            store.append(name, "k", [1])
        listings.append(store.log_scopes)
    if has(store, "put", "scopes") or not listings:
        for name in names:
            store.put(name, "k", 1)
        listings.append(store.scopes)
    for listing in listings:
        assert _paged(listing, base) == names
        assert list(all_items(listing, base, limit=50_000)) == names


def _check_cursors(listing: Callable[..., list[str]], base: str) -> None:
    """List with a prefix from cursors before, inside and behind it."""
    inside = [f"{base}b{number}" for number in range(6)]
    for after in (f"{base}", f"{base}a0", f"{base}a9", f"{base}azz", f"{base}b"):
        assert listing(f"{base}b", after=after) == inside, f"behind {after!r}"
    for number, after in enumerate(inside):
        assert listing(f"{base}b", after=after) == inside[number + 1 :], f"behind {after!r}"
        assert listing(f"{base}b", after=f"{after}x") == inside[number + 1 :], f"behind {after!r}"
    for after in (f"{base}b9", f"{base}bz", f"{base}c", f"{base}c0", f"{base}zz", "\U0010ffff"):
        assert listing(f"{base}b", after=after) == [], f"behind {after!r}"


@scenario("paging.cursor-outside-of-the-prefix")
def cursor_outside_of_the_prefix(harness: Harness) -> None:
    """Keys, scan and scopes keep to a prefix with a cursor before it, inside of it and behind it."""
    store, scope, base = harness.store, harness.new_scope(), harness.new_scope()
    names = [f"{letter}{number}" for letter in "abc" for number in range(6)]
    fill(store, scope, {f"k{name}": name for name in names})
    for name in names:
        store.put(f"{base}{name}", "k", 1)
    _check_cursors(partial(everything, store.keys, scope), "k")
    _check_cursors(partial(everything, store.scan, scope), "k")
    _check_cursors(partial(everything, store.scopes), base)


@scenario("paging.cursor-outside-of-the-prefix-of-logs")
def cursor_outside_of_the_prefix_of_logs(harness: Harness) -> None:
    """Logs and log_scopes keep to a prefix with a cursor before it, inside of it and behind it."""
    store, scope, base = harness.store, harness.new_scope(), harness.new_scope()
    for name in [f"{letter}{number}" for letter in "abc" for number in range(6)]:
        store.append(scope, f"k{name}", [1])
        store.append(f"{base}{name}", "k", [1])
    _check_cursors(partial(everything, store.logs, scope), "k")
    _check_cursors(partial(everything, store.log_scopes), base)


def _text(number: int, size: int) -> str:
    """Return a str of its own whose JSON has so many bytes."""
    return f"{number:03}".ljust(size - 2, "x")


@scenario("paging.large-values-at-once", level="full")
def large_values_at_once(harness: Harness) -> None:
    """get_many gives 20 values of 1 MiB, put_many writes 20 of 512 KiB, and listings tell of all of them."""
    store, scope, half = harness.store, harness.new_scope(), harness.new_scope()
    keys = [f"{number:03}" for number in range(_LARGE)]
    for number, key in enumerate(keys):
        store.put(scope, key, _text(number, 2**20))
    found = store.get_many(scope, keys)
    assert [record and record.key for record in found] == keys
    assert all(record and record.value == _text(number, 2**20) for number, record in enumerate(found))
    assert everything(store.scan, scope) == everything(store.keys, scope) == keys
    assert store.put_many(half, {key: _text(number, 2**19) for number, key in enumerate(keys)}) == _LARGE
    assert everything(store.keys, half) == keys
    for number, key in enumerate(keys):
        record = store.get(half, key)
        assert record is not None, f"{key!r} was not written"
        assert record.value == _text(number, 2**19)
