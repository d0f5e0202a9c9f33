"""Absent clauses, put together by the reason why they are absent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from holdall_conformance.reports.text import SIDES, counted, sides_of
from holdall_conformance.results import Report, Side

__all__ = ["Absence", "absences_of"]

_NEEDS = "needs "
_UNSAID = "no reason was given"


@dataclass(frozen=True, slots=True)
class Absence:
    """Clauses that are absent for one reason.

    Attributes:
        reason: why.
        ids: the clauses, sorted.
        only: the side on which they are absent, where they are not on the other; else None.

    """

    reason: str
    ids: Sequence[str]
    only: Side | None = None

    @property
    def sentence(self) -> str:
        """How many there are and why, such as "14 clauses need atomic_commit"."""
        said = counted(len(self.ids), "clause")
        if self.only is not None:
            said += f" on the {self.only} side"
        if not self.reason.startswith(_NEEDS):
            return f"{said}: {self.reason}"
        verb = "needs" if len(self.ids) == 1 else "need"
        return f"{said} {verb} {self.reason.removeprefix(_NEEDS)}"

    @property
    def groups(self) -> str:
        """The groups that they are in, each with its number of clauses."""
        count = Counter(name.partition(".")[0] for name in self.ids)
        return ", ".join(f"{group} {number:,}" for group, number in sorted(count.items()))


def absences_of(report: Report) -> list[Absence]:
    """Return every absent clause of a report, by reason, the most frequent reason first.

    Args:
        report: what the run found.

    """
    sides: dict[tuple[str, str], set[Side]] = defaultdict(set)
    for result in report.results:
        if result.outcome == "absent":
            sides[result.reason or _UNSAID, result.id].add(result.side)
    both = len(sides_of(report)) == len(SIDES)
    ids: dict[tuple[str, Side | None], list[str]] = defaultdict(list)
    for (reason, name), found in sorted(sides.items()):
        only = next(iter(found)) if both and len(found) == 1 else None
        ids[reason, only].append(name)
    absences = [Absence(reason, tuple(names), only) for (reason, only), names in ids.items()]
    return sorted(absences, key=lambda absence: (-len(absence.ids), absence.reason, absence.only or ""))
