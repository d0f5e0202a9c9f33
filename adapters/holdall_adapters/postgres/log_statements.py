"""The statements on logs. The row of a log is its head; entries and batch ids hang on its id, new with every life.

All entries of a batch go in as one text, a line each: the codec never emits a raw line feed.
"""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING

from holdall.keys import encode_text

if TYPE_CHECKING:
    from holdall_adapters.postgres.tables import Tables

__all__ = ["HEAD", "MOST_POSITIONS", "WHERE", "LogStatements", "name_of_log"]

MOST_POSITIONS = 2**62

_LINES = "unnest(string_to_array(%(lines)s::text, E'\\n')) WITH ORDINALITY AS t (line, number)"
HEAD = "l.first, l.length, l.incarnation"
WHERE = "l.scope = %(scope)s AND l.key = %(key)s"


def name_of_log(scope: str, key: str) -> bytes:
    """Return a short name of a log, for those who follow it.

    Args:
        scope: its scope.
        key: its key.

    """
    return hashlib.sha256(encode_text(scope) + key.encode()).digest()[:16]


class LogStatements:
    """The statements on the logs of one set of tables."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.append = functools.cache(self._append)
        logs, entries, batches = tables.logs, tables.entries, tables.batches
        live = f"{WHERE} AND l.gone IS NULL"
        self.look = f"""SELECT l.id, l.first, l.length, l.incarnation, l.mark, l.gone IS NOT NULL, l.write_id, l.dropper
            FROM {logs} l WHERE {WHERE}"""
        self.lock, self.share = f"{self.look} FOR UPDATE", f"{self.look} FOR SHARE"
        self.bury = f"""INSERT INTO {logs} (scope, key, first, length, gone)
            VALUES (%(scope)s, %(key)s, 0, 0, clock_timestamp()) ON CONFLICT DO NOTHING"""
        self.batch = f"""SELECT start, count, digest, first_then FROM {batches}
            WHERE id = %(id)s AND batch_id = %(batch_id)s"""
        self.written = f"""SELECT position FROM {entries} WHERE id = %(id)s AND write_id = %(write_id)s
            AND position >= %(least)s ORDER BY position LIMIT 1"""
        before = f"SELECT id, first FROM {logs} l WHERE {live}{{}} FOR UPDATE"
        self.truncate = f"""WITH was AS ({before}) UPDATE {logs} l SET
                first = least(greatest(l.first, %(before)s), l.length), mark = greatest(l.mark, %(fence)s)
            FROM was WHERE {WHERE} RETURNING l.id, was.first, l.first, l.batches"""
        self.drop = f"""WITH was AS ({before}) UPDATE {logs} l SET
                id = nextval(pg_get_serial_sequence('{logs}', 'id')), first = 0, length = 0, batches = 0,
                gone = clock_timestamp(), dropper = %(write_id)s, mark = greatest(l.mark, %(fence)s)
            FROM was WHERE {WHERE} RETURNING was.id"""
        seal = f"""INSERT INTO {logs} AS l (scope, key, first, length, mark, gone)
            VALUES (%(scope)s, %(key)s, 0, 0, %(fence)s, clock_timestamp())
            ON CONFLICT (scope, key) DO UPDATE SET mark = %(fence)s WHERE l.mark <= %(fence)s"""
        self.seal = f"{seal} RETURNING l.gone IS NULL, {HEAD}"
        self.seal_absent = f"{seal} AND l.gone IS NOT NULL RETURNING 1"

    def _append(self, kind: str, *, fenced: bool, batch: bool) -> str:
        """Return the statement of an append.

        Args:
            kind: "any", "absent", "length" or "head".
            fenced: whether there is a fence.
            batch: whether there is a batch id.

        """
        allowed = ["l.mark <= %(fence)s"] if fenced else []
        head = (
            self._grow(kind, allowed, fenced=fenced)
            if kind in {"length", "head"}
            else self._begin(kind, allowed, fenced=fenced)
        )
        return self._with_entries(head, "head.length - %(count)s", batch=batch)

    def _begin(self, kind: str, allowed: list[str], *, fenced: bool) -> str:
        mark = "mark = greatest(l.mark, %(fence)s)," if fenced else ""
        if kind == "absent":
            allowed = [*allowed, "l.gone IS NOT NULL", "l.write_id IS DISTINCT FROM %(write_id)s"]
        condition = f"WHERE {' AND '.join(allowed)}" if allowed else ""
        return f"""INSERT INTO {self._tables.logs} AS l
                (scope, key, incarnation, first, length, batches, mark, write_id)
            VALUES (%(scope)s, %(key)s, %(write_id)s, 0, %(count)s, 1, {"%(fence)s" if fenced else "0"}, %(write_id)s)
            ON CONFLICT (scope, key) DO UPDATE SET length = l.length + %(count)s, batches = l.batches + 1, {mark}
                incarnation = CASE WHEN l.gone IS NULL THEN l.incarnation ELSE %(write_id)s END,
                write_id = %(write_id)s, gone = NULL
            {condition} RETURNING l.id, {HEAD}, l.batches"""

    def _grow(self, kind: str, allowed: list[str], *, fenced: bool) -> str:
        conditions = [WHERE, "l.gone IS NULL", "l.length = %(length)s", *allowed]
        if kind == "head":
            conditions += ["l.first = %(first)s", "l.incarnation = %(incarnation)s"]
        mark = ", mark = greatest(l.mark, %(fence)s)" if fenced else ""
        return f"""UPDATE {self._tables.logs} l SET length = l.length + %(count)s, batches = l.batches + 1,
                write_id = %(write_id)s{mark}
            WHERE {" AND ".join(conditions)} RETURNING l.id, {HEAD}, l.batches"""

    def _with_entries(self, head: str, start: str, *, batch: bool) -> str:
        """Return a statement that changes the head, and adds entries where it did."""
        remember = f""", remembered AS (INSERT INTO {self._tables.batches}
                (id, batch_id, start, count, first_then, ordinal, digest)
            SELECT head.id, %(batch_id)s, {start}, %(count)s, head.first, head.batches, %(digest)s FROM head)"""
        return f"""WITH head AS ({head}), added AS (INSERT INTO {self._tables.entries} (id, position, payload, write_id)
            SELECT head.id, {start} + t.number - 1, t.line, CASE WHEN t.number = 1 THEN %(write_id)s END
            FROM head, {_LINES}){remember if batch else ""}
            SELECT first, length, incarnation, CASE WHEN EXISTS (SELECT FROM {self._tables.followers}
                WHERE log = %(log)s AND until > clock_timestamp())
                THEN pg_notify('{self._tables.channel}' || encode(%(log)s, 'hex'), '') END FROM head"""

    @functools.cached_property
    def restore(self) -> str:
        """The statement that creates a log at a position."""
        head = f"""INSERT INTO {self._tables.logs} AS l
                (scope, key, incarnation, first, length, batches, write_id)
            VALUES (%(scope)s, %(key)s, %(write_id)s, %(first)s, %(first)s + %(count)s, 1, %(write_id)s)
            ON CONFLICT (scope, key) DO UPDATE SET first = %(first)s, length = %(first)s + %(count)s, batches = 1,
                incarnation = %(write_id)s, write_id = %(write_id)s, gone = NULL
            WHERE l.gone IS NOT NULL AND l.write_id IS DISTINCT FROM %(write_id)s
            RETURNING l.id, {HEAD}, l.batches"""
        return self._with_entries(head, "%(first)s", batch=False)
