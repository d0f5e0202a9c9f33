"""What changed between two reports, and whether it is worse."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdall_conformance.reports.text import declared, duration, joined, sides_of, visible, wrapped
from holdall_conformance.results import Outcome, Report, Result, Side

__all__ = ["Change", "Comparison", "compare"]

_SLOWER = 2.0
"""A group that took more than this many times as long is named."""
_NOTICED = 1.0
"""Seconds by which a group must be slower to be named."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one clause on one side.

    Attributes:
        id: the clause.
        side: the side.
        before: what came of it in the old report; None where it was not there.
        after: what came of it in the new report; None where it is not there.
        reason: why it failed or is absent now; else empty.

    """

    id: str
    side: Side
    before: Outcome | None
    after: Outcome | None
    reason: str = ""

    def __str__(self) -> str:
        """Return one line."""
        was = "was not there" if self.before is None else f"{self.before} before"
        said = f"{self.id} ({self.side}), {was}"
        return visible(f"{said}: {self.reason}" if self.reason else said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What changed from an old report to a new one.

    Attributes:
        now_failing: fail, and did not before.
        now_passing: pass, and failed before.
        newly_absent: are absent, and were tried before.
        no_longer_absent: pass, and were absent before.
        new: pass or are absent, and are not in the old report.
        vanished: are not in the new report.
        capabilities: what is declared otherwise, a line each.
        differences: what else the runs differ in, a line each.
        slower: groups that took much longer over the same clauses, a line each; named, not judged.

    """

    now_failing: Sequence[Change] = ()
    now_passing: Sequence[Change] = ()
    newly_absent: Sequence[Change] = ()
    no_longer_absent: Sequence[Change] = ()
    new: Sequence[Change] = ()
    vanished: Sequence[Change] = ()
    capabilities: Sequence[str] = ()
    differences: Sequence[str] = ()
    slower: Sequence[str] = ()

    @property
    def lost(self) -> list[Change]:
        """What passed before and is absent or gone now."""
        return [change for change in (*self.newly_absent, *self.vanished) if change.before == "passed"]

    @property
    def worse(self) -> bool:
        """Whether something fails that did not fail before, or something that passed is absent or gone."""
        return bool(self.now_failing or self.lost)

    @property
    def verdict(self) -> str:
        """The judgement in one line."""
        parts = ((len(self.now_failing), "now failing"), (len(self.lost), "passed before and absent or gone now"))
        said = [f"{number:,} {what}" for number, what in parts if number]
        return f"worse: {joined(said)}" if said else "not worse"

    def to_text(self) -> str:
        """Return the comparison for a terminal or a pipe, with the judgement as the last line."""
        blocks = [_said("differs", self.differences)]
        blocks += [_listed(title, changes) for title, changes in self._titled()]
        blocks += [_said("capability", self.capabilities), _said("slower", self.slower)]
        return "\n\n".join([*(list(filter(None, blocks)) or ["nothing changed"]), self.verdict]) + "\n"

    def _titled(self) -> Iterator[tuple[str, Sequence[Change]]]:
        yield "now failing", self.now_failing
        yield "now passing", self.now_passing
        yield "newly absent", self.newly_absent
        yield "no longer absent", self.no_longer_absent
        yield "new", self.new
        yield "gone", self.vanished


def _said(title: str, lines: Sequence[str]) -> str:
    return "\n".join(wrapped(f"{title}: {line}", "", "    ") for line in lines)


def _listed(title: str, changes: Sequence[Change]) -> str:
    lines = [wrapped(str(change), "  ", "      ") for change in changes]
    return "\n".join([f"{title} ({len(changes):,}):", *lines]) if lines else ""


def compare(old: Report, new: Report) -> Comparison:
    """Compare two reports, clause by clause and side by side.

    Args:
        old: what an earlier run found.
        new: what a later run found.

    """
    before, after = _results(old), _results(new)
    moved: dict[str, list[Change]] = defaultdict(list)
    for key in sorted({*before, *after}):
        kind = _kind(before.get(key), after.get(key))
        if kind is not None:
            moved[kind].append(_change(before.get(key), after.get(key), *key))
    return Comparison(
        **moved,
        capabilities=tuple(_changed("", old.capabilities, new.capabilities, declared)),
        differences=tuple(_differences(old, new)),
        slower=tuple(_slower(before, after)) if old.effort == new.effort else (),
    )


def _results(report: Report) -> dict[tuple[str, Side], Result]:
    return {(result.id, result.side): result for result in report.results}


def _kind(old: Result | None, new: Result | None) -> str | None:
    """Return the attribute of a comparison under which a clause belongs; None where nothing changed."""
    if new is None:
        return "vanished"
    if old is not None and old.outcome == new.outcome:
        return None
    if new.outcome == "failed":
        return "now_failing"
    if old is None:
        return "new"
    if new.outcome == "absent":
        return "newly_absent"
    return "now_passing" if old.outcome == "failed" else "no_longer_absent"


def _change(old: Result | None, new: Result | None, name: str, side: Side) -> Change:
    before = None if old is None else old.outcome
    return Change(name, side, before, *((None, "") if new is None else (new.outcome, new.reason)))


def _differences(old: Report, new: Report) -> Iterator[str]:
    if old == new:
        yield "nothing: both are the same report, which says nothing about a change"
    yield from _changed("", _facts(old), _facts(new))
    yield from _changed("version of ", old.versions, new.versions)
    yield from _changed("", old.environment, new.environment)
    yield from (
        f"the {name} run left out clauses of its level"
        for name, run in (("old", old), ("new", new))
        if not run.complete
    )


def _facts(report: Report) -> dict[str, str]:
    sides = sides_of(report)
    return {
        "subject": report.title,
        "adapter": report.adapter,
        "level": report.level,
        "sides": joined(sides) if sides else "none",
        "seed": str(report.seed),
        "effort": f"{report.effort:g}",
        "absent operations": ", ".join(report.absent_operations) or "none",
    }


def _as_text(_: str, value: Any) -> str:
    return str(value)


def _changed(
    kind: str, old: Mapping[str, Any], new: Mapping[str, Any], show: Callable[[str, Any], str] = _as_text
) -> Iterator[str]:
    for name in dict.fromkeys([*old, *new]):
        was, now = (show(name, each[name]) if name in each else "not there" for each in (old, new))
        if was != now:
            yield visible(f"{kind}{name}: {was}, now {now}")


def _slower(before: Mapping[tuple[str, Side], Result], after: Mapping[tuple[str, Side], Result]) -> Iterator[str]:
    """Compare the groups over the clauses that both runs tried, so that new clauses slow nothing down."""
    was: dict[str, float] = defaultdict(float)
    now: dict[str, float] = defaultdict(float)
    for key in sorted({*before} & {*after}):
        if "absent" not in {before[key].outcome, after[key].outcome}:
            was[after[key].group] += before[key].seconds
            now[after[key].group] += after[key].seconds
    for group, seconds in now.items():
        if seconds > was[group] * _SLOWER and seconds - was[group] >= _NOTICED:
            yield visible(f"{group} took {duration(seconds)}, before {duration(was[group])}")
