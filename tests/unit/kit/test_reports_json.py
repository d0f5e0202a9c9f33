"""The report as JSON, and reading it back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from holdall_conformance.reports.json_report import UnusableReport, read_report, to_json
from tests.unit.kit.reports_sample import green, hostile, mixed, report, result


def written(tmp_path, content):
    path = tmp_path / "report.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def changed(**parts):
    return {**json.loads(to_json(mixed())), **parts}


@pytest.mark.parametrize("make", [green, mixed, report], ids=["green", "mixed", "empty"])
def test_a_report_comes_back_as_it_was(make, tmp_path):
    one = make()
    back = read_report(written(tmp_path, to_json(one)))
    assert back.results == one.results
    assert back.verdict == one.verdict
    assert to_json(back) == to_json(one)


def test_hostile_text_comes_back_as_it_was(tmp_path):
    started = "2026-11-30T17:34:51+00:00"
    one = report(hostile().results, subject=hostile().subject, remarks=hostile().remarks, started=started)
    back = read_report(written(tmp_path, to_json(one)))
    assert (back.results, back.subject, back.remarks) == (one.results, one.subject, list(one.remarks))


def test_scripts_find_the_verdict_at_the_top():
    found = json.loads(to_json(mixed()))
    assert list(found)[:3] == ["format", "verdict", "conforms"]
    assert (found["format"], found["conforms"]) == (1, False)
    assert found["capabilities"]["max_value_bytes"] == 16 * 2**20


def test_what_json_does_not_hold_becomes_text():
    declared = {"margin": float("inf"), "nan": float("nan"), "set": {"b", "a"}, "object": Path("a"), 5: (1, None)}
    found = json.loads(to_json(report(capabilities=declared)), parse_constant=pytest.fail)
    assert found["capabilities"] == {
        "margin": "inf",
        "nan": "nan",
        "set": ["a", "b"],
        "object": "a",
        "5": [1, None],
    }


def test_the_json_is_ascii_that_any_terminal_may_show():
    assert to_json(hostile()).isascii()


@pytest.mark.parametrize(
    "content, problem",
    [
        ("", "line 1, column 1"),
        ('{"format": 1,\n  oops}', "line 2, column 3"),
        ('{"format": NaN}', "no JSON that a report could hold"),
        ("[" * 100_000, "no JSON that a report could hold"),
        ("[]", "no report"),
        ({}, "no report"),
        (changed(format=2), "format 2, and this holdall reads format 1"),
        (changed(format="1"), "no report"),
        (changed(more=1), "more"),
        ({"format": 1, "results": []}, "no report of `holdall check --json`"),
        (changed(results=5), "no report"),
        (changed(results=[{"id": "a.b"}]), "proves"),
        (changed(results=["a"]), "no report"),
        (changed(subject=None), "'subject'"),
        (changed(level="best"), "'level'"),
        (changed(complete="yes"), "'complete'"),
        (changed(seed=True), "'seed'"),
        (changed(started="yesterday"), "'started'"),
        (changed(started=5), "'started'"),
        (changed(seconds="1"), "'seconds'"),
        (changed(effort=False), "'effort'"),
        (changed(versions={"holdall": 1}), "'versions'"),
        (changed(environment=[]), "'environment'"),
        (changed(capabilities=[]), "'capabilities'"),
        (changed(remarks="one"), "'remarks'"),
        (changed(absent_operations=[1]), "'absent_operations'"),
    ],
)
def test_what_is_no_report_is_refused_with_the_file_the_problem_and_the_remedy(content, problem, tmp_path):
    path = written(tmp_path, content)
    with pytest.raises(UnusableReport) as caught:
        read_report(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert problem in message
    assert "--json" in message or "holdall that wrote it" in message
    assert caught.value.path == path


@pytest.mark.parametrize(
    "part, value",
    [
        ("outcome", "skipped"),
        ("side", "both"),
        ("level", ""),
        ("seconds", None),
        ("id", 5),
        ("detail", None),
        ("hint", []),
    ],
)
def test_a_wrong_part_of_a_result_is_named_with_the_result(part, value, tmp_path):
    found = changed()
    found["results"][3][part] = value
    with pytest.raises(UnusableReport, match=f"'{part}' of result 3"):
        read_report(written(tmp_path, found))


def test_infinite_seconds_are_refused(tmp_path):
    with pytest.raises(UnusableReport, match="'seconds'"):
        read_report(written(tmp_path, to_json(mixed()).replace('"seconds": 83.4', '"seconds": 1e999')))


def test_a_file_that_is_not_there_or_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UnusableReport, match=r"nowhere\.json: there is no such file; write it anew"):
        read_report(tmp_path / "nowhere.json")
    with pytest.raises(UnusableReport, match=f"cannot be read: {os.strerror(21)}; name a file"):
        read_report(tmp_path)
    path = tmp_path / "latin.json"
    path.write_bytes(b'{"subject": "\xe9"}')
    with pytest.raises(UnusableReport, match="not UTF-8 at byte 13"):
        read_report(path)


def test_an_unusable_report_is_a_value_error(tmp_path):
    with pytest.raises(ValueError, match="no report"):
        read_report(written(tmp_path, {"result": result().id}))
