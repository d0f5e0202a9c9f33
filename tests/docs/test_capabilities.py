"""The table of capabilities says what the adapters declare."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from holdall.plugins import load_adapter

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "capabilities.md"
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.read_text().splitlines() if "|" in line]


def shown(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value // 2**20} MiB" if value >= 2**20 and value % 2**20 == 0 else f"{value:,}"
    return str(value)


@pytest.mark.parametrize("name", ["memory", "file", "sqlite", "postgres", "mongodb", "dynamodb", "s3"])
def test_the_table_is_true(name):
    column = ROWS[0].index(name)
    told = {row[0].strip("`"): row[column] for row in ROWS[2:]}
    declared = dataclasses.asdict(load_adapter(name).capabilities)
    assert told == {field: shown(value) for field, value in declared.items()}
