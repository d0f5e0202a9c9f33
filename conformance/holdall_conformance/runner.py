"""Runs the clauses of a level against a backend, those that wait side by side, and makes the report."""

from __future__ import annotations

import datetime as dt
import difflib
import fnmatch
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any

from holdall import ConfigError, Unsupported
from holdall_conformance.absence import Absent
from holdall_conformance.harness import Harness
from holdall_conformance.leftovers import clear_away
from holdall_conformance.looking import Look, look_at
from holdall_conformance.results import Level, Report, Result, Side
from holdall_conformance.scenario import Scenario, all_scenarios
from holdall_conformance.sides import results_of_sides
from holdall_conformance.sources import Source
from holdall_conformance.surroundings import environment, versions
from holdall_conformance.trial import try_scenario

__all__ = ["Plan", "chosen", "run", "side_results"]

_SIDE_BY_SIDE = 12
_LEISURE, _BRIEFLY = 0.5, 0.1
"""Seconds that a short ttl leaves: where many clauses wait side by side, and otherwise."""


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
            ids = [scenario.id for scenario in scenarios]
            near = difflib.get_close_matches(pattern, [*ids, *{each.partition(".")[0] for each in ids}], n=1)
            meant = f"did you mean {near[0]!r}? The" if near else "the"
            message = f"{pattern!r} fits no clause: {meant} groups are {groups}"
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
        try:
            results = self._results()
        except KeyboardInterrupt:
            self._clear_away()
            raise
        look = self._clear_away()
        return Report(
            subject=self._plan.source.subject,
            lock=self._plan.source.lock,
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
            results=tuple(sorted(results, key=lambda result: (result.id, result.side))),
        )

    def _clear_away(self) -> Look:
        side, look = next(iter(self._looks.items()))
        with self._harness(side, absent=look.absent) as harness:
            self._remarks += clear_away(harness)
        return look

    def _look_at(self, side: Side) -> None:
        """Find out whether the backend has a side, and which operations it lacks there."""
        try:
            with self._harness(side) as harness:
                self._looks[side] = look_at(harness)
        except (Absent, Unsupported) as absent:
            self._remarks.append(f"the {side} side was not tried: {absent}")

    def _harness(self, side: Side, absent: Collection[str] = ()) -> Harness:
        return Harness(self._plan.source, asynchronous=side == "async", run=self._name, absent=absent)

    def _results(self) -> list[Result]:
        plan = self._plan
        settings: dict[str, Any] = {
            "level": plan.level,
            "only": list(plan.only),
            "effort": plan.effort,
            "seed": plan.seed,
            "run": self._name,
        }
        sides: list[Side] = list(self._looks)
        absent: dict[Side, list[str]] = {side: sorted(look.absent) for side, look in self._looks.items()}
        if len(sides) == 1:
            return side_results(plan.source, sides[0], absent=absent, notice=self._notice, **settings)
        return results_of_sides(plan.source, sides, {**settings, "absent": absent}, self._notice)


def side_results(
    source: Source,
    side: Side,
    *,
    level: Level,
    only: Sequence[str],
    effort: float,
    seed: int,
    run: str,
    absent: Mapping[Side, Sequence[str]],
    notice: Callable[[Result], None],
) -> list[Result]:
    """Run the clauses on one side: first those that wait, beside each other, then the rest one by one.

    Args:
        source: the backend.
        side: which handles to try.
        level: "base" or "full".
        only: patterns of ids, or names of groups; empty for the whole level.
        effort: by how much to do more than usual, or less.
        seed: of every random choice.
        run: what the names of all scopes begin with.
        absent: operations that the sides lack.
        notice: is told of every result as it comes.

    """

    def attempt(scenario: Scenario) -> Result:
        harness = Harness(
            source,
            asynchronous=side == "async",
            level=level,
            effort=effort,
            seed=f"{seed}/{side}/{scenario.id}",
            patience=_LEISURE if scenario.waits else _BRIEFLY,
            absent=absent[side],
            run=run,
        )
        result = try_scenario(scenario, lambda: harness)
        notice(result)
        return result

    scenarios = chosen(level, only)
    with ThreadPoolExecutor(_SIDE_BY_SIDE, thread_name_prefix="waiting") as pool:
        waited = list(pool.map(attempt, [scenario for scenario in scenarios if scenario.waits]))
    return waited + [attempt(scenario) for scenario in scenarios if not scenario.waits]
