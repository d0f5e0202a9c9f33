"""Leases and flags over a backend: one item each, that is never deleted while its token must go on.

Where a clock can be trusted, a lease expires by it. Where none can (`expiry_clock` "client"), a lease is expired when
it has been watched unchanged for its ttl on this process's boot clock: `observes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from holdall.derived.access import Access, Decision, Settle, Unchanged, lost
from holdall.derived.layout import FLAG, LEASE
from holdall.errors import Corrupt
from holdall.spi import ANY, LeaseRequest
from holdall.values import Holder

if TYPE_CHECKING:
    from holdall.derived.clock import Clock, Moment
    from holdall.spi import BackendItem

_MOST_WATCHED = 10_000
_UNREADABLE = "the lease of a key cannot be read; it does not count as free"


class LeaseState(NamedTuple):
    """The item of a key: free without a nonce."""

    nonce: str | None = None
    owner: str = ""
    token: int = 0
    ttl: float = 0.0
    expires: float = 0.0
    boot: str = ""
    floor: int = 0
    write: str = ""

    def encode(self) -> bytes:
        """Return the bytes to store."""
        return orjson.dumps(list(self))

    def is_sound(self) -> bool:
        """Return whether every field is of its kind, and the token one that was given."""
        texts: list[Any] = [self.owner, self.boot, self.write, self.nonce or ""]
        numbers: list[Any] = [self.ttl, self.expires]
        counts: list[Any] = [self.token, self.floor]
        return (
            all(isinstance(text, str) for text in texts)
            and all(isinstance(number, int | float) for number in numbers)
            and all(isinstance(count, int) and count >= 0 for count in counts)
            and self.write != ""
        )


class DerivedLock:
    """Every operation of a lock, by reading and compare-and-set on the key's item."""

    def __init__(self, access: Access, clock: Clock) -> None:
        self._access = access
        self._clock = clock
        self._environment = access.environment
        self._watched: dict[str, tuple[str, float]] = {}

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        """Take a free or expired key."""
        moment = self._clock.moment()

        async def decide(item: BackendItem | None) -> Decision | Unchanged:
            state = _state(item)
            if state.nonce == nonce:
                return Unchanged(state.token)  # an earlier try of this very call, that arrived late
            if await self._left(key, state, moment) > 0:
                return Unchanged(None)
            now = await moment.now()
            token = max(state.token, state.floor) + 1
            taken = LeaseState(nonce, owner, token, ttl, now + ttl, self._clock.boot, state.floor, nonce)
            return Decision(taken.encode(), token)

        def settle(item: BackendItem | None) -> bool:
            # Who raised the floor meanwhile has left the holder as it was.
            return (item is not None and _state(item).nonce == nonce) or _settle(nonce, "acquire")(item)

        token: int | None = await self._access.replace(_key(key), decide, settle, moment)
        return token

    async def _left(self, key: str, state: LeaseState, moment: Moment) -> float:
        """Return how many seconds a lease has left, 0 for none."""
        if state.nonce is None or state.boot != self._clock.boot:
            return 0.0
        if not self._clock.observes:
            return max(0.0, await moment.left(state.expires))
        write, since = self._watched.get(key, ("", 0.0))
        if write != state.write:
            if len(self._watched) >= _MOST_WATCHED:
                self._watched.clear()
            since = self._environment.boot_time()  # not before the reading: it may have been written meanwhile
            self._watched[key] = (state.write, since)
        return max(0.0, moment.left_on_watch(since + state.ttl))

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        """Extend a lease that is live."""
        write, moment = self._environment.new_id(), self._clock.moment()

        async def decide(item: BackendItem | None) -> Decision | Unchanged:
            state = _state(item)
            if not await self._is_current(request, state, moment):
                return Unchanged(result=False)
            now = await moment.now()
            return Decision(state._replace(ttl=ttl, expires=now + ttl, write=write).encode(), result=True)

        return bool(await self._access.replace(_key(request.key), decide, _settle(write, "renewal"), moment))

    async def release(self, request: LeaseRequest) -> bool:
        """Free a key."""
        write, moment = self._environment.new_id(), self._clock.moment()

        async def decide(item: BackendItem | None) -> Decision | Unchanged:
            state = _state(item)
            if not await self._is_current(request, state, moment):
                return Unchanged(result=False)
            return Decision(state._replace(nonce=None, write=write).encode(), result=True)

        return bool(await self._access.replace(_key(request.key), decide, _settle(write, "release"), moment))

    async def _is_current(self, request: LeaseRequest, state: LeaseState, moment: Moment) -> bool:
        same = (state.nonce, state.token) == (request.nonce, request.token)
        return same and await self._left(request.key, state, moment) > 0

    async def holder(self, key: str) -> Holder | None:
        """Return who has the key."""
        moment = self._clock.moment()

        async def judge(item: BackendItem | None) -> Holder | None:
            state = _state(item)
            left = await self._left(key, state, moment)
            return Holder(state.owner, state.token, left) if left > 0 else None

        return await self._access.look(_key(key), moment, judge)

    async def raise_floor(self, key: str, token: int) -> None:
        """Make the next token higher."""
        write = self._environment.new_id()

        async def decide(item: BackendItem | None) -> Decision | Unchanged:
            state = _state(item)
            if state.floor >= token:
                return Unchanged(None)
            return Decision(state._replace(floor=token, write=write).encode(), None)

        await self._access.replace(_key(key), decide, _settle(write, "raising of the floor"))

    async def set_flag(self, key: str, ttl: float) -> None:
        """Raise a flag."""
        expires = await self._clock.now() + ttl
        payload = orjson.dumps([expires, self._environment.new_id()])
        await self._access.put(FLAG + key.encode(), payload, ANY)

    async def flag(self, key: str) -> bool:
        """Return whether a flag is raised."""
        item = await self._access.get(FLAG + key.encode())
        return item is not None and flag_expires(item) > await self._clock.now()

    async def clear_flag(self, key: str) -> None:
        """Lower a flag."""
        await self._access.delete(FLAG + key.encode(), ANY)


def flag_expires(item: BackendItem) -> float:
    """Return when a flag falls by itself.

    Args:
        item: the flag.

    Raises:
        Corrupt: it is something else.

    """
    try:
        return float(orjson.loads(item.payload)[0])
    except (ValueError, TypeError, LookupError) as error:
        message = "a flag cannot be read"
        raise Corrupt(message) from error


def _key(key: str) -> bytes:
    return LEASE + key.encode()


def _state(item: BackendItem | None) -> LeaseState:
    if item is None:
        return LeaseState()
    try:
        state = LeaseState(*orjson.loads(item.payload))
    except (ValueError, TypeError) as error:
        raise Corrupt(_UNREADABLE) from error
    if not state.is_sound():
        raise Corrupt(_UNREADABLE)
    return state


def _settle(write: str, what: str) -> Settle:
    def settle(item: BackendItem | None) -> bool:
        if item is None:
            return False
        if _state(item).write == write:
            return True
        raise lost(what)

    return settle
