"""The sample conversation: made by its generator, coherent, and as difficult as it claims to be."""

import base64
import json
import re
import runpy
import unicodedata
import zlib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "core" / "holdall" / "cli" / "demo_data" / "conversation.jsonl"


@pytest.fixture(scope="module")
def lines():
    return SAMPLE.read_bytes().decode().split("\n")[:-1]


@pytest.fixture(scope="module")
def entries(lines):
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def leaves(entries):
    """Every scalar and every empty container, with its depth."""

    def walk(value, depth):
        if isinstance(value, dict | list) and value:
            for each in value.values() if isinstance(value, dict) else value:
                yield from walk(each, depth + 1)
        else:
            yield value, depth

    return list(walk(entries, -1))


def blocks(entries, kind):
    """Content blocks of one type, with the position of their entry."""
    for position, entry in enumerate(entries):
        for block in entry.get("message", {}).get("content", []):
            if block["type"] == kind:
                yield position, block


def test_the_file_is_what_the_generator_writes():
    assert runpy.run_path(str(ROOT / "tools" / "make_conversation.py"))["render"]() == SAMPLE.read_bytes()


def test_size_and_form(lines, entries):
    assert len(lines) == 1_200
    assert len(set(lines)) == 1_200
    assert SAMPLE.stat().st_size < 900_000
    assert SAMPLE.read_bytes().endswith(b"\n")
    assert SAMPLE.read_text("utf-8").splitlines() == lines  # no character inside an entry that would break a line
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry["at"]) for entry in entries)
    assert [entry["at"] for entry in entries] == sorted(entry["at"] for entry in entries)
    assert len({entry["at"][:10] for entry in entries}) >= 5  # several days


def test_kinds_of_entries(entries):
    kinds = Counter(entry["type"] for entry in entries)
    assert kinds.keys() == {
        "message",
        "approval_request",
        "approval_decision",
        "steer",
        "compaction",
        "subagent",
        "subagent_report",
    }
    assert min(kinds.values()) >= 5
    roles = Counter(entry["message"]["role"] for entry in entries if entry["type"] == "message")
    assert roles.keys() == {"user", "assistant", "tool"}
    assert min(roles.values()) >= 200
    texts = Counter(block["text"] for _, block in blocks(entries, "text"))
    assert len(texts) >= 700
    assert max(texts.values()) <= 60
    names = {block["name"] for _, block in blocks(entries, "tool_call")}
    assert len(names) >= 12


def test_every_call_is_answered_once_and_before_the_next_turn(entries):
    open_calls = {}
    for entry in entries:
        message = entry.get("message", {}) if entry["type"] == "message" else {}
        if message.get("role") == "tool":
            assert message["tool_name"] == open_calls.pop(message["tool_call_id"])
        elif message:
            assert not open_calls
            calls = [block for block in message["content"] if block["type"] == "tool_call"]
            open_calls = {call["id"]: call["name"] for call in calls}
            assert ("tool_use" if calls else "stop") == message.get("stop_reason", "stop")
    assert not open_calls
    ids = [block["id"] for _, block in blocks(entries, "tool_call")]
    assert len(ids) == len(set(ids))


def test_approvals_refer_to_calls_and_precede_results(entries):
    calls = {block["id"]: block for _, block in blocks(entries, "tool_call")}
    decided = {}
    for position, entry in enumerate(entries):
        if entry["type"] == "approval_request":
            assert calls[entry["call"]["id"]] == entry["call"]
            decision, result = entries[position + 1 : position + 3]
            assert decision["type"] == "approval_decision"
            assert decision["call_id"] == entry["call"]["id"] == result["message"]["tool_call_id"]
            assert result["message"]["tool_error"] is not decision["approved"]
            decided[entry["call"]["id"]] = decision["approved"]
    assert set(decided.values()) == {True, False}


def test_queued_messages_are_read_once(entries):
    queued = {entry["id"]: entry["message"] for entry in entries if entry["type"] in {"steer", "subagent_report"}}
    read = [entry for entry in entries if "steer_id" in entry or "report_id" in entry]
    assert len(read) == len(queued)
    for entry in read:
        assert queued.pop(entry.get("steer_id") or entry["report_id"]) == entry["message"]
    started = [entry["session_id"] for entry in entries if entry["type"] == "subagent"]
    assert started == [entry["session_id"] for entry in entries if entry["type"] == "subagent_report"]


def test_compactions_keep_whole_turns(entries):
    for position, entry in enumerate(entries):
        if entry["type"] == "compaction":
            assert 0 <= entry["kept_from"] < position
            assert entries[entry["kept_from"]]["message"]["role"] == "user"
            assert entry["tokens_before"] > 5_000


def test_images_are_real(entries):
    found = list(blocks(entries, "image"))
    assert len(found) >= 10
    for _, block in found:
        assert block["mime_type"] == "image/png"
        data = base64.b64decode(block["data"], validate=True)
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        at, chunks = 8, {}
        while at < len(data):
            size = int.from_bytes(data[at : at + 4])
            kind, body, check = (
                data[at + 4 : at + 8],
                data[at + 8 : at + 8 + size],
                data[at + 8 + size : at + 12 + size],
            )
            assert int.from_bytes(check) == zlib.crc32(kind + body)
            chunks[kind] = body
            at += 12 + size
        width, height = int.from_bytes(chunks[b"IHDR"][:4]), int.from_bytes(chunks[b"IHDR"][4:8])
        assert len(zlib.decompress(chunks[b"IDAT"])) == height * (1 + 3 * width)


def test_difficult_values(leaves):
    scalars = [value for value, _ in leaves]
    ints = [value for value in scalars if type(value) is int]
    floats = [value for value in scalars if type(value) is float]
    assert max(ints) > 2**64
    assert any(2**53 < value < 2**63 for value in ints)
    assert any(str(value) == "-0.0" for value in floats)
    assert any(value.is_integer() and value for value in floats)  # must not come back as int
    assert any("e" in repr(value) for value in floats)
    assert 5e-324 in floats
    assert 3e300 in floats
    for each in ("", [], {}, None, True, False):
        assert any(value == each and type(value) is type(each) for value in scalars)
    assert max(depth for _, depth in leaves) >= 20


def test_difficult_text(entries, leaves):
    strings = [value for value, _ in leaves if isinstance(value, str)]
    whole = "\n".join(strings)
    scripts = ("CJK UNIFIED", "HIRAGANA", "ARABIC", "DEVANAGARI", "GREEK", "CYRILLIC", "HANGUL", "COMBINING")
    names = {unicodedata.name(character, "") for character in set(whole)}
    for script in scripts:
        assert any(name.startswith(script) for name in names), script
    for character in ("\x00", "\u2028", "\u2029", "\ufeff", "\u200d", "\r\n", "\t", "\\", '"', "\U0001f3fd"):
        assert character in whole, character
    assert any(unicodedata.normalize("NFC", value) != value for value in strings)
    assert any("```" in block["text"] and '\\"' in block["text"] for _, block in blocks(entries, "text"))
