"""Shrinks a failing run: the fewest steps that still fail in the same way.

A run is a list of numbers for each client, so it is shrunk as Hypothesis shrinks: delete operations and other pieces,
lower what is left, run each candidate, and keep it if it still fails and is smaller (MacIver and Donaldson, "Test-Case
Reduction via Test-Case Generation", ECOOP 2020). The work is bounded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from holdall_conformance.simulation.choices import trimmed
from holdall_conformance.simulation.run import replay

if TYPE_CHECKING:
    from holdall_conformance.simulation.run import Outcome
    from holdall_conformance.simulation.subject import Subject

__all__ = ["shrink"]

MOST_RUNS = 2_000
_PIECES = (8, 4, 2, 1)


class _Shrinking:
    """The smallest failing run so far, and how many more runs may be tried.

    Args:
        subject: what is simulated.
        found: the failing run.
        runs: how many runs may be tried.

    """

    def __init__(self, subject: Subject, found: Outcome, runs: int) -> None:
        self._subject = subject
        self._kind = found.failure.kind if found.failure else ""
        self._tried: set[str] = set()
        self.best = found
        self.left = runs

    @property
    def choices(self) -> list[list[int]]:
        """The choices of the smallest run, without the plain ones at the ends."""
        return trimmed(self.best.choices)

    def attempt(self, choices: Sequence[Sequence[int]]) -> bool:
        """Run a candidate; keep it, and return True, if it fails in the same way and is smaller."""
        candidate = trimmed(choices)
        name = repr(candidate)
        if self.left <= 0 or name in self._tried:
            return False
        self._tried.add(name)
        self.left -= 1
        outcome = replay(self._subject, candidate)
        if outcome.failure is None or outcome.failure.kind != self._kind or _size(outcome) >= _size(self.best):
            return False
        self.best = outcome
        return True

    def attempt_in(self, stream: int, choices: Sequence[int]) -> bool:
        """Run the smallest run with other choices in one stream."""
        now = self.choices
        return stream < len(now) and self.attempt([*now[:stream], choices, *now[stream + 1 :]])


def shrink(subject: Subject, found: Outcome, runs: int = MOST_RUNS) -> Outcome:
    """Return the smallest run found that fails as another does, with the other's seed.

    Args:
        subject: what is simulated.
        found: a failing run.
        runs: how many runs may be tried.

    """
    shrinking = _Shrinking(subject, found, runs)
    again = True
    while again and shrinking.left > 0:
        steps = [step(shrinking) for step in (_calm, _omit, _delete, _lower)]
        again = any(steps) or _omit_pairs(shrinking)
    return replace(shrinking.best, choices=shrinking.choices, seed=found.seed)


def _calm(shrinking: _Shrinking) -> bool:
    """Make all faults plain, and all changes of client; everywhere, or for one client."""
    progress = False
    streams = range(1, len(shrinking.best.choices))
    for kinds in ({"fate", "who"}, {"fate"}, {"who"}):
        for chosen in (streams, *([stream] for stream in streams)):
            progress = shrinking.attempt(_calmed(shrinking.best, kinds, chosen)) or progress
    return progress


def _calmed(best: Outcome, kinds: Collection[str], streams: Collection[int]) -> list[list[int]]:
    return [
        [
            0 if stream in streams and kind in kinds else choice
            for choice, kind in zip(choices, best.kinds[stream], strict=False)
        ]
        for stream, choices in enumerate(best.choices)
    ]


def _omit(shrinking: _Shrinking) -> bool:
    """Leave out whole clients, then whole operations, the last first."""
    progress = False
    for stream in range(1, len(shrinking.choices)):
        progress = shrinking.attempt_in(stream, []) or progress
    for stream in range(1, len(shrinking.best.marks)):
        for number in range(len(shrinking.best.marks[stream]) - 1, -1, -1):
            progress = _omit_operation(shrinking, stream, number) or progress
    return progress


def _omit_operation(shrinking: _Shrinking, stream: int, number: int) -> bool:
    choices = _without_operation(shrinking, shrinking.choices, stream, number)
    return choices is not None and shrinking.attempt(choices)


def _omit_pairs(shrinking: _Shrinking) -> bool:
    """Leave out two operations at once, of which one may only have mended what the other did."""
    best = shrinking.best
    every = [(stream, number) for stream, marks in enumerate(best.marks) for number in range(len(marks))]
    for later in reversed(every):
        for earlier in every[: every.index(later)]:
            choices = _without_operation(shrinking, shrinking.choices, *later)
            choices = None if choices is None else _without_operation(shrinking, choices, *earlier)
            if choices is not None and shrinking.attempt(choices):
                return True
    return False


def _without_operation(
    shrinking: _Shrinking, choices: list[list[int]], stream: int, number: int
) -> list[list[int]] | None:
    """Return choices without those of an operation, or None if there is none."""
    marks = shrinking.best.marks[stream]
    if number >= len(marks) or stream >= len(choices):
        return None
    end = marks[number + 1] if number + 1 < len(marks) else len(choices[stream])
    kept = choices[stream][: marks[number]] + choices[stream][end:]
    return [*choices[:stream], kept, *choices[stream + 1 :]]


def _delete(shrinking: _Shrinking) -> bool:
    """Delete pieces, the longest first and from the end, or make them plain."""
    progress = False
    for stream in range(len(shrinking.best.choices)):
        for length in _PIECES:
            place = _length(shrinking, stream) - length
            while place >= 0:
                progress = (
                    any(
                        shrinking.attempt_in(stream, candidate)
                        for candidate in _without(shrinking.choices[stream], place, length)
                    )
                    or progress
                )
                place = min(place - max(1, length // 2), _length(shrinking, stream) - length)
    return progress


def _length(shrinking: _Shrinking, stream: int) -> int:
    return len(shrinking.choices[stream]) if stream < len(shrinking.choices) else 0


def _without(choices: list[int], place: int, length: int) -> Iterator[list[int]]:
    """Give the choices without a piece, and with the piece made plain."""
    before, piece, behind = choices[:place], choices[place : place + length], choices[place + length :]
    yield before + behind
    if any(piece):
        yield before + [0] * len(piece) + behind


def _lower(shrinking: _Shrinking) -> bool:
    """Lower single numbers."""
    progress = False
    for stream in range(len(shrinking.best.choices)):
        for place in range(_length(shrinking, stream) - 1, -1, -1):
            if place < _length(shrinking, stream):
                progress = _lower_one(shrinking, stream, place) or progress
    return progress


def _lower_one(shrinking: _Shrinking, stream: int, place: int) -> bool:
    choices = shrinking.choices[stream]
    return any(
        shrinking.attempt_in(stream, [*choices[:place], value, *choices[place + 1 :]])
        for value in range(choices[place])
    )


def _size(outcome: Outcome) -> tuple[int, int, list[list[int]]]:
    choices = trimmed(outcome.choices)
    return outcome.steps, sum(map(len, choices)), choices
