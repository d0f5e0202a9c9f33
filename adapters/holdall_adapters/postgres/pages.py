"""Pages of records, keys, logs and scopes: a range of an index each, in the order of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdall.keys import prefix_end
from holdall.spi import StoredPage, StoredRecord
from holdall_adapters.postgres.record_statements import COLUMNS, LIVE

if TYPE_CHECKING:
    from holdall_adapters.postgres.server import Row, Server
    from holdall_adapters.postgres.tables import Tables

__all__ = ["PostgresPages", "stored"]

_BEHIND_ALL_TEXT = b"\xff"
_MOST_ROWS = 10_000
_MOST_BYTES = 8 * 2**20


def _page_of_names(table: str, live: str) -> str:
    """Return the statement for a page of keys; `live` is the condition on the rows."""
    return f"""SELECT key FROM {table} WHERE scope = %(scope)s AND key >= %(least)s AND key > %(after)s
        AND key < %(end)s AND {live} ORDER BY key LIMIT %(limit)s"""


def _page_of_scopes(table: str, live: str) -> str:
    """Return the statement that leaps from scope to scope over the index."""
    first = f"""SELECT scope FROM {table} WHERE scope >= %(least)s AND scope > %(after)s AND scope < %(end)s
        AND {live} ORDER BY scope LIMIT 1"""
    following = f"""SELECT scope FROM {table} WHERE scope > found.scope AND scope < %(end)s
        AND {live} ORDER BY scope LIMIT 1"""
    return f"""WITH RECURSIVE found (scope) AS (
            SELECT ({first}) UNION ALL SELECT ({following}) FROM found WHERE found.scope IS NOT NULL)
        SELECT scope FROM found WHERE scope IS NOT NULL LIMIT %(limit)s"""


class _Statements:
    def __init__(self, tables: Tables) -> None:
        records, logs = tables.records, tables.logs
        rows = f"""SELECT {COLUMNS}, lead(r.key) OVER (ORDER BY r.key) IS NOT NULL AS more,
                sum(octet_length(r.payload)) OVER (ORDER BY r.key) - octet_length(r.payload) AS before
            FROM {records} r WHERE r.scope = %(scope)s AND r.key >= %(least)s AND r.key > %(after)s
                AND r.key < %(end)s AND r.gone IS NULL AND {LIVE.format("r")} ORDER BY r.key LIMIT %(limit)s"""
        self.scan = f"SELECT * FROM ({rows}) page WHERE before < %(bytes)s ORDER BY key"
        live = f"gone IS NULL AND {LIVE.format(records)}"
        self.keys, self.scopes = _page_of_names(records, live), _page_of_scopes(records, live)
        self.logs, self.log_scopes = _page_of_names(logs, "gone IS NULL"), _page_of_scopes(logs, "gone IS NULL")


class PostgresPages:
    """The listings of a store."""

    def __init__(self, server: Server, tables: Tables) -> None:
        self._server = server
        self._pages = _Statements(tables)

    async def scan(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[StoredRecord]:
        """Return a page of live records, up to a bound of bytes."""
        parameters = {"scope": scope.encode(), "bytes": _MOST_BYTES, **_bounds(prefix, after, limit)}
        rows = await self._server.run_read(self._pages.scan, parameters)
        rows = rows[: min(limit, _MOST_ROWS)]
        more = bool(rows) and rows[-1][4]
        return StoredPage([stored(row[:4]) for row in rows], rows[-1][0].decode() if more else None)

    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""
        return await self._names(self._pages.keys, scope, prefix, after, limit)

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes of records."""
        return await self._names(self._pages.scopes, "", prefix, after, limit)

    async def logs(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys of logs."""
        return await self._names(self._pages.logs, scope, prefix, after, limit)

    async def log_scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes of logs."""
        return await self._names(self._pages.log_scopes, "", prefix, after, limit)

    async def _names(self, statement: str, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        parameters = {"scope": scope.encode(), **_bounds(prefix, after, limit)}
        rows: Sequence[Row] = await self._server.run_read(statement, parameters)
        limit = min(limit, _MOST_ROWS)
        names = [row[0].decode() for row in rows]
        return StoredPage(names[:limit], names[limit - 1] if len(names) > limit else None)


def _bounds(prefix: str, after: str | None, limit: int) -> dict[str, Any]:
    """Return the parameters of a page; one row more than fits in tells that there are more."""
    least = prefix.encode()
    return {
        "least": least,
        "after": b"" if after is None else after.encode(),
        "end": prefix_end(least) or _BEHIND_ALL_TEXT,
        "limit": min(limit, _MOST_ROWS) + 1,
    }


def stored(row: Row) -> StoredRecord:
    """Return a record from a row.

    Args:
        row: its key, payload, version, and the seconds that are left.

    """
    key, payload, version, left = row
    return StoredRecord(key.decode(), payload.encode(), version, left)
