"""The statements on records. What decides stands in the WHERE of an UPDATE, on the row that it locks.

A row whose payload is null is a grave: it keeps the mark, and the ids of the writes that led to it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdall_adapters.postgres.tables import Tables

__all__ = ["COLUMNS", "DEAD", "EXPIRES", "LIVE", "RecordStatements"]

LIVE = "{0}.payload IS NOT NULL AND ({0}.expires IS NULL OR {0}.expires > clock_timestamp())"
COLUMNS = "r.key, r.payload, r.version, extract(epoch FROM r.expires - clock_timestamp())::float8"
EXPIRES = "clock_timestamp() + make_interval(secs => least(%(ttl)s::float8, 1e11))"
DEAD = "payload = NULL, expires = NULL, gone = clock_timestamp(), prev = r.version, version = %(write_id)s"


class RecordStatements:
    """The statements on the records of one set of tables."""

    def __init__(self, tables: Tables) -> None:
        self._table = table = tables.records
        self.put, self.delete = functools.cache(self._put), functools.cache(self._delete)
        live = LIVE.format("r")
        where = "r.scope = %(scope)s AND r.key = %(key)s"
        self.get = f"SELECT {COLUMNS} FROM {table} r WHERE {where} AND {live}"
        self.look = (
            f"SELECT CASE WHEN {live} THEN r.version END, r.version, r.prev, r.mark FROM {table} r WHERE {where}"
        )
        self.lock, self.share = f"{self.look} FOR UPDATE", f"{self.look} FOR SHARE"
        self.bury = f"""INSERT INTO {table} (scope, key, gone)
            VALUES (%(scope)s, %(key)s, clock_timestamp()) ON CONFLICT DO NOTHING"""
        self.touch = f"""UPDATE {table} r SET mark = greatest(r.mark, %(fence)s), expires = {{}}
            WHERE {where} AND {live} AND r.mark <= coalesce(%(fence)s, r.mark) RETURNING 1"""
        seal = f"""INSERT INTO {table} AS r (scope, key, mark, gone)
            VALUES (%(scope)s, %(key)s, %(fence)s, clock_timestamp())
            ON CONFLICT (scope, key) DO UPDATE SET mark = %(fence)s WHERE r.mark <= %(fence)s"""
        self.seal = f"{seal} RETURNING CASE WHEN {live} THEN r.version END"
        self.seal_absent = f"{seal} AND NOT ({live}) RETURNING 1"

    def _put(self, kind: str, *, expires: bool, fenced: bool) -> str:
        """Return the statement of a put.

        Args:
            kind: "any", "absent" or "version".
            expires: whether there is a ttl.
            fenced: whether there is a fence.

        """
        expiry = EXPIRES if expires else "NULL"
        mark = "greatest(r.mark, %(fence)s)" if fenced else "r.mark"
        allowed = ["r.mark <= %(fence)s"] if fenced else []
        if kind == "version":
            where = ["r.scope = %(scope)s", "r.key = %(key)s", "r.version = %(expect)s", LIVE.format("r"), *allowed]
            return f"""UPDATE {self._table} r SET payload = %(payload)s, version = %(write_id)s, prev = r.version,
                expires = {expiry}, mark = {mark} WHERE {" AND ".join(where)} RETURNING 1"""
        if kind == "absent":
            allowed += [
                "(r.payload IS NULL OR r.expires <= clock_timestamp())",
                "r.version IS DISTINCT FROM %(write_id)s",
                "r.prev IS DISTINCT FROM %(write_id)s",
            ]
        condition = f" WHERE {' AND '.join(allowed)}" if allowed else ""
        return f"""INSERT INTO {self._table} AS r (scope, key, payload, version, expires, mark)
            VALUES (%(scope)s, %(key)s, %(payload)s, %(write_id)s, {expiry}, {"%(fence)s" if fenced else "0"})
            ON CONFLICT (scope, key) DO UPDATE SET payload = excluded.payload, version = excluded.version,
                prev = r.version, expires = {expiry}, mark = {mark}, gone = NULL{condition} RETURNING 1"""

    def _delete(self, *, version: bool, fenced: bool) -> str:
        """Return the statement of a delete.

        Args:
            version: whether a version is expected.
            fenced: whether there is a fence.

        """
        where = ["r.scope = %(scope)s", "r.key = %(key)s", LIVE.format("r")]
        where += ["r.version = %(expect)s"] if version else []
        where += ["r.mark <= %(fence)s"] if fenced else []
        mark = ", mark = greatest(r.mark, %(fence)s)" if fenced else ""
        return f"UPDATE {self._table} r SET {DEAD}{mark} WHERE {' AND '.join(where)} RETURNING 1"
