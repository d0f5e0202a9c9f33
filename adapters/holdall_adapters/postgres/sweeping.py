"""What nobody can see any more is removed: at once for everybody who reads, row by row here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdall.rules import KEPT_BATCHES
from holdall_adapters.postgres.settling import send_twice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdall_adapters.postgres.server import Server
    from holdall_adapters.postgres.tables import Tables

__all__ = ["Sweeping"]

_ROWS = 1_000
_FORGOTTEN_ROWS = 10_000


def _some(table: str, condition: str) -> str:
    """Return the places of some rows that nobody else has locked."""
    return f"ctid = ANY(ARRAY(SELECT ctid FROM {table} WHERE {condition} LIMIT %(rows)s FOR UPDATE SKIP LOCKED))"


class _Statements:
    """What belongs together is looked up row by row (LIMIT in a subquery), never joined.

    A table that was empty when it was analyzed looks as if joining it in any way cost nothing.
    """

    def __init__(self, tables: Tables) -> None:
        records, logs, entries, batches = tables.records, tables.logs, tables.entries, tables.batches
        old = "gone <= clock_timestamp() - interval '1 hour'"
        dead = "expires <= clock_timestamp() AND mark"
        self.expired = (
            f"DELETE FROM {records} WHERE {_some(records, f'{dead} = 0')} RETURNING 1",
            f"""UPDATE {records} SET payload = NULL, expires = NULL, gone = clock_timestamp()
                WHERE {_some(records, f"{dead} > 0")} RETURNING 1""",
        )
        self.graves = tuple(
            f"DELETE FROM {table} WHERE {_some(table, f'{old} AND mark = 0')} RETURNING 1" for table in (records, logs)
        )
        self.forget_entries = f"""DELETE FROM {entries} WHERE id = %(id)s AND position >= %(from)s
            AND position < %(until)s RETURNING 1"""
        self.forget_batches = f"""DELETE FROM {batches} WHERE id = %(id)s AND start + count <= %(first)s
            AND ordinal <= %(ordinal)s RETURNING 1"""
        self.remove = tuple(
            f"DELETE FROM {table} WHERE {_some(table, 'id = %(id)s')} RETURNING 1" for table in (entries, batches)
        )
        self.orphans = tuple(
            f"""WITH RECURSIVE o (id) AS ((SELECT id FROM {table} ORDER BY id LIMIT 1) UNION ALL SELECT
                    (SELECT t.id FROM {table} t WHERE t.id > o.id ORDER BY t.id LIMIT 1) FROM o WHERE o.id IS NOT NULL)
                SELECT id FROM o WHERE id IS NOT NULL
                    AND (SELECT l.id FROM {logs} l WHERE l.id = o.id AND l.gone IS NULL LIMIT 1) IS NULL"""
            for table in (entries, batches)
        )
        self.remembered = f"""DELETE FROM {batches} WHERE ctid = ANY(ARRAY(SELECT forgotten.ctid FROM {logs} l
                CROSS JOIN LATERAL (SELECT b.ctid FROM {batches} b WHERE b.id = l.id
                    AND b.ordinal <= l.batches - {KEPT_BATCHES} AND b.start + b.count <= l.first
                    ORDER BY b.ordinal LIMIT %(rows)s) forgotten
            WHERE l.gone IS NULL AND l.first > 0 LIMIT %(rows)s)) RETURNING 1"""
        below = "id = %(id)s AND position < %(first)s"
        self.below = f"DELETE FROM {entries} WHERE {_some(entries, below)} RETURNING 1"
        self.truncated = f"""SELECT l.id, l.first FROM {logs} l WHERE l.gone IS NULL AND l.first > 0
            AND (SELECT e.position FROM {entries} e WHERE e.id = l.id AND e.position < l.first
                ORDER BY e.position LIMIT 1) IS NOT NULL"""


class Sweeping:
    """Removes rows that nothing leads to.

    Args:
        server: the server.
        tables: the names of the tables.

    """

    def __init__(self, server: Server, tables: Tables) -> None:
        self._server = server
        self._statements = _Statements(tables)

    async def sweep_records(self) -> int:
        """Remove what has expired, and graves that are older than any lost reply; return how many had expired."""
        count = 0
        for statement in self._statements.expired:
            count += await self._repeat(statement, _ROWS)
        for statement in self._statements.graves:
            await self._repeat(statement, _ROWS)
        return count

    async def sweep_logs(self) -> int:
        """Remove rows that a crash between the steps of a truncate or drop left; return how many."""
        count = 0
        for statement in self._statements.orphans:
            for (log,) in await self._server.run_read(statement, {}):
                count += await self.remove(log)
        for log, first in await self._server.run_read(self._statements.truncated, {}):
            count += await self._repeat(self._statements.below, _FORGOTTEN_ROWS, id=log, first=first)
        await self._repeat(self._statements.remembered, _ROWS)
        return count

    async def remove(self, log: int) -> int:
        """Remove entries and batch ids of a log that was dropped; return how many.

        Args:
            log: its id.

        """
        count = 0
        for statement in self._statements.remove:
            count += await self._repeat(statement, _FORGOTTEN_ROWS, id=log)
        return count

    async def forget(self, log: int, was: int, first: int, batches: int) -> None:
        """Remove entries of a log that was truncated, and the ids of batches that need not be remembered.

        Args:
            log: its id.
            was: the first position it kept before.
            first: the first position it keeps now.
            batches: how many batches it has had.

        """
        for position in range(was, first, _FORGOTTEN_ROWS):
            span = {"id": log, "from": position, "until": min(position + _FORGOTTEN_ROWS, first)}
            await self._run(self._statements.forget_entries, span)
        if first > was:
            parameters = {"id": log, "first": first, "ordinal": batches - KEPT_BATCHES}
            await self._run(self._statements.forget_batches, parameters)

    async def _repeat(self, statement: str, rows: int, **parameters: Any) -> int:
        """Run a statement for some rows at a time until it finds no more."""
        count, gone = 0, rows
        while gone == rows:
            gone = await self._run(statement, {**parameters, "rows": rows})
            count += gone
        return count

    async def _run(self, statement: str, parameters: Mapping[str, Any]) -> int:
        return len(await send_twice(self._server, "sweep", statement, parameters))
