"""Failures told to people: the line that failed, what the names in it held, and where to look first."""

from __future__ import annotations

import ast
import linecache
import threading
import traceback
from types import FrameType, TracebackType

__all__ = ["detail_of", "hint_for", "reason_of", "text_of"]

_parsing = threading.Lock()

_LONGEST_VALUE = 400
_LONGEST_REASON = 300

_HINTS = {
    "values": "values must go through holdall's codec, whole and unchanged, and be copied on the way in and out",
    "keys": "map scope and key to the storage by one rule that never joins, folds, cuts or interprets them",
    "records": "look at what the plain operation does with a record that is absent, present or just deleted",
    "versions": "a version is the random id of one write, compared by the storage in the same step as the write",
    "expiry": "what has expired is absent to every operation before anything is swept, by one clock",
    "paging": "pages are in code-point order, continue strictly after the cursor, and end with next=None only",
    "logs": "positions, length and incarnation are decided in the same atomic step as the append",
    "batches": "a batch id is looked up before fence and expectation, and lives as long as its entries",
    "follow": "follow yields every position once, waits at the end, and raises when the log went away under it",
    "transactions": "every version that was read is checked again in the commit",
    "commits": "a commit checks everything before it writes anything, and others see all of it or none",
    "leases": "the token rises in the same atomic step that changes the holder; nonce and token are compared",
    "holds": "renew from a thread of its own, keep an own deadline, and let loss be final",
    "fencing": "the mark is compared and raised in the same atomic step as the write, and survives everything",
    "flags": "flags have a keyspace and an expiry of their own",
    "concurrency": "the check and the write must be one atomic step of the storage, not two calls",
    "processes": "nothing that decides may live in one process: no cache, no lock in memory, no counter",
    "crash": "acknowledge only what survives SIGKILL, and make what is half done invisible and repairable",
    "cancellation": "a cancelled operation must give back its connection, transaction and locks",
    "fork": "remember the process id, and reopen or raise ForkedHandle when it changes",
    "ambiguity": "when a reply is lost, send the same write with the same id again, or raise OutcomeUnknown",
    "simulation": "read the schedule: every step of it is an await at which another client may go on",
    "limits": "count the bytes of UTF-8 before anything is written, and raise TooLarge(limit, actual)",
    "errors": "translate every error of the driver through one table, and keep it as the cause",
    "handles": "a handle is usable by threads, refuses use after close, and cannot be pickled",
    "capabilities": "what is declared is verified; declare what holds",
}


def hint_for(group: str) -> str:
    """Return where to look first when a clause of a group failed."""
    return _HINTS.get(group, "")


def reason_of(error: BaseException) -> str:
    """Return a failure in one line."""
    text = " ".join(text_of(error).split())
    if isinstance(error, AssertionError):
        line = _failed_line(error)
        text = text or f"not so: {line}"
    else:
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}..."


def detail_of(error: BaseException) -> str:
    """Return a failure in full: its message, the line that failed with what the names in it held, and the traceback."""
    parts = [text] if (text := text_of(error).strip()) else []
    frame = _innermost(error.__traceback__)
    if frame is not None:
        line = _failed_line(error)
        parts.append("\n".join([f"in: {line}", *_values_in(frame, line)]))
    parts.append(_traceback_of(error))
    return "\n\n".join(parts)


def text_of(error: BaseException) -> str:
    """Return the text of an error, also of one that cannot be turned into text."""
    try:
        return str(error)
    except Exception as worse:  # noqa: BLE001 - a stranger's error
        return f"(its text cannot be had: {type(worse).__name__})"


def _traceback_of(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error)).rstrip()
    except Exception:  # noqa: BLE001 - a stranger's error
        return "".join(traceback.format_tb(error.__traceback__)).rstrip()


def _innermost(trace: TracebackType | None) -> TracebackType | None:
    """Return where a scenario, or a helper of one, gave up; the code of the backend itself lies deeper."""
    found = None
    while trace is not None:
        if "holdall_conformance" in trace.tb_frame.f_code.co_filename:
            found = trace
        trace = trace.tb_next
    return found


def _failed_line(error: BaseException) -> str:
    trace = _innermost(error.__traceback__)
    if trace is None:
        return ""
    return _statement(trace.tb_frame, trace.tb_lineno)


def _statement(frame: FrameType, line: int) -> str:
    """Return the statement that a line begins or lies in, on one line."""
    source = "".join(linecache.getlines(frame.f_code.co_filename))
    tree = _parsed(source)
    simple = (ast.Assert, ast.Expr, ast.Assign, ast.Raise, ast.Return)
    for node in ast.walk(tree):
        if isinstance(node, simple) and node.lineno <= line <= (node.end_lineno or node.lineno):
            return " ".join((ast.get_source_segment(source, node) or "").split())
    return linecache.getline(frame.f_code.co_filename, line).strip()


def _parsed(source: str) -> ast.AST:
    """Return the syntax tree of a source, empty if it is none; Python 3.11 cannot parse in two threads at once."""
    with _parsing:
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError):
            return ast.Module(body=[], type_ignores=[])


def _values_in(trace: TracebackType, statement: str) -> list[str]:
    tree = _parsed(statement)
    names = dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    held = trace.tb_frame.f_locals
    return [f"    {name} = {_shown(held[name])}" for name in names if name in held and not callable(held[name])]


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - what is wrong with it is not the point here
        return f"a {type(value).__name__} whose repr raises {type(error).__name__}"
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}... ({len(text)} characters)"
