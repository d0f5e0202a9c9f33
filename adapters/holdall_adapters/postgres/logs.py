"""Logs in Postgres: one statement for what goes well; why something did not is found out by a second one."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdall.errors import AlreadyExists, Conflict, Fenced, HoldallError, TooLarge
from holdall.rules import check_batch, check_fence, check_head
from holdall.spi import ABSENT, ANY, AppendRequest, LogRequest
from holdall.values import Appended, Head
from holdall_adapters.lost_replies import ATTEMPTS
from holdall_adapters.postgres.errors import Duplicate
from holdall_adapters.postgres.log_statements import MOST_POSITIONS, LogStatements, name_of_log
from holdall_adapters.postgres.settling import Settling

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall.values import ExpectHead
    from holdall_adapters.postgres.connections.connecting import Statement
    from holdall_adapters.postgres.records import Run
    from holdall_adapters.postgres.server import Row, Server
    from holdall_adapters.postgres.sweeping import Sweeping
    from holdall_adapters.postgres.tables import Tables

__all__ = ["LogRow", "PostgresLogs", "appended_by"]

_RECENT = 100_000
"""Entries among which those of an append are looked for whose reply was lost."""


class LogRow(NamedTuple):
    """The row of a log, dead or alive."""

    id: int | None
    first: int
    length: int
    incarnation: str | None
    mark: int
    gone: bool
    write_id: str | None
    dropper: str | None

    def head(self) -> Head | None:
        """Return the head, or None where there is no log."""
        return None if self.gone or self.incarnation is None else Head(self.first, self.length, self.incarnation)


_ABSENT = LogRow(None, 0, 0, None, 0, gone=True, write_id=None, dropper=None)


class PostgresLogs:
    """The operations that change logs."""

    def __init__(self, server: Server, tables: Tables, environment: Environment, sweeping: Sweeping) -> None:
        self._server = server
        self._environment = environment
        self._sweeping = sweeping
        self._logs = LogStatements(tables)

    async def append(self, request: AppendRequest) -> Appended:
        """Append a batch: one statement if nothing speaks against it."""
        statement, parameters = self.append_statement(request)
        with Settling(self._server, "append") as settling:
            for _ in range(ATTEMPTS):
                try:
                    rows = await settling.send(statement, parameters)
                except Duplicate:
                    rows = []  # the batch id is there already
                if rows:
                    return appended_by(rows[0], len(request.payloads))
                settled = await self._append_settled(request, parameters, settling)
                if settled is not None:
                    return settled
                if settling.is_lost and request.expect is ANY and request.batch_id is None:
                    raise settling.unknown()
            raise settling.hopeless()

    def append_statement(self, request: AppendRequest) -> tuple[str, dict[str, Any]]:
        """Return the statement of an append, and its parameters."""
        expect = request.expect
        kind = "any" if expect is ANY else "head" if isinstance(expect, Head) else "length"
        if expect is ABSENT or expect == 0:
            kind = "absent"
        statement = self._logs.append(kind, fenced=request.fence is not None, batch=request.batch_id is not None)
        parameters: dict[str, Any] = {
            "scope": request.scope.encode(),
            "key": request.key.encode(),
            "write_id": request.write_id,
            "count": len(request.payloads),
            "lines": b"\n".join(request.payloads).decode(),
            "fence": request.fence,
            "batch_id": _hashed(request.batch_id),
            "digest": request.digest,
            "log": name_of_log(request.scope, request.key),
            **_expected(expect),
        }
        return statement, parameters

    async def _append_settled(
        self, request: AppendRequest, parameters: Mapping[str, Any], settling: Settling
    ) -> Appended | None:
        """Return what an append came to that did nothing now, None to send it again; raise where it is refused."""
        row = await self._row(settling.look, parameters)
        repeated = await self._repeated(settling.look, row, request, parameters)
        if repeated is None and settling.is_lost:
            repeated = await self._find_written(settling.look, row, request)
        if repeated is not None:
            return repeated
        try:
            check_fence(row.mark, request.fence)
            check_head(request.expect, row.head())
        except (Conflict, Fenced) as error:
            if settling.is_lost and (isinstance(error, Fenced) or not isinstance(request.expect, Head)):
                raise settling.unknown() from error
            raise
        return None

    async def _find_written(self, run: Run, row: LogRow, request: AppendRequest) -> Appended | None:
        """Look for the entries of an append whose reply was lost."""
        head = row.head()
        if head is None:
            return None
        parameters = {"id": row.id, "write_id": request.write_id, "least": max(head.first, head.length - _RECENT)}
        rows = await run(self._logs.written, parameters)
        if not rows:
            return None
        start, count = rows[0][0], len(request.payloads)
        return Appended(start, count, Head(head.first, start + count, head.incarnation))

    async def _row(self, run: Run, parameters: Mapping[str, Any]) -> LogRow:
        rows = await run(self._logs.look, parameters)
        return LogRow(*rows[0]) if rows else _ABSENT

    async def _repeated(
        self, run: Run, row: LogRow, request: AppendRequest, parameters: Mapping[str, Any]
    ) -> Appended | None:
        head = row.head()
        if request.batch_id is None or head is None:
            return None
        rows = await run(self._logs.batch, {"id": row.id, "batch_id": parameters["batch_id"]})
        if not rows:
            return None
        start, count, digest, first = rows[0]
        return check_batch(start, count, digest, head.incarnation, first, request.digest or "")

    async def append_in(self, run: Run, request: AppendRequest, statement: Statement) -> Appended:
        """Append a batch in a transaction, or say why not."""
        parameters = statement[1]
        row = await self._locked(run, self._logs.lock, parameters)
        repeated = await self._repeated(run, row, request, parameters)
        if repeated is not None:
            return repeated
        check_fence(row.mark, request.fence)
        check_head(request.expect, row.head())
        return appended_by((await run(*statement))[0], len(request.payloads))

    async def has_appended(self, run: Run, request: AppendRequest) -> bool:
        """Tell whether an append left its entries."""
        row = await self._row(run, {"scope": request.scope.encode(), "key": request.key.encode()})
        return row.write_id == request.write_id or await self._find_written(run, row, request) is not None

    async def _locked(self, run: Run, statement: str, parameters: Mapping[str, Any]) -> LogRow:
        """Return the row of a log, made if need be, that nobody else changes until the end of the transaction."""
        rows = await run(statement, parameters)
        if not rows:  # what is not there cannot be locked
            await run(self._logs.bury, parameters)
            rows = await run(statement, parameters)
        return LogRow(*rows[0])

    def share_log_statement(self, scope: str, key: str) -> Statement:
        """Return the statement that looks at a log and keeps others from changing it, and its parameters."""
        return self._logs.share, {"scope": scope.encode(), "key": key.encode()}

    async def check_log_in(self, run: Run, scope: str, key: str, expect: ExpectHead) -> Head | None:
        """Check a log in a transaction, keep others from changing it until the end, and return its head."""
        head = (await self._locked(run, *self.share_log_statement(scope, key))).head()
        check_head(expect, head)
        return head

    async def truncate(self, request: LogRequest, before: int) -> int:
        """Forget entries: at once for everybody who reads, then row by row."""
        parameters = {**self._log_parameters(request), "before": min(before, MOST_POSITIONS)}
        row = await self._change("truncate", self._logs.truncate, parameters, request)
        if row is None:
            return 0
        log, was, first, batches = row
        with contextlib.suppress(HoldallError):  # it is done; what is left of the rows is for `sweep`
            await self._sweeping.forget(log, was, first, batches)
        return int(first - was)

    def _log_parameters(self, request: LogRequest) -> dict[str, Any]:
        return {
            "scope": request.scope.encode(),
            "key": request.key.encode(),
            "fence": request.fence,
            "write_id": self._environment.new_id(),
            **_expected(request.expect),
        }

    async def _change(
        self, what: str, statement: str, parameters: Mapping[str, Any], request: LogRequest
    ) -> Row | None:
        """Change a log that is there; None where there is none, and nothing speaks against that."""
        statement = statement.format(_condition(request))
        with Settling(self._server, what) as settling:
            for _ in range(ATTEMPTS):
                rows = await settling.send(statement, parameters)
                if rows:
                    return rows[0]
                row = await self._row(settling.look, parameters)
                if settling.is_lost:
                    if row.dropper != parameters["write_id"]:
                        raise settling.unknown()
                    return (None,)
                check_fence(row.mark, request.fence)
                check_head(request.expect, row.head())
                if row.gone and await self._log_stays_absent(settling, parameters):
                    return None
            raise settling.hopeless()

    async def _log_stays_absent(self, settling: Settling, parameters: Mapping[str, Any]) -> bool:
        """Let the token of a write count as seen where there is no log, in one step; False where there is one now."""
        return parameters["fence"] is None or bool(await settling.send_twice(self._logs.seal_absent, parameters))

    async def drop(self, request: LogRequest) -> bool:
        """Delete a log: at once for everybody, then row by row; its grave keeps the mark, and the id of the drop."""
        row = await self._change("drop", self._logs.drop, self._log_parameters(request), request)
        if row is None:
            return False
        if row[0] is not None:
            with contextlib.suppress(HoldallError):  # it is done; what is left of the rows is for `sweep`
                await self._sweeping.remove(row[0])
        return True

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        """Create a log that begins at a position."""
        if first > MOST_POSITIONS:
            what = "log (positions)"
            raise TooLarge(what, MOST_POSITIONS, first)
        parameters = {
            "scope": scope.encode(),
            "key": key.encode(),
            "first": first,
            "count": len(payloads),
            "lines": b"\n".join(payloads).decode() if payloads else None,
            "write_id": write_id,
            "log": name_of_log(scope, key),
        }
        with Settling(self._server, "restore_log") as settling:
            for _ in range(ATTEMPTS):
                rows = await settling.send(self._logs.restore, parameters)
                row = _ABSENT if rows else await self._row(settling.look, parameters)
                if rows or row.incarnation == write_id:
                    return Head(first, first + len(payloads), write_id)
                if row.head() is not None:
                    if settling.is_lost:
                        raise settling.unknown()
                    message = "there is such a log: drop it before it is restored"
                    raise AlreadyExists(message)
            raise settling.hopeless()

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        """Raise the mark of a log."""
        parameters = {"scope": scope.encode(), "key": key.encode(), "fence": fence}
        with Settling(self._server, "seal") as settling:
            for _ in range(ATTEMPTS):
                rows = await settling.send_twice(self._logs.seal, parameters)
                if rows:
                    live, *head = rows[0]
                    return Head(*head) if live else None
                check_fence((await self._row(settling.look, parameters)).mark, fence)
            raise settling.hopeless()


def _condition(request: LogRequest) -> str:
    """Return what a log must fulfil to be changed, as SQL."""
    conditions = ["l.mark <= %(fence)s"] if request.fence is not None else []
    if request.expect is ABSENT or request.expect == 0:
        conditions.append("false")
    elif isinstance(request.expect, Head):
        conditions += ["l.first = %(first)s", "l.length = %(length)s", "l.incarnation = %(incarnation)s"]
    elif isinstance(request.expect, int):
        conditions.append("l.length = %(length)s")
    return "".join(f" AND {condition}" for condition in conditions)


def _expected(expect: ExpectHead) -> dict[str, Any]:
    if isinstance(expect, Head):
        incarnation = expect.incarnation if expect.incarnation.isalnum() else ""
        first, length = (min(number, MOST_POSITIONS) for number in (expect.first, expect.length))
        return {"first": first, "length": length, "incarnation": incarnation}
    wanted = min(expect, MOST_POSITIONS) if isinstance(expect, int) else None
    return {"first": None, "length": wanted, "incarnation": None}


def _hashed(batch_id: str | None) -> bytes | None:
    return None if batch_id is None else hashlib.sha256(batch_id.encode()).digest()


def appended_by(row: Row, count: int) -> Appended:
    """Return what an append came to.

    Args:
        row: what its statement returned.
        count: how many entries it added.

    """
    first, length, incarnation, _ = row
    return Appended(length - count, count, Head(first, length, incarnation))
