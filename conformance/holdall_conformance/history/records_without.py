"""Histories of a record without some of its writes.

A write leaves traces: its version, the absence of the record, a higher mark. It may go if every call that was told of a
trace goes with it, and in turn what was told of theirs. What then remains would have worked on what was there before
the write, with two exceptions. A write that expected a trace no longer expects anything. And a delete or a touch that
found some record, whichever, may find none: its outcome is left open.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdall_conformance.history.calls import Call
from holdall_conformance.history.model import fence_of, frozen
from holdall_conformance.history.plain import ABSENT_MARK
from holdall_conformance.history.records import versions_in

__all__ = ["records_without"]

_ABSENCE = "absence"
_STRANGE = "a version that no put returned"


def records_without(calls: Sequence[Call], numbers: Sequence[int]) -> Sequence[Call]:
    """Return a history without some calls, and without what tells of them; good if the whole is good.

    Args:
        calls: the whole history.
        numbers: which calls to leave out.

    """
    origins = _origins(calls)
    gone, traces = set(numbers), set[Hashable]()
    for number in numbers:
        traces.update(_traces(calls[number]))
    spreading = True
    while spreading:
        spreading = False
        for number, call in enumerate(calls):
            if number not in gone and not traces.isdisjoint(_shown(call, origins)):
                gone.add(number)
                traces.update(_traces(call))
                spreading = True
    return [_told(call, traces, origins) for number, call in enumerate(calls) if number not in gone]


def _traces(call: Call) -> Iterable[Hashable]:
    """Yield what a call may leave behind."""
    if call.outcome == "refused" or call.operation == "get":
        return
    fence = fence_of(call.arguments)
    if fence is not None:
        yield ("mark", fence)
    if call.operation == "put":
        yield from (
            [call.result] if call.outcome == "returned" else [_STRANGE, (_STRANGE, frozen(call.arguments["value"]))]
        )
    if call.operation == "delete" or call.arguments.get("ttl") is not None:
        yield _ABSENCE


def _origins(calls: Sequence[Call]) -> Mapping[str, Hashable]:
    """Return what left each version behind: itself if a put returned it, or a strange put, of its value if known."""
    found: dict[str, Hashable] = {}
    for call in calls:
        for version in versions_in(call):
            if call.operation == "get" and call.outcome == "returned":
                found[version] = (_STRANGE, frozen(call.result["value"]))
            else:
                found.setdefault(version, _STRANGE)
    told = {call.result: call.result for call in calls if call.operation == "put" and call.outcome == "returned"}
    return {**found, **told}


def _shown(call: Call, origins: Mapping[str, Hashable]) -> Iterable[Hashable]:
    """Yield what a call was told of the state that it met."""
    if call.outcome == "unknown" or (call.operation == "put" and call.outcome == "returned"):
        return
    if call.outcome == "refused" and "mark" in call.result:
        yield ("mark", call.result["mark"])
        return
    version: Any = call.result["current"] if call.outcome == "refused" else call.result
    if call.operation == "get" and version is not None:
        version = version["version"]
    if isinstance(version, str):
        yield origins[version]
    elif not version:
        yield _ABSENCE


def _told(call: Call, traces: set[Hashable], origins: Mapping[str, Hashable]) -> Call:
    """Return a call that stays, as it is told without the traces."""
    expect = call.arguments.get("expect")
    origin = _ABSENCE if expect == ABSENT_MARK else origins.get(expect) if isinstance(expect, str) else None
    if call.outcome != "refused" and origin in traces:
        call = replace(call, arguments={**call.arguments, "expect": None})
    if call.operation in {"delete", "touch"} and call.result is True and call.arguments.get("expect") is None:
        return replace(call, returned=None, outcome="unknown", result=None)
    return call
