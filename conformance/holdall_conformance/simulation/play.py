"""One run: the world, the storage, the clients that work on it, and the history of their calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from holdall.errors import (
    BatchMismatch,
    Conflict,
    Fenced,
    LeaseLost,
    OutcomeUnknown,
    StoreTimeout,
    Truncated,
    Unavailable,
)
from holdall_conformance.history.calls import READS, Call
from holdall_conformance.history.plain import plain_error
from holdall_conformance.simulation.environment import SimulatedEnvironment
from holdall_conformance.simulation.network import Line
from holdall_conformance.simulation.world import Crashed

if TYPE_CHECKING:
    from holdall.spi import Connection, LockDriver, StoreDriver
    from holdall_conformance.simulation.subject import Subject
    from holdall_conformance.simulation.world import World

__all__ = ["Answer", "Batch", "Client", "Hold", "Operation", "Play", "Workload"]

Result = TypeVar("Result")

_REFUSALS = (BatchMismatch, Conflict, Fenced, LeaseLost, Truncated)
_NOT_APPLIED = (StoreTimeout, Unavailable)
_HOST_STEP = 1_000.0


class Answer(NamedTuple):
    """What came of a call: `result` where it `returned`, the error where it was `refused`."""

    returned: bool = False
    refused: bool = False
    result: Any = None


@dataclass(slots=True)
class Hold:
    """A client's belief that it has a lease: from `since` to `until`, or to when it gave it up."""

    client: str
    key: str
    nonce: str
    token: int
    since: float
    until: float


class Batch(NamedTuple):
    """Entries for one append: large ones if `bulky`; with an id they may be sent again."""

    entries: Sequence[str]
    bulky: bool
    batch_id: str | None = None


Operation = Callable[["Client"], Awaitable[None]]


class Workload(NamedTuple):
    """What the clients of a run do.

    Attributes:
        name: how reports call it.
        operations: what a client may do next, the plainest first.
        finish: what a fresh client reads when all is over.
        clients: how many there are at a time.
        budget: how many operations each of them begins.
        wild_walls: nothing in it may depend on the wall clock, not even where expiry is judged by the client's.

    """

    name: str
    operations: Sequence[Operation]
    finish: Operation
    clients: int
    budget: int
    wild_walls: bool = False


@dataclass(slots=True)
class Play:
    """Everything of one run.

    Attributes:
        subject: what is simulated.
        workload: what the clients do.
        world: clock, tasks and choices.
        storage: the stand-in.
        calls: the history.
        holds: who believed to have which lease, and when.
        batches: batches that were sent with an id: anyone may repeat them.
        steps: how many events there were before all was over; None until then.

    """

    subject: Subject
    workload: Workload
    world: World
    storage: Any
    calls: list[Call] = field(default_factory=list[Call])
    holds: list[Hold] = field(default_factory=list[Hold])
    batches: list[Batch] = field(default_factory=list[Batch])
    steps: int | None = None
    _hosts: int = 0

    def begin(self) -> None:
        """Put the clients on the stage."""
        for slot in range(self.workload.clients):
            self.world.add_client(self._live(chr(ord("a") + slot)))

    async def _live(self, slot: str) -> None:
        """Work off the budget; who crashes is replaced by a fresh client."""
        left, lives = self.workload.budget, 0
        while left:
            lives += 1
            client = Client(self, slot * lives)
            try:
                left = await client.work(left)
            except Crashed:
                left = client.left

    def environment(self) -> SimulatedEnvironment:
        """Return the environment of one more client, with clocks as the subject's declarations let them be."""
        self._hosts += 1
        kind = self.subject.capabilities.expiry_clock
        if kind == "boot":  # one host, whose wall clock nobody may trust
            return SimulatedEnvironment(self.world, "boot", 0.0, _HOST_STEP * self._hosts)
        skew = _HOST_STEP * self._hosts if kind == "server" or self.workload.wild_walls else 0.0
        return SimulatedEnvironment(self.world, f"boot {self._hosts}", _HOST_STEP * self._hosts, skew)


class Client:
    """One client: a connection and what it remembers.

    Attributes:
        name: its name.
        play: the run.
        seen: the version or head it saw last, by key.
        holds: its leases, by key.
        left: how many operations it may still begin.

    """

    def __init__(self, play: Play, name: str) -> None:
        self.play = play
        self.name = name
        self.seen: dict[str, Any] = {}
        self.holds: dict[str, Hold] = {}
        self.left = 0
        self.environment = play.environment()
        self._connection: Connection | None = None
        self._values = 0

    @property
    def store(self) -> StoreDriver:
        """Its store."""
        assert self._connection is not None and self._connection.store is not None  # noqa: PT018, S101
        return self._connection.store

    @property
    def lock(self) -> LockDriver:
        """Its lock."""
        assert self._connection is not None and self._connection.lock is not None  # noqa: PT018, S101
        return self._connection.lock

    def pick(self, limit: int) -> int:
        """Return one of `limit` numbers, 0 for the plainest."""
        return self.play.world.pick("detail", limit)

    def new_value(self) -> str:
        """Return a value that nobody wrote before."""
        self._values += 1
        return f"{self.name}{self._values}"

    async def work(self, budget: int) -> int:
        """Work until the budget is used up or the choices say that it is enough.

        Args:
            budget: how many operations it may begin.

        Returns:
            What is left of the budget for a fresh client: none, unless no connection could be opened.

        """
        self.left = budget
        operations = self.play.workload.operations
        while self.left:
            self.play.world.begin_operation()
            choice = self.play.world.pick("operation", len(operations) + 1)
            if choice == 0:
                return 0
            self.left -= 1
            if self._connection is None and not await self.open():
                return self.left
            await operations[choice - 1](self)
        return 0

    async def open(self) -> bool:
        """Open a connection; return whether that worked out."""
        play = self.play
        line = Line(play.world, self.name, play.subject.fault)
        try:
            self._connection = await play.subject.connect(play.storage, self.environment, line.step)
        except (OutcomeUnknown, *_NOT_APPLIED) as error:
            play.world.note(self.name, "cannot open", type(error).__name__)
            return False
        return True

    async def call(self, operation: str, arguments: Mapping[str, Any], call: Awaitable[Result]) -> Answer:
        """Make a call, and take it down in the history unless nothing came of it.

        Args:
            operation: the name of the method, as a store or lock has it.
            arguments: its arguments, as a store or lock takes them.
            call: the call of the driver.

        """
        world = self.play.world
        invoked = world.moment()
        world.note(self.name, (operation, arguments))
        try:
            result = await call
        except _REFUSALS as error:
            self._take_down(operation, arguments, invoked, "refused", plain_error(error))
            return Answer(refused=True, result=error)
        except (OutcomeUnknown, Crashed) as error:
            self._take_down(operation, arguments, invoked, "unknown", None)
            if isinstance(error, Crashed):
                raise
            return Answer()
        except _NOT_APPLIED as error:
            world.note(self.name, f"{operation}: {type(error).__name__}")
            return Answer()
        self._take_down(operation, arguments, invoked, "returned", result)
        return Answer(returned=True, result=result)

    def _take_down(self, operation: str, arguments: Mapping[str, Any], invoked: float, outcome: Any, told: Any) -> None:
        world = self.play.world
        world.note(self.name, operation, told, outcome)
        if outcome == "unknown" and operation in READS:
            return
        ended = world.moment()
        if arguments.get("ttl") is not None:
            arguments = {**arguments, **self._bounds(arguments["ttl"], invoked, ended)}
        returned = None if outcome == "unknown" else ended
        self.play.calls.append(Call(self.name, operation, arguments, invoked, returned, outcome, told))

    def _bounds(self, ttl: float, invoked: float, ended: float) -> Mapping[str, float]:
        """Return between which moments what a call granted ends: the ttl is reckoned from some moment of the call."""
        margin = self.play.subject.capabilities.expiry_margin
        return {"lasts_until": invoked + ttl - margin, "gone_by": ended + ttl + margin}

    async def unrecorded(self, operation: str, call: Awaitable[object]) -> None:
        """Do something that nobody may notice, so that the history does not hold it.

        Args:
            operation: what it is called.
            call: the call of the driver.

        """
        self.play.world.note(self.name, (operation, {}))
        try:
            await call
        except (OutcomeUnknown, *_NOT_APPLIED) as error:
            self.play.world.note(self.name, f"{operation}: {type(error).__name__}")
