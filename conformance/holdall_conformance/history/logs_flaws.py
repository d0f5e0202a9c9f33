"""Contradictions between calls on one log that no order can solve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdall_conformance.history.calls import Call
from holdall_conformance.history.model import Flaw, frozen

__all__ = ["find_flaw", "positions_in"]


def find_flaw(calls: Sequence[Call]) -> Flaw | None:
    """Return the first contradiction, or None.

    Args:
        calls: the calls on one log.

    """
    appends = [call for call in calls if call.operation == "append" and call.outcome == "returned"]
    reads = [call for call in calls if call.operation in {"read", "tail"} and call.outcome == "returned"]
    found = (*_incomplete(reads), *_overlaps(appends), *_halves(appends, reads), *_differences([*appends, *reads]))
    return next(iter(found), None)


def positions_in(call: Call) -> Iterator[tuple[int, Any]]:
    """Yield the positions and values that an append was told or a read found.

    Args:
        call: an append, a read or a tail that returned.

    """
    if call.operation == "append":
        yield from enumerate(call.arguments["entries"], call.result["start"])
    else:
        yield from call.result["entries"]


def _incomplete(reads: Iterable[Call]) -> Iterator[Flaw]:
    for call in reads:
        head, found = call.result["head"], [position for position, _ in call.result["entries"]]
        wanted = list(range(*_extent(call))) if head is not None else []
        if found != wanted:
            why = (
                f"{call.operation} by {call.client} returned the positions {_span(found)} "
                f"where its own head makes it {_span(wanted)}"
            )
            yield Flaw([call], why)


def _head(call: Call) -> Mapping[str, Any] | None:
    head: Mapping[str, Any] | None = call.result["head"]
    return head


def _extent(call: Call) -> tuple[int, int]:
    """Return the positions that a read has to return, given the head that came with it."""
    head, arguments = call.result["head"], call.arguments
    if call.operation == "tail":
        return max(head["first"], head["length"] - arguments["count"]), head["length"]
    start, limit = arguments.get("start", 0), arguments.get("limit")
    return start, head["length"] if limit is None else min(head["length"], start + limit)


def _span(positions: Sequence[int]) -> str:
    if not positions:
        return "none"
    if list(positions) == list(range(positions[0], positions[-1] + 1)):
        return f"{positions[0]} to {positions[-1]}"
    return str(list(positions))


def _overlaps(appends: Iterable[Call]) -> Iterator[Flaw]:
    owners: dict[tuple[str, int], Call] = {}
    for call in appends:
        incarnation, batch_id = call.result["head"]["incarnation"], call.arguments.get("batch_id")
        for position, _ in positions_in(call):
            owner = owners.setdefault((incarnation, position), call)
            if owner is not call and (batch_id is None or batch_id != owner.arguments.get("batch_id")):
                why = f"append by {owner.client} and append by {call.client} were both told position {position}"
                yield Flaw([owner, call], why)


def _halves(appends: Sequence[Call], reads: Iterable[Call]) -> Iterator[Flaw]:
    within = {
        (call.result["head"]["incarnation"], call.result["start"] + count): call
        for call in appends
        for count in range(1, call.result["count"])
    }
    for read in reads:
        head = _head(read)
        append = None if head is None else within.get((head["incarnation"], head["length"]))
        if head is not None and append is not None:
            start, count = append.result["start"], append.result["count"]
            why = (
                f"{read.operation} by {read.client} found the length {head['length']}, in the midst of the "
                f"{count} entries that append by {append.client} wrote at {start}"
            )
            yield Flaw([append, read], why)


def _differences(calls: Iterable[Call]) -> Iterator[Flaw]:
    views: dict[tuple[str, int], tuple[str, Call]] = {}
    for call in calls:
        head = _head(call)
        if head is None:
            continue
        for position, value in positions_in(call):
            found = frozen(value)
            text, other = views.setdefault((head["incarnation"], position), (found, call))
            if text != found:
                verb = "wrote" if other.operation == "append" else "found"
                why = (
                    f"{other.operation} by {other.client} {verb} {text} at position {position}, "
                    f"and {call.operation} by {call.client} found {found} there"
                )
                yield Flaw([other, call], why)
