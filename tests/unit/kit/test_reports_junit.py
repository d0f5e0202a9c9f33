"""The report as JUnit XML."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from holdall_conformance.reports.junit import to_junit
from holdall_conformance.reports.text import visible
from tests.unit.kit.reports_sample import HOSTILE, green, hostile, mixed, report, result

ALLOWED = re.compile("[\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")
CHILDREN = {
    "testsuites": ["testsuite"],
    "testsuite": ["properties", "testcase"],
    "properties": ["property"],
    "property": [],
    "testcase": ["failure", "skipped"],
    "failure": [],
    "skipped": [],
}
REQUIRED = {
    "testsuites": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "hostname"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"classname", "name", "time"},
    "failure": {"message", "type"},
    "skipped": {"message"},
}


def parsed(one):
    return ET.fromstring(to_junit(one))  # noqa: S314 - made right here


def check_schema(element):
    assert set(element.attrib) - {"timestamp"} == REQUIRED[element.tag]
    assert all(child.tag in CHILDREN[element.tag] for child in element)
    if element.tag == "testsuite":
        assert element[0].tag == "properties"
        assert [child.tag for child in element].count("properties") == 1
    if element.tag == "testcase":
        assert len(element) <= 1
    if "time" in element.attrib:
        assert re.fullmatch(r"\d+\.\d{3}", element.get("time"))
    if "timestamp" in element.attrib:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", element.get("timestamp"))
    for child in element:
        check_schema(child)


@pytest.mark.parametrize("make", [green, mixed, hostile, report], ids=["green", "mixed", "hostile", "empty"])
def test_the_document_keeps_the_rules_that_readers_share(make):
    check_schema(parsed(make()))


@pytest.mark.parametrize("make", [green, mixed, hostile], ids=["green", "mixed", "hostile"])
def test_the_counts_of_every_suite_and_of_all_are_those_of_its_cases(make):
    root = parsed(make())
    for element in [root, *root]:
        cases = list(element.iter("testcase"))
        assert int(element.get("tests")) == len(cases)
        assert int(element.get("failures")) == len(list(element.iter("failure")))
        assert int(element.get("skipped")) == len(list(element.iter("skipped")))
        assert element.get("errors") == "0"


def test_there_is_a_suite_for_each_group_and_side_and_a_case_for_each_result():
    root = parsed(mixed())
    assert [suite.get("name") for suite in root] == [
        "commits (sync)",
        "commits (async)",
        "fork (sync)",
        "logs (sync)",
        "logs (async)",
        "records (sync)",
        "records (async)",
        "values (sync)",
        "values (async)",
    ]
    cases = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert sorted(cases) == sorted(
        (f"holdall_conformance.{each.side}.{each.group}", each.id) for each in mixed().results
    )
    assert len(set(cases)) == len(cases)


def test_every_suite_has_versions_seed_and_capabilities():
    for suite in parsed(mixed()):
        found = {each.get("name"): each.get("value") for each in suite.iter("property")}
        assert found["seed"] == "20261130"
        assert found["version.psycopg"] == "3.2.3"
        assert found["environment.processors"] == "2"
        assert found["capability.max_value_bytes"] == "16 MiB"
        assert found["absent-operation.1"] == "truncate"
        assert found["verdict"] == mixed().verdict


def test_a_failure_has_its_reason_as_message_and_the_rest_as_text():
    failure = parsed(mixed()).find(".//failure")
    assert failure.get("message") == "the entries 998 and 1000 stand beside each other"
    for part in ("proves: What logs", "step 059: append(", "hint: Look at", "again: holdall check"):
        assert part in failure.text


def test_an_absent_clause_is_skipped_with_its_reason():
    messages = [each.get("message") for each in parsed(mixed()).iter("skipped")]
    assert messages == [
        "needs atomic_commit",
        "needs atomic_commit",
        "absent; no reason was given",
        "the operation truncate raises Unsupported",
    ]


def test_a_failure_without_words_still_fails():
    failure = parsed(report([result("a.b", "failed")])).find(".//failure")
    assert failure.get("message") == "the clause failed"


def test_times_are_utc_and_left_out_where_they_are_no_times():
    assert parsed(mixed())[0].get("timestamp") == "2026-11-30T16:34:51"
    assert "timestamp" not in parsed(hostile())[0].attrib


def test_no_character_that_xml_forbids_gets_in():
    everything = "".join(map(chr, [*range(0x300), *range(0xD7F0, 0x10010), 0x1FFFE, 0x10FFFF]))
    one = report([result("a.b", "failed", reason=everything, detail=everything, hint=everything)], subject=everything)
    for document in (to_junit(one), to_junit(hostile())):
        assert ALLOWED.fullmatch(document)
        assert document.encode()
    assert ET.fromstring(to_junit(one).encode()).find(".//failure").get("message") == visible(everything)  # noqa: S314


def test_hostile_text_comes_out_as_text():
    root = parsed(hostile())
    assert visible(HOSTILE) in root.get("name")
    assert {element.tag for element in root.iter()} == set(CHILDREN)
    assert root.find(".//skipped").get("message") == visible(HOSTILE)
