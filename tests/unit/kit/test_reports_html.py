"""The report as an HTML page."""

from __future__ import annotations

import itertools
import re
from dataclasses import fields
from html.parser import HTMLParser

import pytest

from holdall import Capabilities
from holdall_conformance.reports.capability_texts import MEANINGS, meaning_of
from holdall_conformance.reports.html_report import to_html
from holdall_conformance.reports.text import command_of, rerun_of, visible
from tests.unit.kit.reports_sample import HOSTILE, LONG, green, hostile, mixed, report, result

VOID = {"meta", "wbr"}
COLOURS = re.compile(r"--([a-z-]+): (#[0-9a-f]{6});")


class Page(HTMLParser):
    """What a browser would make of the page: elements that nest, their attributes, and the text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text += data

    def found(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


PAGES = {"green": green, "mixed": mixed, "hostile": hostile, "empty": report}


@pytest.fixture(params=PAGES)
def page(request):
    return Page(to_html(PAGES[request.param]()))


def test_every_element_is_closed_and_no_id_is_given_twice(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    links = [attributes["href"] for attributes in page.found("a")]
    assert [link.removeprefix("#") for link in links] == ids


def test_nothing_comes_from_elsewhere_and_nothing_needs_a_script(page):
    assert not {tag for tag, _ in page.elements} & {"script", "link", "img", "iframe", "object", "form", "base"}
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name in {"src", "style", "srcset"}]
    assert "url(" not in to_html(mixed())
    assert "@import" not in to_html(mixed())


def test_phones_and_dark_mode_are_provided_for(page):
    metas = {attributes.get("name"): attributes.get("content") for attributes in page.found("meta")}
    assert metas["viewport"] == "width=device-width, initial-scale=1"
    assert metas["color-scheme"] == "light dark"
    assert page.found("html") == [{"lang": "en"}]


def test_headings_are_in_order_and_table_heads_have_a_scope(page):
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(level <= before + 1 for before, level in itertools.pairwise(levels))
    assert all(attributes.get("scope") in {"col", "row", "rowgroup"} for attributes in page.found("th"))


def luminance(colour):
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green_, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green_ + 0.0722 * blue


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_every_text_has_the_contrast_that_wcag_asks_for_in_light_and_in_dark():
    style = to_html(report())
    bright, dark = (dict(COLOURS.findall(part)) for part in style.split("@media (prefers-color-scheme: dark)"))
    assert bright.keys() == dark.keys()
    for colours in (bright, dark):
        for name in ("text", "quiet", "link", "passed", "failed", "absent"):
            assert contrast(colours[name], colours["page"]) >= 4.5, name
        assert contrast(colours["text"], colours["raised"]) >= 4.5
        for name in ("passed", "failed", "none"):
            assert contrast(colours["on-verdict"], colours[name]) >= 4.5, name


@pytest.mark.parametrize(
    "make, style",
    [(green, "passed"), (mixed, "failed"), (report, "none"), (lambda: report([result()], complete=False), "none")],
)
def test_the_verdict_is_on_top_in_its_colour(make, style):
    page = Page(to_html(make()))
    assert [each["class"] for each in page.found("p") if "verdict" in each.get("class", "")] == [f"verdict {style}"]
    verdict = make().verdict
    assert page.text.index(verdict[0].upper() + verdict[1:]) < page.text.index("Adapter")


def test_a_failure_is_told_whole():
    page = Page(to_html(mixed()))
    assert LONG in page.text
    for failure in mixed().failures:
        assert failure.reason in page.text
        assert failure.hint in page.text
        assert rerun_of(mixed(), failure) in page.text


def test_few_failures_are_unfolded_and_many_are_not():
    few, many = (Page(to_html(report([result(f"a.{n}", "failed") for n in range(count)]))) for count in (3, 40))
    unfolded = [[each for each in page.found("details") if "open" in each] for page in (few, many)]
    assert list(map(len, unfolded)) == [3, 5]


def test_every_clause_is_on_the_page_with_its_sentence_and_every_absence_with_its_reason():
    for make in (green, mixed):
        page = Page(to_html(make()))
        for each in make().results:
            assert each.proves in page.text
            assert each.reason in page.text
            assert each.id in page.text
    assert "14 clauses need atomic_commit" in Page(to_html(green())).text


def test_groups_are_counted_by_side():
    text = re.sub(r"\s+", "", re.search(r'<table class="counts">.*?</table>', to_html(mixed()), re.DOTALL)[0])
    cells = re.sub(r"<[^>]*>", " ", text).split()
    at = cells.index("logs")
    assert cells[at : at + 11] == ["logs", "sync", "0", "1", "0", "0.01", "async", "0", "0", "1", "0.00"]
    assert cells[cells.index("total") :] == ["total", "sync", "3", "1", "2", "12.54", "async", "3", "1", "2", "25.06"]


def test_versions_environment_seed_and_the_command_are_there():
    page = Page(to_html(mixed()))
    for part in (
        "psycopg",
        "3.2.3",
        "processors",
        "20261130",
        command_of(mixed()),
        "One child process had to be killed.",
    ):
        assert part in page.text


def test_every_capability_of_holdall_has_a_meaning_and_an_unknown_one_says_so():
    assert set(MEANINGS) == {field.name for field in fields(Capabilities)}
    assert meaning_of("max_key_bytes") in Page(to_html(report(capabilities={"max_key_bytes": 1}))).text
    assert "does not know it" in Page(to_html(report(capabilities={"brand_new": 1}))).text


def test_hostile_text_is_only_ever_text():
    text = to_html(hostile())
    page = Page(text)
    assert visible(HOSTILE) in page.text
    assert "<script" not in text
    assert "$title" in page.text
    assert all(each.isprintable() or each == "\n" for each in text)
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in Page(to_html(mixed())).elements}


def test_a_report_of_nothing_is_a_page_without_empty_sections():
    page = Page(to_html(report(capabilities={}, versions={}, environment={})))
    assert [each["id"] for each in page.found("h2")] == ["run"]
