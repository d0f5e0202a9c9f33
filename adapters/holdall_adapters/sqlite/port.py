"""The way to a database file: connections, statements and transactions.

A connection serves one operation at a time and then the next; threads that work at once get one each.
"""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from holdall.errors import ConfigError, Corrupt
from holdall_adapters.sqlite.errors import translated
from holdall_adapters.sqlite.fork_port import Opening, gate

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Database", "Session", "Transaction"]

_MOST_IDLE = 16
_STATEMENTS = 256
_READING = ("SELECT", "WITH", "PRAGMA")
_FIRST_WAIT, _LONGEST_WAIT = 0.0005, 0.008
_inherited: list[object] = []
_dice = random.SystemRandom()

Parameters = Sequence[Any]
Rows = list[tuple[Any, ...]]


class Session(sqlite3.Connection):
    """A connection that waits for locks by itself.

    SQLite's own waiting backs off to a tenth of a second and queues nobody, so writers that come back at once starve
    the one that sleeps. Short random waits give each its turn.
    """

    patience = 0.0
    user = 0
    closed = False

    def close(self) -> None:
        """Close the connection, and remember it."""
        self.closed = True
        super().close()

    def run(self, statement: str, parameters: Parameters = (), patience: float | None = None) -> sqlite3.Cursor:
        """Run a statement; a database that is locked is tried again, since nothing has happened then.

        Args:
            statement: the statement.
            parameters: its parameters.
            patience: seconds to wait for a lock, if other than those of the connection.

        Raises:
            sqlite3.Error: the statement failed, or the lock was not to be had.

        """
        try:
            return self.execute(statement, parameters)
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
        return self._run_patiently(statement, parameters, self.patience if patience is None else patience)

    def _run_patiently(self, statement: str, parameters: Parameters, patience: float) -> sqlite3.Cursor:
        deadline = time.monotonic() + patience
        longest = _FIRST_WAIT
        while True:
            time.sleep(longest * _dice.random())
            longest = min(longest * 2, _LONGEST_WAIT)
            try:
                return self.execute(statement, parameters)
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() >= deadline:
                    raise


def is_busy(error: sqlite3.OperationalError) -> bool:
    """Return whether a statement failed because somebody else held a lock.

    Args:
        error: what SQLite raised.

    """
    return error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


class Clock:
    """What SQL calls as `holdall_now()`: evaluated while a statement runs, thus after it waited for a lock."""

    def __init__(self) -> None:
        self.now: Callable[[], float] = float

    def __call__(self) -> float:
        """Return the anchored time."""
        return self.now()


class Database:
    """A database file, and the connections to it.

    Attributes:
        path: where the file is.
        timeout: seconds that a statement may wait for a lock.
        clock: tells the time by which things expire.

    """

    def __init__(self, path: Path, timeout: float, *, create: bool, durable: bool) -> None:
        self.path = path
        self.timeout = timeout
        self.clock = Clock()
        self._create = create
        self._uri = f"file:{quote(str(path))}?mode={'rwc' if create else 'rw'}"
        self._synchronous = "FULL" if durable else "NORMAL"
        self._idle: deque[Session] = deque()
        self._closed = False
        self._abandoned = weakref.finalize(self, _close_all, self._idle, os.getpid())
        self._abandoned.atexit = False
        self._identity: tuple[int, int] | None = None

    def connect(self) -> Session:
        """Open a connection, in use by the calling thread."""
        self._check_place()
        opening = Opening()
        gate.watch(opening)
        while not gate.use(opening):
            gate.wait()
        try:
            return self._open()
        finally:
            opening.user = 0

    def _open(self) -> Session:
        try:
            session = sqlite3.connect(
                self._uri,
                uri=True,
                timeout=0,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=_STATEMENTS,
                factory=Session,
            )
        except sqlite3.Error as error:
            raise translated(error, writing=False) from error
        session.user = threading.get_ident()
        gate.watch(session)
        session.patience = self.timeout
        session.text_factory = bytes
        session.create_function("holdall_now", 0, self.clock)
        return self._settled(session)

    def _check_place(self) -> None:
        """Say what is wrong with the path where SQLite would only say that it cannot be opened."""
        try:
            fault = self._fault_of_place()
        except OSError as error:
            fault = error.strerror
        if fault is not None:
            message = f"the database file {str(self.path)!r:.300} cannot be opened: {fault}"
            raise ConfigError(message)

    def _fault_of_place(self) -> str | None:
        folder = self.path.parent
        if not folder.is_dir():
            return f"its folder {str(folder)!r} does not exist: create it first"
        if self.path.is_dir():
            return "it is a folder"
        if not self._create and not self.path.exists():
            return "it does not exist, and create=false forbids to make it"
        if not self.path.exists() and not os.access(folder, os.W_OK):
            return f"its folder {str(folder)!r} may not be written"
        return None

    def _settled(self, session: Session) -> Session:
        try:
            session.run(f"PRAGMA synchronous = {self._synchronous}")
        except sqlite3.Error as error:
            session.close()
            raise translated(error, writing=False) from error
        return session

    def take(self) -> Session:
        """Return a connection that nobody uses.

        Raises:
            Corrupt: the file is not the one that was opened first.

        """
        self._check_identity()
        while True:
            gate.wait()
            try:
                session = self._idle.pop()
            except IndexError:
                return self.connect()
            if not gate.use(session):
                self._idle.append(session)
            elif session.closed:
                session.user = 0  # a fork closes what is idle
            else:
                return session

    def give(self, session: Session) -> None:
        """Give a connection back; one whose transaction was not ended, since a signal handler raised, is closed."""
        if session.in_transaction:
            session.close()
        session.user = 0
        if not session.closed:
            self._idle.append(session)
        if self._is_closed() or len(self._idle) > _MOST_IDLE:
            _close_some(self._idle, 0 if self._is_closed() else _MOST_IDLE)

    def _check_identity(self) -> None:
        """Refuse to write into a file that has lost its name: nobody would find it again."""
        found = self._identify()
        if self._identity is None:
            self._identity = found
        elif self._identity != found:
            self.close_idle()
            message = (
                "the database file was removed or replaced while it was open: close the handle and find out who did it"
            )
            raise Corrupt(message)

    def _identify(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.path)  # noqa: PTH116 - half the time of Path.stat, in every operation
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def close_idle(self) -> None:
        """Close the connections that nobody uses; the next operation opens one."""
        _close_some(self._idle, 0)

    def _is_closed(self) -> bool:
        return self._closed

    def rows(self, statement: str, parameters: Parameters, timeout: float | None = None) -> Rows:
        """Run one statement as a transaction of its own, and return its rows.

        Args:
            statement: the statement.
            parameters: its parameters.
            timeout: seconds to wait for a lock, if other than those of the database.

        """
        session = self.take()
        try:
            return session.run(statement, parameters, timeout).fetchall()
        except sqlite3.Error as error:
            raise translated(error, writing=not statement.startswith(_READING)) from error
        finally:
            self.give(session)

    def change(self, statement: str, parameters: Parameters) -> int:
        """Run one statement as a transaction of its own, and return how many rows it changed."""
        session = self.take()
        try:
            return session.run(statement, parameters).rowcount
        except sqlite3.Error as error:
            raise translated(error, writing=True) from error
        finally:
            self.give(session)

    def first_rows(self, statement: str, parameters: Parameters, take: Callable[[Any], bool]) -> None:
        """Run one reading statement and hand its rows out until there was enough.

        Args:
            statement: the statement.
            parameters: its parameters.
            take: takes a row and returns whether it wants more.

        """
        session = self.take()
        try:
            cursor = session.run(statement, parameters)
            try:
                for row in cursor:
                    if not take(row):
                        return
            finally:
                cursor.close()
        except sqlite3.Error as error:
            raise translated(error, writing=False) from error
        finally:
            self.give(session)

    def transaction(self) -> Transaction:
        """Return a transaction that holds the write lock from its beginning."""
        return Transaction(self)

    def close(self) -> None:
        """Close the connections; those in use are closed when they are given back."""
        self._closed = True
        self._abandoned()


def _close_all(idle: deque[Session], pid: int) -> None:
    """Close connections, unless they came with a fork: then they are the parent's, and kept untouched."""
    if os.getpid() != pid:
        _inherited.append(idle)
        return
    _close_some(idle, 0)


def _close_some(idle: deque[Session], kept: int) -> None:
    """Close connections until so many are left; others may take some meanwhile."""
    while len(idle) > kept:
        with contextlib.suppress(IndexError):
            idle.pop().close()


class Transaction:
    """Several statements, all or none; begun with BEGIN IMMEDIATE, so that it never has to upgrade from reading."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> Self:
        """Begin."""
        self._session = self._database.take()
        try:
            self._session.run("BEGIN IMMEDIATE")
        except BaseException as error:
            self._database.give(self._session)
            if isinstance(error, sqlite3.Error):
                raise translated(error, writing=False) from error
            raise
        return self

    def rows(self, statement: str, parameters: Parameters) -> Rows:
        """Run a statement and return its rows."""
        return self._session.execute(statement, parameters).fetchall()

    def row(self, statement: str, parameters: Parameters) -> tuple[Any, ...] | None:
        """Run a statement and return its first row, or None."""
        rows = self._session.execute(statement, parameters).fetchall()
        return rows[0] if rows else None

    def change(self, statement: str, parameters: Parameters) -> int:
        """Run a statement and return how many rows it changed."""
        return self._session.execute(statement, parameters).rowcount

    def change_many(self, statement: str, parameters: Sequence[Parameters]) -> None:
        """Run a statement for each set of parameters."""
        self._session.executemany(statement, parameters)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Commit, or roll back after an error."""
        try:
            if error is None:
                self._session.execute("COMMIT")
        except sqlite3.Error as failure:
            self._roll_back()
            raise translated(failure, writing=True) from failure
        else:
            if error is not None:
                self._roll_back()
            if isinstance(error, sqlite3.Error):
                raise translated(error, writing=False) from error
        finally:
            self._database.give(self._session)

    def _roll_back(self) -> None:
        if self._session.in_transaction:
            self._session.execute("ROLLBACK")
