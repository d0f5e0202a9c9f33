"""The file adapter: every clause of the kit."""

from __future__ import annotations

from pathlib import Path

from holdall_conformance import StoreConformance


class TestFile(StoreConformance):
    sides = ("sync", "async")

    def open(self, tmp_path: Path) -> str:
        return f"file://{tmp_path / 'kit'}"
