"""The badge."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from holdall_conformance.reports.badge import to_badge
from tests.unit.kit.reports_sample import green, hostile, mixed, report, result

SVG = "{http://www.w3.org/2000/svg}"


def parsed(one):
    return ET.fromstring(to_badge(one))  # noqa: S314 - made right here


@pytest.mark.parametrize(
    "one, message, colour",
    [
        (green(), "level full", "#1a7f37"),
        (report([result()], level="base"), "level base", "#1a7f37"),
        (mixed(), "2 failed", "#c62828"),
        (report(), "no verdict", "#57606a"),
        (report([result()], complete=False), "no verdict", "#57606a"),
        (report([result("a.b", "absent", reason="needs x")]), "no verdict", "#57606a"),
    ],
)
def test_message_and_colour_say_the_verdict(one, message, colour):
    root = parsed(one)
    assert [text.text for text in root.iter(f"{SVG}text")] == ["holdall conformance", message]
    assert root.findall(f"{SVG}g/{SVG}rect")[1].get("fill") == colour


def test_the_title_says_everything_to_those_who_do_not_see_it():
    root = parsed(mixed())
    assert root.get("role") == "img"
    title = root.find(f"{SVG}title")
    assert root.get("aria-labelledby") == title.get("id")
    assert title.text == "postgresql://app@db.example/test: does not conform: 2 of 12 clauses failed"


@pytest.mark.parametrize("one", [green(), mixed(), report(), report([result(f"a.{n}", "failed") for n in range(1234)])])
def test_the_texts_stand_within_their_halves(one):
    root = parsed(one)
    halves = root.findall(f"{SVG}g/{SVG}rect")
    assert float(root.get("width")) == pytest.approx(sum(float(half.get("width")) for half in halves))
    for half, text in zip(halves, root.iter(f"{SVG}text"), strict=True):
        left, width = float(half.get("x", "0")), float(half.get("width"))
        assert float(text.get("x")) == pytest.approx(left + width / 2)
        assert float(text.get("textLength")) == pytest.approx(width - 12)
        assert 4 < float(text.get("textLength")) / len(text.text) < 9


def test_hostile_text_comes_out_as_text():
    badge = to_badge(hostile())
    assert badge.encode()
    assert {element.tag.removeprefix(SVG) for element in ET.fromstring(badge).iter()} == {  # noqa: S314
        "svg",
        "title",
        "clipPath",
        "rect",
        "g",
        "text",
    }
