"""The environment of a simulated client: its clocks follow the world's, its ids and dice repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdall_conformance.simulation.world import until

if TYPE_CHECKING:
    from holdall_conformance.simulation.world import World

__all__ = ["SimulatedEnvironment"]

_EPOCH = 1.7e9
_GOLDEN = 0.618033988749895


class SimulatedEnvironment:
    """Sleeping, clock, ids and randomness out of a world.

    Args:
        world: the world.
        boot: id of the boot of the client's host.
        boot_offset: by how many seconds its boot clock is ahead of the world's.
        wall_offset: by how many seconds its wall clock is ahead of the right time.

    """

    def __init__(self, world: World, boot: str, boot_offset: float, wall_offset: float) -> None:
        self._world = world
        self._boot = boot
        self._boot_offset = boot_offset
        self._wall_offset = _EPOCH + wall_offset
        self._thrown = 0

    async def sleep(self, seconds: float) -> None:
        """Give way until the world's clock has moved on."""
        if not self._world.calm:
            await until(self._world.clock + seconds)

    def boot_time(self) -> float:
        """Return the boot clock of the client's host."""
        return self._world.clock + self._boot_offset

    def boot_id(self) -> str:
        """Return the id of its boot."""
        return self._boot

    def wall_time(self) -> float:
        """Return its wall clock."""
        return self._world.clock + self._wall_offset

    def new_id(self) -> str:
        """Return 32 hexadecimal digits; the first sixteen alone are unique."""
        return f"{self._world.number():016x}{0:016x}"

    def random(self) -> float:
        """Return numbers that spread evenly from 0 to 1, the same in every run."""
        self._thrown += 1
        return self._thrown * _GOLDEN % 1.0

    def right_time(self) -> float:
        """Return the world's clock: what a storage with a clock of its own tells; a client has no other way to it."""
        return self._world.clock
