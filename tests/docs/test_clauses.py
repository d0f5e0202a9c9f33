"""docs/reference/clauses.md is what tools/clauses.py writes: every clause stands there, with what it proves."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_up_to_date():
    spec = importlib.util.spec_from_file_location("clauses", ROOT / "tools" / "clauses.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text("utf-8") == module.page(), "run `python tools/clauses.py`"
