"""The report on a terminal, and the text that all forms share."""

from __future__ import annotations

import re
import shlex
import unicodedata

import pytest

from holdall_conformance.reports.absences import absences_of
from holdall_conformance.reports.terminal import to_text
from holdall_conformance.reports.text import command_of, counted, declared, duration, joined, rerun_of, visible
from tests.unit.kit.reports_sample import HOSTILE, both_sides, green, hostile, mixed, report, result


def rows_of(text):
    return {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}


def test_text_keeps_what_prints_and_escapes_everything_else():
    assert visible("naïve 日本 🙂") == "naïve 日本 🙂"
    assert visible("a\x1b[0m\x9b\u202e\ud800\ufffe\n\t\r\x00") == r"a\x1b[0m\x9b\u202e\ud800\ufffe\n\t\r\x00"
    assert visible("\U000e0001") == r"\U000e0001"


def test_every_code_point_comes_out_as_something_that_prints_and_encodes():
    text = visible("".join(map(chr, range(0x110000))))
    assert not {unicodedata.category(each) for each in text} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert text.encode()


def test_line_ends_stay_only_where_they_are_wanted():
    assert visible("a\r\nb\tc\n\rd", lines=True) == "a\nb       c\n\\rd"


@pytest.mark.parametrize(
    "seconds, shown",
    [
        (0.00012, "0.12 ms"),
        (0.5, "500 ms"),
        (1.25, "1.25 s"),
        (12.34, "12.3 s"),
        (59.9, "59.9 s"),
        (3725.4, "62 min 5 s"),
    ],
)
def test_times_read_as_a_person_says_them(seconds, shown):
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    "name, value, shown",
    [
        ("persistent", True, "yes"),
        ("atomic_commit", False, "no"),
        ("min_ttl", 0.01, "0.01 s"),
        ("expiry_margin", 2, "2 s"),
        ("max_value_bytes", 16 * 2**20, "16 MiB"),
        ("max_value_bytes", 1_000_000, "1,000,000 B"),
        ("max_value_bytes", 0, "0 B"),
        ("max_batch_entries", 10_000, "10,000"),
        ("expiry_clock", "boot\n", r"boot\n"),
        ("other", None, "None"),
    ],
)
def test_capabilities_read_with_their_units(name, value, shown):
    assert declared(name, value) == shown


def test_things_and_words_are_listed_as_a_person_does():
    assert [counted(1, "clause"), counted(2_000, "clause")] == ["1 clause", "2,000 clauses"]
    assert [joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def test_commands_are_ready_for_a_shell():
    one = report(subject="file:///a b/$HOME;rm", seed=7, effort=2.5, level="base")
    words = ["holdall", "check", "file:///a b/$HOME;rm", "--only", "values.exact", "--seed", "7", "--effort", "2.5"]
    assert shlex.split(rerun_of(one, result("values.exact"))) == words
    words = ["holdall", "check", "a b", "--level", "full", "--seed", "20261130"]
    assert shlex.split(command_of(report(subject="a b"))) == words


def test_a_clause_is_tried_again_at_its_level_and_on_its_side():
    one = report(both_sides(result("a.b", "failed")))
    words = ["--only", "a.b", "--side", "async", "--level", "full", "--seed", "20261130"]
    assert shlex.split(rerun_of(one, one.failures[1]))[3:] == words


def test_the_table_counts_every_group_of_each_side():
    rows = rows_of(to_text(mixed()))
    assert rows["logs"] == ["-", "1", "-", "0.01", "-", "-", "1", "0.00"]
    assert rows["values"] == ["1", "-", "-", "0.01", "1", "1", "-", "0.04"]
    assert rows["fork"] == ["-", "-", "1", "0.00", "-", "-", "-", "-"]
    assert rows["total"] == ["3", "1", "2", "12.54", "3", "1", "2", "25.06"]


def test_one_side_alone_has_no_second_set_of_columns():
    text = to_text(report([result("values.a"), result("values.b", "absent", reason="needs cross_host")]))
    assert rows_of(text)["values"] == ["1", "-", "1", "0.02"]
    assert "async" not in text


def test_a_failure_is_told_whole():
    text = to_text(mixed())
    start, end = text.index("FAILED logs.no-gaps"), text.index("FAILED values.exact-floats (async)")
    block = text[start:end]
    assert "(sync)" in block.splitlines()[0]
    assert "reason:  the entries 998 and 1000 stand beside each other" in block
    assert "      step 059: append(scope='kit-5f1c'" in block
    assert "hint:    Look at how" in block
    assert f"again:   {rerun_of(mixed(), mixed().failures[0])}\n" in block


def test_a_failure_that_says_nothing_still_has_its_reason_and_command():
    text = to_text(report([result("values.a", "failed")]))
    assert "reason:  none was given" in text
    assert "hint:" not in text
    assert "--only values.a" in text


def test_no_absent_clause_is_left_out_of_the_reasons():
    for one in (mixed(), green()):
        absent = {(each.id, each.side) for each in one.results if each.outcome == "absent"}
        told = {
            (name, side)
            for absence in absences_of(one)
            for name in absence.ids
            for side in ([absence.only] if absence.only else ["sync", "async"])
        }
        assert told == absent


def test_absences_are_counted_by_reason():
    text = to_text(green())
    assert "absent: 14 clauses need atomic_commit (commits 7, transactions 7)" in text
    text = to_text(mixed())
    assert "absent: 1 clause needs atomic_commit (commits 1)" in text
    assert "absent: 1 clause on the sync side: no reason was given (fork 1)" in text


def test_the_most_frequent_reason_comes_first():
    absent = [result(f"a.{number}", "absent", reason="rare" if number == 0 else "usual") for number in range(4)]
    assert [(each.reason, len(each.ids), each.only) for each in absences_of(report(absent))] == [
        ("usual", 3, None),
        ("rare", 1, None),
    ]


@pytest.mark.parametrize(
    "make, last",
    [
        (green, "conforms at level full"),
        (mixed, "does not conform: 2 of 12 clauses failed"),
        (report, "no verdict: no clause applies"),
        (lambda: report([result("a.b", "absent", reason="needs x")]), "no verdict: no clause applies"),
    ],
)
def test_the_verdict_is_the_last_line(make, last):
    assert to_text(make()).endswith(f"\n\n{last}\n")


def test_remarks_versions_seed_and_environment_are_shown():
    text = to_text(green())
    for part in ("note: The scope kit-5f1c", "psycopg 3.2.3", "seed 20261130", "Linux 6.1 x86_64", "1 min 23 s"):
        assert part in text


def test_lines_stay_within_eighty_columns_but_for_details_and_commands():
    for line in to_text(mixed()).splitlines():
        assert len(line) <= 80 or line.startswith(("    ", "  again:")), line


def test_colour_comes_only_when_asked_for_and_changes_no_text():
    plain, coloured = to_text(mixed()), to_text(mixed(), colour=True)
    assert "\x1b" not in plain
    assert coloured != plain
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


def test_hostile_text_cannot_reach_the_terminal():
    text = to_text(hostile())
    assert all(each.isprintable() or each == "\n" for each in text)
    assert visible(HOSTILE) in text
    assert text.encode()


def test_both_sides_of_a_clause_stand_beside_each_other():
    heading = next(
        line for line in to_text(report(both_sides(result()))).splitlines() if "sync" in line and "-" in line
    )
    assert heading.index(" sync ") < heading.index(" async ")
