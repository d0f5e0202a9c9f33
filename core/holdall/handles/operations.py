"""All operations of a store that are one call of the driver: records, logs, and what concerns both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from holdall.clock import boot_time
from holdall.errors import InvalidArgument, TooLarge, Unsupported
from holdall.handles.arguments import check_expect, check_expect_head, check_size
from holdall.handles.logs import LogOperations
from holdall.rules import concerning
from holdall.spi import AppendRequest, CheckLogRequest, CheckRequest, PutRequest, WriteRequest
from holdall.values import ANY, Append, Check, CommitOperation, Delete, Put

OPERATIONS = (
    "get",
    "get_many",
    "put",
    "touch",
    "delete",
    "put_many",
    "delete_many",
    "clear",
    "scan",
    "keys",
    "scopes",
    "append",
    "read",
    "read_chunk",
    "tail",
    "head",
    "truncate",
    "drop",
    "logs",
    "log_scopes",
    "restore_log",
    "seal",
    "commit",
    "sweep",
    "ping",
    "describe",
)
"""The names of the operations, as the handles offer them."""

READS = frozenset(
    {"get", "get_many", "scan", "keys", "scopes", "read", "read_chunk", "tail", "head", "logs", "log_scopes"}
    | {"ping", "describe"}
)
"""Those that change nothing."""


class StoreOperations(LogOperations):
    """Every operation that is one call of the driver."""

    async def commit(self, operations: Iterable[CommitOperation]) -> list[Any]:
        """As `Store.commit`."""
        if isinstance(operations, Put | Delete | Append | Check) or not hasattr(operations, "__iter__"):
            message = f"a commit takes several operations, not one {type(operations).__name__}: put it into a list"
            raise InvalidArgument(message)
        requests = [self._located_request(operation) for operation in operations]
        self._check_commit(requests)
        results = list(await self._driver.commit(requests))
        return [
            request.version if isinstance(request, PutRequest) else result
            for request, result in zip(requests, results, strict=True)
        ]

    async def sweep(self) -> int:
        """As `Store.sweep`."""
        return await self._driver.sweep()

    async def ping(self) -> float:
        """As `Store.ping`."""
        started = boot_time()
        await self._driver.describe()
        return boot_time() - started

    async def describe(self) -> Mapping[str, str]:
        """As `Store.describe`."""
        return await self._driver.describe()

    def _located_request(self, operation: Any) -> WriteRequest:
        with concerning(operation):
            return self._request(operation)

    def _request(self, operation: Any) -> WriteRequest:
        match operation:
            case Put(scope, key, value, expect, ttl, fence):
                return self._put_request(scope, key, value, expect, ttl, fence)
            case Delete(scope, key, expect, fence):
                return self._delete_request(scope, key, expect, fence)
            case Append(scope, key, entries, expect, fence, batch_id):
                return self._append_request(scope, key, entries, expect, fence, batch_id)
            case Check(scope, key, expect, log):
                return self._check_request(scope, key, expect, log=bool(log))
            case _:
                message = f"a commit takes Put, Delete, Append and Check, not {type(operation).__name__}"
                raise InvalidArgument(message)

    def _check_request(self, scope: str, key: str, expect: Any, *, log: bool) -> CheckRequest | CheckLogRequest:
        scope, key = self._names.pair(scope, key)
        if expect is ANY:
            message = "a Check with ANY checks nothing: give it a version, a length, a Head or ABSENT"
            raise InvalidArgument(message)
        if log:
            return CheckLogRequest(scope, key, check_expect_head(expect))
        return CheckRequest(scope, key, check_expect(expect))

    def _check_commit(self, requests: list[WriteRequest]) -> None:
        if not requests:
            message = "a commit needs at least one operation"
            raise InvalidArgument(message)
        if len(requests) > 1 and not self._capabilities.atomic_commit:
            message = "this backend cannot commit several operations at once; keep what changes together under one key"
            raise Unsupported(message)
        if len(requests) > self._capabilities.max_commit_operations:
            what = "commit (operations)"
            raise TooLarge(what, self._capabilities.max_commit_operations, len(requests))
        check_size("commit (bytes of JSON)", sum(map(_size, requests)), self._capabilities.max_batch_bytes)
        targets = {(request.scope, request.key, _is_log(request)) for request in requests}
        if len(targets) < len(requests):
            message = "a commit names the same record or log twice: use `expect` in place of a Check beside a write"
            raise InvalidArgument(message)


def _size(request: WriteRequest) -> int:
    if isinstance(request, AppendRequest):
        return sum(map(len, request.payloads))
    return len(request.payload) if isinstance(request, PutRequest) else 0


def _is_log(request: WriteRequest) -> bool:
    return isinstance(request, AppendRequest | CheckLogRequest)
