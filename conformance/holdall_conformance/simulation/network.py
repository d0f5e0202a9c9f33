"""The way from a client to the storage: every request gives way twice, and the choices say what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from holdall_conformance.simulation.world import NO_ANSWER, Crashed, until

if TYPE_CHECKING:
    from holdall_conformance.simulation.world import World

__all__ = ["Fault", "Line", "Step"]

Result = TypeVar("Result")
Fault = Literal["refused", "timed out", "unknown"]
"""How a request fails: nothing was applied (twice), or nobody knows."""

_READ_FATES = (
    "",
    "reply slow",
    "refused",
    "timed out",
    "clock leaps before",
    "clock leaps after",
    "client crashes before",
    "request slow",
)
_WRITE_FATES = (
    "",
    "reply slow",
    "refused",
    "timed out",
    "reply lost",
    "request lost",
    "arrives late",
    "clock leaps before",
    "clock leaps after",
    "client crashes before",
    "client crashes after",
    "client crashes, arrives late",
    "request slow",
    "arrives twice",
)
_DELAYS = (0.02, 0.3, 3.0)
_LEAPS = (0.4, 3.0, 100.0)


class Step(Protocol):
    """Carries one request of a client to the storage, or fails to.

    A port of a core awaits it for everything that goes to the storage and for nothing else.
    """

    async def __call__(
        self,
        what: Any,
        effect: Callable[[], Result],
        *,
        writes: bool = False,
        again: Callable[[], object] | None = None,
    ) -> Result:
        """Return the reply to a request.

        Args:
            what: the request, as the subject's `describe` shows it.
            effect: applies the request to the stand-in at one moment and returns the reply, or raises a refusal.
            writes: whether it may change anything; the outcome of a read is never unknown.
            again: what the storage does when the network delivers the request once more; None if it never does.

        """
        ...


class Line:
    """The way of one client: its `step` is a `Step`.

    Args:
        world: the world.
        client: the client's name.
        fault: makes the errors that a core over this port expects.

    """

    def __init__(self, world: World, client: str, fault: Callable[[Fault], Exception]) -> None:
        self._world = world
        self._client = client
        self._fault = fault
        self._dead = False

    async def step(
        self,
        what: Any,
        effect: Callable[[], Result],
        *,
        writes: bool = False,
        again: Callable[[], object] | None = None,
    ) -> Result:
        """Carry a request; see `Step`."""
        if self._world.calm:
            return effect()
        self._check_alive()
        await until(0.0)
        fate = self._choose(writes=writes, again=again is not None)
        await self._before(what, effect, fate)
        result = await self._applied(what, effect, fate)
        if fate:
            await self._after(fate, again)
        await until(0.0)
        return result

    def _choose(self, *, writes: bool, again: bool) -> str:
        fates = _WRITE_FATES if writes else _READ_FATES
        return fates[self._world.pick("fate", len(fates) - (writes and not again))]

    async def _before(self, what: Any, effect: Callable[[], object], fate: str) -> None:
        """Do what befalls a request before it takes effect; raises if it does not take effect now."""
        world = self._world
        match fate:
            case "request slow":
                await until(world.clock + self._seconds(_DELAYS))
            case "clock leaps before":
                world.leap(self._seconds(_LEAPS))
            case "client crashes before":
                world.note(self._client, what, NO_ANSWER, "client crashes, the request is not sent")
                self._crash()
            case "refused" | "timed out":
                await self._fail(what, fate, fate)
            case "request lost":
                await self._fail(what, "unknown", "the request is lost, nobody knows")
            case "arrives late" | "client crashes, arrives late":
                world.spawn(self._deliver(what, effect, "arrives late"), self._later())
                if fate == "arrives late":
                    await self._fail(what, "unknown", "no reply, still on its way")
                world.note(self._client, what, NO_ANSWER, "client crashes, the request is still on its way")
                self._crash()
            case _:
                pass

    async def _fail(self, what: Any, fault: Fault, fate: str) -> None:
        self._world.note(self._client, what, NO_ANSWER, fate)
        await until(0.0)
        raise self._fault(fault)

    async def _applied(self, what: Any, effect: Callable[[], Result], fate: str) -> Result:
        """Apply the request and note it; raises what the storage refuses it with."""
        try:
            result = effect()
        except Exception as error:
            self._world.note(self._client, what, error, fate)
            if fate:
                await self._after(fate, None)
            await until(0.0)
            raise
        self._world.note(self._client, what, result, fate)
        return result

    async def _after(self, fate: str, again: Callable[[], object] | None) -> None:
        """Do what befalls the reply, and the request once it has taken effect."""
        world = self._world
        match fate:
            case "reply slow":
                await until(world.clock + self._seconds(_DELAYS))
            case "clock leaps after":
                world.leap(self._seconds(_LEAPS))
            case "client crashes after":
                self._crash()
            case "reply lost":
                await until(0.0)
                raise self._fault("unknown")
            case "arrives twice" if again is not None:
                world.spawn(self._deliver("the same", again, "arrives once more"), self._later())
            case _:
                pass

    async def _deliver(self, what: Any, effect: Callable[[], object], fate: str) -> None:
        """Apply a request for which nobody waits any more."""
        try:
            result = effect()
        except Exception as error:  # noqa: BLE001 - whatever the storage says, nobody hears it
            self._world.note(f"network for {self._client}", what, error, fate)
        else:
            self._world.note(f"network for {self._client}", what, result, fate)

    def _seconds(self, table: tuple[float, ...]) -> float:
        return table[self._world.pick("detail", len(table))]

    def _later(self) -> float:
        return self._world.clock + self._seconds(_DELAYS)

    def _check_alive(self) -> None:
        if self._dead:
            raise Crashed

    def _crash(self) -> None:
        self._dead = True
        raise Crashed
