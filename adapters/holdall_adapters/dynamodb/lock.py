"""Leases and flags: an item each. One of a lease is never deleted, and never carries the attribute of the table's TTL.

A key can be had if it is free, if its lease has surely expired by the server's time, or if that has been watched
unchanged for its ttl on the boot clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdall.errors import OutcomeUnknown
from holdall.spi import LeaseRequest
from holdall.values import Holder
from holdall_adapters.aws.errors import Refused
from holdall_adapters.aws.service import bounded
from holdall_adapters.aws.times import KEPT
from holdall_adapters.aws.watching import Watching
from holdall_adapters.dynamodb import names
from holdall_adapters.dynamodb.changes import Change
from holdall_adapters.dynamodb.names import N, S
from holdall_adapters.dynamodb.table import Item
from holdall_adapters.lost_replies import ATTEMPTS, Unsettled

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.aws.times import Times
    from holdall_adapters.dynamodb.table import Table

__all__ = ["DynamoLock"]


class DynamoLock:
    """Every operation of a lock."""

    def __init__(self, table: Table, times: Times, environment: Environment) -> None:
        self.table = table
        self._times = times
        self._environment = environment
        self._watching = Watching(environment)

    @property
    def service(self) -> Table:
        """The table, whose requests are bounded together."""
        return self.table

    async def _clear_sight(self) -> None:
        """Narrow the bounds of the server's time before something is written that expires by it."""
        if self._times.is_vague():
            await self.table.get(names.LAYOUT, "pk")

    def _left(self, key: str, item: Item | None, past: float) -> float:
        """Return about how many seconds a lease has left, 0 for none; and watch it."""
        if item is None or "nonce" not in item:
            return 0.0
        if not self._times.observes and float(item["exp"]["N"]) <= past:
            return 0.0
        left = self._watching.left(key, item["seen"]["S"], float(item["ttl_s"]["N"]))
        return left if self._times.observes else min(left, self._times.left(float(item["exp"]["N"])))

    @bounded
    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        """Take a free or expired key; after a lost reply it may be ours already."""
        await self._clear_sight()
        name, floor, seen, sent = names.lease(key), None, None, self._environment.boot_time()
        with Unsettled("try_acquire") as settling:
            async for _ in self.table.turns():
                change, past = self._taking(nonce, owner, ttl, floor, seen)
                try:
                    item = await self.table.update(name, change, "ALL_NEW")
                except Refused as refusal:
                    found = await self.table.get(name) if refusal.item is None else refusal.item
                except OutcomeUnknown:
                    settling.is_lost = True
                    found = await self.table.get(name)
                else:
                    self._watching.wrote(key, nonce, sent)
                    return int(item["token"]["N"])
                if found is not None and found.get("nonce", {}).get("S") == nonce:
                    return int(found["token"]["N"])
                is_held = self._left(key, found, past) > 0
                if is_held:
                    return None
                floor = None if found is None or "floor" not in found else int(found["floor"]["N"])
                seen = found["seen"]["S"] if found is not None and "nonce" in found else None
            raise settling.hopeless()

    def _taking(self, nonce: str, owner: str, ttl: float, floor: int | None, seen: str | None) -> tuple[Change, float]:
        """Return the change that takes a key, and the time by which it judges.

        Args:
            nonce: that of the lease.
            owner: its label.
            ttl: how long it lasts.
            floor: what the token must be above, as it was found, or None.
            seen: the last write of a lease that is known to have expired, or None.

        """
        change, past = Change(), self._times.past()
        free = "attribute_not_exists(#nonce)"
        if seen is not None:
            free += f" OR #seen = {change.value(S(seen))}"
        if not self._times.observes:
            free += f" OR #exp <= {change.value(N(past))}"
        change.require(free)
        change.set("nonce", S(nonce)).set("own", S(owner)).set("seen", S(nonce)).set("ttl_s", N(float(ttl)))
        change.set("exp", N(self._times.now() + ttl))
        if floor is None:
            change.equal("floor", None).add("token", N(1))
        else:
            change.equal("floor", N(floor)).set("token", N(floor + 1)).remove("floor")
        return change, past

    @bounded
    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        """Extend a lease that is live."""
        with self.table.in_time(request.timeout):
            return await self._renew(request, ttl)

    async def _renew(self, request: LeaseRequest, ttl: float) -> bool:
        sent, mine = self._environment.boot_time(), self._environment.new_id()
        await self._clear_sight()
        change = self._held(request).set("seen", S(mine)).set("ttl_s", N(float(ttl)))
        change.set("exp", N(self._times.now() + ttl))
        with Unsettled("renew") as settling:
            for _ in range(ATTEMPTS):
                try:
                    await self.table.update(names.lease(request.key), change)
                except Refused as refusal:
                    return await self._has_done(request, mine, refusal)
                except OutcomeUnknown:  # once more: it comes to the same
                    settling.is_lost = True
                else:
                    self._watching.wrote(request.key, mine, sent)
                    return True
            raise settling.unknown()

    async def _has_done(self, request: LeaseRequest, mine: str, refusal: Refused) -> bool:
        """Tell whether the last write on a lease is a certain one."""
        found = await self.table.get(names.lease(request.key)) if refusal.item is None else refusal.item
        return found is not None and found.get("seen", {}).get("S") == mine

    def _held(self, request: LeaseRequest) -> Change:
        """Return a change that happens only if a lease is the current one, and has not surely expired."""
        change = Change().equal("nonce", S(request.nonce)).equal("token", N(request.token))
        if not self._times.observes:
            change.require(f"#exp > {change.value(N(self._times.past()))}")
        return change

    @bounded
    async def release(self, request: LeaseRequest) -> bool:
        """Free a key."""
        mine = self._environment.new_id()
        change = self._held(request).set("seen", S(mine)).remove("nonce")
        with Unsettled("release") as settling:
            for _ in range(ATTEMPTS):
                try:
                    await self.table.update(names.lease(request.key), change)
                except Refused as refusal:
                    if await self._has_done(request, mine, refusal):
                        return True
                    if settling.is_lost:
                        raise settling.unknown() from refusal
                    return False
                except OutcomeUnknown:  # once more: the condition fails if it was applied
                    settling.is_lost = True
                else:
                    return True
            raise settling.unknown()

    @bounded
    async def holder(self, key: str) -> Holder | None:
        """Return who has the key."""
        past = self._times.past()
        item = await self.table.get(names.lease(key))
        left = self._left(key, item, past)
        if item is None or left <= 0:
            return None
        return Holder(item["own"]["S"], int(item["token"]["N"]), min(left, float(item["ttl_s"]["N"])))

    @bounded
    async def raise_floor(self, key: str, token: int) -> None:
        """Make the next token higher; that of whoever has the key stays as it is."""
        change = Change()
        wanted = change.value(N(token))
        change.require(f"attribute_not_exists(#floor) OR #floor < {wanted}")
        change.require(f"attribute_not_exists(#token) OR #token < {wanted}")
        change.set_to("floor", wanted)
        await self._repeatable(lambda: self.table.update(names.lease(key), change))

    async def _repeatable(self, send: Any) -> None:
        """Send a write that comes to the same if it is sent again, until a reply comes."""
        with Unsettled("write") as settling:
            for _ in range(ATTEMPTS):
                try:
                    await send()
                except Refused:
                    return
                except OutcomeUnknown:
                    settling.is_lost = True
                else:
                    return
            raise settling.unknown()

    @bounded
    async def set_flag(self, key: str, ttl: float) -> None:
        """Raise a flag."""
        await self._clear_sight()
        expires = self._times.now() + ttl
        change = Change().set("exp", N(expires)).set("ttl", N(int(expires + KEPT)))
        await self._repeatable(lambda: self.table.update(names.flag(key), change))

    @bounded
    async def flag(self, key: str) -> bool:
        """Return whether a flag is raised."""
        past = self._times.past()
        item = await self.table.get(names.flag(key))
        return item is not None and float(item["exp"]["N"]) > past

    @bounded
    async def clear_flag(self, key: str) -> None:
        """Lower a flag."""
        await self._repeatable(lambda: self.table.remove(names.flag(key), Change()))
