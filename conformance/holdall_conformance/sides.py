"""The sides of a backend, tried at once: each in a process of its own, which alone touches the backend.

Two processors have work then, and whatever a backend does to its process (it exits, dies, hangs, leaves threads), the
report is made. A process tells lines of JSON, each a kind and something: first "look", what the first look saw, or
"absent" or "error", why there is none; then a "result" for each clause; "remarks"; and "done" at the very end.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdall_conformance.results import Result, Side
from holdall_conformance.sources import Source

__all__ = ["Told", "try_sides"]

_PROGRAM = "from holdall_conformance.side import main; main()"


@dataclass
class Told:
    """What the process of one side told.

    Attributes:
        look: adapter, capabilities and absent operations, None if there is no such side.
        absent: why there is no such side.
        error: name and message of the error that kept it from being opened.
        results: what came of the clauses, as far as it came.
        remarks: what a reader must know.
        done: whether it came to its end.
        status: with which it ended.

    """

    look: Mapping[str, Any] | None = None
    absent: str = ""
    error: tuple[str, str] | None = None
    results: list[Result] = field(default_factory=list[Result])
    remarks: list[str] = field(default_factory=list[str])
    done: bool = False
    status: int = 0

    def take(self, kind: str, thing: Any, notice: Callable[[Result], None]) -> None:
        """Take one line."""
        match kind:
            case "result":
                self.results.append(Result(**thing))
                notice(self.results[-1])
            case "error":
                self.error = (thing[0], thing[1])
            case "done":
                self.done = True
            case _:
                setattr(self, kind, thing)


def try_sides(
    source: Source, sides: Sequence[Side], settings: Mapping[str, Any], notice: Callable[[Result], None]
) -> dict[Side, Told]:
    """Try sides at once and return what was told of each.

    Args:
        source: the backend.
        sides: which sides.
        settings: of the run, as JSON values; see `holdall_conformance.side`.
        notice: is told of every result as it comes.

    """
    told: dict[Side, Told] = {side: Told() for side in sides}
    turn = threading.Lock()
    with contextlib.ExitStack() as ending:
        processes = {side: ending.enter_context(_started([source.told(), side, dict(settings)])) for side in sides}

        def listen(side: Side) -> None:
            for kind, thing in _heard(processes[side]):
                with turn:
                    told[side].take(kind, thing, notice)
            told[side].status = processes[side].wait()

        threads = [threading.Thread(target=listen, args=[side], daemon=True) for side in sides]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return told


@contextlib.contextmanager
def _started(task: list[Any]) -> Generator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(  # noqa: S603 - an interpreter of the kit's own making
        [sys.executable, *[f"-W{option}" for option in sys.warnoptions], "-c", _PROGRAM, json.dumps(task)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,  # so that its children, stopped ones too, can be ended with it
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _heard(process: subprocess.Popen[bytes]) -> Iterator[tuple[str, Any]]:
    """Iterate over what a process tells; a child of its that lives on does not keep the pipe open for ever."""
    if process.stdout is None:
        return
    for line in process.stdout:
        kind, thing = json.loads(line)
        yield kind, thing
        if kind == "done":
            return
