"""What changes logs in MongoDB as a whole: moves, truncates, drops, restores, seals, and what a sweep removes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from holdall.errors import AlreadyExists, HoldallError, TooLarge
from holdall.rules import KEPT_BATCHES, check_fence, check_head, kept_position
from holdall.spi import LogRequest
from holdall.values import Head
from holdall_adapters.lost_replies import ATTEMPTS
from holdall_adapters.mongodb import log_updates
from holdall_adapters.mongodb.errors import Duplicate
from holdall_adapters.mongodb.log_readers import BRIEF, CHUNKS, LOGS, WHOLE, MongoLogReaders, Name, head_of
from holdall_adapters.mongodb.settling import Settling, sealed

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.mongodb.connection import Deployment
    from holdall_adapters.mongodb.connections.transactions import Transaction

__all__ = ["MongoLogChanges"]

_MOST_POSITIONS = 2**62
_MOST_SEEN = 10_000
_HOUR = 3_600_000


class MongoLogChanges(MongoLogReaders):
    """The operations that change a log as a whole."""

    def __init__(self, deployment: Deployment, environment: Environment) -> None:
        MongoLogReaders.__init__(self, deployment)
        self._environment = environment
        self._seen: dict[Name, tuple[str | None, int]] = {}

    async def _update(self, name: Name, pipeline: Any, *, upsert: bool, within: Transaction | None = None) -> bool:
        scope, key = name
        return await self._deployment.update(LOGS, {"s": scope, "k": key}, pipeline, upsert=upsert, within=within)

    async def _move_if_full(self, name: Name, found: Mapping[str, Any]) -> None:
        if found.get("tb", 0) > log_updates.FULL:
            with contextlib.suppress(HoldallError):  # what was asked for is done; whoever comes next moves what is left
                await self._move(name)

    async def _move_after_commit(self, name: Name) -> None:
        with contextlib.suppress(HoldallError):  # as after an append
            await self._move_if_full(name, await self._head_document(name, BRIEF))

    def _remember(self, name: Name, found: Mapping[str, Any]) -> None:
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        self._seen[name] = (found.get("i"), found.get("b", 0))

    async def _move(self, name: Name) -> None:
        """Move the batches of a head into a chunk; if another has begun to, into the one that is there."""
        found = await self._head_document(name, WHOLE)
        if not found.get("t"):
            return
        incarnation, base, batches = found["i"], found["b"], found["t"]
        end = batches[-1]["e"]
        chunk = {
            "i": incarnation,
            "a": base,
            "e": end,
            "last": batches[-1]["c"],
            "s": name[0],
            "k": name[1],
            "t": batches,
            "h": [batch["h"] for batch in batches if "h" in batch],
            "w": [batch["w"] for batch in batches],
        }
        try:
            await self._deployment.insert(CHUNKS, chunk)
        except Duplicate:
            there = await self._deployment.find_one(CHUNKS, {"i": incarnation, "a": base}, {"_id": 0, "e": 1})
            if there is None:
                return
            end = there["e"]
        if await self._update(name, log_updates.let_go(incarnation, base, end), upsert=False):
            self._remember(name, {"i": incarnation, "b": end})

    async def truncate(self, request: LogRequest, before: int) -> int:
        """Forget entries: at once for everybody who reads, then chunk by chunk."""
        mine = self._environment.new_id()

        def pipeline(seen: Head) -> Any:
            return log_updates.truncate(before, seen, request, mine)

        seen, batches = await self._change("truncate", request, pipeline, mine)
        if seen is None:
            return 0
        first = kept_position(seen, before)
        if first > seen.first:
            doomed = {"i": seen.incarnation, "e": {"$lte": first}, "last": {"$lte": batches - KEPT_BATCHES}}
            with contextlib.suppress(HoldallError):  # it is done; what is left is for `sweep`
                await self._deployment.delete_many(CHUNKS, doomed)
        return first - seen.first

    async def _change(
        self, what: str, request: LogRequest, pipeline: Callable[[Head], Any], write_id: str
    ) -> tuple[Head | None, int]:
        """Change a log that is there, and return what it was like; None where there is none, and that is fine."""
        name = (request.scope, request.key)
        with Settling(self._deployment, what) as settling:
            for _ in range(ATTEMPTS):
                found = await self._head_document(name, BRIEF)
                seen = head_of(found)
                check_fence(found.get("m", 0), request.fence)
                check_head(request.expect, seen)
                if seen is None:
                    if await self._sealed_no_log(name, request.fence, settling):
                        return None, 0
                    continue
                update = partial(self._update, name, pipeline(seen), upsert=False)
                if await settling.send(update) or await self._has_written(name, write_id):
                    self._seen.pop(name, None)
                    return seen, found["c"]
                if settling.is_lost:
                    raise settling.unknown()
            raise settling.hopeless()

    async def _sealed_no_log(self, name: Name, fence: int | None, settling: Settling) -> bool:
        """Raise the mark of a log that is not there, if there is a fence; tell whether it still was not."""
        return fence is None or await settling.send_twice(
            lambda: self._update(name, log_updates.seal_nothing(fence, self._environment.new_id()), upsert=True)
        )

    async def _has_written(self, name: Name, write_id: str) -> bool:
        """Tell whether one of the last two writes of a log is a certain one."""
        found = await self._head_document(name, BRIEF)
        return write_id in (found.get("v"), found.get("pv"))

    async def drop(self, request: LogRequest) -> bool:
        """Delete a log: at once for everybody, then its chunks."""
        mine = self._environment.new_id()
        seen, _ = await self._change("drop", request, lambda seen: log_updates.drop(seen, request, mine), mine)
        if seen is None:
            return False
        with contextlib.suppress(HoldallError):  # it is done; what is left is for `sweep`
            await self._deployment.delete_many(CHUNKS, {"i": seen.incarnation})
        return True

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        """Create a log that begins at a position."""
        if first > _MOST_POSITIONS:
            what = "log (positions)"
            raise TooLarge(what, _MOST_POSITIONS, first)
        name = (scope, key)
        pipeline = log_updates.restore(first, b"\n".join(payloads), len(payloads), write_id)
        with Settling(self._deployment, "restore_log") as settling:
            for _ in range(ATTEMPTS):
                done = await settling.send(lambda: self._update(name, pipeline, upsert=True))
                found = await self._head_document(name, BRIEF)
                if done or found.get("i") == write_id:
                    await self._move_if_full(name, found)
                    return Head(first, first + len(payloads), write_id)
                if head_of(found) is not None:
                    if settling.is_lost:
                        raise settling.unknown()
                    message = "there is such a log: drop it before it is restored"
                    raise AlreadyExists(message)
            raise settling.hopeless()

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        """Raise the mark of a log, and return its head at that moment."""
        wanted, pipeline = {"s": scope, "k": key}, log_updates.seal(fence)
        return head_of(await sealed(self._deployment, LOGS, wanted, pipeline, BRIEF, fence))

    async def sweep_logs(self) -> int:
        """Remove chunks that a crash after a truncate or drop left; return how many."""
        count = 0
        pipeline = [{"$group": {"_id": "$i", "s": {"$first": "$s"}, "k": {"$first": "$k"}}}]
        for chunk in (await self._deployment.aggregate(CHUNKS, pipeline))[0]:
            found = await self._head_document((chunk["s"], chunk["k"]), BRIEF)
            doomed: dict[str, Any] = {"i": chunk["_id"]}
            if found.get("i") == chunk["_id"]:
                doomed |= {"e": {"$lte": found["f"]}, "last": {"$lte": found["c"] - KEPT_BATCHES}}
            count += await self._deployment.delete_many(CHUNKS, doomed)
        old = {"$lt": [{"$toLong": "$g"}, {"$subtract": [{"$toLong": "$$NOW"}, _HOUR]}]}
        unmarked = {"$or": [{"m": 0}, {"m": {"$exists": False}}]}
        dead = {"i": {"$exists": False}, "g": {"$exists": True}, "$expr": old, **unmarked}
        await self._deployment.delete_many(LOGS, dead)
        return count
