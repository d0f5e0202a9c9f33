"""The Postgres adapter: every clause of the kit on a real server, and again through a pooler."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdall_conformance import StoreConformance
from holdall_conformance.sources import Source, UrlSource


@pytest.fixture(scope="class", autouse=True)
def server(request: pytest.FixtureRequest) -> None:
    """Tell the tests where the server is."""
    request.cls.server_url = request.getfixturevalue(request.cls.url_fixture)


class OnServer(StoreConformance):
    """The clauses on the server that a fixture names."""

    sides = ("sync", "async")
    url_fixture: str
    server_url: str

    def source(self, config: pytest.Config, tmp_path: Path) -> Source:
        return UrlSource(self.server_url)


class TestPostgres(OnServer):
    url_fixture = "postgres_url"


class TestPostgresThroughPgBouncer(OnServer):
    url_fixture = "pgbouncer_url"
    effort = 0.5
