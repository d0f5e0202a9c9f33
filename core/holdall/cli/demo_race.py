"""Two processes append one conversation at once; one is killed half-way, while it holds the lease."""

from __future__ import annotations

import contextlib
import queue
import random
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

from holdall.cli.demo_protocol import CONTINUE, STAY, Assignment, Event

__all__ = ["DoesNotHold", "Process", "Race", "Takeover"]

_SILENCE = 20.0
_KILL_WITHIN = (0.002, 0.03)
_END = 10.0


class DoesNotHold(Exception):
    """Something that the demo shows does not hold."""


class Process:
    """One of the two processes, and the thread that hears it."""

    def __init__(self, number: int, complaints: Path, events: queue.SimpleQueue[tuple[Process, Event]]) -> None:
        self.number = number
        self._complaints = complaints
        self._events = events
        with complaints.open("wb") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "holdall.cli.demo_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                encoding="utf-8",
            )
        self._listener = threading.Thread(target=self._listen, name=f"demo-process-{number}", daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def _listen(self) -> None:
        for line in self._pipe(self._process.stdout):
            # What a killed process did not write to its end was not reported.
            if line.endswith("\n"):
                self._events.put((self, Event.from_line(line)))
        self._events.put((self, Event("ended")))

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        if pipe is None:
            message = "the process was started with pipes"
            raise RuntimeError(message)
        return pipe

    def order(self, text: str) -> None:
        """Give an order; a process that has ended does not mind."""
        pipe = self._pipe(self._process.stdin)
        with contextlib.suppress(BrokenPipeError):
            pipe.write(text + "\n")
            pipe.flush()

    def kill(self) -> None:
        """Send SIGKILL, wait for the end, and hear what it had still reported."""
        self._process.kill()
        self._process.wait()
        self._listener.join(_END)

    def dismiss(self) -> int:
        """Let the process end by itself, and return its status."""
        with contextlib.suppress(BrokenPipeError):
            self._pipe(self._process.stdin).close()
        return self._process.wait(_END)

    def close(self) -> None:
        """End the process, whatever it does, and give back the pipes."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                self._pipe(pipe).close()

    def last_words(self) -> str:
        """Return how it ended, with the last line of its stderr."""
        lines = self._complaints.read_text("utf-8", "replace").split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
        return f"ended with status {self._process.wait(_END)}: {said}"


@dataclass(slots=True)
class Takeover:
    """How the lease went from one process to the other.

    Attributes:
        killed: the process that was killed.
        killed_token: the token of the lease it held.
        survivor: the process that took over.
        token: the token of its lease.
        seconds: from the kill until the survivor had the lease and had sealed.
        length: how long the log was then.

    """

    killed: Process
    killed_token: int
    survivor: Process
    token: int
    seconds: float
    length: int


@dataclass(slots=True)
class Race:
    """The two processes, and everything they reported.

    Attributes:
        assignment: what both are to do.
        folder: where their complaints go.
        acknowledged: every batch that was reported as acknowledged.
        turns: how often a lease was taken.
        lost: how often one was lost by itself, on a machine too busy to renew it in time.

    """

    assignment: Assignment
    folder: Path
    acknowledged: list[Event] = field(default_factory=list[Event])
    turns: int = 0
    lost: int = 0
    _processes: list[Process] = field(default_factory=list[Process])
    _killed: Process | None = None
    _events: queue.SimpleQueue[tuple[Process, Event]] = field(default_factory=queue.SimpleQueue[tuple[Process, Event]])

    def __enter__(self) -> Self:
        """Return the race; its processes end with the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes that are left."""
        for process in self._processes:
            process.close()

    def start(self) -> list[Process]:
        """Start both processes, let them begin together, and return them."""
        for number in (1, 2):
            self._processes.append(Process(number, self.folder / f"process-{number}.stderr", self._events))
        for process in self._processes:
            process.order(self.assignment.to_line())
        ready = {self._await("ready")[0].number for _ in self._processes}
        if len(ready) != len(self._processes):
            message = "a process reported twice that it is ready"
            raise DoesNotHold(message)
        for process in self._processes:
            process.order(CONTINUE)
        return self._processes

    def run_to(self, position: int) -> tuple[Process, Event]:
        """Let them append until the log has a length, and return who holds the lease then, waiting for an order."""
        while True:
            process, event = self._await("holding", "acknowledged", "lost")
            if event.name != "lost" and event.end >= position:
                return process, event
            if event.name != "lost":
                process.order(CONTINUE)

    def kill(self, process: Process) -> float:
        """Kill a process that goes on writing, at a moment of chance, and return when that was."""
        process.order(STAY)
        time.sleep(random.uniform(*_KILL_WITHIN))  # noqa: S311 - any moment will do
        moment = time.monotonic()
        self._killed = process
        process.kill()
        return moment

    def takeover(self, killed: Process, killed_token: int, moment: float) -> Takeover:
        """Wait until the other process has taken over; it then waits for an order."""
        while True:
            process, event = self._await("holding", "acknowledged", "lost")
            if event.name == "holding" and process is not killed:
                seconds = time.monotonic() - moment
                return Takeover(killed, killed_token, process, event.token, seconds, event.start)

    def finish(self, survivor: Process) -> None:
        """Let the survivor append the rest."""
        survivor.order(CONTINUE)
        while True:
            event = self._await("holding", "acknowledged", "lost", "finished")[1]
            if event.name == "finished":
                break
            if event.name != "lost":
                survivor.order(CONTINUE)
        status = survivor.dismiss()
        if status:
            message = f"process {survivor.number} {survivor.last_words()}"
            raise DoesNotHold(message)

    def _await(self, *names: str) -> tuple[Process, Event]:
        """Return the next event of some names; no process may fail or end, but the one that was killed."""
        while True:
            process, event = self._next_event()
            self._note(event)
            if event.name in names:
                return process, event
            if event.name == "failed":
                message = f"process {process.number}: {event.message}"
                raise DoesNotHold(message)
            if event.name == "ended" and process is not self._killed:
                message = f"process {process.number} {process.last_words()}"
                raise DoesNotHold(message)

    def _next_event(self) -> tuple[Process, Event]:
        try:
            return self._events.get(timeout=_SILENCE)
        except queue.Empty:
            message = f"no process reported anything for {_SILENCE:g} s"
            raise DoesNotHold(message) from None

    def _note(self, event: Event) -> None:
        if event.name == "acknowledged":
            self.acknowledged.append(event)
        self.turns += event.name == "holding"
        self.lost += event.name == "lost"
