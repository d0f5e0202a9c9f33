"""One clause, tried on one side of a backend: it passes, fails, is absent, or hangs."""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

from holdall_conformance.absence import Absent
from holdall_conformance.explain import detail_of, hint_for, reason_of
from holdall_conformance.results import Outcome, Result

if TYPE_CHECKING:
    from holdall_conformance.harness import Harness
    from holdall_conformance.scenario import Scenario

__all__ = ["PATIENCE", "stack_of", "try_scenario"]

_SILENCE = logging.NullHandler()
PATIENCE = 600.0
"""Seconds after which a clause counts as hanging: far more than any takes."""


class _Trial:
    """A clause that runs in a thread, so that one that hangs does not stop the others."""

    def __init__(self, scenario: Scenario, make: Callable[[], Harness]) -> None:
        self._scenario = scenario
        self._make = make
        self.outcome: Outcome = "failed"
        self.reason = self.detail = ""

    def run(self) -> None:
        """Run the clause and note what came of it."""
        try:
            with self._make() as harness:
                self._run_with(harness)
        except Absent as absent:
            self.outcome, self.reason = "absent", str(absent)
        except BaseException as error:  # noqa: BLE001 - whatever a clause raises is its failure
            self.outcome, self.reason, self.detail = "failed", reason_of(error), detail_of(error)

    def _run_with(self, harness: Harness) -> None:
        lacking = self._scenario.lacking(harness.capabilities)
        if lacking:
            self.outcome, self.reason = "absent", f"the backend declares {', '.join(map(_declared, lacking))}"
            return
        self._scenario.run(harness)
        self.outcome = "passed"


def _declared(need: str) -> str:
    """Return what is declared where a need is not met."""
    return f"{need.removeprefix('!')}, and this is for those without" if need.startswith("!") else f"no {need}"


def try_scenario(scenario: Scenario, make: Callable[[], Harness], *, patience: float = PATIENCE) -> Result:
    """Run one clause and return what came of it; it never raises.

    Args:
        scenario: the clause.
        make: returns a harness that was not entered yet.
        patience: seconds after which the clause counts as hanging; its thread is left behind then.

    """
    logging.getLogger("holdall").addHandler(_SILENCE)  # what a clause provokes is no news
    harness = make()
    trial = _Trial(scenario, lambda: harness)
    began = time.perf_counter()
    thread = threading.Thread(target=trial.run, name=scenario.id, daemon=True)
    thread.start()
    thread.join(patience)
    failed_to_end = thread.is_alive()
    if failed_to_end:
        _note_hanging(trial, thread, patience)
    return Result(
        id=scenario.id,
        proves=scenario.proves,
        level=scenario.level,
        side="async" if harness.asynchronous else "sync",
        outcome=trial.outcome,
        reason=trial.reason,
        detail=_with_seed(trial.detail, harness.seed) if trial.outcome == "failed" else "",
        hint=hint_for(scenario.group) if trial.outcome == "failed" else "",
        seconds=time.perf_counter() - began,
    )


def _note_hanging(trial: _Trial, thread: threading.Thread, patience: float) -> None:
    trial.outcome, trial.reason = "failed", f"hangs: it did not end within {patience:g} s"
    trial.detail = f"{trial.reason}; it stands here:\n\n{stack_of(thread)}".rstrip()


def stack_of(thread: threading.Thread) -> str:
    """Return where another thread stands."""
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - documented
    return "".join(traceback.format_stack(frame)) if frame is not None else ""


def _with_seed(detail: str, seed: str) -> str:
    return f"{detail}\n\nseed of the clause: {seed}"
