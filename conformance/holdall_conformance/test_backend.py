"""Every clause on the backend of `--holdall-url`: pytest --pyargs holdall_conformance --holdall-url=URL."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import pytest

from holdall import HoldallError
from holdall_conformance.absence import Absent
from holdall_conformance.conforming import StoreConformance
from holdall_conformance.harness import Harness
from holdall_conformance.looking import look_at
from holdall_conformance.sources import Source, source_of


class TestBackend(StoreConformance):
    """The backend that the command line names, both sides of it."""

    sides = ("sync", "async")

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make the tests; without a backend there are none to make."""
        if not metafunc.config.getoption("--holdall-url"):
            message = "the kit needs a backend: --holdall-url=URL, or --holdall-url=module:function"
            pytest.exit(message, returncode=pytest.ExitCode.USAGE_ERROR)
        self._look(metafunc.config)
        super().pytest_generate_tests(metafunc)

    def _look(self, config: pytest.Config) -> None:
        """End the run at once if the backend cannot be opened, or gives another storage with every opening."""
        with tempfile.TemporaryDirectory(prefix="holdall-") as folder:
            try:
                source = self.source(config, Path(folder))
                for asynchronous in (False, True):
                    with contextlib.suppress(Absent), Harness(source, asynchronous=asynchronous) as harness:
                        look_at(harness)
            except HoldallError as error:
                pytest.exit(f"--holdall-url: {error}", returncode=pytest.ExitCode.USAGE_ERROR)

    def source(self, config: pytest.Config, tmp_path: Path) -> Source:
        """Return the backend that the command line names."""
        return source_of(str(config.getoption("--holdall-url")), config.getoption("--holdall-lock"), tmp_path)
