"""Appends to logs in MongoDB: one command, and one that reads what it came to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from holdall.errors import Conflict, Fenced
from holdall.rules import check_batch, check_fence, check_head
from holdall.spi import ABSENT, ANY, AppendRequest
from holdall.values import Appended, Head
from holdall_adapters.lost_replies import ATTEMPTS, lost
from holdall_adapters.mongodb import log_updates
from holdall_adapters.mongodb.errors import HeadFull, in_the_way
from holdall_adapters.mongodb.log_changes import MongoLogChanges
from holdall_adapters.mongodb.log_readers import BRIEF, CHUNKS, LOGS, WHOLE, Name, head_of
from holdall_adapters.mongodb.settling import Settling

if TYPE_CHECKING:
    from holdall.values import ExpectHead
    from holdall_adapters.mongodb.connection import Documents
    from holdall_adapters.mongodb.connections.transactions import Transaction

__all__ = ["LOGS", "MongoLogs"]


class MongoLogs(MongoLogChanges):
    """Every operation on logs."""

    async def append(self, request: AppendRequest) -> Appended:
        """Append a batch: one command if nothing speaks against it."""
        name, hashed = (request.scope, request.key), _hashed(request.batch_id)
        with Settling(self._deployment, "append") as settling:
            for _ in range(ATTEMPTS):
                seen = None
                if hashed is not None:
                    seen, repeated = await self._look_for_batch(name, hashed, request)
                    if repeated is not None:
                        return repeated
                pipeline = log_updates.append(request, hashed, seen)
                update = partial(self._update, name, pipeline, upsert=_may_create(request.expect, seen))
                if await settling.send(update):
                    return await self._appended(name, request)
                settled = await self._settled(name, request, hashed, settling)
                if settled is not None:
                    return settled
            raise settling.hopeless()

    async def _look_for_batch(
        self, name: Name, hashed: str, request: AppendRequest, within: Transaction | None = None
    ) -> tuple[tuple[str | None, int], Appended | None]:
        """Return the life and base of a log, and the result of a batch that is in the chunks below the base."""
        seen = None if within is not None else self._seen.get(name)
        if seen is None:
            found = await self._head_document(name, BRIEF, within)
            seen = (found.get("i"), found.get("b", 0))
        incarnation, base = seen
        if incarnation is None or not base:
            return seen, None
        wanted = {"i": incarnation, "h": hashed}
        chunk = await self._deployment.find_one(CHUNKS, wanted, {"_id": 0, "t": 1}, within)
        return seen, None if chunk is None else _repeated(chunk["t"], hashed, incarnation, request)

    async def _appended(self, name: Name, request: AppendRequest, within: Transaction | None = None) -> Appended:
        """Return the result of an append that was applied, after moving batches if the head is full."""
        found = await self._with_batch(name, request.write_id, within)
        batch = await self._place_of(found, request.write_id)
        if batch is None:  # others have appended much, truncated or dropped since
            raise lost("append") if within is None else in_the_way()
        if within is None:
            self._remember(name, found)
            await self._move_if_full(name, found)
        return Appended(batch["a"], batch["e"] - batch["a"], Head(batch["f"], batch["e"], batch["i"]))

    async def _place_of(self, found: Mapping[str, Any], write_id: str) -> Mapping[str, Any] | None:
        """Return where a batch is, or was until the log was dropped."""
        if found.get("mine"):
            return {**found["mine"][0], "i": found["i"]}
        if found.get("dropped"):
            dropped: Mapping[str, Any] = found["dropped"][0]
            return dropped
        return await self._batch_in_chunks(found, write_id)

    async def _with_batch(self, name: Name, write_id: str, within: Transaction | None) -> dict[str, Any]:
        """Return the head of a log with one of its batches, or of those that were dropped, without what it holds."""
        fields: dict[str, Any] = dict.fromkeys(("i", "f", "n", "b", "c", "tb", "m"), 1)
        shown = {"_id": 0, "mine": _places("$t", write_id), "dropped": _places("$l", write_id), **fields}
        pipeline: list[dict[str, Any]] = [{"$match": {"s": name[0], "k": name[1]}}, {"$project": shown}]
        documents, _ = await self._deployment.aggregate(LOGS, pipeline, within=within)
        return documents[0] if documents else {}

    async def _batch_in_chunks(self, found: Mapping[str, Any], write_id: str) -> dict[str, Any] | None:
        """Look for a batch that was moved out of the head."""
        wanted = {"w": write_id} if "i" not in found else {"i": found["i"], "w": write_id}
        chunk = await self._deployment.find_one(CHUNKS, wanted, {"_id": 0, "t": 1, "i": 1})
        batches: Documents = [] if chunk is None else chunk["t"]
        mine = next((batch for batch in batches if batch["w"] == write_id), None)
        return None if mine is None or chunk is None else {**mine, "i": chunk["i"]}

    async def _settled(
        self,
        name: Name,
        request: AppendRequest,
        hashed: str | None,
        settling: Settling,
        within: Transaction | None = None,
    ) -> Appended | None:
        """Return what an append came to that did nothing now, None to send it again; raise where it is refused."""
        found = await self._head_document(name, WHOLE, within)
        self._remember(name, found)
        head, incarnation = head_of(found), found.get("i", "")
        if hashed is not None and head is not None:
            repeated = _repeated(found["t"], hashed, incarnation, request)
            if repeated is None and found["b"]:
                _, repeated = await self._look_for_batch(name, hashed, request, within)
            if repeated is not None:
                return repeated
        if head is not None:  # though no reply was lost, the driver may have sent it twice
            batch = await self._find_written(found, request.write_id)
            if batch is not None:
                return Appended(batch["a"], batch["e"] - batch["a"], Head(batch["f"], batch["e"], incarnation))
        if settling.is_lost and request.expect is ANY and hashed is None:
            raise settling.unknown()
        _judge(found, request.fence, request.expect, settling)
        if found.get("tb", 0) > log_updates.FULL:
            await self._move(name)
        return None

    async def _find_written(self, found: Mapping[str, Any], write_id: str) -> dict[str, Any] | None:
        """Look for the batch of an append whose reply was lost, in the head and in the chunks."""
        mine = next((batch for batch in found["t"] if batch["w"] == write_id), None)
        return mine if mine is not None or not found["b"] else await self._batch_in_chunks(found, write_id)

    async def append_in(self, within: Transaction, request: AppendRequest) -> Appended:
        """Append a batch in a transaction, or say why not."""
        name, hashed = (request.scope, request.key), _hashed(request.batch_id)
        seen = None
        if hashed is not None:
            seen, repeated = await self._look_for_batch(name, hashed, request, within)
            if repeated is not None:
                return repeated
        pipeline, upsert = log_updates.append(request, hashed, seen), _may_create(request.expect, seen)
        if await self._update(name, pipeline, upsert=upsert, within=within):
            return await self._appended(name, request, within)
        return await self._settled_in(within, name, request, hashed)

    async def _settled_in(
        self, within: Transaction, name: Name, request: AppendRequest, hashed: str | None
    ) -> Appended:
        found = await self._head_document(name, WHOLE, within)
        if hashed is not None and "i" in found:
            repeated = _repeated(found["t"], hashed, found["i"], request)
            if repeated is not None:
                return repeated
        check_fence(found.get("m", 0), request.fence)
        check_head(request.expect, head_of(found))
        raise HeadFull(name) if found.get("tb", 0) > log_updates.OVERFULL else in_the_way()

    async def check_log_in(self, within: Transaction, scope: str, key: str, expect: ExpectHead) -> Head | None:
        """Check a log in a transaction, keep others from changing it until the end, and return its head."""
        if not await self._update(
            (scope, key), log_updates.bury(self._environment.new_id()), upsert=True, within=within
        ):
            raise in_the_way()
        head = head_of(await self._head_document((scope, key), BRIEF, within))
        check_head(expect, head)
        return head


def _places(batches: str, write_id: str) -> dict[str, Any]:
    mine: dict[str, Any] = {"input": {"$ifNull": [batches, []]}, "as": "each", "cond": {"$eq": ["$$each.w", write_id]}}
    place = {"a": "$$each.a", "e": "$$each.e", "f": "$$each.f", "i": "$$each.i"}
    return {"$map": {"input": {"$filter": mine}, "as": "each", "in": place}}


def _may_create(expect: ExpectHead, seen: tuple[str | None, int] | None) -> bool:
    """Tell whether an append makes a log that is not there; one that was seen must be looked at again then."""
    return (expect is ANY or expect is ABSENT or expect == 0) and (seen is None or seen[0] is None)


def _hashed(batch_id: str | None) -> str | None:
    return None if batch_id is None else hashlib.sha256(batch_id.encode()).hexdigest()


def _repeated(
    batches: Sequence[Mapping[str, Any]], hashed: str, incarnation: str, request: AppendRequest
) -> Appended | None:
    for batch in batches:
        if "h" in batch and batch["h"] == hashed:
            count = batch["e"] - batch["a"]
            return check_batch(batch["a"], count, batch["d"], incarnation, batch["f"], request.digest or "")
    return None


def _judge(found: Mapping[str, Any], fence: int | None, expect: ExpectHead, settling: Settling) -> None:
    try:
        check_fence(found.get("m", 0), fence)
        check_head(expect, head_of(found))
    except (Conflict, Fenced) as error:
        if settling.is_lost and (isinstance(error, Fenced) or not isinstance(expect, Head)):
            raise settling.unknown() from error
        raise
