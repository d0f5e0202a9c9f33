"""Broken in flags."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from typing import Any

from holdall import NotFound
from holdall_conformance.broken.plain_lock import PlainLock
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.wrapping import WrappedLock


@broken("flag-takes-the-lease", "flags")
class FlagTakesTheLease(PlainLock):
    """Keeps flags among the leases, so that a raised flag makes the key of its name taken."""

    async def set_flag(self, key: str, ttl: float) -> None:
        await super().set_flag(key, ttl)
        await self.acquire(key, "flag", "flag", ttl)


@broken("lease-raises-the-flag", "flags")
class LeaseRaisesTheFlag(PlainLock):
    """Takes a held lease for a raised flag of its name."""

    async def flag(self, key: str) -> bool:
        return await super().flag(key) or await self.holder(key) is not None


@broken("flag-never-falls", "flags")
class FlagNeverFalls(PlainLock):
    """Keeps a flag raised until somebody lowers it."""

    async def flag(self, key: str) -> bool:
        with self.room.turn() as space:
            return key in space.flags


@broken("flag-keeps-its-first-ttl", "flags")
class FlagKeepsItsFirstTtl(PlainLock):
    """Lets the first of several ttls count."""

    async def set_flag(self, key: str, ttl: float) -> None:
        if not await self.flag(key):
            await super().set_flag(key, ttl)


@broken("flag-keeps-its-longest-ttl", "flags")
class FlagKeepsItsLongestTtl(PlainLock):
    """Lets the longest of several ttls count."""

    async def set_flag(self, key: str, ttl: float) -> None:
        with self.room.turn(write=True) as space:
            space.flags[key] = max(space.flags.get(key, 0.0), self.now() + ttl)


@broken("flag-seen-once", "flags")
class FlagSeenOnce(PlainLock):
    """Lowers a flag when it is seen."""

    async def flag(self, key: str) -> bool:
        raised = await super().flag(key)
        await self.clear_flag(key)
        return raised


@broken("flag-seen-is-prolonged", "flags")
class FlagSeenIsProlonged(PlainLock):
    """Begins the ttl of a flag anew when it is seen."""

    async def flag(self, key: str) -> bool:
        raised = await super().flag(key)
        if raised:
            await self.set_flag(key, 60)
        return raised


@broken("flag-toggles", "flags")
class FlagToggles(PlainLock):
    """Lowers a flag that is raised twice."""

    async def set_flag(self, key: str, ttl: float) -> None:
        if await self.flag(key):
            await self.clear_flag(key)
        else:
            await super().set_flag(key, ttl)


@broken("flag-counts", "flags")
class FlagCounts(PlainLock):
    """Wants a flag lowered as often as it was raised."""

    async def set_flag(self, key: str, ttl: float) -> None:
        with self.room.turn(write=True) as space:
            space.notes[key] = space.notes.get(key, 0) + 1
        await super().set_flag(key, ttl)

    async def clear_flag(self, key: str) -> None:
        with self.room.turn(write=True) as space:
            space.notes[key] = max(0, space.notes.get(key, 0) - 1)
            left = space.notes[key]
        if not left:
            await super().clear_flag(key)


@broken("flags-fold-case", "flags")
class FlagsFoldCase(PlainLock):
    """Takes flags whose names differ in case for one."""

    def flag_name(self, key: str) -> str:
        return key.lower()


@broken("flags-cut", "flags")
class FlagsCut(PlainLock):
    """Keeps the first 64 characters of a flag's name."""

    def flag_name(self, key: str) -> str:
        return key[:64]


@broken("clear-lowers-longer-names", "flags")
class ClearLowersLongerNames(PlainLock):
    """Lowers every flag whose name begins as that of the one to lower."""

    async def clear_flag(self, key: str) -> None:
        with self.room.turn(write=True) as space:
            for name in [name for name in space.flags if name.startswith(key)]:
                del space.flags[name]


@broken("clear-of-lowered-raises", "flags")
class ClearOfLoweredRaises(WrappedLock):
    """Raises NotFound where a flag is to be lowered that is not raised."""

    def clear_flag(self, key: str) -> Any:
        if not self.inner.flag(key):
            raise NotFound(key)
        return self.inner.clear_flag(key)


@broken("release-lowers-the-flag", "flags", "leases")
class ReleaseLowersTheFlag(PlainLock):
    """Lowers the flag of a key that is released."""

    async def release(self, request: Any) -> bool:
        await self.clear_flag(request.key)
        return await super().release(request)


@broken("flags-in-the-handle", "flags")
class FlagsInTheHandle(WrappedLock):
    """Keeps flags in the handle, where no other one sees them."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.raised: set[str] = set()

    def set_flag(self, key: str, **named: Any) -> Any:
        self.inner.set_flag(key, **named)
        self.inner.clear_flag(key)
        self.raised.add(key)

    def flag(self, key: str) -> bool:
        return key in self.raised or bool(self.inner.flag(key))

    def clear_flag(self, key: str) -> Any:
        self.raised.discard(key)
        return self.inner.clear_flag(key)
