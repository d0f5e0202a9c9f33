"""The SQLite adapter: every clause of the kit."""

from __future__ import annotations

from pathlib import Path

from holdall_conformance import StoreConformance


class TestSQLite(StoreConformance):
    sides = ("sync", "async")

    def open(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path / 'kit.db'}"
