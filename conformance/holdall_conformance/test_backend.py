"""Every clause on the backend of `--holdall-url`: pytest --pyargs holdall_conformance --holdall-url=URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdall_conformance.conforming import StoreConformance
from holdall_conformance.sources import Source, source_of


class TestBackend(StoreConformance):
    """The backend that the command line names, both sides of it."""

    sides = ("sync", "async")

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make the tests; without a backend there are none to make."""
        if not metafunc.config.getoption("--holdall-url"):
            message = "the kit needs a backend: --holdall-url=URL, or --holdall-url=module:function"
            raise pytest.UsageError(message)
        super().pytest_generate_tests(metafunc)

    def source(self, config: pytest.Config, tmp_path: Path) -> Source:
        """Return the backend that the command line names."""
        return source_of(str(config.getoption("--holdall-url")), config.getoption("--holdall-lock"), tmp_path)
