"""The Postgres adapter, on a real server: the clauses of level base."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdall_conformance import StoreConformance
from holdall_conformance.sources import Source, UrlSource


@pytest.fixture(scope="class", autouse=True)
def server(request: pytest.FixtureRequest, postgres_url: str) -> None:
    """Tell the tests where the server is."""
    request.cls.server_url = postgres_url


class TestPostgres(StoreConformance):
    sides = ("sync",)
    level = "base"
    server_url: str

    def source(self, config: pytest.Config, tmp_path: Path) -> Source:
        return UrlSource(self.server_url)
