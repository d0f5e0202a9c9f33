"""Logs in SQLite: a row a batch, its entries as lines, its id the log's id and the position of its first entry.

An append to a log that is there, by a holder whose token is the mark, is one statement. Everything else is decided
under the write lock.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdall.errors import AlreadyExists, HoldallError, TooLarge
from holdall.keys import text_after
from holdall.rules import (
    KEPT_BATCHES,
    check_batch,
    check_fence,
    check_head,
    kept_position,
    raised_mark,
)
from holdall.spi import ABSENT, ANY, AppendRequest, LogRequest, StoredEntries, StoredPage
from holdall.values import Appended, Head
from holdall_adapters.sqlite.errors import translated
from holdall_adapters.sqlite.log_readers import Reader, TailReader
from holdall_adapters.sqlite.log_statements import (
    BATCH,
    INSERT,
    LIVE,
    LIVE_LOG,
    LOG,
    MASK,
    MOST_LOGS,
    NEW_LOG,
    READ,
    REVIVE,
    SEAL,
    SET_MARK,
    TAIL,
    append_parameters,
    append_statement,
)
from holdall_adapters.sqlite.port import Database, Transaction
from holdall_adapters.sqlite.records import BEHIND_ALL_TEXT, lower_bound, page_of_scopes, scopes_statement
from holdall_adapters.sqlite.schema import POSITION_BITS

if TYPE_CHECKING:
    from holdall.spi import Environment

__all__ = ["SqliteLogs"]

_MOST_ROWS = 10_000
_FORGOTTEN_ROWS = 2_000


class LogRow(NamedTuple):
    """A row of holdall_logs with its length."""

    log: int
    first: int
    incarnation: bytes | None
    length: int
    mark: int

    def head(self) -> Head | None:
        """Return the head, or None where only the mark is kept."""
        return None if self.incarnation is None else Head(self.first, self.length, self.incarnation.decode())


class SqliteLogs:
    """Every operation on logs."""

    def __init__(self, database: Database, environment: Environment) -> None:
        self._database = database
        self._environment = environment

    async def append(self, request: AppendRequest) -> Appended:
        """Append a batch: one statement if nothing speaks against it."""
        payload = b"\n".join(request.payloads)
        rows = self._append_at_once(request, payload)
        if rows:
            start, first, incarnation = rows[0]
            count = len(request.payloads)
            return Appended(start, count, Head(first, start + count, incarnation.decode()))
        with self._database.transaction() as transaction:
            return self.append_in(transaction, request)

    def _append_at_once(self, request: AppendRequest, payload: bytes) -> list[tuple[Any, ...]]:
        expect = request.expect
        if expect is ABSENT or expect == 0:
            return []
        kind = "any" if expect is ANY else "head" if isinstance(expect, Head) else "length"
        statement = append_statement(kind, fenced=request.fence is not None, batch=request.batch_id is not None)
        session = self._database.take()
        try:
            return session.run(statement, append_parameters(request, payload)).fetchall()
        except sqlite3.IntegrityError:
            return []  # the batch id is there already: what that means is decided under the write lock
        except sqlite3.Error as error:
            raise translated(error, writing=True) from error
        finally:
            self._database.give(session)

    def append_in(self, transaction: Transaction, request: AppendRequest) -> Appended:
        """Append a batch in a transaction, or say why not."""
        row = self._row(transaction, request.scope, request.key)
        repeated = self._repeated(transaction, row, request)
        if repeated is not None:
            return repeated
        mark = 0 if row is None else row.mark
        check_fence(mark, request.fence)
        check_head(request.expect, None if row is None else row.head())
        raised = raised_mark(mark, request.fence)
        if row is None or row.incarnation is None:
            row = self._create(transaction, row, request.scope, request.key, request.write_id, (0, raised))
        elif raised != mark:
            transaction.change(SET_MARK, (raised, row.log))
        return self._insert(transaction, row, request.payloads, (request.batch_id, request.digest))

    def _row(self, transaction: Transaction, scope: str, key: str) -> LogRow | None:
        row = transaction.row(LOG, (scope, key))
        return None if row is None else LogRow(*row)

    def _repeated(self, transaction: Transaction, row: LogRow | None, request: AppendRequest) -> Appended | None:
        if request.batch_id is None or row is None or row.incarnation is None:
            return None
        found = transaction.row(BATCH, (row.log, request.batch_id))
        if found is None:
            return None
        start, count, digest, first = found
        return check_batch(start, count, digest.decode(), row.incarnation.decode(), first, request.digest or "")

    def _create(
        self, transaction: Transaction, row: LogRow | None, scope: str, key: str, write_id: str, begin: tuple[int, int]
    ) -> LogRow:
        """Make a log, or bring one back to life of which only the mark was kept."""
        first, mark = begin
        if row is None:
            log = self._new_log(transaction, scope, key, write_id, begin)
        else:
            log = row.log
            transaction.change(REVIVE, (write_id, first, first, mark, log))
        return LogRow(log, first, write_id.encode(), first, mark)

    def _new_log(
        self, transaction: Transaction, scope: str, key: str, incarnation: str | None, begin: tuple[int, int]
    ) -> int:
        first, mark = begin
        log: int = transaction.rows(NEW_LOG, (scope, key, incarnation, first, first, mark))[0][0]
        if log >= MOST_LOGS:
            what = "database (logs made so far)"
            raise TooLarge(what, MOST_LOGS, log)
        return log

    def _insert(
        self, transaction: Transaction, row: LogRow, payloads: Sequence[bytes], batch: tuple[str | None, str | None]
    ) -> Appended:
        count, end = len(payloads), row.length + len(payloads)
        check_room(end)
        first = None if batch[0] is None else row.first
        where = (row.log << POSITION_BITS) | row.length
        transaction.change(INSERT, (where, count, b"\n".join(payloads), *batch, first))
        return Appended(row.length, count, Head(row.first, end, (row.incarnation or b"").decode()))

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        """Return entries from a position on, in one statement."""
        reader = Reader(start, limit, max_bytes)
        self._database.first_rows(READ, (scope, key, min(start, MASK)), reader.take)
        return reader.entries()

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        """Return the last entries, in one statement."""
        reader = TailReader(count)
        self._database.first_rows(TAIL, (scope, key), reader.take)
        return reader.entries()

    async def head(self, scope: str, key: str) -> Head | None:
        """Return the head of a log."""
        rows = self._database.rows(LIVE_LOG, (scope, key))
        return LogRow(*rows[0]).head() if rows else None

    def head_in(self, transaction: Transaction, scope: str, key: str) -> Head | None:
        """Return the head of a log in a transaction."""
        row = self._row(transaction, scope, key)
        return None if row is None else row.head()

    async def truncate(self, request: LogRequest, before: int) -> int:
        """Forget entries: at once for everybody who reads, then row by row."""
        with self._database.transaction() as transaction:
            row, head = self._checked(transaction, request)
            if row is None or head is None:
                self._keep_mark(transaction, row, request)
                return 0
            first = kept_position(head, before)
            statement = "UPDATE holdall_logs SET first = ?, base = ?, mark = ? WHERE id = ?"
            transaction.change(statement, (first, row.length, raised_mark(row.mark, request.fence), row.log))
            more = self._forget(transaction, row.log, first)
        with contextlib.suppress(HoldallError):  # it is done; what is left of the rows is for `sweep`
            while more:
                with self._database.transaction() as transaction:
                    more = self._forget(transaction, row.log, first)
        return first - head.first

    def _checked(self, transaction: Transaction, request: LogRequest) -> tuple[LogRow | None, Head | None]:
        row = self._row(transaction, request.scope, request.key)
        head = None if row is None else row.head()
        check_fence(0 if row is None else row.mark, request.fence)
        check_head(request.expect, head)
        return row, head

    def _keep_mark(self, transaction: Transaction, row: LogRow | None, request: LogRequest) -> None:
        """Keep the mark of a log that is not there."""
        mark = raised_mark(0 if row is None else row.mark, request.fence)
        if row is not None:
            transaction.change(SET_MARK, (mark, row.log))
        elif mark:
            self._new_log(transaction, request.scope, request.key, None, (0, mark))

    def _forget(self, transaction: Transaction, log: int, first: int) -> bool:
        """Remove some rows of entries that are forgotten; return whether there may be more.

        Batch ids outlive their entries while they are among the last batches.
        """
        begin, end = log << POSITION_BITS, (log + 1) << POSITION_BITS
        found = transaction.row(
            "SELECT id FROM holdall_batches WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ?",
            (begin, end, KEPT_BATCHES - 1),
        )
        kept_from = begin if found is None else found[0]
        forgotten = f"id >= ? AND id < ? AND (id & {MASK}) + count <= ?"
        gone = transaction.change(
            f"""DELETE FROM holdall_batches WHERE id IN (SELECT id FROM holdall_batches
                WHERE {forgotten} AND (batch_id IS NULL OR id < ?) LIMIT ?)""",
            (begin, begin | first, first, kept_from, _FORGOTTEN_ROWS),
        )
        transaction.change(
            f"UPDATE holdall_batches SET payload = NULL WHERE {forgotten} AND id >= ? AND payload IS NOT NULL",
            (begin, begin | first, first, kept_from),
        )
        return gone == _FORGOTTEN_ROWS

    async def drop(self, request: LogRequest) -> bool:
        """Delete a log: at once for everybody, then row by row. Only a mark stays, under another id."""
        with self._database.transaction() as transaction:
            row, head = self._checked(transaction, request)
            if row is None or head is None:
                self._keep_mark(transaction, row, request)
                return False
            transaction.change("DELETE FROM holdall_logs WHERE id = ?", (row.log,))
            mark = raised_mark(row.mark, request.fence)
            if mark:
                self._new_log(transaction, request.scope, request.key, None, (0, mark))
            more = self._remove(transaction, row.log)
        with contextlib.suppress(HoldallError):  # it is done; what is left of the rows is for `sweep`
            while more:
                with self._database.transaction() as transaction:
                    more = self._remove(transaction, row.log)
        return True

    def _remove(self, transaction: Transaction, log: int) -> bool:
        gone = transaction.change(
            """DELETE FROM holdall_batches WHERE id IN
                (SELECT id FROM holdall_batches WHERE id >= ? AND id < ? LIMIT ?)""",
            (log << POSITION_BITS, (log + 1) << POSITION_BITS, _FORGOTTEN_ROWS),
        )
        return gone == _FORGOTTEN_ROWS

    async def logs(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""
        limit = min(limit, _MOST_ROWS)
        comparison, bound = lower_bound(prefix, after)
        statement = (
            f"SELECT key FROM holdall_logs WHERE scope = ? AND key {comparison} ? AND key < ? AND {LIVE}"
            " ORDER BY key LIMIT ?"
        )
        end = text_after(prefix) or BEHIND_ALL_TEXT
        keys = [row[0].decode() for row in self._database.rows(statement, (scope, bound, end, limit + 1))]
        return StoredPage(keys[:limit], keys[limit - 1] if len(keys) > limit else None)

    async def log_scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes."""
        return page_of_scopes(self._database, scopes_statement("holdall_logs", LIVE), prefix, after, limit)

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        """Create a log that begins at a position."""
        with self._database.transaction() as transaction:
            row = self._row(transaction, scope, key)
            if row is not None and row.incarnation is not None:
                message = "there is such a log: drop it before it is restored"
                raise AlreadyExists(message)
            mark = 0 if row is None else row.mark
            made = self._create(transaction, row, scope, key, write_id, (first, mark))
            if not payloads:
                check_room(first)
                return Head(first, first, write_id)
            return self._insert(transaction, made, payloads, (None, None)).head

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        """Raise the mark of a log, in one statement."""
        rows = self._database.rows(SEAL, (fence, scope, key, fence))
        if rows:
            first, incarnation, length = rows[0]
            return None if incarnation is None else Head(first, length, incarnation.decode())
        with self._database.transaction() as transaction:
            row = self._row(transaction, scope, key)
            check_fence(0 if row is None else row.mark, fence)
            if row is None:
                self._new_log(transaction, scope, key, None, (0, fence))
                return None
            transaction.change(SET_MARK, (fence, row.log))
            return row.head()

    def sweep_logs(self) -> int:
        """Remove rows that a crash between the steps of a truncate or drop left; return how many."""
        count = 0
        after = -1
        while True:
            found = self._database.rows(
                f"SELECT id >> {POSITION_BITS} FROM holdall_batches WHERE id >= ? ORDER BY id LIMIT 1",
                ((after + 1) << POSITION_BITS,),
            )
            if not found:
                return count
            after = found[0][0]
            count += self._sweep_log(after)

    def _sweep_log(self, log: int) -> int:
        before = self._rows_of(log)
        more = True
        while more:
            with self._database.transaction() as transaction:
                row = transaction.row("SELECT first FROM holdall_logs WHERE id = ? AND incarnation IS NOT NULL", (log,))
                more = self._remove(transaction, log) if row is None else self._forget(transaction, log, row[0])
        return before - self._rows_of(log)

    def _rows_of(self, log: int) -> int:
        span = (log << POSITION_BITS, (log + 1) << POSITION_BITS)
        count: int = self._database.rows("SELECT count(*) FROM holdall_batches WHERE id >= ? AND id < ?", span)[0][0]
        return count


def check_room(end: int) -> None:
    """Refuse to go beyond the positions that a batch's id can hold.

    Args:
        end: the position behind the last entry.

    Raises:
        TooLarge: it is beyond.

    """
    if end > MASK:
        what = "log (positions)"
        raise TooLarge(what, MASK, end)
