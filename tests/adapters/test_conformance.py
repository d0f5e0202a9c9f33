"""Every scenario of the kit, on every built-in adapter, synchronous and asynchronous."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdall_conformance.harness import Harness
from holdall_conformance.scenario import Scenario, all_scenarios

BACKENDS = ("memory", "memory-derived", "sqlite", "postgres")


def url_of(backend: str, folder: Path, request: pytest.FixtureRequest) -> str:
    """Return the URL of storage: fresh, or that of a server on which each scenario has scopes of its own."""
    if backend == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    if backend == "sqlite":
        return f"sqlite:///{folder / 'kit.db'}"
    return f"memory://{uuid.uuid4().hex}" + ("?derived=true" if backend == "memory-derived" else "")


@pytest.fixture(params=["sync", "async"])
def harness(request: pytest.FixtureRequest, backend: str, tmp_path: Path) -> Iterator[Harness]:
    """Return a harness on fresh storage."""
    with Harness(url_of(backend, tmp_path, request), asynchronous=request.param == "async") as opened:
        yield opened


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda scenario: scenario.id)
def test_scenario(scenario: Scenario, harness: Harness) -> None:
    """The scenario holds, or the backend declares that it lacks what the scenario needs."""
    lacking = scenario.lacking(harness.capabilities)
    if lacking:
        pytest.skip(f"does not apply to what the backend declares: {', '.join(lacking)}")
    scenario.run(harness)
