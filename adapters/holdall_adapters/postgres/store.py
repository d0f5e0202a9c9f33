"""The native store of the Postgres adapter: records and logs, and what concerns both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdall.rules import commit_single
from holdall_adapters.postgres.commits import Commits
from holdall_adapters.postgres.log_readers import PostgresLogReaders
from holdall_adapters.postgres.logs import PostgresLogs
from holdall_adapters.postgres.many import PostgresManyRecords
from holdall_adapters.postgres.pages import PostgresPages
from holdall_adapters.postgres.records import PostgresRecords
from holdall_adapters.postgres.schema import SCHEMA_VERSION
from holdall_adapters.postgres.sweeping import Sweeping

if TYPE_CHECKING:
    from holdall.spi import Environment, WriteRequest
    from holdall_adapters.postgres.lock import PostgresLock
    from holdall_adapters.postgres.server import Server
    from holdall_adapters.postgres.tables import Tables

__all__ = ["PostgresStore"]

_ABOUT = "SELECT version(), current_database(), current_setting('synchronous_commit')"


class PostgresStore(PostgresRecords, PostgresManyRecords, PostgresPages, PostgresLogReaders, PostgresLogs):
    """A `StoreDriver` on the tables of one database."""

    def __init__(self, server: Server, tables: Tables, environment: Environment, lock: PostgresLock) -> None:
        self._sweeping = Sweeping(server, tables)
        PostgresRecords.__init__(self, server, tables, environment)
        PostgresManyRecords.__init__(self, server, tables, environment)
        PostgresPages.__init__(self, server, tables)
        PostgresLogReaders.__init__(self, server, tables)
        PostgresLogs.__init__(self, server, tables, environment, self._sweeping)
        self._lock = lock
        self._tables = tables

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        """Apply all or none: one statement by itself, several in one transaction."""
        if len(requests) == 1:
            return await commit_single(self, requests)
        return await Commits(self._server, self, self).run(requests)

    async def sweep(self) -> int:
        """Remove what has expired, and what crashes left of logs."""
        records = await self._sweeping.sweep_records()
        return records + await self._lock.sweep_flags() + await self._sweeping.sweep_logs()

    async def describe(self) -> Mapping[str, str]:
        """Reach the server and say what it is."""
        rows = await self._server.run_read(_ABOUT, {})
        version, database, synchronous = rows[0]
        return {
            "storage": " ".join(version.split()[:2]),
            "database": database,
            "tables": f"{self._tables.schema}, prefix {self._tables.prefix}",
            "synchronous_commit": synchronous,
            "schema": str(SCHEMA_VERSION),
        }
