"""Leases and flags in SQLite: one statement each, judged by the boot clock after the wait for the write lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdall.spi import LeaseRequest
from holdall.values import Holder

if TYPE_CHECKING:
    from holdall_adapters.sqlite.port import Database

__all__ = ["SqliteLock"]

_ACQUIRE = """INSERT INTO holdall_leases (key, nonce, owner, token, floor, expires, boot)
    VALUES (?1, ?2, ?3, 1, 0, holdall_now() + ?4, ?5)
    ON CONFLICT (key) DO UPDATE SET nonce = excluded.nonce, owner = excluded.owner, token = max(token, floor) + 1,
        expires = excluded.expires, boot = excluded.boot
    WHERE nonce IS NULL OR expires <= holdall_now() OR boot <> excluded.boot
    RETURNING token"""
_CURRENT = "key = ? AND nonce = ? AND token = ? AND boot = ? AND expires > holdall_now()"
_RENEW = f"UPDATE holdall_leases SET expires = holdall_now() + ? WHERE {_CURRENT} RETURNING 1"
_RELEASE = f"UPDATE holdall_leases SET nonce = NULL WHERE {_CURRENT} RETURNING 1"
_HOLDER = "SELECT owner, token, expires FROM holdall_leases WHERE key = ? AND nonce IS NOT NULL AND boot = ?"
_FLOOR = """INSERT INTO holdall_leases (key, nonce, owner, token, floor, expires, boot)
    VALUES (?, NULL, '', 0, ?, 0, '')
    ON CONFLICT (key) DO UPDATE SET floor = max(floor, excluded.floor)"""
_SET_FLAG = """INSERT INTO holdall_flags (key, expires) VALUES (?, holdall_now() + ?)
    ON CONFLICT (key) DO UPDATE SET expires = excluded.expires"""
_FLAG = "SELECT expires FROM holdall_flags WHERE key = ?"
_CLEAR_FLAG = "DELETE FROM holdall_flags WHERE key = ?"
_SWEEP_FLAGS = "DELETE FROM holdall_flags WHERE expires <= holdall_now()"


class SqliteLock:
    """Every operation of a lock. A lease dies with the boot in which it was granted; its token goes on."""

    def __init__(self, database: Database, boot: str) -> None:
        self._database = database
        self._boot = boot

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        """Take a free or expired key."""
        rows = self._database.rows(_ACQUIRE, (key, nonce, owner, ttl, self._boot))
        return rows[0][0] if rows else None

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        """Extend a lease that is live."""
        parameters = (ttl, request.key, request.nonce, request.token, self._boot)
        return bool(self._database.rows(_RENEW, parameters, request.timeout))

    async def release(self, request: LeaseRequest) -> bool:
        """Free a key."""
        parameters = (request.key, request.nonce, request.token, self._boot)
        return bool(self._database.rows(_RELEASE, parameters))

    async def holder(self, key: str) -> Holder | None:
        """Return who has the key."""
        rows = self._database.rows(_HOLDER, (key, self._boot))
        if not rows:
            return None
        owner, token, expires = rows[0]
        left = expires - self._database.clock()
        return Holder(owner.decode(), token, left) if left > 0 else None

    async def raise_floor(self, key: str, token: int) -> None:
        """Make the next token higher."""
        self._database.rows(_FLOOR, (key, token))

    async def set_flag(self, key: str, ttl: float) -> None:
        """Raise a flag."""
        self._database.rows(_SET_FLAG, (key, ttl))

    async def flag(self, key: str) -> bool:
        """Return whether a flag is raised."""
        rows = self._database.rows(_FLAG, (key,))
        return bool(rows) and rows[0][0] > self._database.clock()

    async def clear_flag(self, key: str) -> None:
        """Lower a flag."""
        self._database.rows(_CLEAR_FLAG, (key,))

    def sweep_flags(self) -> int:
        """Remove fallen flags; return how many."""
        return self._database.change(_SWEEP_FLAGS, ())
