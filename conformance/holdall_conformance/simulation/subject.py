"""What can be simulated: a core over a port, with a strict stand-in for what is behind the port."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from holdall.capabilities import Capabilities
    from holdall.spi import Connection
    from holdall_conformance.simulation.environment import SimulatedEnvironment
    from holdall_conformance.simulation.network import Fault, Step

__all__ = ["Subject"]


class Subject(Protocol):
    """A core over a port, to be simulated.

    Attributes:
        name: how reports call it.
        capabilities: what its connections declare; expiry is judged by the clock and margin that stand there.

    """

    @property
    def name(self) -> str:
        """How reports call it."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What its connections declare."""
        ...

    def stand_in(self) -> Any:
        """Return an empty storage, which all clients of a run share."""
        ...

    async def connect(self, storage: Any, environment: SimulatedEnvironment, step: Step) -> Connection:
        """Open the core as one more client of the storage.

        Args:
            storage: what `stand_in` returned.
            environment: the client's clocks, ids, dice and sleep.
            step: carries every request to the storage.

        """
        ...

    def fault(self, kind: Fault) -> Exception:
        """Return the error that the port raises for a fault of the network.

        Args:
            kind: "refused" and "timed out" applied nothing; of "unknown" nobody knows.

        """
        ...

    def describe(self, what: Any, result: Any) -> str:
        """Return a request and its answer in a few words.

        Args:
            what: what the port passed to `step`.
            result: the answer, a refusal as the error, or `NO_ANSWER` if the request took no effect.

        """
        ...

    def leftovers(self, storage: Any) -> Sequence[str]:
        """Return what should not be in a storage that was swept, one line each.

        Args:
            storage: what `stand_in` returned.

        """
        ...
