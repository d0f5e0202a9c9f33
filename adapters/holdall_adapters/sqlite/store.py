"""The native store of the SQLite adapter: records and logs, and what concerns both."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdall.rules import check_head, concerning
from holdall.spi import AppendRequest, CheckLogRequest, CheckRequest, DeleteRequest, PutRequest, WriteRequest
from holdall_adapters.sqlite.logs import SqliteLogs
from holdall_adapters.sqlite.records import SqliteRecords

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.sqlite.lock import SqliteLock
    from holdall_adapters.sqlite.port import Database, Transaction

__all__ = ["SqliteStore"]

_PRAGMAS = ("journal_mode", "synchronous", "page_count", "page_size", "user_version")
_SYNCHRONOUS = {0: "off", 1: "normal", 2: "full", 3: "extra"}


class SqliteStore(SqliteRecords, SqliteLogs):
    """A `StoreDriver` on one database file."""

    def __init__(self, database: Database, environment: Environment, lock: SqliteLock) -> None:
        SqliteRecords.__init__(self, database)
        SqliteLogs.__init__(self, database, environment)
        self._lock = lock

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        """Apply all or none, in one transaction."""
        with self._database.transaction() as transaction:
            return [self._apply(transaction, request) for request in requests]

    def _apply(self, transaction: Transaction, request: WriteRequest) -> Any:
        with concerning(request):
            match request:
                case PutRequest():
                    return self.put_in(transaction, request)
                case DeleteRequest():
                    return self.delete_in(transaction, request)
                case AppendRequest():
                    return self.append_in(transaction, request)
                case CheckLogRequest():
                    head = self.head_in(transaction, request.scope, request.key)
                    check_head(request.expect, head)
                    return head
                case CheckRequest():
                    return self.check_in(transaction, request.scope, request.key, request.expect)

    async def sweep(self) -> int:
        """Remove what has expired, and what crashes left of logs."""
        return self.sweep_records() + self._lock.sweep_flags() + self.sweep_logs()

    async def describe(self) -> Mapping[str, str]:
        """Reach the database and say what it is."""
        values = {pragma: self._database.rows(f"PRAGMA {pragma}", ())[0][0] for pragma in _PRAGMAS}
        schema = self._database.rows("SELECT value FROM holdall_meta WHERE name = 'schema'", ())[0][0]
        return {
            "storage": f"SQLite {sqlite3.sqlite_version}",
            "file": str(self._database.path),
            "bytes": str(values["page_count"] * values["page_size"]),
            "journal": values["journal_mode"].decode(),
            "synchronous": _SYNCHRONOUS.get(values["synchronous"], "unknown"),
            "schema": str(schema),
        }
