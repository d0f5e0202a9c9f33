"""The two sides of a backend, tried at once: each in a process of its own, so that both processors have work."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from holdall_conformance.results import Level, Result, Side
from holdall_conformance.sources import Source, source_from

__all__ = ["SideFailed", "main", "results_of_sides"]

_PROGRAM = "from holdall_conformance.sides import main; main()"


class SideFailed(RuntimeError):
    """The process of a side ended before it had tried every clause."""


def results_of_sides(
    source: Source, sides: Sequence[Side], settings: dict[str, Any], notice: Callable[[Result], None]
) -> list[Result]:
    """Try sides at once, each in a new interpreter, and return the results.

    Args:
        source: the backend.
        sides: which sides.
        settings: what `side_results` takes beside source and side, as JSON values.
        notice: is told of every result as it comes.

    Raises:
        SideFailed: a process ended early.

    """
    results: dict[Side, list[Result]] = {side: [] for side in sides}
    turn = threading.Lock()
    with contextlib.ExitStack() as ending:
        processes = {side: ending.enter_context(_started([source.told(), side, settings])) for side in sides}

        def listen(side: Side) -> None:
            for result in _heard(processes[side]):
                with turn:
                    results[side].append(result)
                    notice(result)

        threads = [threading.Thread(target=listen, args=[side], daemon=True) for side in sides]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for side, process in processes.items():
            if process.wait() != 0:
                message = f"the process that tried the {side} side ended with status {process.returncode}"
                raise SideFailed(message)
    return [result for side in sides for result in results[side]]


@contextlib.contextmanager
def _started(task: list[Any]) -> Generator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(  # noqa: S603 - an interpreter of the kit's own making
        [sys.executable, *_warnings_as_here(), "-c", _PROGRAM, json.dumps(task)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _warnings_as_here() -> list[str]:
    return [f"-W{option}" for option in sys.warnoptions]


def _heard(process: subprocess.Popen[bytes]) -> Iterator[Result]:
    if process.stdout is not None:
        for line in process.stdout:
            yield Result(**json.loads(line))


def main() -> None:
    """Try one side, as the argument says, and print a line of JSON for every result."""
    from holdall_conformance.runner import side_results  # noqa: PLC0415 - that module imports this one

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    told, side, settings = json.loads(sys.argv[1])
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what is printed by mistake must not look like a result
    turn = threading.Lock()

    def tell(result: Result) -> None:
        with turn:
            out.write(json.dumps(asdict(result)) + "\n")

    level: Level = settings.pop("level")
    side_results(source_from(told), side, level=level, notice=tell, **settings)
    out.flush()
    os._exit(0)  # a clause that hangs has left a thread behind
