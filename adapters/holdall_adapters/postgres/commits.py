"""Commits: one transaction, sent in one round trip where nothing speaks against it, and ended in a second one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdall.errors import OutcomeUnknown
from holdall.rules import check_head, check_version, concerning
from holdall.spi import ABSENT, AppendRequest, CheckLogRequest, CheckRequest, DeleteRequest, PutRequest, WriteRequest
from holdall_adapters.postgres.errors import Duplicate
from holdall_adapters.postgres.logs import LogRow, PostgresLogs, appended_by
from holdall_adapters.postgres.records import Found, PostgresRecords, Run
from holdall_adapters.postgres.settling import Settling

if TYPE_CHECKING:
    from holdall_adapters.postgres.connections.connecting import Statement
    from holdall_adapters.postgres.server import Row, Server

__all__ = ["Commits"]


class _Step(NamedTuple):
    """A request, and the statement that does it if nothing speaks against it."""

    place: int
    request: WriteRequest
    statement: Statement


class _Undecided(Exception):
    """A statement did nothing, which may be right or wrong: only a look tells."""


class Commits:
    """Commits on one set of tables.

    Args:
        server: the server.
        records: the records.
        logs: the logs.

    """

    def __init__(self, server: Server, records: PostgresRecords, logs: PostgresLogs) -> None:
        self._server = server
        self._records = records
        self._logs = logs

    async def run(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        """Apply all or none; what was in the way of another is run again.

        Args:
            requests: what to apply.

        Raises:
            OutcomeUnknown: the reply was lost, and what is stored does not tell.

        """
        steps = [_Step(index, request, self._statement(request)) for index, request in enumerate(requests)]
        # Rows are locked in one order everywhere, so that no two commits wait for each other.
        steps.sort(key=lambda step: _turn(step.request))
        with Settling(self._server, "commit") as settling:
            deadline = settling.deadline()
            results = await self._server.patiently(lambda: self._run_once(steps, settling, deadline), deadline)
        return [results[index] for index in range(len(steps))]

    def _statement(self, request: WriteRequest) -> Statement:
        match request:
            case PutRequest():
                return self._records.put_statement(request)
            case DeleteRequest():
                return self._records.delete_statement(request)
            case AppendRequest():
                return self._logs.append_statement(request)
            case CheckLogRequest():
                return self._logs.share_log_statement(request.scope, request.key)
            case CheckRequest():
                return self._records.share_statement(request.scope, request.key)

    async def _run_once(self, steps: Sequence[_Step], settling: Settling, deadline: float) -> dict[int, Any]:
        results: dict[int, Any] = {}
        try:
            try:
                await self._at_once(steps, results, deadline)
            except (_Undecided, Duplicate):
                results.clear()
                await self._one_by_one(steps, results, deadline)
        except OutcomeUnknown as error:
            settling.is_lost = True
            if not await self._is_written(steps, settling.look):
                raise settling.unknown() from error
        return results

    async def _at_once(self, steps: Sequence[_Step], results: dict[int, Any], deadline: float) -> None:
        """Send all statements together; the transaction ends with nothing done if one of them is undecided."""
        async with self._server.transaction(*(step.statement for step in steps), deadline=deadline) as session:
            for step, rows in zip(steps, session.begun, strict=True):
                with concerning(step.request):
                    results[step.place] = _result(step.request, rows)

    async def _one_by_one(self, steps: Sequence[_Step], results: dict[int, Any], deadline: float) -> None:
        """Send one statement after the other, and look at what each one did."""
        async with self._server.transaction(deadline=deadline) as session:
            for step in steps:
                with concerning(step.request):
                    results[step.place] = await self._apply(session.run, step)

    async def _apply(self, run: Run, step: _Step) -> Any:
        match step.request:
            case PutRequest() as request:
                return await self._records.put_in(run, request, step.statement)
            case DeleteRequest() as request:
                return await self._records.delete_in(run, request, step.statement)
            case AppendRequest() as request:
                return await self._logs.append_in(run, request, step.statement)
            case CheckLogRequest() as request:
                return await self._logs.check_log_in(run, request.scope, request.key, request.expect)
            case CheckRequest() as request:
                return await self._records.check_in(run, request.scope, request.key, request.expect)

    async def _is_written(self, steps: Sequence[_Step], run: Run) -> bool:
        """Tell whether a commit whose reply was lost left one of its writes; then all are there."""
        for step in steps:
            match step.request:
                case AppendRequest() as request:
                    is_written = await self._logs.has_appended(run, request)
                case PutRequest() | DeleteRequest():
                    is_written = await self._records.has_written(run, step.statement)
                case _:
                    is_written = False
            if is_written:
                return True
        return False


def _result(request: WriteRequest, rows: Sequence[Row]) -> Any:
    """Return the result of a statement.

    Raises:
        Conflict: a check failed.
        _Undecided: the statement does not tell.

    """
    if not rows or (isinstance(request, DeleteRequest) and request.expect is ABSENT):
        raise _Undecided
    match request:
        case PutRequest():
            return None
        case DeleteRequest():
            return True
        case AppendRequest():
            return appended_by(rows[0], len(request.payloads))
        case CheckLogRequest():
            head = LogRow(*rows[0]).head()
            check_head(request.expect, head)
            return head
        case CheckRequest():
            found = Found(*rows[0])
            check_version(request.expect, found.live)
            return found.live


def _turn(request: WriteRequest) -> tuple[bool, str, str]:
    return isinstance(request, AppendRequest | CheckLogRequest), request.scope, request.key
