"""Scopes and keys: any text is one name, and no two texts are the same name."""

from __future__ import annotations

from holdall import Store
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.listings import everything
from holdall_conformance.scenarios.support import (
    demand_any,
    fill,
    has,
    lease_of,
    value_of,
    values_of,
)

_PATHS = [
    "a/b",
    "a//b",
    "/a/b",
    "a/b/",
    "a/./b",
    "a/../b",
    "../../x",
    "/abs",
    "C:\\x",
    "..",
    ".",
    "a",
    "/",
    "//",
    "~",
    "a\\b",
]
_FOLDED = [
    "Foo",
    "foo",
    "FOO",
    "foo ",
    " foo",
    "foo\t",
    "foo.",
    "strasse",
    "straße",
    "STRASSE",
    "ſ",
    "s",
    "K",
    "K",
    "k",
]
_FORMS = [
    "\u00e9",
    "e\u0301",
    "\u1e9b\u0323",
    "\u1e69",
    "\uac00",
    "\u1100\u1161",
    "ﬁ",
    "fi",
    "\u2126",
    "\u03a9",
    "İ",
    "i̇",
    "Ã©",
    "â\x82¬",
    "€",
]
_ODD = [
    "\x00",
    "a\x00",
    "a\x00b",
    "\x00a",
    "a",
    "\x01",
    "\n",
    "\r\n",
    "\t",
    "'",
    '"',
    "`",
    "$",
    "%",
    "_",
    "*",
    "?",
    "[a]",
    "\\",
]
_ODD += [
    "\x00\x01",
    "\x00\xff",
    "\xff",
    "%00",
    "%2F",
    "a%2Fb",
    "\\u0000",
    "😀",
    "😀" * 16,
    "👩\u200d🚀",
    "\u202e",
    "\ufeff",
    "\x7f",
]
_ODD += [
    "null",
    "None",
    "0",
    "true",
    "index",
    "CON",
    "nul.txt",
    "__proto__",
    "_id",
    "data.json",
    "x.tmp",
    ".hidden",
    "-r",
]


def _distinct_everywhere(harness: Harness, names: list[str]) -> None:
    """Use each name as key of a record, key of a log, scope and key of a lease, and find each again."""
    names = list(dict.fromkeys(names))
    store, scope, mark = harness.store, harness.new_scope(), harness.new_key()
    demand_any(store, "put", "append")
    if has(store, "put", "get"):
        _distinct_records(store, scope, mark, names)
    if has(store, "append", "read"):
        _distinct_logs(store, scope, mark, names)


def _distinct_records(store: Store, scope: str, mark: str, names: list[str]) -> None:
    for index, name in enumerate(names):
        store.put(scope, name, index)
        store.put(name, mark, index)
    for listing in ("keys", "scan"):
        if has(store, listing):
            assert everything(getattr(store, listing), scope) == sorted(names), listing
    for index, name in enumerate(names):
        assert value_of(store, scope, name) == index, f"{name!r} is another key's"
        assert value_of(store, name, mark) == index, f"{name!r} is another scope's"
    for name in names:
        assert store.delete(scope, name)
        assert store.get(scope, name) is None
        assert store.delete(name, mark)
    assert not has(store, "keys") or list(store.keys(scope).items) == []


def _distinct_logs(store: Store, scope: str, mark: str, names: list[str]) -> None:
    for index, name in enumerate(names):
        store.append(scope, name, [index])
        store.append(name, mark, [index])
    assert not has(store, "logs") or everything(store.logs, scope) == sorted(names)
    for index, name in enumerate(names):
        assert values_of(store.read(scope, name)) == [index], f"{name!r} is another log's"
        assert values_of(store.read(name, mark)) == [index], f"{name!r} is another scope's"
    for name in names:
        assert store.drop(scope, name)
        assert store.drop(name, mark)


@scenario("keys.paths-distinct")
def paths_distinct(harness: Harness) -> None:
    """Names that a file system or a URL would fold together or climb out of are distinct and harmless."""
    _distinct_everywhere(harness, _PATHS)


@scenario("keys.case-distinct")
def case_distinct(harness: Harness) -> None:
    """Names that differ in case, in a space at the end, or by a case folding are distinct."""
    _distinct_everywhere(harness, _FOLDED)


@scenario("keys.unicode-forms-distinct")
def unicode_forms_distinct(harness: Harness) -> None:
    """Names that differ only in their Unicode normal form are distinct and are listed as they were given."""
    _distinct_everywhere(harness, _FORMS)


@scenario("keys.odd-characters")
def odd_characters(harness: Harness) -> None:
    """NUL, controls, quotes, wildcards, escapes, emoji and reserved words are plain names."""
    _distinct_everywhere(harness, _ODD)


@scenario("keys.all-ascii", level="full")
def all_ascii(harness: Harness) -> None:
    """Each ASCII character alone and inside a name makes a name of its own."""
    store, scope = harness.store, harness.new_scope()
    names = [template.format(chr(code)) for code in range(128) for template in ("{}", "a{}b")]
    names = list(dict.fromkeys(names))
    fill(store, scope, {name: name for name in names})
    assert everything(store.keys, scope) == sorted(names)
    assert [value_of(store, scope, name) for name in names] == names
    if has(store, "append"):
        for name in names:
            store.append(scope, name, [name])
        assert everything(store.logs, scope) == sorted(names)
        assert [values_of(store.read(scope, name)) for name in names] == [[name] for name in names]


@scenario("keys.two-hundred-distinct")
def two_hundred_distinct(harness: Harness) -> None:
    """200 names that differ in one late character are distinct, also where they are as long as promised."""
    store, scope = harness.store, harness.new_scope()
    names = [f"{'p' * 508}{number:04}" for number in range(200)]
    fill(store, scope, {name: number for number, name in enumerate(names)})
    assert everything(store.keys, scope) == names
    assert [value_of(store, scope, name) for name in names] == list(range(200))


@scenario("keys.scope-and-key-not-joined")
def scope_and_key_not_joined(harness: Harness) -> None:
    """Pairs of scope and key that any joining by a separator would mix up are distinct records and logs."""
    store, base = harness.store, harness.new_scope()
    separators = ["/", ":", "::", ".", "-", "#", "|", "\x00", "\x00\x01", "\x01", "\\", "%", "\x1f", "~", ""]
    pairs = []
    for separator in separators:
        pairs += [(f"{base}{separator}a", f"b{separator}c"), (f"{base}{separator}a{separator}b", "c")]
        pairs += [
            (base, f"a{separator}b{separator}c"),
            (f"{base}{separator}", f"{separator}a"),
            (base, f"{separator * 2}a"),
        ]
    pairs = list(dict.fromkeys((scope, key) for scope, key in pairs if key))
    for index, (scope, key) in enumerate(pairs):
        store.put(scope, key, index)
        if has(store, "append"):
            store.append(scope, key, [index])
    for index, (scope, key) in enumerate(pairs):
        assert value_of(store, scope, key) == index, f"{scope!r} and {key!r} are mixed up with another pair"
        entries = values_of(store.read(scope, key)) if has(store, "append") else [index]
        assert entries == [index], f"{scope!r} and {key!r} are mixed up with another pair"


@scenario("keys.records-and-logs-apart")
def records_and_logs_apart(harness: Harness) -> None:
    """A record and a log of the same scope and key know nothing of each other."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "k", "record", fence=9)
    assert store.head(scope, "k") is None
    assert list(store.log_scopes(scope).items) == []
    store.append(scope, "k", ["entry"], fence=1)
    assert store.delete(scope, "k", fence=9)
    assert values_of(store.read(scope, "k")) == ["entry"]
    store.put(scope, "k", "record", fence=9)
    assert store.drop(scope, "k", fence=1)
    assert value_of(store, scope, "k") == "record"
    assert list(store.logs(scope).items) == []


@scenario("keys.clear-spares-longer-scopes")
def clear_spares_longer_scopes(harness: Harness) -> None:
    """Clearing a scope leaves every scope whose name begins with its name, and its own logs."""
    store, base = harness.store, harness.new_scope()
    others = [f"{base}{ending}" for ending in ("bar", "/", ":", "\x00", "\x00\x01", "\U0010ffff", " ")] + [base[:-1]]
    for scope in [base, *others]:
        fill(store, scope, {"a": 1, "b": 2})
    store.append(base, "log", [1])
    assert store.clear(base) == 2
    assert list(store.keys(base).items) == []
    assert store.head(base, "log") is not None
    for scope in others:
        assert list(store.keys(scope).items) == ["a", "b"], f"clearing {base!r} reached into {scope!r}"


@scenario("keys.paths-as-other-names")
def paths_as_other_names(harness: Harness) -> None:
    """Names that look like paths are plain as keys of leases and flags, as owners and as batch ids, each on its own."""
    store, lock, base, scope = harness.store, harness.lock, harness.new_key(), harness.new_scope()
    shapes = ("{}", "../../{}", "/{}", "//{}", "C:\\{}", "{}/..", "../{}", "./{}", "{}/.", "{}/", "{}/../{}", "..\\{}")
    names = [shape.format(base, base) for shape in shapes]
    leases = {name: lease_of(lock, name, owner=name) for name in names}
    for number, name in enumerate(names):
        lock.set_flag(name)
        assert store.append(scope, "k", [number], batch_id=name).start == number
    for number, name in enumerate(names):
        holder = lock.holder(name)
        assert holder is not None
        assert holder.owner == name
        assert lock.release(leases[name]) is True
        lock.clear_flag(name)
        assert [lock.held(other) for other in names] == [other > number for other in range(len(names))]
        assert [lock.flag(other) for other in names] == [other > number for other in range(len(names))]
        assert store.append(scope, "k", [number], batch_id=name).start == number
    assert values_of(store.read(scope, "k")) == list(range(len(names)))
