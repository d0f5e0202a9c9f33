from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdall import InvalidKey, TooLarge
from holdall.derived import layout
from holdall.keys import check_name, encode_text, prefix_end, split_text, text_after

TEXT = st.text(max_size=8) | st.text(alphabet="\x00\x01ab\uffff\U0010ffff\ud7ff\ue000", max_size=6)


@given(TEXT, TEXT)
def test_encoding_keeps_order_and_ends_itself(left, right):
    assert (encode_text(left) < encode_text(right)) == (left < right)
    assert split_text(encode_text(left) + right.encode()) == (left, right.encode())


@given(TEXT, TEXT, TEXT, TEXT)
def test_pairs_stay_apart(scope, key, other_scope, other_key):
    same = (scope, key) == (other_scope, other_key)
    encoded = layout.named(layout.RECORD, scope, key)
    assert (encoded == layout.named(layout.RECORD, other_scope, other_key)) == same
    assert layout.split_named(encoded) == (scope, key)


@given(TEXT, TEXT)
def test_prefix_of_text_is_prefix_of_key(text, prefix):
    encoded = layout.named(layout.RECORD, "s", text)
    assert encoded.startswith(layout.named(layout.RECORD, "s", prefix)) == text.startswith(prefix)
    scope = layout.named(layout.RECORD, text, "k")
    assert scope.startswith(layout.scope_prefix(layout.RECORD, prefix)) == text.startswith(prefix)


@given(TEXT, TEXT)
def test_text_after_bounds_all_that_begin_with_a_prefix(prefix, text):
    end = text_after(prefix)
    inside = text >= prefix and (end is None or text < end)
    assert inside == text.startswith(prefix)


@given(st.binary(max_size=4), st.binary(max_size=6))
def test_prefix_end(prefix, data):
    end = prefix_end(prefix)
    assert data.startswith(prefix) == (data >= prefix and (end is None or data < end))


@pytest.mark.parametrize("name", ["", None, 3, b"k", "a\ud800", "\udc88"])
def test_refused(name):
    with pytest.raises(InvalidKey):
        check_name("key", name, 100)


def test_length_counts_bytes():
    assert check_name("key", "ä" * 5, 10) == "ä" * 5
    with pytest.raises(TooLarge) as caught:
        check_name("key", "ä" * 6, 10)
    assert (caught.value.limit, caught.value.actual) == (10, 12)


def test_subclass_comes_back_plain():
    class Name(str):
        __slots__ = ()

    assert type(check_name("key", Name("k"), 10)) is str
