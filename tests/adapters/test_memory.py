"""The memory adapter: every clause of the kit, on its own store and on the one that is derived from its primitives."""

from __future__ import annotations

from pathlib import Path

from holdall_conformance import StoreConformance


def named(folder: Path) -> str:
    """The URL of a store of its own: by the name of the test's folder."""
    return f"memory://{'-'.join(folder.parts[-3:])}"


class TestMemory(StoreConformance):
    sides = ("sync", "async")

    def open(self, tmp_path: Path) -> str:
        return named(tmp_path)


class TestDerived(StoreConformance):
    sides = ("sync", "async")
    level = "base"

    def open(self, tmp_path: Path) -> str:
        return f"{named(tmp_path)}?derived=true"
