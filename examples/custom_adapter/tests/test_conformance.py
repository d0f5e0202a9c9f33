"""Every clause of holdall's conformance kit, synchronous and asynchronous: this is all it takes."""

from __future__ import annotations

from pathlib import Path

from holdall_conformance import StoreConformance


class TestLmdb(StoreConformance):
    """The adapter, by its URL."""

    sides = ("sync", "async")

    def open(self, tmp_path: Path) -> str:
        """Return the URL that opens the same folder again and again."""
        return f"lmdb:///{tmp_path / 'kit'}"
