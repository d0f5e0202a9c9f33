"""The page of broken backends names them all, as they are."""

from __future__ import annotations

from pathlib import Path

from holdall_conformance.broken.registry import all_broken
from holdall_conformance.broken.table import page

PAGE = Path(__file__).parents[3] / "docs/reference/broken.md"


def test_the_page_is_what_the_record_gives():
    assert PAGE.read_text() == page(), "run: python tools/broken_table.py"


def test_the_page_names_every_one_with_its_sentence():
    lines = PAGE.read_text().splitlines()
    for broken in all_broken():
        row = [line for line in lines if line.startswith(f"| `{broken.id}` |")]
        assert len(row) == 1, broken.id
        assert broken.does.replace("*", "\\*") in row[0]
