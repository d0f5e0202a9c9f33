"""The statements on logs.

The id of a batch is the log's id and, in its lower bits, the position of its first entry.
"""

from __future__ import annotations

import functools
from typing import Any

from holdall.spi import AppendRequest
from holdall.values import Head
from holdall_adapters.sqlite.schema import POSITION_BITS

__all__ = [
    "BATCH",
    "INSERT",
    "LIVE",
    "LIVE_LOG",
    "LOG",
    "MASK",
    "MOST_LOGS",
    "NEW_LOG",
    "READ",
    "REVIVE",
    "SEAL",
    "SET_MARK",
    "TAIL",
    "append_parameters",
    "append_statement",
]

MASK = (1 << POSITION_BITS) - 1
MOST_LOGS = 1 << (63 - POSITION_BITS)

# After a truncate the last row may be gone, or only an older one kept for its batch id: `base` knows the length then.
_LENGTH = f"""max(l.base, coalesce((SELECT (b.id & {MASK}) + b.count FROM holdall_batches b
    WHERE b.id >= l.id << {POSITION_BITS} AND b.id < (l.id + 1) << {POSITION_BITS}
    ORDER BY b.id DESC LIMIT 1), 0))"""
LOG = f"""SELECT l.id AS log, l.first AS first, l.incarnation AS incarnation, {_LENGTH} AS length, l.mark AS mark
    FROM holdall_logs l WHERE l.scope = ? AND l.key = ?"""
LIVE_LOG = f"{LOG} AND l.incarnation IS NOT NULL"
_START = f"""coalesce((SELECT b.id FROM holdall_batches b
    WHERE b.id >= log.log << {POSITION_BITS} AND b.id <= (log.log << {POSITION_BITS}) | ?
    ORDER BY b.id DESC LIMIT 1), log.log << {POSITION_BITS})"""
_END = f"(SELECT (log.log + 1) << {POSITION_BITS} FROM log)"
# The head comes as the first row, the batches behind it, all in one statement. A join would sort every batch first, and
# without LIMIT SQLite may drop the order of a subquery.
_HEAD_AND_BATCHES = f"""WITH log AS MATERIALIZED ({LIVE_LOG})
    SELECT first, length, incarnation, NULL FROM log UNION ALL SELECT * FROM (
    SELECT b.id & {MASK}, NULL, NULL, b.payload FROM holdall_batches b
    WHERE b.id >= {{}} AND b.id < {_END} AND b.payload IS NOT NULL ORDER BY b.id {{}} LIMIT -1)"""
READ = _HEAD_AND_BATCHES.format(f"(SELECT {_START} FROM log)", "")
TAIL = _HEAD_AND_BATCHES.format(f"(SELECT log.log << {POSITION_BITS} FROM log)", "DESC")
BATCH = (
    f"SELECT id & {MASK}, count, digest, first FROM holdall_batches WHERE id >> {POSITION_BITS} = ? AND batch_id = ?"
)
NEW_LOG = "INSERT INTO holdall_logs (scope, key, incarnation, first, base, mark) VALUES (?, ?, ?, ?, ?, ?) RETURNING id"
REVIVE = "UPDATE holdall_logs SET incarnation = ?, first = ?, base = ?, mark = ? WHERE id = ?"
SET_MARK = "UPDATE holdall_logs SET mark = ? WHERE id = ?"
INSERT = """INSERT INTO holdall_batches (id, count, payload, batch_id, digest, first)
    VALUES (?, ?, CAST(? AS TEXT), ?, ?, ?)"""
SEAL = f"""UPDATE holdall_logs SET mark = ? WHERE scope = ? AND key = ? AND mark <= ?
    RETURNING first, incarnation, max(base, coalesce((SELECT (b.id & {MASK}) + b.count FROM holdall_batches b
        WHERE b.id >= holdall_logs.id << {POSITION_BITS} AND b.id < (holdall_logs.id + 1) << {POSITION_BITS}
        ORDER BY b.id DESC LIMIT 1), 0))"""
LIVE = "incarnation IS NOT NULL"


@functools.cache
def append_statement(expect: str, *, fenced: bool, batch: bool) -> str:
    """Return the statement of an append to a log that is there; its parameters are those of `append_parameters`.

    Args:
        expect: "any", "length" or "head".
        fenced: whether the mark must be the fence.
        batch: whether there is a batch id.

    """
    conditions = {"any": [], "length": ["length = ?"], "head": ["length = ?", "first = ?", "incarnation = ?"]}[expect]
    conditions = [*conditions, *(["mark = ?"] if fenced else [])]
    where = f" WHERE {' AND '.join([*conditions, f'length <= {MASK} - ?'])}"
    columns, values = (", batch_id, digest, first", ", ?, ?, first") if batch else ("", "")
    return (
        f"INSERT INTO holdall_batches (id, count, payload{columns})"
        f" SELECT (log << {POSITION_BITS}) | length, ?, CAST(? AS TEXT){values} FROM ({LIVE_LOG}){where}"
        f" RETURNING id & {MASK}, (SELECT first FROM holdall_logs WHERE id = holdall_batches.id >> {POSITION_BITS}),"
        f" (SELECT incarnation FROM holdall_logs WHERE id = holdall_batches.id >> {POSITION_BITS})"
    )


def append_parameters(request: AppendRequest, payload: bytes) -> list[Any]:
    """Return the parameters of `append_statement`.

    Args:
        request: the append.
        payload: its entries, a line each.

    """
    parameters: list[Any] = [len(request.payloads), payload]
    if request.batch_id is not None:
        parameters += [request.batch_id, request.digest]
    parameters += [request.scope, request.key]
    if isinstance(request.expect, Head):
        parameters += [request.expect.length, request.expect.first, request.expect.incarnation]
    elif isinstance(request.expect, int):
        parameters.append(request.expect)
    if request.fence is not None:
        parameters.append(request.fence)
    return [*parameters, len(request.payloads)]
