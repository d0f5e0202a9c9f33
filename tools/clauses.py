"""Writes docs/reference/clauses.md: every clause of the conformance kit, by group, from the scenarios themselves."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from holdall_conformance.explain import hint_for
from holdall_conformance.scenario import Scenario, all_scenarios

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "clauses.md"
HEAD = """# Clauses

What the conformance kit proves, {count} clauses in {groups} groups. `holdall check URL --only GROUP` runs a group,
`holdall check URL --only CLAUSE` one of them; [prove a backend](../guide/conformance.md) tells the rest. This page is
made from the scenarios by `python tools/clauses.py`.

A clause needs what stands under "needs" among the [capabilities](capabilities.md); "not" before it means that it is for
backends without.
"""


def page() -> str:
    """Return the page."""
    scenarios = all_scenarios()
    groups = [(name, list(found)) for name, found in groupby(scenarios, key=lambda scenario: scenario.group)]
    head = HEAD.format(count=len(scenarios), groups=len(groups))
    return "\n".join([head, *(_section(name, found) for name, found in groups)])


def _section(name: str, scenarios: list[Scenario]) -> str:
    rows = [f"| `{each.id}` | {each.level} | {_escaped(each.proves)} | {_needs(each)} |" for each in scenarios]
    head = ["| clause | level | what it proves | needs |", "|---|---|---|---|"]
    hint = hint_for(name)
    return "\n".join([f"## {name}", "", f"Where one fails: {hint}.", "", *head, *rows, ""])


def _needs(scenario: Scenario) -> str:
    return ", ".join(f"not {need[1:]}" if need.startswith("!") else need for need in scenario.needs)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
