"""Leases and flags in Postgres: one statement each, judged by the server's clock after the wait for the row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdall.spi import LeaseRequest
from holdall.values import Holder
from holdall_adapters.postgres.record_statements import EXPIRES
from holdall_adapters.postgres.settling import Settling, send_twice

if TYPE_CHECKING:
    from holdall_adapters.postgres.server import Server
    from holdall_adapters.postgres.tables import Tables

__all__ = ["PostgresLock"]


class _Statements:
    def __init__(self, tables: Tables) -> None:
        leases, flags = tables.leases, tables.flags
        mine = "key = %(key)s AND nonce = %(nonce)s AND token = %(token)s AND expires > clock_timestamp()"
        self.acquire = f"""INSERT INTO {leases} AS l (key, nonce, owner, token, expires)
            VALUES (%(key)s, %(nonce)s, %(owner)s, 1, {EXPIRES})
            ON CONFLICT (key) DO UPDATE SET nonce = %(nonce)s, owner = %(owner)s,
                token = greatest(l.token, l.floor) + 1, expires = {EXPIRES}
            WHERE l.nonce IS NULL OR l.expires <= clock_timestamp() RETURNING token"""
        self.mine = f"SELECT token FROM {leases} WHERE key = %(key)s AND nonce = %(nonce)s"
        self.free = f"SELECT 1 FROM {leases} WHERE key = %(key)s AND nonce IS NULL AND token = %(token)s"
        self.renew = f"UPDATE {leases} SET expires = {EXPIRES} WHERE {mine} RETURNING 1"
        self.release = f"UPDATE {leases} SET nonce = NULL WHERE {mine} RETURNING 1"
        self.holder = f"""SELECT owner, token, extract(epoch FROM expires - clock_timestamp())::float8 FROM {leases}
            WHERE key = %(key)s AND nonce IS NOT NULL AND expires > clock_timestamp()"""
        self.floor = f"""INSERT INTO {leases} AS l (key, nonce, owner, token, floor, expires)
            VALUES (%(key)s, NULL, '', 0, %(token)s, clock_timestamp())
            ON CONFLICT (key) DO UPDATE SET floor = greatest(l.floor, %(token)s)"""
        self.set_flag = f"""INSERT INTO {flags} (key, expires) VALUES (%(key)s, {EXPIRES})
            ON CONFLICT (key) DO UPDATE SET expires = {EXPIRES}"""
        self.flag = f"SELECT 1 FROM {flags} WHERE key = %(key)s AND expires > clock_timestamp()"
        self.clear_flag = f"DELETE FROM {flags} WHERE key = %(key)s"
        self.sweep_flags = f"DELETE FROM {flags} WHERE expires <= clock_timestamp() RETURNING 1"


def _named(request: LeaseRequest) -> dict[str, Any]:
    return {"key": request.key.encode(), "nonce": request.nonce, "token": request.token}


class PostgresLock:
    """Every operation of a lock."""

    def __init__(self, server: Server, tables: Tables) -> None:
        self._server = server
        self._statements = _Statements(tables)

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        """Take a free or expired key; after a lost reply it may be ours already."""
        parameters = {"key": key.encode(), "nonce": nonce, "owner": owner.encode(), "ttl": ttl}
        with Settling(self._server, "try_acquire") as settling:
            rows = await settling.send_twice(self._statements.acquire, parameters)
            if not rows and settling.is_lost:
                rows = await settling.look(self._statements.mine, parameters)
            return rows[0][0] if rows else None

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        """Extend a lease that is live."""
        with Settling(self._server, "renew", request.timeout) as settling:
            return bool(await settling.send_twice(self._statements.renew, {**_named(request), "ttl": ttl}))

    async def release(self, request: LeaseRequest) -> bool:
        """Free a key."""
        parameters = _named(request)
        with Settling(self._server, "release") as settling:
            if await settling.send_twice(self._statements.release, parameters):
                return True
            if settling.is_lost:
                if not await settling.look(self._statements.free, parameters):
                    raise settling.unknown()
                return True
            return False

    async def holder(self, key: str) -> Holder | None:
        """Return who has the key."""
        rows = await self._server.run_read(self._statements.holder, {"key": key.encode()})
        if not rows:
            return None
        owner, token, left = rows[0]
        return Holder(owner.decode(), token, left) if left > 0 else None

    async def raise_floor(self, key: str, token: int) -> None:
        """Make the next token higher."""
        await send_twice(self._server, "raise_floor", self._statements.floor, {"key": key.encode(), "token": token})

    async def set_flag(self, key: str, ttl: float) -> None:
        """Raise a flag."""
        await send_twice(self._server, "set_flag", self._statements.set_flag, {"key": key.encode(), "ttl": ttl})

    async def flag(self, key: str) -> bool:
        """Return whether a flag is raised."""
        return bool(await self._server.run_read(self._statements.flag, {"key": key.encode()}))

    async def clear_flag(self, key: str) -> None:
        """Lower a flag."""
        await send_twice(self._server, "clear_flag", self._statements.clear_flag, {"key": key.encode()})

    async def sweep_flags(self) -> int:
        """Remove fallen flags; return how many."""
        return len(await send_twice(self._server, "sweep", self._statements.sweep_flags, {}))
