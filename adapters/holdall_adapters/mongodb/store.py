"""The native store of the MongoDB adapter: records and logs, and what concerns both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdall.errors import OutcomeUnknown, StoreTimeout, Unavailable
from holdall.rules import commit_single, concerning
from holdall.spi import (
    AppendRequest,
    CheckLogRequest,
    CheckRequest,
    DeleteRequest,
    PutRequest,
    StoredPage,
    WriteRequest,
)
from holdall_adapters.lost_replies import lost
from holdall_adapters.mongodb.errors import Duplicate, HeadFull, InTheWay
from holdall_adapters.mongodb.logs import LOGS, MongoLogs
from holdall_adapters.mongodb.records import MongoRecords

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.mongodb.connection import Deployment
    from holdall_adapters.mongodb.connections.transactions import Transaction
    from holdall_adapters.mongodb.lock import MongoLock

__all__ = ["MongoStore"]

_FIRST_DELAY, _LAST_DELAY = 0.005, 0.25


class MongoStore(MongoRecords, MongoLogs):
    """A `StoreDriver` on the collections of one database."""

    def __init__(self, deployment: Deployment, environment: Environment, lock: MongoLock) -> None:
        MongoRecords.__init__(self, deployment, environment)
        MongoLogs.__init__(self, deployment, environment)
        self._lock = lock

    async def log_scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes, leaping over what is left of one that holds much."""
        return await self._scopes_of(LOGS, {"$match": {"i": {"$exists": True}}}, prefix, after, limit)

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        """Apply all or none, in one transaction; one that was in the way of another is run again."""
        if len(requests) == 1:
            return await commit_single(self, requests)
        deadline, delay = self._environment.boot_time() + self._deployment.timeout, _FIRST_DELAY
        while True:
            try:
                with self._deployment.bounded():
                    return await self._commit(requests)
            except (InTheWay, Duplicate) as error:
                if self._environment.boot_time() + delay >= deadline:
                    message = "others changed the same records again and again"
                    raise StoreTimeout(message) from error
                if isinstance(error, HeadFull):
                    await self._move(error.name)
            await self._environment.sleep(delay * (0.5 + self._environment.random()))
            delay = min(delay * 2, _LAST_DELAY)

    async def _commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        results: dict[int, Any] = {}
        written: list[tuple[WriteRequest, str]] = []
        order = sorted(range(len(requests)), key=lambda index: _place(requests[index]))

        async def work(within: Transaction) -> None:
            for index in order:
                with concerning(requests[index]):
                    results[index] = await self._apply(within, requests[index], written)

        try:
            await self._deployment.transact(work)
        except OutcomeUnknown as error:
            try:
                is_written = await self._is_written(written)
            except (Unavailable, StoreTimeout):
                is_written = False
            if not is_written:
                raise lost("commit") from error
        for request in requests:
            if isinstance(request, AppendRequest):
                await self._move_after_commit((request.scope, request.key))
        return [results[index] for index in range(len(requests))]

    async def _apply(self, within: Transaction, request: WriteRequest, written: list[tuple[WriteRequest, str]]) -> Any:
        match request:
            case PutRequest():
                await self.put_in(within, request)
                written.append((request, request.version))
                return None
            case DeleteRequest():
                write_id = self._environment.new_id()
                existed = await self.delete_in(within, request, write_id)
                written.extend([(request, write_id)] if existed else [])
                return existed
            case AppendRequest():
                written.append((request, request.write_id))
                return await self.append_in(within, request)
            case CheckLogRequest():
                return await self.check_log_in(within, request.scope, request.key, request.expect)
            case CheckRequest():
                return await self.check_in(within, request.scope, request.key, request.expect)

    async def _is_written(self, written: Sequence[tuple[WriteRequest, str]]) -> bool:
        """Tell whether a commit whose reply was lost left one of its writes; then all are there."""
        for request, write_id in written:
            if isinstance(request, AppendRequest):
                found = await self._head_document((request.scope, request.key), {"_id": 0})
                if "i" in found and await self._find_written(found, write_id) is not None:
                    return True
            else:
                record = await self._look_at({"s": request.scope, "k": request.key})
                if write_id in (record.version, record.previous):
                    return True
        return False

    async def sweep(self) -> int:
        """Remove what has expired, and what crashes left of logs."""
        return await self.sweep_records() + await self._lock.sweep_flags() + await self.sweep_logs()

    async def describe(self) -> Mapping[str, str]:
        """Reach the deployment and say what it is."""
        hello = await self._deployment.check()
        information = await self._deployment.command("buildInfo")
        return {
            "storage": f"MongoDB {information.get('version', 'of unknown version')}",
            "database": self._deployment.database.name,
            "topology": "mongos" if hello.get("msg") == "isdbgrid" else str(hello.get("setName", "standalone")),
            "write concern": "majority, journaled",
        }


def _place(request: WriteRequest) -> tuple[bool, str, str]:
    return isinstance(request, AppendRequest | CheckLogRequest), request.scope, request.key
