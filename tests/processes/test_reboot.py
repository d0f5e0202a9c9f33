"""Another boot of the machine, simulated: another boot id, and a boot clock that began again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdall_conformance.children import Children
from holdall_conformance.harness import Harness
from tests.processes.work import url_in

WORK = "tests.processes.work"


def after_boot(children: Children, folder: Path, lease: Any, wall_step: float, name: str) -> dict[str, Any]:
    child = children.start(f"{WORK}:look_after_boot", str(folder), wall_step, lease, name)
    found: dict[str, Any] = child.hear()
    child.finish()
    return found


@pytest.mark.parametrize("scheme", ["sqlite", "file"])
@pytest.mark.parametrize("wall_step", [500.0, -3_600.0])
def test_reboot_ends_leases_and_nothing_else(tmp_path: Path, wall_step: float, scheme: str) -> None:
    with Children(Harness(url_in(scheme, tmp_path / "store"))) as children:
        child = children.start(f"{WORK}:write_before_boot", str(tmp_path))
        lease = child.hear()
        child.finish()
        found = after_boot(children, tmp_path, lease, wall_step, "second")
        # A wall clock that went back counts the first boot, which lasted well below a minute here, once more.
        assert 0 < found.pop("long") <= (1_000 - wall_step if wall_step > 0 else 1_060)
        short = found.pop("short")
        assert short is None if wall_step > 0 else 0 < short <= 160
        assert found == {
            "for ever": True,
            "held": False,
            "released": False,
            "renewed": "LeaseLost",
            "token": 2,
            "again": [0, 3],
        }
        third = after_boot(children, tmp_path, lease, wall_step, "third")
        assert third["token"] == 3
        assert third["held"] is False
