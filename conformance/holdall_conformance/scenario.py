"""Scenarios: plain functions over a harness, each with a stable id and one sentence of what it proves."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdall_conformance import scenarios as package
from holdall_conformance.results import LEVELS, Level

if TYPE_CHECKING:
    from holdall import Capabilities
    from holdall_conformance.harness import Harness

__all__ = ["Scenario", "all_scenarios", "scenario"]

_found: dict[str, Scenario] = {}


@dataclass(frozen=True, slots=True)
class Scenario:
    """One clause of the kit.

    Attributes:
        id: stable name, "group.what-holds".
        needs: names of boolean capabilities without which it does not apply; one with "!" before it must be false.
        run: the function.
        level: the lowest level that it belongs to.
        waits: it spends its time waiting, so that others may run beside it.

    """

    id: str
    needs: tuple[str, ...]
    run: Callable[[Harness], None]
    level: Level = "base"
    waits: bool = False

    @property
    def group(self) -> str:
        """The part of the id before the dot."""
        return self.id.partition(".")[0]

    @property
    def proves(self) -> str:
        """The sentence that says what it proves."""
        return (self.run.__doc__ or "").strip().splitlines()[0]

    def belongs_to(self, level: Level) -> bool:
        """Tell whether it runs at a level."""
        return LEVELS.index(self.level) <= LEVELS.index(level)

    def lacking(self, capabilities: Capabilities) -> list[str]:
        """Return which of its needs a backend does not declare; none if the scenario applies."""
        return [need for need in self.needs if getattr(capabilities, need.removeprefix("!")) == need.startswith("!")]


def scenario(
    name: str, *needs: str, level: Level = "base", waits: bool = False
) -> Callable[[Callable[[Harness], None]], Callable[[Harness], None]]:
    """Register a function as a scenario.

    Args:
        name: its id, "group.what-holds".
        needs: boolean capabilities without which it does not apply; with "!" before it, one that must be false.
        level: the lowest level that it belongs to.
        waits: it spends its time waiting, so that others may run beside it: it must not depend on what they do to
            threads, memory or time of this process.

    """

    def register(function: Callable[[Harness], None]) -> Callable[[Harness], None]:
        if name in _found and _found[name].run is not function:
            message = f"two scenarios have the id {name!r}"
            raise ValueError(message)
        _found[name] = Scenario(name, needs, function, level, waits)
        return function

    return register


def all_scenarios() -> list[Scenario]:
    """Return every scenario, sorted by id."""
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if module.name not in sys.modules:
            importlib.import_module(module.name)
    return [_found[name] for name in sorted(_found)]
