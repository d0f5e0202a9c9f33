"""The DynamoDB adapter: every clause of the kit, and those about time again where the server does not tell its own."""

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

    level = "base"
    sides = ("sync", "async")
    url_fixture: str
    server_url: str

    def source(self, config: pytest.Config, tmp_path: Path) -> Source:
        return UrlSource(self.server_url)


class TestDynamoDB(OnServer):
    url_fixture = "dynamodb_url"


class TestDynamoDBWithoutDate(OnServer):
    url_fixture = "undated_dynamodb_url"
    groups = ("expiry", "fencing", "flags", "holds", "leases")
