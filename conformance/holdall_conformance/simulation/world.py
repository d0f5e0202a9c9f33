"""The world of a simulation: a clock, tasks, and the loop that picks who goes on.

Tasks are coroutines that give way by `until`: at every request, before it takes effect and before its reply, and when
they sleep. Nothing else happens between two such points, so the choices made there are the whole run. The clock moves a
little with every step, leaps where everybody waits, and leaps where a fault says so.
"""

from __future__ import annotations

import types
from collections.abc import Coroutine, Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from holdall_conformance.simulation.choices import Choices, Kind

__all__ = ["NO_ANSWER", "Crashed", "Endless", "Event", "Task", "World", "until"]

TICK = 0.001
_INSTANT = 1e-6
_MOST_STEPS = 20_000


class _NoAnswer:
    """Stands for the answer to a request where there is none."""

    def __repr__(self) -> str:
        """Return it in words."""
        return "no answer"


NO_ANSWER: Final = _NoAnswer()


class Crashed(BaseException):
    """Ends the coroutine of a client that has crashed; no handler of errors is meant to see it."""


class Endless(Exception):
    """A run has not ended after very many steps."""


@types.coroutine
def until(moment: float) -> Generator[float, None, None]:
    """Give way, and go on when the clock has reached a moment.

    Args:
        moment: seconds on the clock of the world; 0 for as soon as the scheduler likes.

    Yields:
        The moment.

    """
    yield moment


@dataclass(slots=True, eq=False)
class Task:
    """A coroutine of the world.

    Attributes:
        coroutine: what it does.
        stream: which choices it makes.
        wake: when it may go on.

    """

    coroutine: Coroutine[float, None, None]
    stream: int
    wake: float = 0.0


class Event(NamedTuple):
    """Something that happened, for people to read.

    Attributes:
        at: when, on the clock of the world.
        client: to whom.
        what: what; of a request whatever the subject describes.
        result: what the storage answered, a refusal as the error; of a request `NO_ANSWER` if it took no effect.
        fate: what befell it on the way.

    """

    at: float
    client: str
    what: Any
    result: Any
    fate: str


@dataclass(slots=True)
class World:
    """Everything that the clients of one run share, but for the storage.

    Attributes:
        choices: makes the choices.
        made: the choices so far, a list for each stream.
        kinds: what each of them chose.
        marks: for each stream, how many choices had been made when its operations began.
        clock: seconds since the world began.
        events: what happened so far.
        calm: nothing fails and nobody waits; so before the clients begin and after they have ended.

    """

    choices: Choices
    made: list[list[int]] = field(default_factory=lambda: [[]])
    kinds: list[list[Kind]] = field(default_factory=lambda: [[]])
    marks: list[list[int]] = field(default_factory=lambda: [[]])
    clock: float = 1_000.0
    events: list[Event] = field(default_factory=list[Event])
    calm: bool = False
    _tasks: list[Task] = field(default_factory=list[Task])
    _current: Task | None = None
    _ids: int = 0

    def pick(self, kind: Kind, limit: int) -> int:
        """Choose a number from 0 up to, not including, `limit`.

        Args:
            kind: what is chosen.
            limit: how many possibilities there are.

        """
        stream = 0 if self._current is None else self._current.stream
        value = self.choices.pick(kind, limit, stream)
        self.made[stream].append(value)
        self.kinds[stream].append(kind)
        return value

    def decide(self, value: int) -> int:
        """Make a choice without dice, as if it had been drawn.

        Args:
            value: the choice.

        """
        self.made[0].append(value)
        self.kinds[0].append("detail")
        return value

    def begin_operation(self) -> None:
        """Note that the client whose turn it is begins another operation."""
        if self._current is not None:
            stream = self._current.stream
            self.marks[stream].append(len(self.made[stream]))

    def add_client(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Add a client, with choices of its own.

        Args:
            coroutine: what it does.

        """
        self._tasks.append(Task(coroutine, len(self.made)))
        self.made.append([])
        self.kinds.append([])
        self.marks.append([])

    def spawn(self, coroutine: Coroutine[Any, Any, None], wake: float) -> None:
        """Add what the client whose turn it is leaves behind.

        Args:
            coroutine: what it does.
            wake: when it may begin.

        """
        self._tasks.append(Task(coroutine, 0 if self._current is None else self._current.stream, wake))

    def run(self) -> None:
        """Run all tasks, and those that they spawn, to their ends.

        Raises:
            Endless: they do not end.

        """
        for _ in range(_MOST_STEPS):
            if not self._tasks:
                self._current = None
                return
            self._current = current = self._next()
            self.clock += TICK
            try:
                current.wake = current.coroutine.send(None)
            except StopIteration:
                self._tasks.remove(current)
        message = f"the run did not end after {_MOST_STEPS} steps"
        raise Endless(message)

    def _next(self) -> Task:
        """Return who goes on; choice 0 is who went on last, or whoever is first."""
        clock = self.clock
        ready = [task for task in self._tasks if task.wake <= clock]
        if not ready:
            self.clock = min(task.wake for task in self._tasks)
            return self._next()
        if len(ready) == 1:
            return ready[0]
        current = self._current
        choice = self.pick("who", len(ready))
        if current in ready:
            place = ready.index(current)
            choice = place if choice == 0 else choice - (choice <= place)
        return ready[choice]

    def close(self) -> None:
        """Close what has not ended, after a failure."""
        for task in self._tasks:
            task.coroutine.close()
        self._tasks.clear()

    def leap(self, seconds: float) -> None:
        """Move the clock ahead, as whoever was suspended sees it.

        Args:
            seconds: how far.

        """
        self.clock += seconds

    def moment(self) -> float:
        """Return a time that no other moment has, and that is later than all before it."""
        self.clock += _INSTANT
        return self.clock

    def number(self) -> int:
        """Return a number that was not returned before."""
        self._ids += 1
        return self._ids

    def note(self, client: str, what: Any, result: Any = None, fate: str = "") -> None:
        """Note something that happened.

        Args:
            client: to whom.
            what: what; of a request whatever the subject describes.
            result: what the storage answered, a refusal as the error.
            fate: what befell it on the way.

        """
        self.events.append(Event(self.clock, client, what, result, fate))
