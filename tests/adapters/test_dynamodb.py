"""The DynamoDB adapter: every clause of the kit, and those about time again where the server does not tell its own.

Each clause has a table of its own, as clauses that sweep read all of it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from holdall_conformance import StoreConformance
from holdall_conformance.sources import Source, UrlSource


class OnServer(StoreConformance):
    """The clauses on a table of the test's own."""

    sides = ("sync", "async")
    effort = 0.25  # each request costs a millisecond of a processor, here and there
    server_url: str

    def source(self, config: pytest.Config, tmp_path: Path) -> Source:
        return UrlSource(self.server_url)


class TestDynamoDB(OnServer):
    @pytest.fixture(autouse=True)
    def table(self, dynamodb_table: str) -> None:
        self.server_url = dynamodb_table


class TestDynamoDBWithoutDate(OnServer):
    groups = ("expiry", "fencing", "flags", "holds", "leases")
    level = "base"
    sides = ("sync",)

    @pytest.fixture(autouse=True)
    def table(self, undated_dynamodb_table: str) -> None:
        self.server_url = undated_dynamodb_table
