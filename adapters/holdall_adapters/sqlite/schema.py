"""The tables of the SQLite adapter, made on first use and migrated version by version under the write lock."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from holdall.clock import Anchor, next_anchor
from holdall.errors import ConfigError, Corrupt, StoreTimeout
from holdall_adapters.sqlite.errors import translated
from holdall_adapters.sqlite.port import is_busy

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.sqlite.port import Database, Session, Transaction

__all__ = ["MIGRATIONS", "prepare"]

POSITION_BITS = 36
"""A batch's id is the log's id shifted by this, plus the position of its first entry."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE holdall_meta (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID""",
        """CREATE TABLE holdall_records (
            scope TEXT NOT NULL, key TEXT NOT NULL, payload TEXT, version TEXT, expires REAL, mark INTEGER NOT NULL,
            UNIQUE (scope, key),
            CHECK (typeof(version) IN ('text', 'null') AND typeof(expires) IN ('real', 'null')),
            CHECK (typeof(mark) = 'integer' AND mark >= 0 AND (payload IS NULL) = (version IS NULL)))""",
        """CREATE INDEX holdall_records_expiry ON holdall_records (expires) WHERE expires IS NOT NULL""",
        """CREATE TABLE holdall_logs (
            id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, key TEXT NOT NULL, incarnation TEXT,
            first INTEGER NOT NULL, base INTEGER NOT NULL, mark INTEGER NOT NULL, UNIQUE (scope, key),
            CHECK (typeof(incarnation) IN ('text', 'null') AND typeof(mark) = 'integer' AND mark >= 0),
            CHECK (typeof(first) = 'integer' AND typeof(base) = 'integer' AND first >= 0 AND base >= 0))""",
        """CREATE TABLE holdall_batches (
            id INTEGER PRIMARY KEY, count INTEGER NOT NULL, payload TEXT,
            batch_id TEXT, digest TEXT, first INTEGER,
            CHECK (typeof(count) = 'integer' AND count > 0 AND typeof(payload) IN ('text', 'null')),
            CHECK ((batch_id IS NULL) = (digest IS NULL) AND (batch_id IS NULL) = (first IS NULL)))""",
        f"""CREATE UNIQUE INDEX holdall_batches_ids ON holdall_batches (id >> {POSITION_BITS}, batch_id)
            WHERE batch_id IS NOT NULL""",
        """CREATE TABLE holdall_leases (
            key TEXT PRIMARY KEY, nonce TEXT, owner TEXT NOT NULL, token INTEGER NOT NULL, floor INTEGER NOT NULL,
            expires REAL NOT NULL, boot TEXT NOT NULL,
            CHECK (typeof(token) = 'integer' AND token >= 0 AND typeof(floor) = 'integer' AND floor >= 0),
            CHECK (typeof(expires) = 'real' AND typeof(nonce) IN ('text', 'null') AND typeof(owner) = 'text'))
            WITHOUT ROWID""",
        """CREATE TABLE holdall_flags (
            key TEXT PRIMARY KEY, expires REAL NOT NULL, CHECK (typeof(expires) = 'real')) WITHOUT ROWID""",
    ),
)
"""The statements that lead from each version of the schema to the next."""

_META = "SELECT name, value FROM holdall_meta"
_HAS_META = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'holdall_meta'"
_SET = "INSERT INTO holdall_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
_WAL_RETRY = 0.01


async def prepare(database: Database, environment: Environment, *, create: bool) -> Anchor:
    """Make or migrate the schema, and return the clock's anchor of this boot.

    Args:
        database: the database.
        environment: clocks and sleeping.
        create: whether tables may be made.

    Raises:
        ConfigError: there is no schema and none may be made, or it is newer than this holdall.
        StoreTimeout: others kept the database locked.

    """
    session = database.take()
    try:
        await _switch_to_wal(session, environment, database.timeout)
        anchor = _current(session, environment)
    except sqlite3.Error as error:
        raise translated(error, writing=False) from error
    finally:
        database.give(session)
    if anchor is not None:
        return anchor
    with database.transaction() as transaction:
        return _migrate(transaction, environment, create=create)


async def _switch_to_wal(session: Session, environment: Environment, timeout: float) -> None:
    """Switch to write-ahead logging; SQLite does not wait for others here, so the waiting is done by trying again."""
    deadline = environment.boot_time() + timeout
    while True:
        try:
            mode = session.execute("PRAGMA journal_mode").fetchall()[0][0]
            if mode == b"wal" or session.execute("PRAGMA journal_mode = WAL").fetchall()[0][0] == b"wal":
                return
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            if environment.boot_time() > deadline:
                message = "others kept the database locked while it was opened"
                raise StoreTimeout(message) from error
        else:
            message = "this file system does not allow SQLite's write-ahead log: use a local disk"
            raise ConfigError(message)
        await environment.sleep(_WAL_RETRY * (0.5 + environment.random()))


def _current(session: Session, environment: Environment) -> Anchor | None:
    """Return the anchor if nothing has to be written."""
    encoding = session.run("PRAGMA encoding").fetchall()[0][0].decode()
    if encoding != "UTF-8":
        message = f"the database stores text as {encoding}, holdall needs UTF-8: use a file of its own"
        raise ConfigError(message)
    if not session.run(_HAS_META).fetchall():
        return None
    meta = _meta(session.run(_META).fetchall())
    anchor = _anchor(meta)
    return anchor if _version(meta) == len(MIGRATIONS) and _next(anchor, environment) is anchor else None


def _next(anchor: Anchor | None, environment: Environment) -> Anchor:
    return next_anchor(anchor, environment.boot_id(), environment.boot_time(), environment.wall_time())


def _migrate(transaction: Transaction, environment: Environment, *, create: bool) -> Anchor:
    meta = _meta(transaction.rows(_META, ())) if transaction.rows(_HAS_META, ()) else {}
    version = _version(meta)
    if version < len(MIGRATIONS) and not create:
        message = "the database has no tables of this holdall, and create=false forbids to make them"
        raise ConfigError(message)
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            transaction.change(statement, ())
    anchor = _next(_anchor(meta), environment)
    settings = {"schema": len(MIGRATIONS), "boot": anchor.boot, "offset": anchor.offset, "set_at": anchor.set_at}
    for name, value in settings.items():
        transaction.change(_SET, (name, value))
    return anchor


def _meta(rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    return {name.decode(): value.decode() if isinstance(value, bytes) else value for name, value in rows}


def _version(meta: dict[str, Any]) -> int:
    version = meta.get("schema", 0)
    if not isinstance(version, int):
        message = "the table holdall_meta holds no schema version"
        raise Corrupt(message)
    if version > len(MIGRATIONS):
        message = f"the database has schema {version}, this holdall knows {len(MIGRATIONS)}: upgrade holdall"
        raise ConfigError(message)
    return version


def _anchor(meta: dict[str, Any]) -> Anchor | None:
    if "boot" not in meta:
        return None
    return Anchor(str(meta["boot"]), float(meta["offset"]), float(meta["set_at"]))
