"""Tries clauses on a broken backend until one of them fails, the likeliest first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from holdall_conformance.broken.registry import Broken, caught
from holdall_conformance.harness import Harness
from holdall_conformance.results import Result
from holdall_conformance.scenario import Scenario, all_scenarios
from holdall_conformance.sources import FactorySource
from holdall_conformance.trial import try_scenario

__all__ = ["HANGS", "catching", "clauses_for", "is_a_mistake", "try_broken"]

HANGS = "hangs:"
"""What the reason begins with where a clause did not come to its end."""

_EFFORT = 0.25
_EFFORT_TO_KILL = 1.0
"""A kill has to hit the right moment."""
_PATIENCE = 40.0
_SHORT_PATIENCE = 3.0
"""Seconds for a clause that is known to hang on a broken backend."""
_LONG_GROUPS = frozenset({"cancellation", "crash", "fork", "processes"})
"""Groups most of whose clauses belong to the level full."""
_MISTAKE = re.compile(r"(AttributeError|ImportError|NameError|TypeError|UnboundLocalError)")
_PLACE = re.compile(r'File "([^"]*)", line')


def clauses_for(broken: Broken) -> list[Scenario]:
    """Return the clauses that may catch a backend: those that did, then the others of its groups."""
    groups = set(broken.groups)
    known = [clause for clause, _ in caught().get(broken.id, [])]
    chosen = [scenario for scenario in all_scenarios() if scenario.group in groups]

    def rank(scenario: Scenario) -> tuple[int, bool, bool]:
        first = known.index(scenario.id) if scenario.id in known else len(known)
        return first, scenario.level != "base" and scenario.group not in _LONG_GROUPS, scenario.waits

    return sorted(chosen, key=rank)


def try_broken(broken: Broken, scenario: Scenario, folder: Path, patience: float | None = None) -> Result:
    """Run one clause on a broken backend.

    Args:
        broken: the backend.
        scenario: the clause.
        folder: where its storage may lie; another one for each clause.
        patience: seconds after which it hangs; by default little where that is how it was caught before.

    """
    hanging = (scenario.id, True) in {(clause, hangs) for clause, hangs in caught().get(broken.id, [])}
    usual = _SHORT_PATIENCE if hanging else _PATIENCE
    source = FactorySource(broken.opener("store"), broken.opener("lock"), str(folder))

    def harness() -> Harness:
        effort = _EFFORT_TO_KILL if scenario.group == "crash" else _EFFORT
        return Harness(source, asynchronous=broken.side == "async", level="base", effort=effort)

    return try_scenario(scenario, harness, patience=usual if patience is None else patience)


def catching(broken: Broken, folder: Path) -> Iterator[Result]:
    """Run clauses on a broken backend and give the result of each that failed.

    Args:
        broken: the backend.
        folder: where its storage may lie.

    """
    for number, scenario in enumerate(clauses_for(broken)):
        place = folder / str(number)
        place.mkdir()
        result = try_broken(broken, scenario, place)
        if result.outcome == "failed":
            yield result


def is_a_mistake(result: Result) -> bool:
    """Tell whether a clause failed by a mistake in the kit or in the broken backend itself, and not as it should.

    Args:
        result: a failure.

    """
    places = _PLACE.findall(result.detail)
    own = bool(places) and "holdall_conformance" in places[-1] and "/scenarios/" not in places[-1]
    return own and _MISTAKE.match(result.reason) is not None
