"""The parts that holdall derives from the five primitives of a `Backend`, as a subject of simulation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from holdall.capabilities import Capabilities, ExpiryClock
from holdall.derived import derive
from holdall.errors import OutcomeUnknown, StoreTimeout, Unavailable
from holdall.spi import ABSENT, ANY, Backend, BackendItem, Connection, Environment, Tag
from holdall_conformance.simulation.derived_layout import describe_request, leftovers_of
from holdall_conformance.simulation.stand_in import StandIn

if TYPE_CHECKING:
    from holdall_conformance.simulation.environment import SimulatedEnvironment
    from holdall_conformance.simulation.network import Fault, Step
    from holdall_conformance.simulation.subject import Subject

__all__ = ["Core", "DerivedSubject", "PortBackend", "derived_capabilities", "derived_subject"]

Core = Callable[[Backend, Capabilities, Environment, float], Awaitable[Connection]]
"""What makes a connection of a backend, as `holdall.derived.derive` does."""

_TIMEOUT = 5.0


class PortBackend:
    """A `Backend` whose primitives are requests to a stand-in.

    Args:
        items: the stand-in.
        step: carries the requests.

    """

    def __init__(self, items: StandIn, step: Step) -> None:
        self._items = items
        self._step = step

    async def get(self, key: bytes) -> BackendItem | None:
        """Return what is under a key."""
        return await self._step(("get", key), lambda: self._items.get(key))

    async def put(self, key: bytes, payload: bytes, expect: Tag) -> Tag:
        """Write if the key is as expected."""

        def effect() -> Tag:
            return self._items.put(key, payload, expect)

        return await self._step(("put", key, payload, expect), effect, writes=True, again=_repeated(effect, expect))

    async def delete(self, key: bytes, expect: Tag) -> None:
        """Delete if the key is as expected."""

        def effect() -> None:
            self._items.delete(key, expect)

        return await self._step(("delete", key, expect), effect, writes=True, again=_repeated(effect, expect))

    async def scan(self, prefix: bytes, after: bytes | None, limit: int) -> Sequence[BackendItem]:
        """Return items in order."""
        return await self._step(("scan", prefix, after), lambda: self._items.scan(prefix, after, limit))

    async def close(self) -> None:
        """Hold nothing, give back nothing."""


class _ClockedBackend(PortBackend):
    """A backend with a clock of its own."""

    def __init__(self, items: StandIn, step: Step, now: Callable[[], float]) -> None:
        super().__init__(items, step)
        self._now = now

    async def now(self) -> float:
        """Return the storage's clock."""
        return await self._step(("now",), self._now)


def _repeated(effect: Callable[[], object], expect: Tag) -> Callable[[], object] | None:
    """Return what a second delivery does; only a write on a state that never comes back is ever delivered twice."""
    return None if expect is ANY or expect is ABSENT else effect


class DerivedSubject:
    """What holdall derives from the five primitives, over a stand-in for them.

    Args:
        clock: whose clock judges expiry.
        core: makes a connection of a backend; another one than `derive` to try a change of the derived parts, or a
            backend of one's own in between.

    """

    def __init__(self, clock: ExpiryClock = "boot", core: Core = derive) -> None:
        self.name = f"derived, {clock} clock"
        self.capabilities = derived_capabilities(clock)
        self._core = core

    def stand_in(self) -> StandIn:
        """Return an empty storage."""
        return StandIn()

    async def connect(self, storage: StandIn, environment: SimulatedEnvironment, step: Step) -> Connection:
        """Open the core as one more client."""
        if self.capabilities.expiry_clock == "server":
            backend: Backend = _ClockedBackend(storage, step, environment.right_time)
        else:
            backend = PortBackend(storage, step)
        return await self._core(backend, self.capabilities, environment, _TIMEOUT)

    def fault(self, kind: Fault) -> Exception:
        """Return the error that a backend raises for a fault."""
        match kind:
            case "refused":
                return Unavailable("refused")
            case "timed out":
                return StoreTimeout("timed out")
            case "unknown":
                return OutcomeUnknown("no reply")

    def describe(self, what: Any, result: Any) -> str:
        """Return a request and its answer in a few words."""
        return describe_request(what, result)

    def leftovers(self, storage: StandIn) -> Sequence[str]:
        """Return the items that a sweep should have removed."""
        return leftovers_of(storage.items)


def derived_capabilities(clock: ExpiryClock) -> Capabilities:
    """Return what the derived parts over the stand-in declare.

    Args:
        clock: whose clock judges expiry.

    """
    exact = clock in {"boot", "server"}
    return Capabilities(
        persistent=True,
        cross_process=True,
        cross_host=clock != "boot",
        durable_tokens=True,
        atomic_commit=False,
        max_commit_operations=1,
        native_follow=False,
        expiry_clock=clock,
        expiry_margin=0.0 if exact else 0.2,
        min_ttl=0.1,
        max_scope_bytes=128,
        max_key_bytes=512,
        max_value_bytes=2**20,
        max_batch_entries=1_000,
        max_batch_bytes=3 * 2**20,
    )


def derived_subject(clock: ExpiryClock = "boot") -> Subject:
    """Return the derived parts as a subject of simulation.

    Args:
        clock: whose clock judges expiry: "boot" for clients of one host, "server" for a backend with a clock, "client"
            for clients on hosts whose clocks differ by up to the declared margin.

    """
    return DerivedSubject(clock)
