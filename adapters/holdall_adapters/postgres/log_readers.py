"""Reading logs: one statement each, so that head and entries are of the same moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdall.errors import Corrupt
from holdall.rules import check_start
from holdall.spi import StoredEntries
from holdall.values import Head
from holdall_adapters.postgres.log_statements import HEAD, MOST_POSITIONS, WHERE

if TYPE_CHECKING:
    from holdall_adapters.postgres.server import Row, Server
    from holdall_adapters.postgres.tables import Tables

__all__ = ["PostgresLogReaders"]


class _Statements:
    def __init__(self, tables: Tables) -> None:
        logs, entries, live = tables.logs, tables.entries, f"{WHERE} AND l.gone IS NULL"
        self.head = f"SELECT {HEAD} FROM {logs} l WHERE {live}"
        joined = f"""SELECT {HEAD}, e.count, e.start, e.lines FROM {logs} l LEFT JOIN LATERAL (
                SELECT count(*) AS count, min(position) AS start,
                    string_agg(payload, E'\\n' ORDER BY position) AS lines FROM ({{}}) chosen) e ON true
            WHERE {live}"""
        self.read = joined.format(
            f"""SELECT position, payload FROM (SELECT position, payload,
                    sum(octet_length(payload)) OVER (ORDER BY position) - octet_length(payload) AS before
                FROM {entries} WHERE id = l.id AND position >= greatest(%(start)s, l.first)
                ORDER BY position LIMIT %(limit)s) sized WHERE before < %(bytes)s"""
        )
        self.tail = joined.format(
            f"""SELECT position, payload FROM {entries} WHERE id = l.id AND position >= l.first
                ORDER BY position DESC LIMIT %(limit)s"""
        )


class PostgresLogReaders:
    """The operations that read logs."""

    def __init__(self, server: Server, tables: Tables) -> None:
        self._server = server
        self._reading = _Statements(tables)

    async def head(self, scope: str, key: str) -> Head | None:
        """Return the head of a log."""
        parameters = {"scope": scope.encode(), "key": key.encode()}
        rows = await self._server.run_read(self._reading.head, parameters)
        return Head(*rows[0]) if rows else None

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        """Return entries from a position on, with the head of the same moment."""
        parameters = {
            "scope": scope.encode(),
            "key": key.encode(),
            "start": min(start, MOST_POSITIONS),
            "limit": None if limit is None else min(limit, MOST_POSITIONS),
            "bytes": MOST_POSITIONS if max_bytes is None else max(1, max_bytes),
        }
        rows = await self._server.run_read(self._reading.read, parameters)
        if not rows:
            return StoredEntries(None, start, [])
        head = Head(*rows[0][:3])
        check_start(start, head)
        wanted = head.length - start if limit is None else min(limit, head.length - start)
        _check_whole(rows[0], start, wanted, cut=max_bytes is not None)
        return _entries(rows[0], start)

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        """Return the last entries, with the head of the same moment."""
        parameters = {"scope": scope.encode(), "key": key.encode(), "limit": min(count, MOST_POSITIONS)}
        rows = await self._server.run_read(self._reading.tail, parameters)
        if not rows:
            return StoredEntries(None, 0, [])
        head = Head(*rows[0][:3])
        wanted = min(count, head.length - head.first)
        _check_whole(rows[0], head.length - wanted, wanted, cut=False)
        return _entries(rows[0], head.length - wanted)


def _entries(row: Row, start: int) -> StoredEntries:
    *head, count, _, lines = row
    return StoredEntries(Head(*head), start, lines.encode().split(b"\n") if count else [])


def _check_whole(row: Row, start: int, wanted: int, *, cut: bool) -> None:
    """Refuse entries that begin elsewhere, or are fewer than the head says; `cut` says that fewer may be right."""
    count, found = row[3], row[4]
    if wanted <= 0:
        return
    if found != start or (count < wanted and not cut):
        position = start + count if found == start else start
        message = f"entries of the log are missing at position {position}: restore the database from a backup"
        raise Corrupt(message)
