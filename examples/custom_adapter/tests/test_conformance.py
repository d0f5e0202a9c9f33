"""Every scenario of holdall's conformance kit, synchronous and asynchronous: this is all it takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdall_conformance.harness import Harness
from holdall_conformance.scenario import Scenario, all_scenarios


@pytest.mark.parametrize("side", ["sync", "async"])
@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda scenario: scenario.id)
def test_scenario(scenario: Scenario, side: str, tmp_path: Path) -> None:
    """The scenario holds, or the adapter declares that it lacks what the scenario needs."""
    with Harness(f"lmdb:///{tmp_path / 'kit'}", asynchronous=side == "async") as harness:
        lacking = scenario.lacking(harness.capabilities)
        if lacking:
            pytest.skip(f"does not apply to what the adapter declares: {', '.join(lacking)}")
        scenario.run(harness)
