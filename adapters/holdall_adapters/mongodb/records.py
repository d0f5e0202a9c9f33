"""Records in MongoDB: one command for what goes well; why something did not is found out by a second one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from holdall.errors import Conflict, Fenced, OutcomeUnknown
from holdall.rules import check_fence, check_version
from holdall.spi import ABSENT, DeleteRequest, PutRequest
from holdall_adapters.lost_replies import ATTEMPTS
from holdall_adapters.mongodb import record_updates
from holdall_adapters.mongodb.errors import Busy, Duplicate, in_the_way
from holdall_adapters.mongodb.expressions import grave, live, unless_refused
from holdall_adapters.mongodb.listings import RECORDS, MongoListings
from holdall_adapters.mongodb.settling import Settling, sealed

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall.values import Expect
    from holdall_adapters.mongodb.connection import Deployment
    from holdall_adapters.mongodb.connections.transactions import Transaction

__all__ = ["MongoRecords"]

_HOUR = 3_600_000
_PAUSE = 0.05
_SHOWN = {"_id": 0, "v": 1, "pv": 1, "m": 1, "live": live()}


class Found(NamedTuple):
    """What is under a key, dead or alive."""

    live: str | None
    version: str | None
    previous: str | None
    mark: int


_ABSENT = Found(None, None, None, 0)


class MongoRecords(MongoListings):
    """Every operation on records."""

    def __init__(self, deployment: Deployment, environment: Environment) -> None:
        MongoListings.__init__(self, deployment)
        self._environment = environment

    async def put(self, request: PutRequest) -> None:
        """Write a record: one command if nothing speaks against it.

        A put with ANY is not sent again once its reply was lost: it might undo what others wrote since.
        """
        wanted, pipeline = {"s": request.scope, "k": request.key}, record_updates.put(request)
        upsert = not isinstance(request.expect, str)
        with Settling(self._deployment, "put") as settling:
            for _ in range(ATTEMPTS):
                if await settling.send(lambda: self._update_record(wanted, pipeline, upsert=upsert)):
                    return
                if await self._refused(wanted, request, request.version, settling) is None:
                    return
            raise settling.hopeless()

    async def _update_record(
        self, wanted: Mapping[str, Any], pipeline: Any, *, upsert: bool, within: Transaction | None = None
    ) -> bool:
        return await self._deployment.update(RECORDS, wanted, pipeline, upsert=upsert, within=within)

    async def _refused(
        self, wanted: Mapping[str, Any], request: PutRequest | DeleteRequest, write_id: str, settling: Settling
    ) -> Found | None:
        """Return what is there of a record on which a write did nothing that could be seen; None if it was applied.

        Raises:
            Conflict: something else is there than was expected.
            Fenced: the mark is above the fence.
            OutcomeUnknown: a reply was lost, and this does not tell whether the write was applied.

        """
        found = await self._look_at(wanted)
        if write_id in (found.version, found.previous):
            return None
        if settling.is_lost and not isinstance(request.expect, str):
            raise settling.unknown()
        _judge(found, request.fence, request.expect, settling)
        return found

    async def _look_at(self, wanted: Mapping[str, Any], within: Transaction | None = None) -> Found:
        pipeline: list[dict[str, Any]] = [{"$match": dict(wanted)}, {"$project": _SHOWN}]
        documents, _ = await self._deployment.aggregate(RECORDS, pipeline, within=within)
        if not documents:
            return _ABSENT
        version, previous = documents[0].get("v"), documents[0].get("pv")
        return Found(version if documents[0]["live"] else None, version, previous, documents[0].get("m", 0))

    async def put_in(self, within: Transaction, request: PutRequest) -> None:
        """Write a record in a transaction, or say why not."""
        wanted, upsert = {"s": request.scope, "k": request.key}, not isinstance(request.expect, str)
        if not await self._update_record(wanted, record_updates.put(request), upsert=upsert, within=within):
            await self._refuse_in(within, request)
            raise in_the_way()

    async def _refuse_in(self, within: Transaction, request: PutRequest | DeleteRequest) -> Found:
        found = await self._look_at({"s": request.scope, "k": request.key}, within)
        check_fence(found.mark, request.fence)
        check_version(request.expect, found.live)
        return found

    async def check_in(self, within: Transaction, scope: str, key: str, expect: Expect) -> str | None:
        """Check a record in a transaction, keep others from changing it until the end, and return its version.

        A transaction that only reads a document does not stand in the way of one that writes it, so this writes.
        """
        wanted = {"s": scope, "k": key}
        pipeline = record_updates.bury(self._environment.new_id())
        if not await self._update_record(wanted, pipeline, upsert=True, within=within):
            raise in_the_way()
        found = await self._look_at(wanted, within)
        check_version(expect, found.live)
        return found.live

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        """Set a new expiry."""
        wanted = {"s": scope, "k": key}
        with Settling(self._deployment, "touch") as settling:
            for _ in range(ATTEMPTS):
                if await settling.send_twice(lambda: self._touch_once(wanted, ttl, fence)):
                    return True
                if await self._sealed_no_record(wanted, fence, settling):
                    return False
                check_fence((await self._look_at(wanted)).mark, fence)
            raise settling.hopeless()

    async def _touch_once(self, wanted: Mapping[str, Any], ttl: float | None, fence: int | None) -> bool:
        return await self._update_record(
            wanted, record_updates.touch(ttl, fence, self._environment.new_id()), upsert=False
        )

    async def _sealed_no_record(self, wanted: Mapping[str, Any], fence: int | None, settling: Settling) -> bool:
        """Raise the mark of a record that is not there, if there is a fence; tell whether it still was not."""
        return fence is None or await settling.send_twice(
            lambda: self._update_record(
                wanted, record_updates.seal_nothing(fence, self._environment.new_id()), upsert=True
            )
        )

    async def delete(self, request: DeleteRequest) -> bool:
        """Delete a record; its grave keeps the mark, and the id of the write."""
        wanted, write_id = {"s": request.scope, "k": request.key}, self._environment.new_id()
        pipeline = record_updates.delete(request, write_id)
        with Settling(self._deployment, "delete") as settling:
            for _ in range(ATTEMPTS):
                send = partial(self._update_record, wanted, pipeline, upsert=False)
                if request.expect is not ABSENT and await settling.send(send):
                    return True
                found = await self._refused(wanted, request, write_id, settling)
                if found is None:
                    return True
                if found.live is None and await self._sealed_no_record(wanted, request.fence, settling):
                    return False
            raise settling.hopeless()

    async def delete_in(self, within: Transaction, request: DeleteRequest, write_id: str) -> bool:
        """Delete a record in a transaction, or say why not."""
        wanted = {"s": request.scope, "k": request.key}
        if request.expect is ABSENT:
            await self.check_in(within, request.scope, request.key, ABSENT)
            await self._refuse_in(within, request)
        else:
            if await self._update_record(wanted, record_updates.delete(request, write_id), upsert=False, within=within):
                return True
            if (await self._refuse_in(within, request)).live is not None:
                raise in_the_way()
            await self.check_in(within, request.scope, request.key, ABSENT)
        if request.fence is not None:
            await self._update_record(wanted, record_updates.seal(request.fence), upsert=True, within=within)
        return False

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        """Write records in one command, each by itself."""
        left = {request.key: request for request in requests}
        with Settling(self._deployment, "put_many") as settling:
            for _ in range(ATTEMPTS):
                updates = [({"s": each.scope, "k": each.key}, record_updates.put(each)) for each in left.values()]
                try:
                    await self._deployment.upsert_many(RECORDS, updates)
                except Busy:
                    await self._environment.sleep(_PAUSE * (0.5 + self._environment.random()))
                except Duplicate:
                    pass
                except OutcomeUnknown:
                    settling.is_lost = True
                else:
                    return
                for key in await self._written_of(requests[0].scope, left):
                    del left[key]
                if settling.is_lost and left:
                    error = settling.unknown()
                    error.done = tuple(request.key for request in requests if request.key not in left)
                    raise error
                if not left:
                    return
            raise settling.hopeless()

    async def _written_of(self, scope: str, requests: Mapping[str, PutRequest]) -> list[str]:
        """Return the keys under which the writes of requests are found."""
        shown = {"_id": 0, "k": 1, "v": 1, "pv": 1}
        wanted = {"s": scope, "k": {"$in": list(requests)}}
        documents, _ = await self._deployment.aggregate(RECORDS, [{"$match": wanted}, {"$project": shown}])
        return [each["k"] for each in documents if requests[each["k"]].version in (each.get("v"), each.get("pv"))]

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        """Delete records in one command, each by itself."""
        write_id = self._environment.new_id()
        pipeline = unless_refused([live()], grave(write_id, None))
        wanted = {"s": scope, "k": {"$in": list(keys)}}
        with Settling(self._deployment, "delete_many") as settling:
            count = await settling.send(lambda: self._deployment.update_many(RECORDS, wanted, pipeline))
            if count is not None and not settling.was_busy:
                return count
            ours = {"$match": {**wanted, "$or": [{"v": write_id}, {"pv": write_id}]}}
            documents, _ = await self._deployment.aggregate(RECORDS, [ours, {"$project": {"_id": 1}}])
            if count is None and (not documents or (await self._live({**wanted}))[0]):
                raise settling.unknown()
            return len(documents)

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        """Raise the mark of a record, and return its version at that moment."""
        wanted, pipeline = {"s": scope, "k": key}, record_updates.seal(fence)
        shown = {"_id": 0, "v": 1, "m": 1, "live": 1}
        found = await sealed(self._deployment, RECORDS, wanted, pipeline, shown, fence)
        return found.get("v") if found["live"] else None

    async def sweep_records(self) -> int:
        """Remove what has expired, and graves that are older than any lost reply; return how many had expired."""
        expired = {"x": {"$exists": True}, "$expr": {"$not": [live()]}}
        unmarked = {"$or": [{"m": 0}, {"m": {"$exists": False}}]}
        count = await self._deployment.delete_many(RECORDS, {**expired, **unmarked})
        buried = unless_refused([{"$not": [live()]}], {"_id": "$_id", "s": "$s", "k": "$k", "m": "$m", "g": "$$NOW"})
        count += await self._deployment.update_many(RECORDS, {**expired, "m": {"$gt": 0}}, buried)
        old = {"$lt": [{"$toLong": "$g"}, {"$subtract": [{"$toLong": "$$NOW"}, _HOUR]}]}
        await self._deployment.delete_many(RECORDS, {"g": {"$exists": True}, "$expr": old, **unmarked})
        return count


def _judge(found: Found, fence: int | None, expect: Expect, settling: Settling) -> None:
    try:
        check_fence(found.mark, fence)
        check_version(expect, found.live)
    except (Fenced, Conflict) as error:
        if settling.is_lost and (isinstance(error, Fenced) or found.previous != expect):
            raise settling.unknown() from error
        raise
