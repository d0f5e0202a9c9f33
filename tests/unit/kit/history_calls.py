"""Calls of hand-made histories, in few words: client, beginning, end, and what the call is about."""

from __future__ import annotations

from holdall import Appended, Entries, Entry, Head, Record
from holdall_conformance.history.calls import Call

LOG = {"scope": "s", "key": "log"}
RECORD = {"scope": "s", "key": "record"}
LEASE = {"key": "lease"}


def call(client, begin, end, operation, result, **arguments):
    outcome = "refused" if isinstance(result, dict) and "error" in result else "returned"
    return Call(client, operation, arguments, begin, end, outcome, result)


def lost(client, begin, operation, **arguments):
    """A call of unknown outcome."""
    return Call(client, operation, arguments, begin, None, "unknown")


def put(client, begin, end, value, result, **arguments):
    return call(client, begin, end, "put", result, **RECORD, value=value, **arguments)


def lost_put(client, begin, value, **arguments):
    return lost(client, begin, "put", **RECORD, value=value, **arguments)


def get(client, begin, end, value=None, version=None):
    result = None if version is None else Record("s", "record", value, version)
    return call(client, begin, end, "get", result, **RECORD)


def delete(client, begin, end, result, **arguments):
    return call(client, begin, end, "delete", result, **RECORD, **arguments)


def touch(client, begin, end, result, **arguments):
    return call(client, begin, end, "touch", result, **RECORD, **arguments)


def seal(client, begin, end, fence, result):
    return call(client, begin, end, "seal", result, **RECORD, fence=fence)


def conflict(current):
    return {"error": "Conflict", "current": current}


def fenced(mark):
    return {"error": "Fenced", "mark": mark}


def append(client, begin, end, entries, result, **arguments):
    """An append: its result is (start, incarnation), (start, incarnation, first), or a refusal."""
    if isinstance(result, tuple):
        start, incarnation, first = (*result, 0)[:3]
        result = Appended(start, len(entries), Head(first, start + len(entries), incarnation))
    return call(client, begin, end, "append", result, **LOG, entries=list(entries), **arguments)


def lost_append(client, begin, entries, **arguments):
    return lost(client, begin, "append", **LOG, entries=list(entries), **arguments)


def read(client, begin, end, entries, incarnation=None, *, start=0, first=0, length=None, **arguments):
    if incarnation is None:
        return call(client, begin, end, "read", Entries([], None), **LOG, start=start, **arguments)
    head = Head(first, start + len(entries) if length is None else length, incarnation)
    result = Entries([Entry(start + index, value) for index, value in enumerate(entries)], head)
    return call(client, begin, end, "read", result, **LOG, start=start, **arguments)


def refused_read(client, begin, end, start, told):
    return call(client, begin, end, "read", told, **LOG, start=start)


def tail(client, begin, end, count, entries, head):
    start = head.length - len(entries)
    found = Entries([Entry(start + index, value) for index, value in enumerate(entries)], head)
    return call(client, begin, end, "tail", found, **LOG, count=count)


def head(client, begin, end, result):
    return call(client, begin, end, "head", None if result is None else Head(*result), **LOG)


def truncate(client, begin, end, before, result, **arguments):
    return call(client, begin, end, "truncate", result, **LOG, before=before, **arguments)


def drop(client, begin, end, result, **arguments):
    return call(client, begin, end, "drop", result, **LOG, **arguments)


def seal_log(client, begin, end, fence, result):
    return call(client, begin, end, "seal", None if result is None else Head(*result), **LOG, fence=fence, log=True)


def lease(operation, client, begin, end, result, **arguments):
    return call(client, begin, end, operation, result, **LEASE, **arguments)
