"""Leases and flags on S3: an object each. One of a lease is never deleted.

A key can be had if it is free, if its lease has surely expired by the server's time, or if that has been watched
unchanged for its ttl on the boot clock.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from holdall.errors import Corrupt
from holdall.spi import LeaseRequest
from holdall.values import Holder
from holdall_adapters.aws.service import bounded
from holdall_adapters.aws.watching import Watching
from holdall_adapters.s3.cells import Cells, Keep, Seen, Write
from holdall_adapters.s3.lease_bodies import FLAG, LEASE, FlagState, LeaseState

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.aws.times import Times
    from holdall_adapters.s3.bucket import Bucket
    from holdall_adapters.s3.names import Names

__all__ = ["S3Lock"]

_MOST_KNOWN = 10_000


class S3Lock:
    """Every operation of a lock.

    Args:
        bucket: the bucket.
        names: the names of objects.
        times: the server's time.
        environment: has the boot clock, and makes ids.

    """

    def __init__(self, bucket: Bucket, names: Names, times: Times, environment: Environment) -> None:
        self.bucket = bucket
        self._names = names
        self._times = times
        self._environment = environment
        self._leases: Cells[LeaseState] = Cells(bucket, LEASE, _MOST_KNOWN)
        self._flags: Cells[FlagState] = Cells(bucket, FLAG, 0)
        self._watching = Watching(environment)

    @property
    def service(self) -> Bucket:
        """The bucket, whose requests are bounded together."""
        return self.bucket

    async def _clear_sight(self) -> None:
        """Narrow the bounds of the server's time before something is written that expires by it."""
        if self._times.is_vague():
            await self.bucket.get(self._names.layout)

    def _left(self, seen: Seen[LeaseState], past: float) -> float:
        """Return about how many seconds a lease has left, 0 for none; and watch it."""
        state = seen.state
        if state is None or state.nonce is None or (state.expires <= past and not self._times.observes):
            return 0.0
        watched = self._watching.left(state.key, _write_of(state), state.ttl)
        return max(0.0, watched if self._times.observes else min(watched, self._times.left(state.expires)))

    @bounded
    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        """Take a free or expired key."""
        taken: list[LeaseState] = []
        sent = self._environment.boot_time()
        await self._clear_sight()

        async def decide(seen: Seen[LeaseState]) -> Write[LeaseState] | Keep:
            state = seen.state or LeaseState(key)
            if state.nonce is not None and self._left(seen, self._times.past()) > 0:
                return Keep(None)
            token = max(state.token, state.floor) + 1
            taken.append(LeaseState(key, nonce, owner, token, float(ttl), self._times.now() + ttl))
            return Write(taken[-1], token)

        token: int | None = await self._leases.change("try_acquire", self._names.lease(key), nonce, decide)
        if token is not None:
            self._watching.wrote(key, _write_of(taken[-1]), sent)
        return token

    @bounded
    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        """Extend a lease that is live."""
        with self.bucket.in_time(request.timeout):
            return await self._renew(request, ttl)

    async def _renew(self, request: LeaseRequest, ttl: float) -> bool:
        renewed: list[LeaseState] = []
        sent = self._environment.boot_time()
        await self._clear_sight()

        async def decide(seen: Seen[LeaseState]) -> Write[LeaseState] | Keep:
            state = seen.state
            if state is None or not self._is_held(state, request):
                return Keep(result=False)
            renewed.append(state._replace(ttl=float(ttl), expires=self._times.now() + ttl))
            return Write(renewed[-1], result=True)

        mine, name = self._environment.new_id(), self._names.lease(request.key)
        is_renewed = bool(await self._leases.change("renew", name, mine, decide))
        if is_renewed:
            self._watching.wrote(request.key, _write_of(renewed[-1]), sent)
        return is_renewed

    def _is_held(self, state: LeaseState, request: LeaseRequest) -> bool:
        is_same = (state.nonce, state.token) == (request.nonce, request.token)
        return is_same and (self._times.observes or state.expires > self._times.past())

    @bounded
    async def release(self, request: LeaseRequest) -> bool:
        """Free a key."""

        async def decide(seen: Seen[LeaseState]) -> Write[LeaseState] | Keep:
            state = seen.state
            if state is None or not self._is_held(state, request):
                return Keep(result=False)
            return Write(state._replace(nonce=None), result=True)

        mine = self._environment.new_id()
        return bool(await self._leases.change("release", self._names.lease(request.key), mine, decide))

    @bounded
    async def holder(self, key: str) -> Holder | None:
        """Return who has the key."""
        past = self._times.past()
        seen = await self._leases.look(self._names.lease(key))
        left = self._left(seen, past)
        if seen.state is None or left <= 0:
            return None
        return Holder(seen.state.owner, seen.state.token, min(left, seen.state.ttl))

    @bounded
    async def raise_floor(self, key: str, token: int) -> None:
        """Make the next token higher; that of whoever has the key stays as it is."""

        async def decide(seen: Seen[LeaseState]) -> Write[LeaseState] | Keep:
            state = seen.state or LeaseState(key)
            if max(state.token, state.floor) >= token:
                return Keep(None)
            return Write(state._replace(floor=token), None)

        mine = self._environment.new_id()
        await self._leases.change("raise_floor", self._names.lease(key), mine, decide)

    @bounded
    async def set_flag(self, key: str, ttl: float) -> None:
        """Raise a flag."""
        await self._clear_sight()
        await self._change_flag("set_flag", key, self._times.now() + ttl)

    @bounded
    async def flag(self, key: str) -> bool:
        """Return whether a flag is raised."""
        past = self._times.past()
        state = (await self._flags.look(self._names.flag(key))).state
        return state is not None and state.expires > past

    @bounded
    async def clear_flag(self, key: str) -> None:
        """Lower a flag."""
        await self._change_flag("clear_flag", key, 0)

    async def _change_flag(self, what: str, key: str, expires: float) -> None:
        async def decide(seen: Seen[FlagState]) -> Write[FlagState] | Keep:
            return Keep(None) if seen.state is None and not expires else Write(FlagState(key, expires), None)

        await self._flags.change(what, self._names.flag(key), self._environment.new_id(), decide)

    async def sweep_flags(self) -> None:
        """Remove flags that are lowered, or were by themselves."""
        past = self._times.past()
        for listed in await self.bucket.names(self._names.kind("f")):
            with contextlib.suppress(Corrupt):  # what is damaged stays, for whoever restores it
                seen = await self._flags.look(listed.name)
                if seen.state is not None and seen.state.expires <= past:
                    await self.bucket.remove(listed.name, seen.tag)


def _write_of(state: LeaseState) -> str:
    """Return what tells the last write on a lease from others."""
    return f"{state.nonce} {state.expires}"
