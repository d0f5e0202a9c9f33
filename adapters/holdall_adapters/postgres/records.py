"""Records in Postgres: one statement for what goes well; why something did not is found out by a second one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from holdall.errors import Conflict, Fenced
from holdall.rules import check_fence, check_version
from holdall.spi import ABSENT, ANY, DeleteRequest, PutRequest, StoredRecord
from holdall_adapters.lost_replies import ATTEMPTS
from holdall_adapters.postgres.pages import stored
from holdall_adapters.postgres.record_statements import EXPIRES, RecordStatements
from holdall_adapters.postgres.settling import Settling

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall.values import Expect
    from holdall_adapters.postgres.connections.connecting import Statement
    from holdall_adapters.postgres.server import Row, Server
    from holdall_adapters.postgres.tables import Tables

__all__ = ["Found", "PostgresRecords", "Run"]

Run = Callable[[str, Mapping[str, Any]], Awaitable["list[Row]"]]
"""Runs a statement, by itself or in a transaction."""


class Found(NamedTuple):
    """What is under a key, dead or alive."""

    live: str | None
    version: str | None
    prev: str | None
    mark: int


_ABSENT = Found(None, None, None, 0)


def _comparable(expect: str) -> str:
    """Return a version as the server can compare it: no text can hold U+0000, and no version has it."""
    return expect if expect.isascii() and expect.isalnum() else ""


class PostgresRecords:
    """The operations on one record each."""

    def __init__(self, server: Server, tables: Tables, environment: Environment) -> None:
        self._server = server
        self._environment = environment
        self._records = RecordStatements(tables)

    async def get(self, scope: str, key: str) -> StoredRecord | None:
        """Return a live record."""
        parameters = {"scope": scope.encode(), "key": key.encode()}
        rows = await self._server.run_read(self._records.get, parameters)
        return stored(rows[0]) if rows else None

    async def put(self, request: PutRequest) -> None:
        """Write a record: one statement if nothing speaks against it."""
        statement, parameters = self.put_statement(request)
        with Settling(self._server, "put") as settling:
            for _ in range(ATTEMPTS):
                if await settling.send(statement, parameters):
                    return
                if await self._settled(settling, parameters, request.expect) is None:
                    return
            raise settling.hopeless()

    def put_statement(self, request: PutRequest) -> tuple[str, dict[str, Any]]:
        """Return the statement of a put, and its parameters."""
        expect = request.expect
        kind = "any" if expect is ANY else "absent" if expect is ABSENT else "version"
        statement = self._records.put(kind, expires=request.ttl is not None, fenced=request.fence is not None)
        parameters: dict[str, Any] = {
            "scope": request.scope.encode(),
            "key": request.key.encode(),
            "payload": request.payload.decode(),
            "write_id": request.version,
            "ttl": request.ttl,
            "fence": request.fence,
            "expect": _comparable(expect) if isinstance(expect, str) else None,
        }
        return statement, parameters

    async def _settled(self, settling: Settling, parameters: Mapping[str, Any], expect: Expect) -> Found | None:
        """Find out why a write did nothing now; None if it was applied, and its reply was lost.

        A write with ANY is not sent again once its reply was lost: it might undo what others wrote since.

        Returns:
            What is there, if nothing speaks against the write any more.

        """
        found = await self._look_at(settling.look, parameters)
        if parameters["write_id"] in (found.version, found.prev):
            return None
        if settling.is_lost and not isinstance(expect, str):
            raise settling.unknown()
        self._judge(found, parameters["fence"], expect, settling)
        return found

    async def _look_at(self, run: Run, parameters: Mapping[str, Any]) -> Found:
        rows = await run(self._records.look, parameters)
        return Found(*rows[0]) if rows else _ABSENT

    def _judge(self, found: Found, fence: int | None, expect: Expect, settling: Settling) -> None:
        try:
            check_fence(found.mark, fence)
            check_version(expect, found.live)
        except (Fenced, Conflict) as error:
            if settling.is_lost and (isinstance(error, Fenced) or found.prev != expect):
                raise settling.unknown() from error
            raise

    async def put_in(self, run: Run, request: PutRequest, statement: Statement) -> None:
        """Write a record in a transaction, or say why not."""
        if not await run(*statement):
            await self._refuse_in(run, statement[1], request.expect)

    async def _refuse_in(self, run: Run, parameters: Mapping[str, Any], expect: Expect) -> None:
        found = await self._look_at(run, parameters)
        check_fence(found.mark, parameters["fence"])
        check_version(expect, found.live)

    def share_statement(self, scope: str, key: str) -> Statement:
        """Return the statement that looks at a record and keeps others from changing it, and its parameters."""
        return self._records.share, {"scope": scope.encode(), "key": key.encode()}

    async def check_in(self, run: Run, scope: str, key: str, expect: Expect) -> str | None:
        """Check a record in a transaction, keep others from changing it until the end, and return its version."""
        found = await self._locked_record(run, *self.share_statement(scope, key))
        check_version(expect, found.live)
        return found.live

    async def _locked_record(self, run: Run, statement: str, parameters: Mapping[str, Any]) -> Found:
        """Return what is under a key, made a grave if need be, that nobody else changes until the transaction ends."""
        rows = await run(statement, parameters)
        if not rows:  # what is not there cannot be locked
            await run(self._records.bury, parameters)
            rows = await run(statement, parameters)
        return Found(*rows[0])

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        """Set a new expiry."""
        statement = self._records.touch.format("NULL" if ttl is None else EXPIRES)
        parameters = {"scope": scope.encode(), "key": key.encode(), "ttl": ttl, "fence": fence}
        with Settling(self._server, "touch") as settling:
            for _ in range(ATTEMPTS):
                if await settling.send_twice(statement, parameters):
                    return True
                if await self._stays_absent(settling.send_twice, parameters):
                    return False
                check_fence((await self._look_at(settling.look, parameters)).mark, fence)
            raise settling.hopeless()

    async def _stays_absent(self, run: Run, parameters: Mapping[str, Any]) -> bool:
        """Let the token of a write count as seen where the write finds nothing; False where there is something now.

        In one step: else a write with an older token could come in between, and both would be told that all is well.
        """
        return parameters["fence"] is None or bool(await run(self._records.seal_absent, parameters))

    async def delete(self, request: DeleteRequest) -> bool:
        """Delete a record; its grave keeps the mark, and the id of the write."""
        statement, parameters = self.delete_statement(request)
        with Settling(self._server, "delete") as settling:
            for _ in range(ATTEMPTS):
                if request.expect is not ABSENT and await settling.send(statement, parameters):
                    return True
                found = await self._settled(settling, parameters, request.expect)
                if found is None:
                    return True
                if found.live is None and await self._stays_absent(settling.send_twice, parameters):
                    return False
            raise settling.hopeless()

    def delete_statement(self, request: DeleteRequest) -> tuple[str, dict[str, Any]]:
        """Return the statement of a delete, with an id of its own, and its parameters."""
        expect = request.expect
        statement = self._records.delete(version=isinstance(expect, str), fenced=request.fence is not None)
        parameters: dict[str, Any] = {
            "scope": request.scope.encode(),
            "key": request.key.encode(),
            "write_id": self._environment.new_id(),
            "fence": request.fence,
            "expect": _comparable(expect) if isinstance(expect, str) else None,
        }
        return statement, parameters

    async def delete_in(self, run: Run, request: DeleteRequest, statement: Statement) -> bool:
        """Delete a record in a transaction, or say why not."""
        await self._locked_record(run, self._records.lock, statement[1])
        if request.expect is not ABSENT and await run(*statement):
            return True
        await self._refuse_in(run, statement[1], request.expect)
        await self._stays_absent(run, statement[1])
        return False

    async def has_written(self, run: Run, statement: Statement) -> bool:
        """Tell whether a put or delete is the last write of its record, or the last but one."""
        found = await self._look_at(run, statement[1])
        return statement[1]["write_id"] in (found.version, found.prev)

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        """Raise the mark of a record."""
        parameters = {"scope": scope.encode(), "key": key.encode(), "fence": fence}
        with Settling(self._server, "seal") as settling:
            for _ in range(ATTEMPTS):
                rows = await settling.send_twice(self._records.seal, parameters)
                if rows:
                    version: str | None = rows[0][0]
                    return version
                check_fence((await self._look_at(settling.look, parameters)).mark, fence)
            raise settling.hopeless()
