"""Prefixes are literal text, in every listing."""

from __future__ import annotations

from collections.abc import Callable

from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.listings import everything
from holdall_conformance.scenarios.support import (
    demand_any,
    fill,
    has,
)

_SPECIAL = [
    "%",
    "_",
    "*",
    "?",
    ".",
    "[",
    "]",
    "^",
    "$",
    "\\",
    "+",
    "(",
    ")",
    "{",
    "|",
    "/",
    "//",
    "'",
    '"',
    "#",
    "~",
    "\x00",
]


def _listings_agree(harness: Harness, names: list[str], prefixes: list[str]) -> None:
    """List by each prefix as records, logs and scopes, and compare with str.startswith."""
    store, scope, key = harness.store, harness.new_scope(), harness.new_key()
    names = sorted(set(names))
    fill(store, scope, dict.fromkeys(names, 0))
    for name in names:
        store.put(scope + name, key, 0)
        if has(store, "append"):
            store.append(scope, name, [0])
            store.append(scope + name, key, [0])
    listings: dict[str, Callable[[str], list[str]]] = {
        "scan": lambda prefix: everything(store.scan, scope, prefix),
        "keys": lambda prefix: everything(store.keys, scope, prefix),
        "iter_keys": lambda prefix: list(store.iter_keys(scope, prefix)),
        "iter_records": lambda prefix: [record.key for record in store.iter_records(scope, prefix)],
        "logs": lambda prefix: everything(store.logs, scope, prefix),
        "scopes": lambda prefix: _endings(everything(store.scopes, scope + prefix), scope),
        "log_scopes": lambda prefix: _endings(everything(store.log_scopes, scope + prefix), scope),
    }
    demand_any(store, *listings)
    for prefix in prefixes:
        expected = [name for name in names if name.startswith(prefix)]
        for listing, read in listings.items():
            if has(store, listing) and (has(store, "append") or "log" not in listing):
                assert read(prefix) == expected, f"{listing} by {prefix!r}"


def _endings(scopes: list[str], base: str) -> list[str]:
    """Return what follows the base in the names of scopes, without the base itself."""
    return [name.removeprefix(base) for name in scopes if name != base]


@scenario("keys.prefix-wildcards-literal")
def prefix_wildcards_literal(harness: Harness) -> None:
    """Characters that mean something to LIKE, GLOB, a regex or a path mean nothing in a prefix."""
    names = [
        "john-doe",
        "john_doe",
        "johnXdoe",
        "john",
        "a%",
        "a%b",
        "ab",
        "a\\b",
        "a\\%",
        "a*",
        "a[0]",
        "a.b",
        "aXb",
        "a?b",
    ]
    prefixes = ["john_", "john", "a%", "a\\", "a*", "a[", "a.", "a?", "a", "%", "_", "", "j%", "a\\%", "A", "JOHN"]
    _listings_agree(harness, names, prefixes)


@scenario("keys.prefix-each-special-character", level="full")
def prefix_each_special_character(harness: Harness) -> None:
    """Each special character at the start, in the middle and at the end of a prefix is itself."""
    names = [name for mark in _SPECIAL for name in (mark, f"a{mark}", f"a{mark}b", f"{mark}a")] + [
        "a",
        "ab",
        "aXb",
        "b",
    ]
    prefixes = [prefix for mark in _SPECIAL for prefix in (mark, f"a{mark}", f"a{mark}b")]
    _listings_agree(harness, names, prefixes)


@scenario("keys.prefix-at-the-edges-of-unicode", level="full")
def prefix_at_the_edges_of_unicode(harness: Harness) -> None:
    """Prefixes that end in the last code point of a plane, before the surrogates or of all find what they should."""
    edges = [
        "\x7f",
        "\x80",
        "\xff",
        "\u0100",
        "\u07ff",
        "\u0800",
        "\ud7ff",
        "\ue000",
        "\uffff",
        "\U00010000",
        "\U0010ffff",
    ]
    names = [name for edge in edges for name in (edge, f"{edge}a", f"a{edge}", f"a{edge}b", f"{edge}{edge}")]
    prefixes = [prefix for edge in edges for prefix in (edge, f"a{edge}", f"{edge}{edge}")]
    _listings_agree(harness, [*names, "a", "b", "a\U0010ffff\U0010ffffz"], [*prefixes, "a\U0010ffff\U0010ffff", "a"])


@scenario("keys.prefix-case-and-form-exact")
def prefix_case_and_form_exact(harness: Harness) -> None:
    """A prefix matches neither another case nor another Unicode normal form."""
    names = ["Foo", "foo", "FOO", "fo", "\u00e9a", "e\u0301a", "ea", "straße", "strasse", "STRASSE"]
    _listings_agree(harness, names, ["f", "F", "fo", "FO", "\u00e9", "e", "e\u0301", "straß", "strass", "s", "S"])


@scenario("keys.prefix-stays-in-its-scope")
def prefix_stays_in_its_scope(harness: Harness) -> None:
    """Listing one scope shows nothing of scopes whose names begin the same way."""
    store, base = harness.store, harness.new_scope()
    for ending in ("", "-corp", "/a", "a", "\x00", "\x00\x01a", "\U0010ffff"):
        store.put(base + ending, f"only {ending}", 1)
        if has(store, "append"):
            store.append(base + ending, f"only {ending}", [1])
    for ending in ("", "-corp", "/a", "a", "\x00", "\x00\x01a", "\U0010ffff"):
        assert list(store.keys(base + ending).items) == [f"only {ending}"]
        assert not has(store, "append") or list(store.logs(base + ending).items) == [f"only {ending}"]
        assert list(store.keys(base + ending, "a").items) == []


@scenario("keys.prefix-that-is-a-whole-key")
def prefix_that_is_a_whole_key(harness: Harness) -> None:
    """A prefix finds the key that equals it, and a prefix longer than every key finds nothing."""
    store, scope = harness.store, harness.new_scope()
    fill(store, scope, {"ab": 1, "abc": 2, "b": 3})
    assert list(store.keys(scope, "abc").items) == ["abc"]
    assert list(store.keys(scope, "ab").items) == ["ab", "abc"]
    assert list(store.keys(scope, "abcd").items) == []
    assert store.keys(scope, "abcd").next is None


@scenario("keys.prefix-with-cursor-outside")
def prefix_with_cursor_outside(harness: Harness) -> None:
    """A cursor before the prefix begins at the prefix, one behind it finds nothing."""
    store, scope = harness.store, harness.new_scope()
    fill(store, scope, {"a": 1, "ba": 2, "bb": 3, "c": 4})
    assert list(store.keys(scope, "b", after="a").items) == ["ba", "bb"]
    assert list(store.keys(scope, "b", after="b").items) == ["ba", "bb"]
    assert list(store.keys(scope, "b", after="ba").items) == ["bb"]
    assert list(store.keys(scope, "b", after="c").items) == []
    assert store.keys(scope, "b", after="c").next is None
    assert list(store.keys(scope, "", after="").items) == ["a", "ba", "bb", "c"]
    assert [record.key for record in store.scan(scope, "b", after="\U0010ffff").items] == []


@scenario("keys.at-the-promised-sizes")
def at_the_promised_sizes(harness: Harness) -> None:
    """Scopes of 128 bytes and keys of 512 bytes of UTF-8, of any characters, work in every operation."""
    store = harness.store
    fill = harness.new_scope()
    for character in ("a", "/", "%", ".", "é", "中", "😀", "\x00", "\U0010ffff", "A", " "):
        width = len(character.encode())
        scope = fill + character * ((128 - len(fill)) // width)
        key = character * (512 // width)
        sibling = key[:-1] + "b"
        store.put(scope, key, "record")
        store.put(scope, sibling, "sibling")
        store.append(scope, key, ["entry"])
        assert {record.key for record in store.scan(scope).items} == {key, sibling}, f"keys of {character!r}"
        assert list(store.logs(scope, key[:-1]).items) == [key]
        assert scope in store.scopes(scope[:-1]).items
        assert scope in store.log_scopes(scope).items
        assert store.delete(scope, key)
        assert list(store.keys(scope).items) == [sibling]
        assert store.drop(scope, key)
