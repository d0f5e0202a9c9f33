"""Every scenario of the kit, on every built-in adapter, synchronous and asynchronous."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdall_conformance.harness import Harness
from holdall_conformance.scenario import Scenario, all_scenarios

RUNS = [
    *((backend, side) for backend in ("memory", "memory-derived", "sqlite", "file") for side in ("sync", "async")),
    ("postgres", "sync"),
]

# Over a network a thousand round trips take long, and the code behind them is that of memory-derived: on the server
# runs what one client and a few processes show.
ON_THE_SERVER = ("records", "versions", "values", "keys", "fencing", "leases", "flags", "batches", "errors", "handles")
RACES_ON_THE_SERVER = (
    "processes.one-winner-per-lease",
    "processes.one-winner-per-expectation",
    "processes.appends-whole-and-in-order",
)
TOO_MANY_ROUND_TRIPS = ("records.many-at-once", "batches.last-thousand-kept-after-truncate")


def applies(scenario: Scenario, backend: str) -> bool:
    """Return whether a scenario is run on a backend."""
    if backend != "postgres":
        return True
    chosen = scenario.group in ON_THE_SERVER or scenario.id in RACES_ON_THE_SERVER
    return chosen and scenario.id not in TOO_MANY_ROUND_TRIPS


CASES = [
    pytest.param(scenario, backend, side, id=f"{backend}-{side}-{scenario.id}")
    for backend, side in RUNS
    for scenario in all_scenarios()
    if applies(scenario, backend)
]


def url_of(backend: str, folder: Path, request: pytest.FixtureRequest) -> str:
    """Return the URL of storage: fresh, or that of a server on which each scenario has scopes of its own."""
    if backend == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    if backend == "sqlite":
        return f"sqlite:///{folder / 'kit.db'}"
    if backend == "file":
        return f"file://{folder / 'kit'}"
    return f"memory://{uuid.uuid4().hex}" + ("?derived=true" if backend == "memory-derived" else "")


@pytest.fixture
def harness(request: pytest.FixtureRequest, backend: str, side: str, tmp_path: Path) -> Iterator[Harness]:
    """Return a harness on fresh storage."""
    with Harness(url_of(backend, tmp_path, request), asynchronous=side == "async") as opened:
        yield opened


@pytest.mark.parametrize("scenario,backend,side", CASES)
def test_scenario(scenario: Scenario, harness: Harness) -> None:
    """The scenario holds, or the backend declares that it lacks what the scenario needs."""
    lacking = scenario.lacking(harness.capabilities)
    if lacking:
        pytest.skip(f"does not apply to what the backend declares: {', '.join(lacking)}")
    scenario.run(harness)


def test_no_name_of_a_scenario_is_stale() -> None:
    """What is chosen for the server by name exists."""
    names = {scenario.id for scenario in all_scenarios()}
    assert names >= {*RACES_ON_THE_SERVER, *TOO_MANY_ROUND_TRIPS}
