"""Leases and flags in MongoDB: one command each, judged by the server's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdall.spi import LeaseRequest
from holdall.values import Holder
from holdall_adapters.lost_replies import ATTEMPTS
from holdall_adapters.mongodb.expressions import NOW, either, later, literal, unless_refused
from holdall_adapters.mongodb.settling import Settling

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.mongodb.connection import Deployment, Documents

__all__ = ["MongoLock"]

_LEASES, _FLAGS = "leases", "flags"
_SHOWN = {"_id": 0, "w": 1, "t": 1, "y": 1}
_EXPIRED = {"$lte": [{"$toLong": "$x"}, NOW]}


class MongoLock:
    """Every operation of a lock."""

    def __init__(self, deployment: Deployment, environment: Environment) -> None:
        self._deployment = deployment
        self._environment = environment

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        """Take a free or expired key; after a lost reply it may be ours already."""
        free = {"$or": [{"$eq": [{"$ifNull": ["$w", None]}, None]}, _EXPIRED]}
        floor = {"$max": [{"$ifNull": ["$t", 0]}, {"$ifNull": ["$f", 0]}]}
        taken = {"_id": "$_id", "k": "$k", "f": "$f", "w": nonce, "o": literal(owner), "x": later(ttl)}
        pipeline = unless_refused([free], {**taken, "t": {"$add": [floor, 1]}})
        with Settling(self._deployment, "try_acquire") as settling:
            for _ in range(ATTEMPTS):
                done = await settling.send(lambda: self._deployment.update(_LEASES, {"k": key}, pipeline, upsert=True))
                found = await self._deployment.find_one(_LEASES, {"k": key}, _SHOWN)
                if found is not None and found.get("w") == nonce:
                    return int(found["t"])
                if done is not None and found is not None and found.get("t"):
                    return None
            raise settling.unknown()

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        """Extend a lease that is live."""
        return await self._if_held("renew", request, {"x": later(ttl)}, request.timeout)

    async def release(self, request: LeaseRequest) -> bool:
        """Free a key."""
        return await self._if_held("release", request, {"w": None}, None)

    async def _if_held(self, what: str, request: LeaseRequest, change: Any, timeout: float | None) -> bool:
        """Change a lease if it is the current one and live; tell whether it was."""
        mine = self._environment.new_id()
        with Settling(self._deployment, what) as settling:
            if await settling.send_twice(lambda: self._update_held(request, {**change, "y": mine}, timeout)):
                return True
            found = await self._deployment.find_one(_LEASES, {"k": request.key}, _SHOWN)
            if found is not None and found.get("y") == mine:  # the driver sent it again, after a lost reply
                return True
            if not settling.is_lost or what == "renew":
                return False
            raise settling.unknown()

    async def _update_held(self, request: LeaseRequest, change: Any, timeout: float | None) -> bool:
        held = [{"$eq": ["$t", request.token]}, {"$eq": ["$w", literal(request.nonce)]}, {"$not": [_EXPIRED]}]
        pipeline = unless_refused(held, {"$mergeObjects": ["$$ROOT", change]})
        return await self._deployment.update(_LEASES, {"k": request.key}, pipeline, upsert=False, timeout=timeout)

    async def holder(self, key: str) -> Holder | None:
        """Return who has the key."""
        left = {"$subtract": [{"$toLong": "$x"}, NOW]}
        pipeline = [{"$match": {"k": key, "w": {"$type": "string"}}}, {"$project": {"o": 1, "t": 1, "left": left}}]
        found = await self._found(_LEASES, pipeline)
        if not found or found[0]["left"] <= 0:
            return None
        return Holder(found[0]["o"], found[0]["t"], found[0]["left"] / 1000)

    async def _found(self, collection: str, pipeline: Any) -> Documents:
        return (await self._deployment.aggregate(collection, pipeline))[0]

    async def raise_floor(self, key: str, token: int) -> None:
        """Make the next token higher."""
        floor = {"$max": [{"$ifNull": ["$f", 0]}, token]}
        fresh = {"_id": "$_id", "k": "$k", "w": None, "t": 0, "x": "$$NOW"}
        kept = either({"$eq": [{"$type": "$t"}, "missing"]}, fresh, "$$ROOT")
        pipeline = [{"$replaceWith": {"$mergeObjects": [kept, {"f": floor}]}}]
        with Settling(self._deployment, "raise_floor") as settling:
            await settling.send_twice(lambda: self._deployment.update(_LEASES, {"k": key}, pipeline, upsert=True))

    async def set_flag(self, key: str, ttl: float) -> None:
        """Raise a flag."""
        pipeline = [{"$replaceWith": {"_id": "$_id", "k": "$k", "x": later(ttl)}}]
        with Settling(self._deployment, "set_flag") as settling:
            await settling.send_twice(lambda: self._deployment.update(_FLAGS, {"k": key}, pipeline, upsert=True))

    async def flag(self, key: str) -> bool:
        """Return whether a flag is raised."""
        raised = {"$match": {"$expr": {"$not": [_EXPIRED]}}}
        return bool(await self._found(_FLAGS, [{"$match": {"k": key}}, raised, {"$project": {"_id": 1}}]))

    async def clear_flag(self, key: str) -> None:
        """Lower a flag."""
        with Settling(self._deployment, "clear_flag") as settling:
            await settling.send_twice(lambda: self._deployment.delete_many(_FLAGS, {"k": key}))

    async def sweep_flags(self) -> int:
        """Remove fallen flags; return how many."""
        with Settling(self._deployment, "sweep") as settling:
            return await settling.send_twice(lambda: self._deployment.delete_many(_FLAGS, {"$expr": _EXPIRED}))
