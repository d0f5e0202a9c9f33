"""Reading conversation files: what is taken, what is refused and how."""

import json

import pytest

from holdall.cli.conversation import BadInput, Conversation, read_values, survey
from holdall.codec import digest


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "talk.jsonl"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    "content, said",
    [
        ("", "holds no entries"),
        ("\n \n", "holds no entries"),
        ('{"a":1}\n{"a":NaN}\n', "line 2: float that is NaN or infinite"),
        ("1e999\n", "line 1: float that is NaN or infinite"),
        ('{"a":1}\n\n{"a":\n', "line 3: is not JSON: Expecting value at column"),
        ('"\\ud800"\n', "line 1: str with a lone surrogate"),
        (b'{"a":1}\n\xff\xfe\n', "line 2: is not UTF-8: invalid start byte at byte 1"),
        ("1 2\n", "line 1: is not JSON: Extra data"),
        ("[" * 200_000, "line 1: is nested too deeply"),
        ("[" * 129 + "]" * 129, "line 1: more than 128 nested containers"),
        ("9" * 5_000, "line 1: cannot be kept exactly"),
        ('{"a": 1, "a": 2}', "the same key twice"),
        (json.dumps("x" * 50).encode("utf-16"), "line 1: is not UTF-8"),
    ],
)
def test_what_cannot_be_stored_names_its_line(file, content, said):
    with pytest.raises(BadInput) as caught:
        survey(file(content))
    assert said in caught.value.message
    assert "talk.jsonl" in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    "content, values",
    [
        ("1", [1]),
        ('\ufeff{"a":1}\r\n\r\n[2]\r\n', [{"a": 1}, [2]]),
        (
            '  {"a": 1.0}  \n\n\n"\u2028 \U0001f600"\n-0.0\n18446744073709551616',
            [{"a": 1.0}, "\u2028 \U0001f600", -0.0, 2**64],
        ),
        ("null\nnull", [None, None]),
    ],
)
def test_what_can_is_read_exactly(file, content, values):
    path = file(content)
    found = survey(path)
    assert found.entries == len(values)
    assert found.digest == digest(values)
    assert repr([value for _, value in read_values(path)]) == repr(values)
    conversation = Conversation(path, found.entries)
    assert repr(conversation.batch(0, 10, 10**6)) == repr(values)
    assert [conversation.batch(position, 1, 10**6) for position in range(len(values))] == [[value] for value in values]
    assert conversation.batch(len(values), 1, 10**6) == []


def test_batches_are_bounded_by_bytes_but_never_empty(file):
    path = file("\n".join(json.dumps("x" * 98) for _ in range(10)))
    conversation = Conversation(path, 10)
    assert [len(conversation.batch(0, 10, room)) for room in (1, 100, 250, 10_000)] == [1, 1, 2, 10]
    assert survey(path).largest == 100


def test_a_file_that_grows_is_read_as_far_as_it_was(file):
    path = file("1\n2\n")
    conversation = Conversation(path, survey(path).entries)
    path.write_text("1\n2\n3\n")
    assert conversation.batch(0, 10, 1000) == [1, 2]
    assert [value for _, value in read_values(path, 2)] == [1, 2]
