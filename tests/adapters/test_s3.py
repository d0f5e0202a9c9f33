"""The S3 adapter: every clause of the kit, each under a prefix of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdall_conformance import StoreConformance
from holdall_conformance.sources import Source, UrlSource


class TestS3(StoreConformance):
    sides = ("sync", "async")
    effort = 0.25  # each request costs a millisecond of a processor, here and there
    server_url: str

    @pytest.fixture(autouse=True)
    def prefix(self, s3_prefix: str) -> None:
        self.server_url = s3_prefix

    def source(self, config: pytest.Config, tmp_path: Path) -> Source:
        return UrlSource(self.server_url)
