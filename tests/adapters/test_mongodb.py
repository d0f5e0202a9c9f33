"""The MongoDB adapter: every clause of the kit on a server with transactions, and some on one without.

Each clause has a database of its own: the server that pip brings becomes slow where much was written.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from holdall_conformance import StoreConformance
from holdall_conformance.sources import Source, UrlSource

pytestmark = [
    pytest.mark.usefixtures("sockets_of_pymongo"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


class OnServer(StoreConformance):
    """The clauses on a database of the test's own."""

    sides = ("sync", "async")
    effort = 0.5  # the server that pip brings is slow
    server_url: str

    def source(self, config: pytest.Config, tmp_path: Path) -> Source:
        return UrlSource(self.server_url)


class TestMongoDB(OnServer):
    @pytest.fixture(autouse=True)
    def database(self, mongodb_database: str) -> None:
        self.server_url = mongodb_database


class TestMongoDBAlone(OnServer):
    sides = ("sync",)
    level = "base"

    @pytest.fixture(autouse=True)
    def database(self, lone_mongodb_database: str) -> None:
        self.server_url = lone_mongodb_database
