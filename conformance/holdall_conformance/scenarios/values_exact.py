"""Values come back exactly, by every way of reading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from holdall import TooLarge
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import (
    all_items,
    demand_any,
    has,
    identical,
    value_of,
    values_of,
)

_CHUNK = 50


def _comes_back(harness: Harness, values: list[Any], expected: list[Any] | None = None) -> None:
    """Write values as records and as entries, and compare what every reader gives back."""
    wanted = values if expected is None else expected
    store, scope = harness.store, harness.new_scope()
    keys = [f"{index:04}" for index in range(len(values))]
    demand_any(store, "put", "append")
    if has(store, "put", "get"):
        for key, value in zip(keys, values, strict=True):
            store.put(scope, key, value)
    if has(store, "put_many", "get"):
        store.put_many(scope, {f"many-{key}": value for key, value in zip(keys, values, strict=True)})
    if has(store, "append"):
        store.append(scope, "log", values)
    records: dict[str, Callable[[], list[Any]]] = {
        "get": lambda: [value_of(store, scope, key) for key in keys],
        "get_many": lambda: [record.value for record in store.get_many(scope, keys) if record is not None],
        "put_many": lambda: [value_of(store, scope, f"many-{key}") for key in keys],
        "scan": lambda: [record.value for record in all_items(store.scan, scope, "0", limit=10_000)],
        "iter_records": lambda: [record.value for record in store.iter_records(scope, "0")],
    }
    logs: dict[str, Callable[[], list[Any]]] = {
        "read": lambda: values_of(store.read(scope, "log")),
        "tail": lambda: values_of(store.tail(scope, "log", len(values))),
        "iter_entries": lambda: values_of(store.iter_entries(scope, "log")),
    }
    ways = {**(records if has(store, "put", "get") else {}), **(logs if has(store, "append") else {})}
    for way, read in ways.items():
        if not has(store, way):
            continue
        found = read()
        assert len(found) == len(wanted), f"{way} finds {len(found)} of {len(wanted)} values"
        wrong = [index for index, pair in enumerate(zip(found, wanted, strict=True)) if not identical(*pair)]
        assert not wrong, f"{way} changes {wanted[wrong[0]]!r:.80} to {found[wrong[0]]!r:.80}"


@scenario("values.small-ones-distinct")
def small_ones_distinct(harness: Harness) -> None:
    """The empty, null, false and zero values are told apart, and bool, int and float keep their types."""
    values: list[Any] = [None, False, True, 0, 1, 0.0, 1.0, "", [], {}, [None], {"a": None}, "null", "0", "false", [[]]]
    _comes_back(harness, [*values, [0, False, 0.0, "", None, [], {}], {"zero": 0, "no": False, "none": None}])


@scenario("values.ints-exact")
def ints_exact(harness: Harness) -> None:
    """Ints of any size up to 4,300 digits come back exactly."""
    edges = [2**exponent + step for exponent in (31, 53, 63, 64, 128) for step in (-1, 0, 1)]
    large = [10**40, 10**1000 + 7, 10**4300 - 1]
    _comes_back(harness, [sign * number for number in edges + large for sign in (1, -1)])


@scenario("values.ints-exact-inside")
def ints_exact_inside(harness: Harness) -> None:
    """Big ints come back exactly beside floats, texts and small ints in one value."""
    _comes_back(
        harness, [{"big": 2**64, "small": 1, "float": 1.5, "text": "18446744073709551616", "list": [-(2**63) - 1]}]
    )


@scenario("values.floats-exact")
def floats_exact(harness: Harness) -> None:
    """Floats come back bit by bit as floats: -0.0, the smallest, the largest, and whole numbers."""
    values = [0.0, -0.0, 0.1, 1 / 3, 1e16, 1e22, 1e23, 123456789012345680.0, 5e-324, 2.2250738585072014e-308]
    _comes_back(harness, [*values, 1.7976931348623157e308, -1e-7, 1e100, 2.0**53, [[[1.0, {"deep": -0.0}]]]])


@scenario("values.texts-exact")
def texts_exact(harness: Harness) -> None:
    """Texts come back exactly: NUL, the six characters backslash-u0000, controls, line ends, quotes, all planes."""
    controls = "".join(map(chr, range(128)))
    values = ["\x00", "\\u0000", "a\x00b", "\\", '"', "'", "\n", "\r\n", "\u2028\u2029", controls, "\x7f\x80\x9f"]
    values += ["\ufeff", "\ud7ff\ue000\uffff", "\U00010000\U0010ffff", "e\u0301", "\u00e9", "👩\u200d👩\u200d👧", " a "]
    values += ["</script>", "'; DROP TABLE records; --", "%s %d {0} $1 ?", "1e5", "NaN", "2024-01-01T00:00:00Z"]
    _comes_back(harness, values)


@scenario("values.field-names-opaque")
def field_names_opaque(harness: Harness) -> None:
    """Odd field names are data, not operators, paths, ids or columns of the backend."""
    names = ["a.b", "$set", "$ref", "$$ROOT", "__proto__", "_id", "", "version", "ttl", "expires", "key", "scope", "S"]
    names += [
        "N",
        "M",
        "L",
        "NULL",
        "payload",
        "mark",
        "\x00",
        "a\x00b",
        "e\u0301",
        "\u00e9",
        " ",
        "a b",
        '"',
        "\\",
        "😀",
        "0",
    ]
    values: list[Any] = [{name: number} for number, name in enumerate(names)]
    _comes_back(harness, [*values, {name: {name: [name]} for name in names}, {"S": "text"}, {"N": "1"}, {"$date": 0}])


@scenario("values.order-of-fields-kept")
def order_of_fields_kept(harness: Harness) -> None:
    """The fields of an object keep the order in which they were given."""
    backwards = {f"{number:03}": number for number in reversed(range(100))}
    _comes_back(
        harness, [backwards, {"b": 1, "a": {"z": 1, "y": 2, "aa": 3}}, {"longer": 1, "x": 2}, [{"b": 0, "a": 0}]]
    )


@scenario("values.tuples-and-subclasses-plain")
def tuples_and_subclasses_plain(harness: Harness) -> None:
    """Tuples read back as lists, and subclasses of str, int, float, list and dict as the plain types."""

    class Text(str):
        __slots__ = ()

    class Number(int):
        pass

    class Mapping(dict[str, Any]):
        pass

    values = [(1, (2, ())), {"t": ("a",)}, Text("text"), {Text("name"): Text("v")}, Number(7), Mapping(a=Text("b"))]
    expected = [[1, [2, []]], {"t": ["a"]}, "text", {"name": "v"}, 7, {"a": "b"}]
    _comes_back(harness, values, expected)


def _nested(depth: int, kind: str) -> Any:
    value: Any = "bottom"
    for level in range(depth):
        as_list = kind == "list" or (kind == "mixed" and level % 2)
        value = [value] if as_list else {"a": value}
    return value


@scenario("values.deep-as-promised")
def deep_as_promised(harness: Harness) -> None:
    """128 nested containers are taken and come back."""
    _comes_back(harness, [_nested(128, kind) for kind in ("list", "dict", "mixed")])


@scenario("values.wide", level="full")
def wide(harness: Harness) -> None:
    """Long lists, many fields and long texts come back whole."""
    _comes_back(harness, [list(range(20_000)), {f"field {number}": number for number in range(5_000)}, "é😀" * 50_000])


@scenario("values.many-sizes")
def many_sizes(harness: Harness) -> None:
    """Values of every size around the powers of two come back whole."""
    sizes = [size + step for size in (64, 256, 1024, 4096, 32_768, 65_536) for step in (-3, -2, -1, 0, 1)]
    _comes_back(harness, ["x" * size for size in sizes])


@scenario("values.other-handle-sees-the-same")
def other_handle_sees_the_same(harness: Harness) -> None:
    """What one handle wrote, another handle on the same storage reads exactly."""
    first, second, scope = harness.store, harness.open_store(), harness.new_scope()
    value = {"int": 2**70, "float": -0.0, "text": "\x00é😀", "list": [None, True]}
    version = first.put(scope, "k", value)
    first.append(scope, "k", [value])
    record = second.get(scope, "k")
    assert record is not None
    assert record.version == version
    assert identical(record.value, value)
    assert identical(values_of(second.read(scope, "k")), [value])


def _numbered(size: int) -> str:
    """Return a text of which no two parts are the same, whose JSON has so many bytes."""
    return "".join(f"{number:07}," for number in range(size // 8 + 1))[: size - 2]


@scenario("values.large-ones-in-order", level="full")
def large_ones_in_order(harness: Harness) -> None:
    """Large values, of which no two parts are the same, come back in order, or are TooLarge and write nothing."""
    store, scope, most = harness.store, harness.new_scope(), harness.capabilities.max_value_bytes
    sizes = [399_000, 401_000, 5_000_000]
    sizes += [unit * 1024 + step for unit in (256, 400, 1024) for step in (-1, 0, 1)]
    for size in sizes:
        key, value = f"{size}", _numbered(size)
        if size > most:
            for call in (
                lambda key=key, value=value: store.put(scope, key, value),
                lambda key=key, value=value: store.append(scope, key, [1, value]),
            ):
                with pytest.raises(TooLarge) as caught:
                    call()
                assert (caught.value.limit, caught.value.actual) == (most, size)
            assert store.get(scope, key) is None
            assert store.head(scope, key) is None
            continue
        store.put(scope, key, 1)
        store.put(scope, key, value)
        store.append(scope, key, ["before"])
        store.append(scope, key, [value])
        store.append(scope, key, ["behind"])
        assert value_of(store, scope, key) == value, f"a value of {size} bytes is changed"
        assert values_of(store.read(scope, key)) == ["before", value, "behind"], f"an entry of {size} bytes is changed"
        store.put(scope, key, "small")
        assert value_of(store, scope, key) == "small"
