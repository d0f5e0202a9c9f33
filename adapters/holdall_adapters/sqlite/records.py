"""Records in SQLite: one statement for what goes well; why something did not is found out under the write lock."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdall.keys import text_after
from holdall.rules import check_fence, check_version, raised_mark
from holdall.spi import ABSENT, ANY, DeleteRequest, PutRequest, StoredPage, StoredRecord
from holdall_adapters.sqlite.port import Database, Transaction

if TYPE_CHECKING:
    from holdall.values import Expect

__all__ = ["BEHIND_ALL_TEXT", "SqliteRecords", "lower_bound", "scopes_statement"]

BEHIND_ALL_TEXT = b"\xff"
"""In SQLite every BLOB sorts after every TEXT."""

_LIVE = "payload IS NOT NULL AND (expires IS NULL OR expires > holdall_now())"
_GET = "SELECT payload, version, expires FROM holdall_records WHERE scope = ? AND key = ? AND payload IS NOT NULL"
_FIND = "SELECT payload IS NOT NULL, version, expires, mark FROM holdall_records WHERE scope = ? AND key = ?"
_TOUCH = (
    f"UPDATE holdall_records SET expires = {{}}, mark = max(mark, ?) WHERE scope = ? AND key = ? AND {_LIVE} AND {{}}"
)
_DELETE = "DELETE FROM holdall_records WHERE scope = ? AND key = ? AND mark = 0 RETURNING expires"
_DELETE_VERSION = f"DELETE FROM holdall_records WHERE scope = ? AND key = ? AND mark = 0 AND version = ? AND {_LIVE}"
_REMOVE = "DELETE FROM holdall_records WHERE scope = ? AND key = ?"
_BURY = """INSERT INTO holdall_records (scope, key, payload, version, expires, mark) VALUES (?, ?, NULL, NULL, NULL, ?)
    ON CONFLICT (scope, key) DO UPDATE SET payload = NULL, version = NULL, expires = NULL, mark = excluded.mark"""
_SEAL = """INSERT INTO holdall_records (scope, key, payload, version, expires, mark) VALUES (?, ?, NULL, NULL, NULL, ?)
    ON CONFLICT (scope, key) DO UPDATE SET mark = excluded.mark WHERE mark <= excluded.mark
    RETURNING payload IS NOT NULL, version, expires"""
_SWEEP = """DELETE FROM holdall_records WHERE rowid IN
    (SELECT rowid FROM holdall_records WHERE expires <= holdall_now() AND mark = 0 LIMIT ?)"""
_SWEEP_MARKED = """UPDATE holdall_records SET payload = NULL, version = NULL, expires = NULL WHERE rowid IN
    (SELECT rowid FROM holdall_records WHERE expires <= holdall_now() AND mark > 0 LIMIT ?)"""
_SWEEP_ROWS = 1_000
_MOST_PARAMETERS = 500
_MOST_ROWS = 10_000
_MOST_BYTES = 8 * 2**20


@functools.cache
def put_statement(kind: str, *, expires: bool, fenced: bool) -> str:
    """Return the statement of a put; its parameters are those of `_put_parameters`.

    Args:
        kind: "any", "absent" or "version".
        expires: whether there is a ttl.
        fenced: whether there is a fence.

    """
    ttl, fence, expect = 5, 5 + expires, 5 + expires + fenced
    expiry = f"holdall_now() + ?{ttl}" if expires else "NULL"
    mark = f"max(mark, ?{fence})" if fenced else "mark"
    refusals = [f"mark <= ?{fence}"] if fenced else []
    if kind == "version":
        conditions = " AND ".join([f"scope = ?1 AND key = ?2 AND version = ?{expect}", _LIVE, *refusals])
        return (
            f"UPDATE holdall_records SET payload = CAST(?3 AS TEXT), version = ?4, expires = {expiry}, mark = {mark}"
            f" WHERE {conditions}"
        )
    if kind == "absent":
        refusals.append("(payload IS NULL OR expires <= holdall_now())")
    condition = f" WHERE {' AND '.join(refusals)}" if refusals else ""
    return (
        "INSERT INTO holdall_records (scope, key, payload, version, expires, mark)"
        f" VALUES (?1, ?2, CAST(?3 AS TEXT), ?4, {expiry}, {f'?{fence}' if fenced else '0'})"
        " ON CONFLICT (scope, key) DO UPDATE SET payload = excluded.payload, version = excluded.version,"
        f" expires = excluded.expires, mark = {mark}{condition}"
    )


def _put_parameters(request: PutRequest, expect: Any) -> list[Any]:
    optional = (request.ttl, request.fence, expect)
    return [*request[:4], *(value for value in optional if value is not None)]


class SqliteRecords:
    """Every operation on records."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._now = database.clock

    async def get(self, scope: str, key: str) -> StoredRecord | None:
        """Return a live record."""
        rows = self._database.rows(_GET, (scope, key))
        return self._stored(key, rows[0]) if rows else None

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        """Return live records in the order asked."""
        found: dict[str, StoredRecord | None] = {}
        for start in range(0, len(keys), _MOST_PARAMETERS):
            some = keys[start : start + _MOST_PARAMETERS]
            marks = ",".join("?" * len(some))
            statement = (
                "SELECT key, payload, version, expires FROM holdall_records"
                f" WHERE scope = ? AND key IN ({marks}) AND payload IS NOT NULL"
            )
            for key, *row in self._database.rows(statement, (scope, *some)):
                name = key.decode()
                found[name] = self._stored(name, row)
        return [found.get(key) for key in keys]

    def _stored(self, key: str, row: Sequence[Any]) -> StoredRecord | None:
        payload, version, expires = row
        if expires is None:
            return StoredRecord(key, payload, version.decode(), None)
        left = expires - self._now()
        return StoredRecord(key, payload, version.decode(), left) if left > 0 else None

    async def put(self, request: PutRequest) -> None:
        """Write a record: one statement if nothing speaks against it."""
        expect = request.expect
        kind = "any" if expect is ANY else "absent" if expect is ABSENT else "version"
        statement = put_statement(kind, expires=request.ttl is not None, fenced=request.fence is not None)
        if self._database.change(statement, _put_parameters(request, expect if kind == "version" else None)):
            return
        with self._database.transaction() as transaction:
            self.put_in(transaction, request)

    def put_in(self, transaction: Transaction, request: PutRequest) -> None:
        """Write a record in a transaction, or say why not."""
        self._check(transaction, request.scope, request.key, request.expect, request.fence)
        statement = put_statement("any", expires=request.ttl is not None, fenced=request.fence is not None)
        transaction.change(statement, _put_parameters(request, None))

    def _check(
        self, transaction: Transaction, scope: str, key: str, expect: Expect, fence: int | None
    ) -> tuple[str | None, int, bool]:
        """Return the live version, the mark, and whether there is a row; raise where a write is refused."""
        row = transaction.row(_FIND, (scope, key))
        version, mark = (None, 0) if row is None else (self._live_version(*row[:3]), row[3])
        check_fence(mark, fence)
        check_version(expect, version)
        return version, mark, row is not None

    def _live_version(self, has_payload: int, version: bytes | None, expires: float | None) -> str | None:
        if not has_payload or version is None or (expires is not None and expires <= self._now()):
            return None
        return version.decode()

    def check_in(self, transaction: Transaction, scope: str, key: str, expect: Expect) -> str | None:
        """Check a record in a transaction and return its version."""
        return self._check(transaction, scope, key, expect, None)[0]

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        """Set a new expiry."""
        expiry = "NULL" if ttl is None else "holdall_now() + ?"
        allowed = "1" if fence is None else "mark <= ?"
        parameters = [*([] if ttl is None else [ttl]), fence or 0, scope, key, *([] if fence is None else [fence])]
        if self._database.change(_TOUCH.format(expiry, allowed), parameters):
            return True
        if fence is not None:
            await self.seal(scope, key, fence)  # refused, or absent: then the token counts as seen
        return False

    async def delete(self, request: DeleteRequest) -> bool:
        """Delete a record: one statement if it has no mark and is as expected."""
        where = (request.scope, request.key)
        if request.fence is None and request.expect is ANY:
            rows = self._database.rows(_DELETE, where)
            if rows:
                return rows[0][0] is None or rows[0][0] > self._now()
            if not self._database.rows(_FIND, where):
                return False
        elif (
            request.fence is None
            and isinstance(request.expect, str)
            and self._database.change(_DELETE_VERSION, (*where, request.expect))
        ):
            return True
        with self._database.transaction() as transaction:
            return self.delete_in(transaction, request)

    def delete_in(self, transaction: Transaction, request: DeleteRequest) -> bool:
        """Delete a record in a transaction, or say why not; a mark stays."""
        version, mark, exists = self._check(transaction, request.scope, request.key, request.expect, request.fence)
        mark = raised_mark(mark, request.fence)
        if mark:
            transaction.change(_BURY, (request.scope, request.key, mark))
        elif exists:
            transaction.change(_REMOVE, (request.scope, request.key))
        return version is not None

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        """Write records in one transaction."""
        statement = put_statement("any", expires=requests[0].ttl is not None, fenced=False)
        with self._database.transaction() as transaction:
            transaction.change_many(statement, [_put_parameters(request, None) for request in requests])

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        """Delete records in one transaction."""
        count = 0
        with self._database.transaction() as transaction:
            for start in range(0, len(keys), _MOST_PARAMETERS):
                some = keys[start : start + _MOST_PARAMETERS]
                where = f"scope = ? AND key IN ({','.join('?' * len(some))})"
                live = transaction.rows(
                    f"SELECT count(*) FROM holdall_records WHERE {where} AND {_LIVE}", (scope, *some)
                )
                count += live[0][0]
                transaction.change(f"DELETE FROM holdall_records WHERE {where} AND mark = 0", (scope, *some))
                bury = "UPDATE holdall_records SET payload = NULL, version = NULL, expires = NULL"
                transaction.change(f"{bury} WHERE {where} AND mark > 0", (scope, *some))
        return count

    async def scan(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[StoredRecord]:
        """Return a page of live records, up to a bound of bytes."""
        rows: list[StoredRecord] = []
        limit, seen, size = min(limit, _MOST_ROWS), 0, 0
        last, more = "", False

        def take(row: Any) -> bool:
            nonlocal last, more, seen, size
            if seen == limit or size >= _MOST_BYTES:
                more = True
                return False
            seen, last = seen + 1, row[0].decode()
            stored = self._stored(last, row[1:])
            if stored is not None:  # otherwise it expired since the statement looked at it
                rows.append(stored)
                size += len(stored.payload)
            return True

        self._page("key, payload, version, expires", (scope, prefix, after, limit), take)
        return StoredPage(rows, last if more else None)

    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""
        limit = min(limit, _MOST_ROWS)
        keys: list[str] = []

        def take(row: Any) -> bool:
            keys.append(row[0].decode())
            return True

        self._page("key", (scope, prefix, after, limit), take)
        return StoredPage(keys[:limit], keys[limit - 1] if len(keys) > limit else None)

    def _page(self, columns: str, wanted: tuple[str, str, str | None, int], take: Any) -> None:
        scope, prefix, after, limit = wanted
        comparison, bound = lower_bound(prefix, after)
        statement = (
            f"SELECT {columns} FROM holdall_records WHERE scope = ? AND key {comparison} ? AND key < ? AND {_LIVE}"
            " ORDER BY key LIMIT ?"
        )
        end = text_after(prefix) or BEHIND_ALL_TEXT
        self._database.first_rows(statement, (scope, bound, end, limit + 1), take)

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes, leaping from one to the next."""
        return page_of_scopes(self._database, scopes_statement("holdall_records", _LIVE), prefix, after, limit)

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        """Raise the mark of a record."""
        while True:
            rows = self._database.rows(_SEAL, (scope, key, fence))
            if rows:
                return self._live_version(*rows[0])
            found = self._database.rows(_FIND, (scope, key))
            check_fence(found[0][3] if found else 0, fence)

    def sweep_records(self) -> int:
        """Remove what has expired, a thousand at a time so that nobody waits long."""
        count = 0
        for statement in (_SWEEP, _SWEEP_MARKED):
            swept = _SWEEP_ROWS
            while swept == _SWEEP_ROWS:
                swept = self._database.change(statement, (_SWEEP_ROWS,))
                count += swept
        return count


def lower_bound(prefix: str, after: str | None) -> tuple[str, str]:
    """Return the comparison and the text that a page begins with.

    Args:
        prefix: what the names begin with.
        after: the name behind which they lie, or None.

    """
    return (">", after) if after is not None and after >= prefix else (">=", prefix)


@functools.cache
def scopes_statement(table: str, live: str) -> str:
    """Return the statement that leaps from scope to scope over the index.

    Args:
        table: the table.
        live: the condition that a row of a scope must fulfil.

    """
    first = f"SELECT scope FROM {table} WHERE scope {{}} ? AND scope < ? AND {live} ORDER BY scope LIMIT 1"
    following = f"SELECT scope FROM {table} WHERE scope > found.scope AND scope < ? AND {live} ORDER BY scope LIMIT 1"
    return (
        f"WITH RECURSIVE found (scope) AS (SELECT ({first})"
        f" UNION ALL SELECT ({following}) FROM found WHERE found.scope IS NOT NULL)"
        " SELECT scope FROM found WHERE scope IS NOT NULL LIMIT ?"
    )


def page_of_scopes(database: Database, statement: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
    """Return a page of scopes.

    Args:
        database: the database.
        statement: what `scopes_statement` returned.
        prefix: what they begin with.
        after: the scope behind which they lie, or None.
        limit: the most the page may hold.

    """
    limit = min(limit, _MOST_ROWS)
    comparison, bound = lower_bound(prefix, after)
    end = text_after(prefix) or BEHIND_ALL_TEXT
    rows = database.rows(statement.format(comparison), (bound, end, end, limit + 1))
    scopes = [row[0].decode() for row in rows]
    return StoredPage(scopes[:limit], scopes[limit - 1] if len(scopes) > limit else None)
