"""Shrinks a bad history to one that is bad for the same reason and that people can follow.

Leaving out calls may turn a good history into a bad one: without a write, whoever read what it wrote has read something
from nowhere. What is left would accuse the wrong. So calls go only in ways that keep every good history good; if the
rest is bad, then so was the whole. These ways are:

- What begins after a moment goes, and what is under way at that moment becomes a call of unknown outcome. (Every
  prefix of a linearizable history is linearizable.)
- A call that changed nothing goes: a read, a refusal, a delete of what was not there.
- A write goes together with every call that tells of it: see `records_without`, `logs_without`,
  `logs_whole` and `logs_lives`.

Within each way sets of calls are tried as in delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating
Failure-Inducing Input", 2002): halves first, then smaller and smaller parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from holdall_conformance.history.calls import READS, Call
from holdall_conformance.history.checker import MODELS, WORK, Verdict, check, until
from holdall_conformance.history.logs_lives import life_of, only_lives
from holdall_conformance.history.logs_whole import logs_whole
from holdall_conformance.history.logs_without import logs_without
from holdall_conformance.history.records_without import records_without

__all__ = ["is_idle", "minimise"]

_MOST_CHECKS = 600
_PATIENCE = WORK // 5
_Without = Callable[[Sequence[Call], Sequence[int]], Sequence[Call]]


def minimise(verdict: Verdict, *, checks: int = _MOST_CHECKS) -> Verdict:
    """Return the verdict on a minimal bad part of a bad history.

    In a log, the positions are counted anew without the appends that were left out.

    Args:
        verdict: a verdict that says no; any other is returned as it is.
        checks: the most histories to try.

    """
    if verdict.linearizable:
        return verdict
    if verdict.flaw is not None:
        return replace(verdict, calls=verdict.flaw.calls)
    return _Shrinking(verdict, checks).run()


class _Shrinking:
    def __init__(self, verdict: Verdict, checks: int) -> None:
        self._best = verdict
        self._left = checks

    def run(self) -> Verdict:
        self._cut()
        if self._best.kind == "log":
            self._accept(logs_whole(self._best.calls))
        size = 0
        while size != len(self._best.calls):
            size = len(self._best.calls)
            self._drop(_without_idle, is_idle)
            if self._best.kind == "record":
                self._drop(records_without, _writes)
            if self._best.kind == "log":
                self._keep_lives()
                self._drop(logs_without, _writes)
        self._explain()
        return self._best

    def _explain(self) -> None:
        """Find the contradiction, or the order, that comes to people's minds."""
        kind, flaw = self._best.kind, self._best.flaw
        if flaw is not None:
            self._best = replace(self._best, calls=flaw.calls)
            return
        verdict = check(MODELS[kind], self._best.calls, kind=kind, work=_PATIENCE, pinned=False)
        if not verdict.linearizable:
            self._best = verdict

    def _accept(self, calls: Sequence[Call]) -> bool:
        """Go on with other calls if they are bad too."""
        if self._left <= 0 or len(calls) > len(self._best.calls):
            return False
        self._left -= 1
        kind = self._best.kind
        # An empty or a good rest, or one that cannot be decided, is no proof.
        verdict = check(MODELS[kind], calls, kind=kind, work=_PATIENCE)
        if verdict.linearizable:
            return False
        self._best = verdict
        return True

    def _cut(self) -> None:
        """Find the first moment at which the history is bad: badness stays, so halving finds it."""
        calls = self._best.calls
        moments = sorted({call.returned for call in calls if call.returned is not None})
        low, high = 0, len(moments) - 1
        while low < high:
            middle = (low + high) // 2
            if self._accept(until(calls, moments[middle])):
                high = middle
            else:
                low = middle + 1

    def _keep_lives(self) -> None:
        """Drop lives of a log, one after the other."""
        lives = list(dict.fromkeys(life for call in self._best.calls if (life := life_of(call)) is not None))
        for life in list(lives):
            kept = [other for other in lives if other != life]
            if kept and self._accept(only_lives(self._best.calls, kept)):
                lives = kept
        if lives:
            self._accept(only_lives(self._best.calls, lives))

    def _drop(self, without: _Without, wanted: Callable[[Call], bool]) -> None:
        """Drop calls of a kind, in parts that become smaller."""
        size = max(1, sum(map(wanted, self._best.calls)) // 2)
        while self._left > 0:
            self._drop_parts(without, wanted, size)
            if size == 1:
                return
            size //= 2

    def _drop_parts(self, without: _Without, wanted: Callable[[Call], bool], size: int) -> None:
        start = 0
        while True:
            numbers = [number for number, call in enumerate(self._best.calls) if wanted(call)][start : start + size]
            if not numbers or self._left <= 0:
                return
            before = len(self._best.calls)
            rest = without(self._best.calls, numbers)
            if not (len(rest) < before and self._accept(rest)):
                start += size


def is_idle(call: Call) -> bool:
    """Tell whether a call changed nothing, wherever it took effect.

    Args:
        call: the call.

    """
    if call.outcome != "returned":
        return call.outcome == "refused"
    if call.operation in READS or (call.operation in {"acquire", "try_acquire"} and call.result is None):
        return True
    unfenced = call.arguments.get("fence") is None
    return unfenced and call.operation in {"delete", "touch", "drop", "truncate", "release"} and not call.result


def _without_idle(calls: Sequence[Call], numbers: Sequence[int]) -> Sequence[Call]:
    left_out = set(numbers)
    return [call for number, call in enumerate(calls) if number not in left_out]


def _writes(call: Call) -> bool:
    return not is_idle(call)
