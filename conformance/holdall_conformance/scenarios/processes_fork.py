"""Handles in a forked child: they refuse at once, and what the child does cannot hurt its parent."""

from __future__ import annotations

from holdall_conformance.children import Children
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario

_WORK = "holdall_conformance.scenarios.processes_fork_work"


def _run(harness: Harness, function: str) -> None:
    """Fork in a clean interpreter, never in this one, and without the kit's own loop in it."""
    with Children(harness, asynchronous=False) as children:
        child = children.start(f"{_WORK}:{function}", harness.asynchronous, harness.new_scope())
        assert child.hear() == "done"
        child.finish()


@scenario("fork.handles-refuse-or-reopen", level="full")
def fork_handles_refuse(harness: Harness) -> None:
    """A handle that came with a fork raises ForkedHandle at once, or works in all; the parent's handles go on."""
    _run(harness, "fork_and_use")


@scenario("fork.keeps-hold", level="full", waits=True)
def fork_keeps_hold(harness: Harness) -> None:
    """In a forked child a hold is lost and leaving it releases nothing; the parent keeps it and goes on renewing."""
    _run(harness, "fork_in_hold")


@scenario("fork.during-operations", level="full")
def fork_during_operations(harness: Harness) -> None:
    """Forks while other threads are inside an operation hang nothing, whichever way the child ends."""
    _run(harness, "fork_while_busy")
