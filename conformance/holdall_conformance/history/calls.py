"""The calls of a history, and the recorder that takes them down while they run."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Generator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, TypeVar

from holdall import (
    BatchMismatch,
    Conflict,
    Fenced,
    LeaseLost,
    OutcomeUnknown,
    StoreTimeout,
    Truncated,
    Unavailable,
)
from holdall.clock import boot_time
from holdall_conformance.history.plain import plain, plain_error

__all__ = ["READS", "Call", "Outcome", "Recorder", "Running"]

Result = TypeVar("Result")
Outcome = Literal["returned", "refused", "unknown"]

READS = frozenset({"get", "read", "tail", "head", "holder", "held"})
"""The operations that change nothing: one that did not return tells nothing, and is left out."""

_REFUSALS = (BatchMismatch, Conflict, Fenced, LeaseLost, Truncated)
_OPEN = (OutcomeUnknown, StoreTimeout)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of one client.

    Arguments and result are plain JSON; whatever a store or a lock takes and returns is turned into it.

    Attributes:
        client: who called; a client makes one call after the other.
        operation: the name of the method: "get", "put", "append", "acquire"...
        arguments: its arguments by name, `scope` and `key` among them.
        invoked: when it began, on any clock that all clients share: the boot clock, or the steps of a simulation.
        returned: when it ended; None if it never did, or did not tell its outcome.
        outcome: "returned", "refused" (nothing was changed), or "unknown" (it may take effect once, at any time from
            its beginning on, or never).
        result: what it returned; of a refusal a dict with the name of the error and what it tells, such as
            `{"error": "Conflict", "current": ...}` or `{"error": "Fenced", "mark": ...}`; None where it is unknown.

    """

    client: str
    operation: str
    arguments: Mapping[str, Any]
    invoked: float
    returned: float | None
    outcome: Outcome
    result: Any = None

    def __post_init__(self) -> None:
        """Turn arguments and result into plain JSON."""
        object.__setattr__(self, "arguments", plain(self.arguments))
        object.__setattr__(self, "result", plain(self.result))

    def to_json(self) -> str:
        """Return the call as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Self:
        """Return the call that `to_json` wrote.

        Args:
            line: what it returned.

        """
        return cls(**json.loads(line))


class Running:
    """A call that has begun; the body of `Recorder.call` tells it what came of it."""

    def __init__(self, client: str, operation: str, arguments: Mapping[str, Any], invoked: float) -> None:
        self.client = client
        self.operation = operation
        self.arguments = arguments
        self.invoked = invoked
        self.outcome: Outcome = "unknown"
        self.result: Any = None

    def returns(self, result: Result) -> Result:
        """Note what the call returned, and pass it on.

        Args:
            result: whatever it is.

        """
        self.outcome, self.result = "returned", result
        return result

    def refused(self, told: Mapping[str, Any]) -> None:
        """Note that the call was refused and changed nothing.

        Args:
            told: the name of the error under "error", and what it tells.

        """
        self.outcome, self.result = "refused", told

    def ended(self, returned: float | None) -> Call:
        """Return the call as part of a history.

        Args:
            returned: when it ended.

        """
        at = None if self.outcome == "unknown" else returned
        return Call(self.client, self.operation, self.arguments, self.invoked, at, self.outcome, self.result)


class Recorder:
    """Takes down the calls of any number of threads or tasks.

    Attributes:
        clock: what tells the time; by default the boot clock, which all processes of a host share.

    """

    def __init__(self, clock: Callable[[], float] = boot_time) -> None:
        self.clock = clock
        self._guard = threading.Lock()
        self._ended: list[Call] = []
        self._running: dict[int, Running] = {}

    @contextlib.contextmanager
    def call(self, client: str, operation: str, **arguments: Any) -> Generator[Running]:
        """Record a call that the body makes; use it in coroutines too.

        A refusal (`Conflict`, `Fenced`, `Truncated`, `LeaseLost`, `BatchMismatch`) is recorded and ends the block. So
        is a write whose outcome is open: `OutcomeUnknown`, and `StoreTimeout`, of which nothing is taken for granted.
        After `Unavailable` nothing was applied: there was no call. Any other exception leaves the outcome open and
        goes on.

        Args:
            client: who calls.
            operation: the name of the method.
            arguments: its arguments by name.

        Yields:
            The running call; pass what the method returned to its `returns`.

        """
        running = Running(client, operation, plain(arguments), self.clock())
        with self._guard:
            self._running[id(running)] = running
        dropped = False
        try:
            yield running
        except _REFUSALS as error:
            running.refused(plain_error(error))
        except _OPEN:
            running.outcome = "unknown"
        except Unavailable:
            dropped = True
        finally:
            self._end(running, dropped=dropped)

    def _end(self, running: Running, *, dropped: bool) -> None:
        returned = self.clock()
        with self._guard:
            del self._running[id(running)]
            if not dropped and not _tells_nothing(running):
                self._ended.append(running.ended(returned))

    @property
    def calls(self) -> list[Call]:
        """All calls so far, by their beginning; the outcome of those that still run is unknown."""
        with self._guard:
            open_ones = [running.ended(None) for running in self._running.values() if not _tells_nothing(running)]
            return sorted([*self._ended, *open_ones], key=lambda call: call.invoked)


def _tells_nothing(running: Running) -> bool:
    return running.outcome == "unknown" and running.operation in READS
