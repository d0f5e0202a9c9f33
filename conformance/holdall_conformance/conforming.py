"""The base classes for tests of a backend: one test for every clause."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from holdall_conformance.absence import Absent
from holdall_conformance.explain import hint_for
from holdall_conformance.harness import Harness
from holdall_conformance.looking import look_at
from holdall_conformance.results import Level, Side
from holdall_conformance.runner import chosen
from holdall_conformance.scenario import Scenario
from holdall_conformance.sources import ClassSource, Source

__all__ = ["LockConformance", "StoreConformance"]

_LOCK_GROUPS = ("flags", "holds", "leases")

_absent: dict[tuple[type, bool], frozenset[str]] = {}


class _Conformance:
    """One test for every clause.

    Attributes:
        level: "base" or "full".
        sides: "sync", "async" or both, as tests of their own; by default each test tries what `open` gives.
        groups: the groups to run; empty for all.
        effort: how much to do of what can be done more or less often, 1 for the usual.

    """

    level: ClassVar[Level] = "full"
    sides: ClassVar[Sequence[Side]] = ()
    groups: ClassVar[Sequence[str]] = ()
    effort: ClassVar[float] = 1.0

    def open(self, tmp_path: Path) -> Any:
        """Open one more handle on the same storage; called again for every further handle and child process.

        Args:
            tmp_path: a folder that is the same for all handles of one test.

        Returns:
            A store (of a `LockConformance` a lock), synchronous or asynchronous, a `Backend`, or a URL.

        """
        raise NotImplementedError(f"{type(self).__name__} must say how to open the backend: def open(self, tmp_path)")

    def open_store(self, tmp_path: Path) -> Any:
        """Open a store on the same storage."""
        raise NotImplementedError

    def open_lock(self, tmp_path: Path) -> Any:
        """Open a lock on the same storage."""
        raise NotImplementedError

    def source(self, config: pytest.Config, tmp_path: Path) -> Source:  # noqa: ARG002 - subclasses may ask it
        """Return where handles come from.

        Args:
            config: that of pytest.
            tmp_path: a folder of this test.

        """
        return ClassSource(type(self), tmp_path)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make a test of every clause, and of every side where sides are given."""
        if "scenario" in metafunc.fixturenames:
            level = metafunc.config.getoption("--holdall-level") or self.level
            scenarios = chosen(level)
            wanted = [each for each in scenarios if not self.groups or each.group in self.groups]
            sides: Sequence[Side | None] = self.sides or (None,)
            cases = [(scenario, side) for side in sides for scenario in wanted]
            names = [scenario.id if side is None else f"{side}-{scenario.id}" for scenario, side in cases]
            metafunc.parametrize("scenario,side", cases, ids=names)

    def test_clause(self, scenario: Scenario, side: Side | None, tmp_path: Path, pytestconfig: pytest.Config) -> None:
        """The clause holds on every side that there is, or the backend does not have what it needs."""
        source = self.source(pytestconfig, tmp_path)
        reasons: list[str] = []
        for asynchronous in (False, True) if side is None else (side == "async",):
            seed = f"{pytestconfig.getoption('--holdall-seed')}/{'async' if asynchronous else 'sync'}/{scenario.id}"
            harness = Harness(
                source,
                asynchronous=asynchronous,
                level=pytestconfig.getoption("--holdall-level") or self.level,
                effort=self.effort * float(pytestconfig.getoption("--holdall-effort") or 1.0),
                seed=seed,
                absent=self._absent(source, asynchronous=asynchronous),
            )
            reasons += self._why_absent(scenario, harness)
        if len(reasons) == (2 if side is None else 1):
            pytest.skip("; ".join(dict.fromkeys(reasons)))

    def _absent(self, source: Source, *, asynchronous: bool) -> frozenset[str]:
        """Return the operations that the backend lacks, found out once for a class and side."""
        known = _absent.get((type(self), asynchronous))
        if known is None:
            try:
                with Harness(source, asynchronous=asynchronous) as harness:
                    known = look_at(harness).absent
            except Absent:
                known = frozenset[str]()
            _absent[type(self), asynchronous] = known
        return known

    @staticmethod
    def _why_absent(scenario: Scenario, harness: Harness) -> list[str]:
        """Run a clause; return why it does not apply, or nothing."""
        try:
            with harness:
                lacking = scenario.lacking(harness.capabilities)
                if lacking:
                    return [f"does not apply to what the backend declares: {', '.join(lacking)}"]
                scenario.run(harness)
        except Absent as absent:
            return [str(absent)]
        except Exception as error:
            error.add_note(f"seed of the clause: {harness.seed}\nhint: {hint_for(scenario.group)}")
            raise
        return []


class StoreConformance(_Conformance):
    """Tests of a store: `open` returns it, and `open_lock`, if it is given, a lock on the same storage.

    Attributes:
        level: "base" or "full".
        sides: "sync", "async" or both, as tests of their own; by default each test tries what `open` gives.
        groups: the groups to run; empty for all.
        effort: how much to do of what can be done more or less often, 1 for the usual.

    """

    def open_store(self, tmp_path: Path) -> Any:
        """Open a store on the same storage."""
        return self.open(tmp_path)

    def open_lock(self, tmp_path: Path) -> Any:
        """Open a lock on the same storage; what `open` returns may bring one."""
        raise NotImplementedError


class LockConformance(_Conformance):
    """Tests of a lock: `open` returns it, and `open_store`, if it is given, a store on the same storage.

    Attributes:
        level: "base" or "full".
        sides: "sync", "async" or both, as tests of their own; by default each test tries what `open` gives.
        groups: the groups to run; those of locks by default.

    """

    groups: ClassVar[Sequence[str]] = _LOCK_GROUPS

    def open_lock(self, tmp_path: Path) -> Any:
        """Open a lock on the same storage."""
        return self.open(tmp_path)

    def open_store(self, tmp_path: Path) -> Any:
        """Open a store on the same storage; what `open` returns may bring one."""
        raise NotImplementedError
