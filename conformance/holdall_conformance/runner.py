"""Runs the clauses of a level against a backend, those that wait side by side, and makes the report."""

from __future__ import annotations

import datetime as dt
import fnmatch
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field

from holdall import ConfigError, Unsupported
from holdall_conformance.absence import Absent
from holdall_conformance.harness import Harness
from holdall_conformance.leftovers import clear_away
from holdall_conformance.looking import Look, look_at
from holdall_conformance.results import Level, Report, Result, Side
from holdall_conformance.scenario import Scenario, all_scenarios
from holdall_conformance.sources import Source
from holdall_conformance.surroundings import environment, versions
from holdall_conformance.trial import try_scenario

__all__ = ["Plan", "chosen", "run"]

_SIDE_BY_SIDE = 24
_LEISURE = 0.4
"""Seconds that a short ttl leaves where many clauses wait side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run.

    Attributes:
        source: the backend.
        level: "base" or "full".
        sides: which sides to try; one that the backend does not have is named in the report.
        only: patterns of ids, or names of groups; empty for the whole level.
        effort: by how much to do more than usual, or less.
        seed: of every random choice.

    """

    source: Source
    level: Level = "base"
    sides: Sequence[Side] = ("sync", "async")
    only: Sequence[str] = ()
    effort: float = 1.0
    seed: int = field(default_factory=lambda: int.from_bytes(os.urandom(4), "big"))


def chosen(level: Level, only: Sequence[str] = ()) -> list[Scenario]:
    """Return the clauses of a level.

    Args:
        level: "base" or "full".
        only: patterns of ids, or names of groups; empty for all.

    Raises:
        ConfigError: a pattern fits no clause at all.

    """
    scenarios = all_scenarios()
    for pattern in only:
        if not any(_fits(scenario, pattern) for scenario in scenarios):
            groups = ", ".join(sorted({scenario.group for scenario in scenarios}))
            message = f"{pattern!r} fits no clause; the groups are {groups}"
            raise ConfigError(message)
    if only:
        return [scenario for scenario in scenarios if any(_fits(scenario, pattern) for pattern in only)]
    return [scenario for scenario in scenarios if scenario.belongs_to(level)]


def _fits(scenario: Scenario, pattern: str) -> bool:
    return scenario.group == pattern or fnmatch.fnmatchcase(scenario.id, pattern)


def run(plan: Plan, *, notice: Callable[[Result], None] = lambda _: None) -> Report:
    """Run the clauses of a plan and return the report.

    Args:
        plan: what to run.
        notice: is told of every result as it comes.

    Raises:
        ConfigError: the backend cannot be opened at all, or a pattern fits no clause.
        HoldallError: the backend cannot be reached.

    """
    return _Run(plan, notice).report()


class _Run:
    """One run, from looking at the backend to clearing away."""

    def __init__(self, plan: Plan, notice: Callable[[Result], None]) -> None:
        self._plan = plan
        self._notice = notice
        self._name = f"kit-{os.urandom(4).hex()}"
        self._scenarios = chosen(plan.level, plan.only)
        self._looks: dict[Side, Look] = {}
        self._remarks: list[str] = []

    def report(self) -> Report:
        """Do it all."""
        started, began = dt.datetime.now(dt.UTC).astimezone(), time.perf_counter()
        for side in self._plan.sides:
            self._look_at(side)
        if not self._looks:
            message = f"{self._plan.source.subject} gives no handle to try: {'; '.join(self._remarks)}"
            raise ConfigError(message)
        look = next(iter(self._looks.values()))
        results = [*self._side_by_side(), *self._one_by_one()]
        with self._harness(next(iter(self._looks))) as harness:
            self._remarks += clear_away(harness)
        return Report(
            subject=self._plan.source.subject,
            adapter=look.adapter,
            level=self._plan.level,
            complete=not self._plan.only,
            seed=self._plan.seed,
            effort=self._plan.effort,
            started=started.isoformat(timespec="seconds"),
            seconds=time.perf_counter() - began,
            versions=versions(self._plan.source),
            environment=environment(),
            capabilities=asdict(look.capabilities),
            absent_operations=sorted(frozenset[str]().union(*(each.absent for each in self._looks.values()))),
            remarks=self._remarks,
            results=sorted(results, key=lambda result: (result.id, result.side)),
        )

    def _look_at(self, side: Side) -> None:
        """Find out whether the backend has a side, and which operations it lacks there."""
        try:
            with self._harness(side) as harness:
                self._looks[side] = look_at(harness)
        except (Absent, Unsupported) as absent:
            self._remarks.append(f"the {side} side was not tried: {absent}")

    def _harness(self, side: Side, scenario: Scenario | None = None) -> Harness:
        plan, look = self._plan, self._looks.get(side)
        return Harness(
            plan.source,
            asynchronous=side == "async",
            level=plan.level,
            effort=plan.effort,
            seed=f"{plan.seed}/{side}/{'' if scenario is None else scenario.id}",
            absent=look.absent if look is not None else (),
            run=self._name,
            **({"patience": _LEISURE} if scenario is not None and scenario.waits else {}),
        )

    def _try(self, side: Side, scenario: Scenario) -> Result:
        result = try_scenario(scenario, lambda: self._harness(side, scenario))
        self._notice(result)
        return result

    def _side_by_side(self) -> list[Result]:
        waiting = [(side, scenario) for scenario in self._scenarios if scenario.waits for side in self._looks]
        with ThreadPoolExecutor(_SIDE_BY_SIDE, thread_name_prefix="waiting") as pool:
            tried = [pool.submit(self._try, side, scenario) for side, scenario in waiting]
            return [future.result() for future in as_completed(tried)]

    def _one_by_one(self) -> list[Result]:
        return [self._try(side, scenario) for side in self._looks for scenario in self._scenarios if not scenario.waits]
