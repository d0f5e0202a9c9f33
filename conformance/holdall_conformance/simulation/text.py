"""A run for people: numbered steps, who does what, and what becomes of it; and how to run it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from holdall_conformance.history.minimise import minimise
from holdall_conformance.history.plain import plain
from holdall_conformance.simulation.choices import trimmed
from holdall_conformance.simulation.derived_layout import short

if TYPE_CHECKING:
    from holdall_conformance.history.calls import Call
    from holdall_conformance.history.checker import Verdict
    from holdall_conformance.simulation.run import Outcome
    from holdall_conformance.simulation.subject import Subject
    from holdall_conformance.simulation.world import Event

__all__ = ["describe", "trace"]

_HIDDEN = frozenset({"scope", "lasts_until", "gone_by"})
_ID_LENGTH = 32


def trace(outcome: Outcome) -> list[str]:
    """Return the steps of a run, one line each.

    Args:
        outcome: the run.

    """
    lines = [
        f"{number:3}  {event.at - outcome.began:8.3f} s  {event.client}: {_line(event, outcome.subject)}"
        for number, event in enumerate(outcome.events, 1)
    ]
    return [*lines[: outcome.steps], "     afterwards, without faults:", *lines[outcome.steps :]]


def describe(outcome: Outcome) -> str:
    """Return a run that failed as text: what is wrong, its steps, and how to run it again.

    Args:
        outcome: the run.

    """
    failure = outcome.failure
    wrong = "nothing is wrong" if failure is None else failure.text
    lines = [f"{outcome.subject.name}, {outcome.workload}: {wrong}", *trace(outcome)]
    if failure is not None and failure.verdict is not None:
        lines += [
            "",
            "the calls that no order explains:",
            *(_call(call, outcome.began) for call in _telling(failure.verdict)),
        ]
    if outcome.seed is not None:
        lines += ["", f"seed {outcome.seed}: simulate(subject, {outcome.seed}) makes the whole run again"]
    return "\n".join([*lines, f"replay(subject, {trimmed(outcome.choices)}) makes this run again"])


def _telling(verdict: Verdict) -> Sequence[Call]:
    """Return the calls that contradict each other; all calls where the clock is part of the model."""
    return minimise(verdict).calls if verdict.kind == "log" else verdict.calls


def _line(event: Event, subject: Subject) -> str:
    match event.what:
        case (str() as operation, dict() as arguments):  # pyright: ignore[reportUnknownVariableType]
            return f"calls {operation}({_arguments(cast('Mapping[str, Any]', arguments))})"
        case str() if event.fate in {"returned", "refused", "unknown"}:
            told = "" if event.fate == "unknown" else f" {_short(plain(event.result))}"
            return f"{event.what} {event.fate}{told}"
        case str():
            return f"{event.what} {event.result or ''} {event.fate}".replace("  ", " ").rstrip()
        case _:
            fate = f" [{event.fate}]" if event.fate else ""
            return f"  {subject.describe(event.what, event.result)}{fate}"


def _arguments(arguments: Mapping[str, Any]) -> str:
    shown = {name: value for name, value in arguments.items() if name not in _HIDDEN and value is not None}
    return ", ".join(f"{name}={_short(value)}" for name, value in shown.items())


def _short(value: Any) -> str:
    """Return a value with its long ids made short."""
    words = repr(value).replace("(", "( ").replace("'", " ' ").split(" ")
    kept = [short(word) if len(word) == _ID_LENGTH and word.isalnum() else word for word in words]
    return " ".join(kept).replace("( ", "(").replace(" ' ", "'")


def _call(call: Call, began: float) -> str:
    returned = "the end" if call.returned is None else f"{call.returned - began:.3f} s"
    made = f"{call.operation}({_arguments(call.arguments)}) -> {call.outcome} {_short(call.result)}"
    return f"  {call.invoked - began:.3f} to {returned}, {call.client}: {made}"
