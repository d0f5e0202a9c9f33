"""What a run of the kit found: one result for each clause and side, and the report that holds them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

__all__ = ["FORMAT", "LEVELS", "Level", "Outcome", "Report", "Result", "Side", "Tally"]

FORMAT = 1
"""Version of the JSON form of a report."""

Level = Literal["base", "full"]
LEVELS: tuple[Level, ...] = ("base", "full")
Side = Literal["sync", "async"]
Outcome = Literal["passed", "failed", "absent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of one clause on one side.

    Attributes:
        id: the clause, "group.what-holds".
        proves: one sentence of what it proves.
        level: the lowest level that it belongs to.
        side: whether the synchronous or the asynchronous handles were tried.
        outcome: "passed", "failed", or "absent" where the backend does not have what the clause needs.
        reason: one line: why it is absent, or how it failed; empty where it passed.
        detail: the failure in full, with the shortest reproduction that was found; else empty.
        hint: where to look first; only where it failed.
        seconds: how long it took.

    """

    id: str
    proves: str
    level: Level
    side: Side
    outcome: Outcome
    reason: str = ""
    detail: str = ""
    hint: str = ""
    seconds: float = 0.0

    @property
    def group(self) -> str:
        """The part of the id before the dot."""
        return self.id.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many clauses of a group passed, failed and were absent, and the seconds they took."""

    passed: int
    failed: int
    absent: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run found.

    Attributes:
        subject: what was checked, a URL without its password or "module:function".
        lock: "module:function" of its lock, where that was named beside; else empty.
        adapter: the name that the backend gives itself.
        level: "base" or "full".
        complete: whether every clause of that level ran; only then is there a verdict.
        seed: reproduces every random choice of the run.
        effort: by how much the clauses that can do more or less did more.
        started: when, in ISO 8601 with the offset.
        seconds: how long it took.
        versions: of holdall, Python, the adapter's distribution and driver.
        environment: the machine, as far as it matters: system, processor count, container.
        capabilities: what the backend declares, by name.
        absent_operations: operations that the backend does not have, such as "append" or "acquire".
        remarks: what else a reader must know, such as what was left behind.
        results: one for each clause and side.

    """

    subject: str
    adapter: str
    level: Level
    complete: bool
    seed: int
    effort: float
    started: str
    seconds: float
    versions: Mapping[str, str]
    environment: Mapping[str, str]
    capabilities: Mapping[str, Any]
    absent_operations: Sequence[str] = ()
    remarks: Sequence[str] = ()
    results: Sequence[Result] = field(default=())
    lock: str = ""

    @property
    def title(self) -> str:
        """What was checked, the lock too where it was named beside."""
        return " with the lock ".join(filter(None, (self.subject, self.lock)))

    @property
    def count(self) -> Counter[Outcome]:
        """How many results there are of each outcome."""
        return Counter(result.outcome for result in self.results)

    @property
    def failures(self) -> list[Result]:
        """The results that failed."""
        return [result for result in self.results if result.outcome == "failed"]

    @property
    def holds(self) -> bool:
        """Whether clauses ran and none failed."""
        return not self.failures and self.count["passed"] > 0

    @property
    def conforms(self) -> bool:
        """Whether every clause of the level ran or is absent, and none failed."""
        return self.complete and self.holds

    @property
    def verdict(self) -> str:
        """The outcome in one line."""
        failed = len(self.failures)
        if failed:
            return f"does not conform: {failed} of {len(self.results)} clauses failed"
        if not self.count["passed"]:
            return "no verdict: no clause applies"
        if not self.complete:
            held = self.count["passed"]
            ran = f"the {held} clauses that ran hold" if held > 1 else "the one clause that ran holds"
            return f"no verdict: {ran}, the rest of the level did not run"
        return f"conforms at level {self.level}{self._without()}"

    def _without(self) -> str:
        alone = ", within one process" if self.capabilities.get("cross_process") is False else ""
        return alone + (f", without {', '.join(self.absent_operations)}" if self.absent_operations else "")

    def by_group(self) -> dict[str, Tally]:
        """Return the tallies of the groups, by name."""
        groups = sorted({result.group for result in self.results})
        return {group: self._tally(group) for group in groups}

    def _tally(self, group: str) -> Tally:
        chosen = [result for result in self.results if result.group == group]
        count = Counter(result.outcome for result in chosen)
        return Tally(count["passed"], count["failed"], count["absent"], sum(result.seconds for result in chosen))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {"format": FORMAT, "verdict": self.verdict, "conforms": self.conforms, **asdict(self)}

    @classmethod
    def from_dict(cls, found: Any) -> Self:
        """Return the report that `to_dict` turned into JSON values.

        Args:
            found: the JSON values.

        Raises:
            ValueError: they are not those of a report, or of a format that this version does not know.

        """
        settings: dict[str, Any] = {**found} if isinstance(found, dict) else {}
        if settings.pop("format", None) != FORMAT:
            message = f"this is no report of `holdall check --json` in format {FORMAT}"
            raise ValueError(message)
        try:
            del settings["verdict"], settings["conforms"]
            results: list[dict[str, Any]] = settings.pop("results")
            return cls(results=tuple(Result(**result) for result in results), **settings)
        except (KeyError, TypeError) as error:
            message = f"this is no report of `holdall check --json`: {error}"
            raise ValueError(message) from error
