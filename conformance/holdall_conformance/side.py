"""The process that tries one side of a backend."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from typing import Any, NoReturn

from holdall import ConfigError, HoldallError, Unsupported
from holdall_conformance.absence import Absent
from holdall_conformance.explain import text_of
from holdall_conformance.harness import Harness
from holdall_conformance.leftovers import clear_away
from holdall_conformance.looking import look_at
from holdall_conformance.results import Result, Side
from holdall_conformance.runner import chosen
from holdall_conformance.scenario import Scenario
from holdall_conformance.sources import source_from
from holdall_conformance.trial import stack_of, try_scenario

__all__ = ["main"]

_HOLDS, _WAITING = 16, 6
"""How many holds are tried side by side, and how many of the other clauses that wait beside those that do not."""
_LEISURE, _BRIEFLY = 0.4, 0.1
"""Seconds that a short ttl leaves: where many clauses wait side by side, and otherwise."""
_PATIENCE = 120.0
"""Seconds after which the first look, or clearing away, counts as hanging."""
_DEATH_OF_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""

_Tell = Callable[[str, Any], None]


class _Hangs(Exception):
    """Something did not come to its end."""


def main() -> NoReturn:
    """Try one side, as the argument says, and tell what comes of it."""
    _end_with_parent()
    told, side, settings = json.loads(sys.argv[1])
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what is printed by mistake must not look like a line of ours
    turn = threading.Lock()

    def tell(kind: str, thing: Any) -> None:
        with turn:
            out.write(json.dumps([kind, thing]) + "\n")

    try:
        _Side(source_from(told), side, settings, tell).try_all()
    except HoldallError as error:
        tell("error", [type(error).__name__, str(error)])
    except _Hangs as hangs:
        tell("error", ["ConfigError", str(hangs)])
    tell("done", "")
    os._exit(0)  # a clause that hangs has left a thread behind


def _end_with_parent() -> None:
    """Let this process and its children end when their parent is killed, where the system can tell."""
    signal.signal(signal.SIGTERM, _end_group)
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DEATH_OF_PARENT, signal.SIGTERM)


def _end_group(_: int, __: object) -> None:
    os.killpg(0, signal.SIGKILL)


class _Side:
    """One side of a backend, and the run that it is tried in."""

    def __init__(self, source: Any, side: Side, settings: dict[str, Any], tell: _Tell) -> None:
        self._source = source
        self._side = side
        self._settings = settings
        self._tell = tell
        self._absent: Sequence[str] = ()
        self._leisure = _LEISURE

    def try_all(self) -> None:
        """Look at the side, run the clauses, and clear away."""
        try:
            look = _watched("opening it, or the first look at it", self._look)
        except (Absent, Unsupported) as absent:
            self._tell("absent", str(absent))
            return
        self._absent = sorted(look.absent)
        declared = {"adapter": look.adapter, "capabilities": asdict(look.capabilities), "absent": self._absent}
        self._tell("look", declared)
        scenarios = chosen(self._settings["level"], self._settings["only"])
        waiting, others = ([each for each in scenarios if each.waits is waits] for waits in (True, False))
        if look.capabilities.persistent:
            holds = [each for each in waiting if each.group == "holds"]
            self._try_holds(holds)
            waiting = [each for each in waiting if each not in holds]
        else:
            self._leisure = _LEISURE / 2  # no disk keeps anybody waiting
        with ThreadPoolExecutor(_WAITING, thread_name_prefix="waiting") as pool:
            pool.map(self._attempt, waiting)
            for scenario in others:
                self._attempt(scenario)
        self._tell("remarks", self._cleared_away())

    def _try_holds(self, holds: Sequence[Scenario]) -> None:
        """Try the holds first: no heartbeat waits for a disk that the other clauses write to all the time."""
        with ThreadPoolExecutor(_HOLDS, thread_name_prefix="holds") as pool:
            list(pool.map(self._attempt, holds))

    def _look(self) -> Any:
        with self._harness("") as harness:
            return look_at(harness)

    def _attempt(self, scenario: Scenario) -> None:
        patience = self._leisure if scenario.waits and scenario.group != "holds" else _BRIEFLY
        harness = self._harness(scenario.id, patience)
        result: Result = try_scenario(scenario, lambda: harness)
        self._tell("result", asdict(result))

    def _harness(self, clause: str, patience: float = _BRIEFLY) -> Harness:
        settings = self._settings
        return Harness(
            self._source,
            asynchronous=self._side == "async",
            level=settings["level"],
            effort=settings["effort"],
            seed=f"{settings['seed']}/{self._side}/{clause}",
            patience=patience,
            absent=self._absent,
            run=f"{settings['run']}-{self._side}",
        )

    def _cleared_away(self) -> list[str]:
        def clear() -> list[str]:
            with self._harness("") as harness:
                return clear_away(harness)

        try:
            remarks: list[str] = _watched("clearing away", clear)
        except (Exception, _Hangs) as error:  # noqa: BLE001 - the report is made all the same
            return [f"what the clauses wrote was left: {type(error).__name__}: {error}"]
        return remarks


def _watched(what: str, function: Callable[[], Any]) -> Any:
    """Return what a function returns, run in a thread so that it may hang, or exit, without ending the process."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.extend([True, function()])
        except BaseException as error:  # noqa: BLE001 - raised again below
            outcome.extend([False, error])

    thread = threading.Thread(target=run, name=what, daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    if not outcome:
        raise _Hangs(f"{what} hangs: it did not end within {_PATIENCE:g} s; it stands here:\n{stack_of(thread)}")
    good, thing = outcome
    if good:
        return thing
    if isinstance(thing, (HoldallError, Absent)):
        raise thing
    place = traceback.extract_tb(thing.__traceback__)[-1]
    why = f"{what} raised {type(thing).__name__}: {text_of(thing)} ({place.filename}, line {place.lineno})"
    raise ConfigError(why) from thing
