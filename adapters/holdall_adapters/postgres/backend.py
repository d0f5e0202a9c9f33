"""Postgres as a `Backend`: one table of keys and payloads, one statement a primitive, the server's clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdall.keys import prefix_end
from holdall.spi import ABSENT, ANY, BackendItem, Mismatch, Tag

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.postgres.port import Server

__all__ = ["PostgresBackend"]

_MOST_ROWS = 2**31 - 1

_GET = "SELECT key, payload, tag FROM holdall_items WHERE key = %s"
_PUT = """INSERT INTO holdall_items (key, payload, tag) VALUES (%s, %s, %s)
    ON CONFLICT (key) DO UPDATE SET payload = excluded.payload, tag = excluded.tag"""
_PUT_NEW = "INSERT INTO holdall_items (key, payload, tag) VALUES (%s, %s, %s) ON CONFLICT (key) DO NOTHING"
_REPLACE = "UPDATE holdall_items SET payload = %s, tag = %s WHERE key = %s AND tag = %s"
_DELETE = "DELETE FROM holdall_items WHERE key = %s"
_DELETE_TAGGED = "DELETE FROM holdall_items WHERE key = %s AND tag = %s"
_SCAN = "SELECT key, payload, tag FROM holdall_items WHERE key >= %s AND key > %s"
_NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"


class PostgresBackend:
    """A `Backend` over one table; tags are random."""

    def __init__(self, server: Server, environment: Environment) -> None:
        self._server = server
        self._environment = environment

    async def get(self, key: bytes) -> BackendItem | None:
        """Return what is under a key."""
        _, rows = self._server.run(_GET, (key,), writing=False)
        return BackendItem(*rows[0]) if rows else None

    async def put(self, key: bytes, payload: bytes, expect: Tag) -> Tag:
        """Write if the key is as expected."""
        tag = self._environment.new_id()
        if expect is ANY or expect is ABSENT:
            statement = _PUT if expect is ANY else _PUT_NEW
            count, _ = self._server.run(statement, (key, payload, tag), writing=True)
        else:
            count, _ = self._server.run(_REPLACE, (payload, tag, key, expect), writing=True)
        if count != 1:
            raise Mismatch
        return tag

    async def delete(self, key: bytes, expect: Tag) -> None:
        """Delete if the key is as expected."""
        if expect is ANY:
            self._server.run(_DELETE, (key,), writing=True)
            return
        count, _ = self._server.run(_DELETE_TAGGED, (key, expect), writing=True)
        if count != 1:
            raise Mismatch

    async def scan(self, prefix: bytes, after: bytes | None, limit: int) -> Sequence[BackendItem]:
        """Return items in order; bytea sorts as unsigned bytes."""
        parameters: list[Any] = [prefix, after or b""]
        end = prefix_end(prefix)
        bound = "" if end is None else " AND key < %s"
        parameters += [] if end is None else [end]
        _, rows = self._server.run(
            f"{_SCAN}{bound} ORDER BY key LIMIT %s", (*parameters, min(limit, _MOST_ROWS)), writing=False
        )
        return [BackendItem(*row) for row in rows]

    async def now(self) -> float:
        """Return the server's clock in seconds."""
        _, rows = self._server.run(_NOW, (), writing=False)
        return float(rows[0][0])

    async def close(self) -> None:
        """Close the connections."""
        self._server.close()
