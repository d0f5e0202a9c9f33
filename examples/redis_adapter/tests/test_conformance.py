"""Every clause of holdall's conformance kit, synchronous and asynchronous, on a server that is started for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdall_conformance import StoreConformance


class TestRedis(StoreConformance):
    """The adapter, by its URL; each test has a prefix of its own."""

    sides = ("sync", "async")

    @pytest.fixture(autouse=True)
    def _server(self, server, monkeypatch):
        monkeypatch.setenv("HOLDALL_REDIS_URL", server.url)  # `open` is called in child processes too

    def open(self, tmp_path: Path) -> str:
        """Return the URL that opens the same keys again and again."""
        return f"{os.environ['HOLDALL_REDIS_URL']}?prefix={tmp_path.name}"
