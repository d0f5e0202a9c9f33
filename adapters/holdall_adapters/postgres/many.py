"""Many records in one statement each, in the order of their keys, so that two of them do not wait for each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdall_adapters.postgres.pages import stored
from holdall_adapters.postgres.record_statements import COLUMNS, DEAD, EXPIRES, LIVE
from holdall_adapters.postgres.settling import Settling

if TYPE_CHECKING:
    from holdall.spi import Environment, PutRequest, StoredRecord
    from holdall_adapters.postgres.server import Server
    from holdall_adapters.postgres.tables import Tables

__all__ = ["PostgresManyRecords"]

_MOST_ROWS = 10_000


class _Statements:
    def __init__(self, tables: Tables) -> None:
        table, live, where = tables.records, LIVE.format("r"), "r.scope = %(scope)s AND r.key = ANY(%(keys)s)"
        self.get = f"SELECT {COLUMNS} FROM {table} r WHERE {where} AND {live}"
        self.put = f"""INSERT INTO {table} AS r (scope, key, payload, version, expires)
            SELECT %(scope)s, t.key, t.payload, t.version, {{}} FROM
                unnest(%(keys)s::bytea[], %(payloads)s::text[], %(versions)s::text[]) AS t (key, payload, version)
            ON CONFLICT (scope, key) DO UPDATE SET payload = excluded.payload, prev = r.version,
                version = excluded.version, expires = {{}}, gone = NULL RETURNING 1"""
        self.delete = f"""WITH doomed AS (SELECT key FROM {table} r WHERE {where} AND {live} ORDER BY r.key FOR UPDATE)
            UPDATE {table} r SET {DEAD} FROM doomed WHERE {where} AND r.key = doomed.key RETURNING 1"""
        self.count = f"""SELECT count(*) FROM {table} r
            WHERE {where} AND (r.version = ANY(%(versions)s) OR r.prev = ANY(%(versions)s))"""


class PostgresManyRecords:
    """The operations on many records at once."""

    def __init__(self, server: Server, tables: Tables, environment: Environment) -> None:
        self._server = server
        self._environment = environment
        self._many = _Statements(tables)

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        """Return live records in the order asked."""
        found: dict[str, StoredRecord] = {}
        for start in range(0, len(keys), _MOST_ROWS):
            some = [key.encode() for key in keys[start : start + _MOST_ROWS]]
            parameters = {"scope": scope.encode(), "keys": some}
            for row in await self._server.run_read(self._many.get, parameters):
                record = stored(row)
                found[record.key] = record
        return [found.get(key) for key in keys]

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        """Write records, all or none."""
        ordered = sorted(requests, key=lambda request: request.key)
        expiry = "NULL" if requests[0].ttl is None else EXPIRES
        parameters = {
            "scope": requests[0].scope.encode(),
            "keys": [request.key.encode() for request in ordered],
            "payloads": [request.payload.decode() for request in ordered],
            "versions": [request.version for request in ordered],
            "ttl": requests[0].ttl,
        }
        with Settling(self._server, "put_many") as settling:
            if not await settling.send(self._many.put.format(expiry, expiry), parameters):
                await self._count_written(settling, parameters)

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        """Delete records, all or none; return how many there were."""
        write_id = self._environment.new_id()
        parameters: dict[str, Any] = {
            "scope": scope.encode(),
            "keys": [key.encode() for key in keys],
            "write_id": write_id,
            "versions": [write_id],
        }
        with Settling(self._server, "delete_many") as settling:
            rows = await settling.send(self._many.delete, parameters)
            return len(rows) if rows or not settling.is_lost else await self._count_written(settling, parameters)

    async def _count_written(self, settling: Settling, parameters: Mapping[str, Any]) -> int:
        """Return how many records a write of many left, all of them or none, whose reply was lost.

        Raises:
            OutcomeUnknown: there is none: it may still be on its way, or others wrote since.

        """
        rows = await settling.look(self._many.count, parameters)
        if not rows[0][0]:
            raise settling.unknown()
        return int(rows[0][0])
