"""What the golden cases do not reach: bounds of arguments, estimates, the reserve, and events as a host sends them."""

from __future__ import annotations

import json

import pytest

from holdall import HoldallError
from holdall.sessions import Event, Image, InvalidMessage, Message, Text, Thinking, ToolCall, Usage
from holdall.sessions.arguments import ARGUMENTS_ERRORS, bounded_arguments
from holdall.sessions.blocks import call_of
from holdall.sessions.gauge import estimate, gauge, needs_compaction


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


def cyclic():
    value = {}
    value["self"] = [value]
    return value


def brief(value):
    """Name a value in the id of a test, however long it is."""
    return type(value).__name__


@pytest.mark.parametrize(
    "value", [None, 1, "x", nested(64), [0] * 9_999, {"a": [True, 1.5]}, [[]] * 3, 10**60_000], ids=brief
)
def test_arguments_within_the_bounds_stay_as_they_are(value):
    assert bounded_arguments(value) == (value, None)


@pytest.mark.parametrize(
    "value, error",
    [
        (nested(65), "too_deep"),
        ([0] * 10_000, "too_large"),
        (["x" * 2**20] * 9, "too_large"),
        ({1: "v"}, "invalid_key"),
        (cyclic(), "cyclic_value"),
        (float("inf"), "non_finite_number"),
        ("\ud800", "invalid_encoding"),
        ({"\ud800": 1}, "invalid_encoding"),
        (10**70_000, "number_too_large"),
        ({"k": object()}, "non_json_value"),
        (b"bytes", "non_json_value"),
    ],
    ids=brief,
)
def test_arguments_beyond_them_are_named_and_not_kept(value, error):
    assert bounded_arguments(value) == (None, error)
    assert error in ARGUMENTS_ERRORS


def test_an_error_that_is_not_known_reads_back_as_invalid_arguments():
    told = {"type": "tool_call", "id": "c", "name": "n", "arguments": {"a": 1}, "arguments_error": "from the future"}
    assert call_of(told) == ToolCall("c", "n", None, arguments_error="invalid_arguments")


@pytest.mark.parametrize(
    "message, tokens",
    [
        (Message.user("x" * 400), 100),
        (Message.user("x" * 401), 101),
        (Message.user("日本語の文"), 2),
        (Message.user(None), 0),
        (Message.assistant(calls=[ToolCall("c", "lookup", {"q": "ruby"})]), 5),
        (Message.assistant(calls=[ToolCall("c", "n", None)]), 2),
        (Message.user(" ", [Image("QUJD", "image/png")]), 1_200),
        (Message("assistant", (Thinking("abcdefgh", "signature"),)), 2),
    ],
)
def test_estimates(message, tokens):
    assert estimate(message) == tokens


def test_what_was_reported_counts_and_the_rest_is_estimated():
    usage = Usage(input=10, output=5, cache_read=3, cache_write=2, reasoning=99)
    history = [Message.user("x" * 4_000), Message.assistant("a", usage=usage), Message.user("abcde")]
    assert gauge(history) == (22, 20, 2)
    assert gauge(history, 2) == (1_000 + 1 + 2, 0, 0)
    failed = [Message.user("x" * 40), Message.assistant("a", usage=usage, stop_reason="error")]
    assert gauge(failed).reported == 0


@pytest.mark.parametrize(
    "tokens, named, needed",
    [
        (900, {"window": 1_000, "reserve": 100}, False),
        (901, {"window": 1_000, "reserve": 100}, True),
        (983_616, {"window": 1_000_000}, False),
        (983_617, {"window": 1_000_000}, True),
        (867_904, {"window": 1_000_000, "most_output": 128_000}, False),
        (867_905, {"window": 1_000_000, "most_output": 128_000}, True),
        (10**9, {"window": None}, False),
    ],
)
def test_when_a_compaction_is_needed(tokens, named, needed):
    assert needs_compaction(tokens, **named) is needed


def test_an_event_goes_to_a_browser_as_server_sent():
    event = Event("text_delta", content_index=0, delta="a\nb é", partial=object())
    kind, data, *rest = event.to_server_sent().split("\n")
    assert (kind, rest) == ("event: text_delta", ["", ""])
    assert json.loads(data.removeprefix("data: ")) == event.to_map()
    assert "partial" not in event.to_map()


def test_messages_are_made_as_one_says_them():
    image = Image("QUJD", "image/png")
    assert Message.user("look", [image]).content == (Text("look"), image)
    call = ToolCall("c", "write", {"path": "/x"})
    assert Message.tool(call, "done").to_map() == {
        "role": "tool",
        "content": [{"type": "text", "text": "done"}],
        "tool_call_id": "c",
        "tool_name": "write",
        "tool_error": False,
    }
    with pytest.raises(InvalidMessage, match="content") as refused:
        Message.of({"role": "user", "content": "hi"})
    assert isinstance(refused.value, HoldallError)
