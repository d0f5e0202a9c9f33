from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import hashlib
import json
import pathlib
import sys
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple, Self
from unittest import mock

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdall.codec import MAX_DEPTH, MAX_INT_DIGITS, decode, digest, encode
from holdall.errors import Corrupt, InvalidValue
from tests.unit import strict_codec
from tests.unit.strict_codec import exact

LARGEST = 10**MAX_INT_DIGITS - 1


class Text(str):
    __slots__ = ()


class Whole(int):
    pass


class Real(float):
    pass


class Items(list[object]):
    pass


class Fields(dict[str, object]):
    pass


class Point(NamedTuple):
    x: object
    y: object


class Colour(enum.Enum):
    RED = "secret"


class TextColour(str, enum.Enum):  # noqa: UP042
    RED = "secret"


class NewTextColour(enum.StrEnum):
    RED = "secret"


class Number(enum.IntEnum):
    ONE = 1


class Access(enum.Flag):
    READ = 1


class Unit(bytes, enum.Enum):
    METRE = b"secret"

    def __new__(cls, label: bytes) -> Self:
        unit = bytes.__new__(cls, label)
        unit._value_ = 1
        return unit

    def __repr__(self) -> str:
        return "Unit.METRE"


@dataclasses.dataclass
class Shape:
    name: str = "secret"


class RaisingMeta(type):
    def __hash__(cls) -> int:
        raise KeyError("secret")

    def __getattribute__(cls, name: str) -> object:
        raise KeyError("secret")

    def __subclasscheck__(cls, other: type) -> bool:
        raise KeyError("secret")


class Raising(metaclass=RaisingMeta):
    def __getattribute__(self, name: str) -> object:
        raise KeyError("secret")


class RaisingColour(enum.Enum):
    RED = 1

    @property
    def value(self) -> int:
        raise KeyError("secret")


def nested(depth: int, inner: object = None) -> object:
    value = inner
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def refusal(value: object) -> InvalidValue:
    with pytest.raises(InvalidValue) as caught:
        encode(value)
    with pytest.raises(InvalidValue) as again:
        digest([value])
    assert (again.value.path, again.value.message) == (caught.value.path, caught.value.message)
    assert "secret" not in str(caught.value)
    str(caught.value).encode()
    assert caught.value.__cause__ is None
    return caught.value


@pytest.fixture
def _int_limit() -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    yield
    sys.set_int_max_str_digits(before)


# ------------------------------------------------------------------------------------------------------------ accepted


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, False, 0, 1, -1, 0.0, -0.0, 1.0, "", [], {}, {"": ""}, [[]], [{}], {"a": {}}),
        *(2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, LARGEST, -LARGEST, 2**53 + 1),
        *(1e22, 1e16, 1e-7, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 123456789012345680.0),
        *("\0", "\n\r\u2028\u2029\x7f", '"\\/', "é", "e\u0301", "東京", "😀", "\ufeff", "\uffff", "\U0010ffff"),
        {"z": 1, "a": 2, "\0": 3, "é": 4, "😀": 5, " ": 6},
        [1, 1.0, True, "1", None, -0.0, 0, [10**30, -0.0, 1.0, True]],
    ],
)
def test_values_come_back_exactly(value: object) -> None:
    payload = encode(value)
    assert exact(decode(payload)) == exact(value)
    assert b"\n" not in payload


def test_the_edges_of_64_bits_come_back_exactly() -> None:
    for edge in (0, 2**31, 2**32, 2**53, 2**63, 2**64):
        for number in range(edge - 50, edge + 50):
            assert exact(decode(encode([number, -number]))) == exact([number, -number])


def test_only_ints_outside_64_bits_are_marked_by_one_space() -> None:
    assert encode({"a": [2**64]}) == b' {"a":[18446744073709551616]}'
    assert encode([-(2**63) - 1]) == b" [-9223372036854775809]"
    assert encode([2**64 - 1, -(2**63)]) == b"[18446744073709551615,-9223372036854775808]"
    assert encode([Text(" "), (1,), Fields(a=Whole(1))]) == b'[" ",[1],{"a":1}]'


@pytest.mark.parametrize(
    "value, plain",
    [
        ((1, (2, ())), [1, [2, []]]),
        (Text("text"), "text"),
        (Whole(7), 7),
        (Whole(10**30), 10**30),
        (Real(-0.0), -0.0),
        (Items([Items()]), [[]]),
        (Point(1, Point(2.0, None)), [1, [2.0, None]]),
        (Fields(b=1, a=2), {"b": 1, "a": 2}),
        ({Text("key"): Text("value")}, {"key": "value"}),
        (collections.defaultdict(list, a=[True]), {"a": [True]}),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        ([Text("é"), 2**70, Real(1)], ["é", 2**70, 1.0]),
    ],
)
def test_subclasses_come_back_plain(value: object, plain: object) -> None:
    assert exact(decode(encode(value))) == exact(plain)
    assert digest([value]) == digest([plain])


def test_an_ordered_dict_keeps_its_own_order() -> None:
    value = collections.OrderedDict(a=1, b=2)
    value.move_to_end("a")
    assert encode([value]) == b'[{"b":2,"a":1}]'


def test_methods_of_subclasses_are_not_called() -> None:
    def fail(*_args: object) -> Any:
        raise KeyError("secret")

    names = ["__iter__", "__len__", "__getitem__", "__str__", "__repr__", "__bool__", "__sub__", "__abs__", "__int__"]
    raising: dict[str, object] = dict.fromkeys(
        [*names, "__float__", "__eq__", "items", "keys", "values", "encode"], fail
    )
    raising |= {"__class__": property(fail), "__hash__": str.__hash__}
    for value in ({"a": 1}, [1, 2], (1, 2), "text", 5, 10**30, 1.5):
        kind = type("Quiet", (type(value),), raising)
        plain: object = list(value) if isinstance(value, tuple) else value
        assert exact(decode(encode([kind(value)]))) == exact([plain])


def test_shared_containers_are_no_cycle() -> None:
    shared = {"a": [1]}
    assert decode(encode([shared, {"b": shared}, (shared,)])) == [shared, {"b": shared}, [shared]]


@pytest.mark.parametrize("inner", [None, "é", 10**30, Text("x")])
def test_128_nested_containers_are_accepted_and_129_refused(inner: object) -> None:
    value = nested(MAX_DEPTH, inner)
    assert decode(encode(value)) == value
    assert digest([value]) == digest([decode(encode(value))])
    error = refusal(nested(MAX_DEPTH + 1, inner))
    assert error.path == "$" + ".a[0]" * (MAX_DEPTH // 2)
    assert "128 nested containers" in str(error)


@pytest.mark.parametrize("empty", [(), [], {}])
def test_an_empty_container_counts_as_one(empty: object) -> None:
    assert decode(encode(nested(MAX_DEPTH - 1, empty))) is not None
    refusal(nested(MAX_DEPTH, empty))


@pytest.mark.usefixtures("_int_limit")
def test_a_lower_limit_of_the_interpreter_refuses_writing_and_not_reading() -> None:
    payload = encode([LARGEST, -LARGEST, 10**639])
    sys.set_int_max_str_digits(640)
    assert decode(payload) == [LARGEST, -LARGEST, 10**639]
    assert decode(encode(10**639)) == 10**639
    error = refusal({"a": 10**640})
    assert error.path == "$.a"
    assert "sys.get_int_max_str_digits()" in str(error)


@pytest.mark.usefixtures("_int_limit")
@pytest.mark.parametrize("limit", [0, 4300, 10_000])
def test_a_higher_limit_of_the_interpreter_changes_nothing(limit: int) -> None:
    sys.set_int_max_str_digits(limit)
    assert decode(encode(LARGEST)) == LARGEST
    assert "more than 4,300 digits" in str(refusal([LARGEST + 1]))
    assert refusal([0, -LARGEST - 1]).path == "$[1]"
    with pytest.raises(Corrupt):
        decode(b" 1" + b"0" * MAX_INT_DIGITS)


# ------------------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    "value, message",
    [
        (float("nan"), "float that is NaN or infinite: store None"),
        (float("inf"), "float that is NaN or infinite"),
        (Real("-inf"), "float that is NaN or infinite"),
        ("secret \ud800", "str with a lone surrogate: store "),
        (Text("secret \udfff"), "str with a lone surrogate"),
        (b"secret", "bytes: store base64.b64encode(value).decode()"),
        (bytearray(b"secret"), "bytearray: store base64"),
        (memoryview(b"secret"), "memoryview: store base64"),
        (dt.datetime.now(dt.UTC), "datetime: store value.isoformat()"),
        (dt.date(2026, 1, 2), "date: store value.isoformat()"),
        (dt.time(1, 2), "time: store value.isoformat()"),
        (dt.timedelta(1), "timedelta: store value.total_seconds()"),
        (uuid.UUID(int=5), "UUID: store str(value)"),
        (decimal.Decimal(1), "Decimal: store str(value)"),
        (fractions.Fraction(1), "Fraction: store str(value)"),
        (pathlib.Path("secret"), "Path: store str(value)"),
        ({"secret"}, "set: store sorted(value)"),
        (frozenset(["secret"]), "frozenset: store sorted(value)"),
        (Shape(), "Shape: a dataclass; store dataclasses.asdict(value)"),
        (Colour.RED, "Colour: an enum member; store value.value"),
        (TextColour.RED, "TextColour: an enum member"),
        (NewTextColour.RED, "NewTextColour: an enum member"),
        (Number.ONE, "Number: an enum member"),
        (Access.READ, "Access: an enum member"),
        (Unit.METRE, "Unit: an enum member"),
        (RaisingColour.RED, "RaisingColour: an enum member"),
        (complex(1), "complex: store [value.real, value.imag]"),
        (range(3), "range: store list(value)"),
        (collections.deque(["secret"]), "deque: store list(value)"),
        ({}.keys(), "dict_keys: store what it consists of"),
        (object(), "object: store what it consists of"),
        (mock.Mock(spec=dict), "Mock: store what it consists of"),
        (orjson.Fragment(b"secret"), "Fragment: store what it consists of"),
        (..., "ellipsis: store"),
        (len, "builtin_function_or_method: store"),
        ({1: "secret"}, "key of type int: keys are str; use str(key)"),
        ({None: "secret"}, "key of type NoneType: keys are str"),
        ({True: "secret"}, "key of type bool: keys are str"),
        ({("secret",): 1}, "key of type tuple: keys are str"),
        ({b"secret": 1}, "key of type bytes: keys are str"),
        ({TextColour.RED: 1}, "key of type TextColour, an enum: use key.value"),
        ({Colour.RED: 1}, "key of type Colour, an enum: use key.value"),
    ],
)
def test_what_is_not_json_is_refused_with_its_path_and_a_mend(value: object, message: str) -> None:
    for wrapped, path in (
        (value, "$"),
        ({"messages": [0, 1, 2, {"odd key": value}]}, '$.messages[3]["odd key"]'),
        (Items([10**30, (Text(), value)]), "$[1][1]"),
    ):
        error = refusal(wrapped)
        assert error.path == path
        assert message in error.message
        assert f"(at {path})" in str(error)


def test_objects_whose_class_raises_are_refused_like_others() -> None:
    assert refusal([Raising()]).message == (
        "Raising: store what it consists of: dict, list, str, int, float, bool or None (at $[0])"
    )
    assert "RaisingMeta: store" in refusal({"a": Raising}).message
    assert "key of type Raising:" in refusal({"b": {Raising(): 1}}).message


@pytest.mark.parametrize("key", ["\ud800", "a\udfff", Text("\ud800")])
def test_a_lone_surrogate_in_a_key_is_shown_escaped(key: str) -> None:
    error = refusal([{"a": 1, key: 2}])
    assert error.path == f"$[0][{json.dumps(key)}]"
    assert "key with a lone surrogate" in str(error)


def test_keys_that_become_equal_are_refused() -> None:
    class Odd(Text):
        __slots__ = ()

        def __hash__(self) -> int:
            return 5

        def __eq__(self, other: object) -> bool:
            return self is other

    assert refusal({"a": 1, Odd("a"): 2}).path == "$.a"


@pytest.mark.parametrize(
    "key, step",
    [
        ("name", ".name"),
        ("größe", ".größe"),
        ("", '[""]'),
        ("a.b", '["a.b"]'),
        ("0", '["0"]'),
        ('quote"', '["quote\\""]'),
        ("line\nbreak", '["line\\nbreak"]'),
        ("\u202e", '["\\u202e"]'),
        ("x" * 40, "." + "x" * 40),
        ("x" * 41, '["' + "x" * 37 + '..."]'),
    ],
)
def test_a_path_shows_keys_quoted_where_needed_and_shortened(key: str, step: str) -> None:
    assert refusal({key: [b""]}).path == f"${step}[0]"


def test_a_long_path_is_whole_in_the_attribute_and_shortened_in_the_message() -> None:
    value: object = b""
    for _ in range(100):
        value = {"a long key, with spaces": value}
    error = refusal(value)
    assert error.path == "$" + '["a long key, with spaces"]' * 100
    assert len(str(error)) < 300


def test_cycles_are_named_where_they_close() -> None:
    items: list[object] = [1]
    items.append(items)
    fields: dict[str, object] = {"a": 1}
    fields["kids"] = [{"parent": fields}, {"parent": fields}]
    pair: tuple[list[object], int] = ([], 1)
    pair[0].append(pair)
    for value, path in ((items, "$[1]"), (fields, "$.kids[0].parent"), (pair, "$[0][0]"), ({"x": items}, "$.x[1]")):
        error = refusal(value)
        assert error.path == path
        assert "cycle" in str(error)


def test_a_cycle_with_many_ways_round_is_refused_at_once() -> None:
    items: list[object] = []
    items.extend([items] * 100_000)
    assert refusal(items).path == "$[0]"


@pytest.mark.parametrize("kind", [lambda inner: [inner], lambda inner: {"a": inner}, lambda inner: (inner,), Items])
def test_100_000_nested_containers_are_refused(kind: Any) -> None:
    value: Any = []
    for _ in range(100_000):
        value = kind([value]) if kind is Items else kind(value)
    assert "nested" in str(refusal(value))
    while value:
        value = value.popitem()[1] if isinstance(value, dict) else value[0]


# ------------------------------------------------------------------------------------------------------------- corrupt


@pytest.mark.parametrize(
    "payload",
    [
        *(b"", b" ", b"  ", b"\0", b"\0" * 4096, b" " + b"\0" * 100, b"{", b'{"a":', b'"abc', b"[1,", b"tru", b"1 2"),
        *(
            b'"\xff"',
            b' "\xff"',
            b"\xef\xbb\xbf1",
            b" \xef\xbb\xbf1",
            b'"\xed\xa0\x80"',
            b' "\xed\xa0\x80"',
            b"\x80\x04",
        ),
        *(
            b"NaN",
            b" NaN",
            b" -Infinity",
            b"Infinity",
            b"1e999",
            b" 1e999",
            b"'a'",
            b"[1,]",
            b"{1:2}",
            b'"\n"',
            b' "\n"',
        ),
        *(
            b"01",
            b" 01",
            b"+1",
            b"[" * 100_000,
            b" " + b"[" * 100_000,
            b" [1]\0",
            b"[1]\0",
            b"None",
            b" 1" + b"0" * 4300,
        ),
    ],
)
def test_what_is_not_json_is_corrupt(payload: bytes) -> None:
    with pytest.raises(Corrupt, match=f"a payload of {len(payload):,} bytes is not JSON"):
        decode(payload)


@pytest.mark.parametrize("value", [{"a": [1, "é", None, -0.5]}, {"a": [10**30, "é"]}, "text", [True]])
def test_every_truncation_is_corrupt(value: object) -> None:
    payload = encode(value)
    for length in range(len(payload)):
        with pytest.raises(Corrupt):
            decode(payload[:length])


@given(st.binary(max_size=30).flatmap(lambda tail: st.sampled_from([tail, b" " + tail, b'"' + tail, b"[" + tail])))
def test_garbage_is_corrupt_or_json(payload: bytes) -> None:
    try:
        value = decode(payload)
    except Corrupt:
        return
    assert exact(decode(payload)) == exact(value)


# -------------------------------------------------------------------------------------------------------------- digest


def test_digests_are_the_same_for_ever() -> None:
    values = [{"b": [1, 1.0, -0.0, True, None, "é\n"], "a": 10**30}, 1e22, 5e-324, 2**64 - 1]
    lines = (
        '{"a":1000000000000000000000000000000,"b":[1,1.0,-0.0,true,null,"é\\n"]}\n1e+22\n5e-324\n18446744073709551615\n'
    )
    assert digest(values) == digest(iter(values)) == hashlib.sha256(lines.encode()).hexdigest()
    assert digest(values) == "4d1f861ef6292bec9a442104a4caf470801dc001b3c99075a52a040387d7acb3"
    assert digest([]) == hashlib.sha256().hexdigest()


def test_digests_tell_values_apart() -> None:
    values: list[Any] = [
        *([], [[]], [{}], [None], [""], [1], [1.0], [True], ["1"], [0], [0.0], [-0.0], [False], ["null"]),
        *([1, 2], [2, 1], [[1, 2]], [[1], [2]], [[[1], [2]]], ["a\nb"], ["a", "b"], [12], [2**64], [float(2**64)]),
        *([{"a": 1}], [{"a": 1.0}], [{"a": 1}, {"b": 2}], [{"a": 1, "b": 2}], ["é"], ["e\u0301"]),
    ]
    assert len({digest(each) for each in values}) == len(values)


def test_digests_do_not_depend_on_key_order_or_subclasses() -> None:
    assert digest([{"a": {"x": 1, "y": 2}, "b": 3}]) == digest([{"b": 3, "a": {"y": 2, "x": 1}}])
    assert digest([Fields(a=(1, Text("é")))]) == digest([{"a": [1, "é"]}])


# ---------------------------------------------------------------------------------------------------------- properties

texts = st.text(max_size=8)
reals = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.integers() | st.integers(-(2**65), 2**65) | st.integers(60, 14_280).map(lambda bits: 1 - 2**bits) | reals
leaves = st.none() | st.booleans() | texts | numbers | texts.map(Text) | st.integers().map(Whole) | reals.map(Real)
keys = texts | texts.map(Text)


def containers(children: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    lists = st.lists(children, max_size=5)
    dicts = st.dictionaries(keys, children, max_size=5)
    return (
        lists
        | dicts
        | lists.map(tuple)
        | lists.map(Items)
        | st.builds(Point, children, children)
        | dicts.map(Fields)
        | dicts.map(collections.OrderedDict)
        | dicts.map(lambda items: collections.defaultdict(int, items))
    )


plain_values = st.recursive(
    st.none() | st.booleans() | texts | numbers,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)
values = st.recursive(leaves, containers)

BAD_LEAVES: list[object] = [
    *(float("nan"), float("inf"), Real("nan"), "\ud800", "a\udfffb", Text("\udc00"), b"", bytearray(), {1}, 1j),
    *(Colour.RED, TextColour.RED, NewTextColour.RED, Number.ONE, Access.READ, Unit.METRE, Shape(), object(), int),
    *(uuid.UUID(int=1), decimal.Decimal(1), dt.date(2026, 1, 1), LARGEST + 1, -LARGEST - 1, ...),
    *({1: 2}, {None: 1}, {"a": 1, TextColour.RED: 2}, {"\ud800": 1}, {"a": 1, Text("\udfff"): 1}, {(): 1}),
    *(
        dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        orjson.Fragment(b"1"),
        nested(129),
        nested(200),
        iter(()),
    ),
]
# By index, because hypothesis would show them all, and an int of more than 4,300 digits cannot be shown.
bad_leaves = st.integers(0, len(BAD_LEAVES) - 1).map(lambda index: BAD_LEAVES[index])
mixed_values = st.recursive(leaves | bad_leaves, containers)


def verdict(value: object) -> tuple[object, str | None]:
    try:
        return strict_codec.checked(value), None
    except strict_codec.RefusedError as error:
        return None, error.path


def agree(value: object) -> None:
    expected, refused = verdict(value)
    if refused is not None:
        assert refusal(value).path == refused
        return
    payload = encode(value)
    assert b"\n" not in payload
    assert exact(decode(payload)) == exact(expected) == exact(strict_codec.decode(strict_codec.encode(value)))
    assert encode(decode(payload)) == payload
    assert digest([value]) == digest([expected])


@settings(max_examples=400)
@given(values)
@example([2**64, 1.5, -0.0])
@example({"a": Text(), "b": 2**64})
def test_agrees_with_the_reference_on_good_values(value: object) -> None:
    agree(value)


@settings(max_examples=400)
@given(plain_values)
def test_agrees_with_the_reference_on_exact_types(value: object) -> None:
    agree(value)


@settings(max_examples=400)
@given(mixed_values)
def test_agrees_with_the_reference_on_bad_values(value: object) -> None:
    agree(value)


@settings(max_examples=400)
@given(
    st.lists(keys | st.integers(0, 3), max_size=6),
    bad_leaves.filter(lambda bad: not isinstance(bad, dict | list)),
    values,
)
def test_names_the_path_of_a_bad_value_anywhere(steps: list[str | int], bad: object, good: object) -> None:
    value, path = bad, ""
    for step in reversed(steps):
        if isinstance(step, int):
            value, path = [good] * step + [value], f"[{step}]{path}"
        else:
            value, path = {step + "\0": good, step: value, step + "\1": bad}, strict_codec.step(step) + path
    assert refusal(value).path == "$" + path


@given(reals, st.integers(-(2**63), 2**64 - 1))
def test_floats_and_64_bit_ints_come_back_by_either_library(real: float, whole: int) -> None:
    assert exact(decode(encode([real, whole]))) == exact([real, whole])
    assert exact(decode(encode([real, whole, 2**64]))) == exact([real, whole, 2**64])
    assert exact(decode(strict_codec.encode([real, whole]))) == exact([real, whole])


@given(st.integers(MAX_DEPTH - 5, MAX_DEPTH + 5), values)
def test_agrees_with_the_reference_on_depth(depth: int, inner: object) -> None:
    agree(nested(depth, inner))


@given(st.dictionaries(texts, plain_values, min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_digests_ignore_the_order_of_keys(fields: dict[str, object], random: Any) -> None:
    pairs = list(fields.items())
    random.shuffle(pairs)
    assert digest([[dict(pairs)]]) == digest([[fields]])


@given(plain_values, plain_values)
def test_digests_are_equal_only_for_equal_values(one: object, other: object) -> None:
    def canonical(value: object) -> str:
        return json.dumps(strict_codec.checked(value), sort_keys=True)

    assert (digest([one]) == digest([other])) == (canonical(one) == canonical(other))
    assert digest([one, other]) != digest([[one, other]])
