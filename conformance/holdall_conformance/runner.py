"""Runs the clauses of a level against a backend, and makes the report."""

from __future__ import annotations

import datetime as dt
import difflib
import fnmatch
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import holdall
from holdall import ConfigError
from holdall_conformance.results import Level, Report, Result, Side
from holdall_conformance.scenario import Scenario, all_scenarios
from holdall_conformance.sides import Told, try_sides
from holdall_conformance.sources import Source
from holdall_conformance.surroundings import environment, versions

__all__ = ["Plan", "chosen", "run"]

_PLAIN = (
    holdall.AdapterBroken,
    holdall.AdapterNotFound,
    holdall.ConfigError,
    holdall.Corrupt,
    holdall.DriverMissing,
    holdall.StoreTimeout,
    holdall.Unavailable,
)
"""Errors of opening that are made of a message alone."""


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
        run: what the names of all scopes begin with.

    """

    source: Source
    level: Level = "base"
    sides: Sequence[Side] = ("sync", "async")
    only: Sequence[str] = ()
    effort: float = 1.0
    seed: int = field(default_factory=lambda: int.from_bytes(os.urandom(4), "big"))
    run: str = field(default_factory=lambda: f"kit-{os.urandom(4).hex()}")


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
    """One run, from trying the sides to the report."""

    def __init__(self, plan: Plan, notice: Callable[[Result], None]) -> None:
        self._plan = plan
        self._notice = notice
        self._scenarios = chosen(plan.level, plan.only)
        self._remarks: list[str] = []

    def report(self) -> Report:
        """Do it all."""
        started, began, plan = dt.datetime.now(dt.UTC).astimezone(), time.perf_counter(), self._plan
        settings = {
            "level": plan.level,
            "only": list(plan.only),
            "effort": plan.effort,
            "seed": plan.seed,
            "run": plan.run,
        }
        told = try_sides(plan.source, plan.sides, settings, self._notice)
        looks = [look for side, each in told.items() if (look := self._look_of(side, each)) is not None]
        if not looks:
            message = f"{plan.source.subject or plan.source.lock} gives no handle to try: {'; '.join(self._remarks)}"
            raise ConfigError(message)
        results = [result for side, each in told.items() if each.look for result in self._results_of(side, each)]
        return Report(
            subject=plan.source.subject,
            lock=plan.source.lock,
            adapter=looks[0]["adapter"],
            level=plan.level,
            complete=not plan.only,
            seed=plan.seed,
            effort=plan.effort,
            started=started.isoformat(timespec="seconds"),
            seconds=time.perf_counter() - began,
            versions=versions(plan.source),
            environment=environment(),
            capabilities=looks[0]["capabilities"],
            absent_operations=sorted({name for look in looks for name in look["absent"]}),
            remarks=list(dict.fromkeys(self._remarks)),
            results=tuple(sorted(results, key=lambda result: (result.id, result.side))),
        )

    def _look_of(self, side: Side, told: Told) -> Mapping[str, Any] | None:
        """Return what the first look at a side saw, None if there is no such side."""
        self._remarks += told.remarks
        if told.error is not None:
            name, message = told.error
            kind = getattr(holdall, name, ConfigError)
            raise kind(message) if kind in _PLAIN else ConfigError(message)
        if told.absent:
            self._remarks.append(f"the {side} side was not tried: {told.absent}")
        elif told.look is None:
            message = f"the process that opened the {side} side ended with status {told.status} at once"
            raise ConfigError(message)
        elif not told.done:
            self._remarks.append(f"the process that tried the {side} side ended early, with status {told.status}")
        return told.look

    def _results_of(self, side: Side, told: Told) -> list[Result]:
        """Return a result for every clause: one that is missing failed, since its process ended before it."""
        found = {result.id for result in told.results}
        why = f"the process that tried the {side} side ended before it, with status {told.status}"
        return told.results + [
            Result(
                id=scenario.id,
                proves=scenario.proves,
                level=scenario.level,
                side=side,
                outcome="failed",
                reason=why,
                detail=why,
                hint="a backend must not end the process: look for exits, signals and crashes of the driver",
            )
            for scenario in self._scenarios
            if scenario.id not in found
        ]
