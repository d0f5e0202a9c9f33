"""The changes that write the heads of logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdall.spi import ANY
from holdall.values import Head
from holdall_adapters.dynamodb.changes import Change, fence_holds
from holdall_adapters.dynamodb.log_state import Element, LogState, encoded
from holdall_adapters.dynamodb.names import N, S

if TYPE_CHECKING:
    from holdall.values import ExpectHead

__all__ = ["append", "drop", "let_go", "restore", "same_life", "seal", "truncate"]

_NOBODY = {"S": "-"}


def same_life(change: Change, seen: LogState) -> Change:
    """Let a change happen only in the life of a log that was seen; where there was none, after the same grave.

    Args:
        change: the change.
        seen: what was seen.

    """
    change.equal("inc", None if seen.incarnation is None else S(seen.incarnation))
    if seen.incarnation is None:
        change.equal("ver", None if seen.version is None else S(seen.version))
    return change


def _keys_of(element: Element) -> list[bytes]:
    return [bytes.fromhex(element.write_id), *([] if element.hashed is None else [element.hashed])]


def append(element: Element, expect: ExpectHead, fence: int | None, seen: LogState) -> Change:
    """Return the change of an append, which happens once at most: in that life, and from that base on.

    Args:
        element: the batch.
        expect: what must be there.
        fence: the token, or None.
        seen: what was seen of the log.

    """
    change = same_life(Change(), seen)
    incarnation = element.write_id if seen.incarnation is None else seen.incarnation
    empty, added = change.value({"L": []}), change.value({"L": [encoded(element)]})
    change.set_to("tail", f"list_append(if_not_exists(#tail, {empty}), {added})")
    zero, count = change.value(N(0)), change.value(N(element.entries))
    change.set_to("len", f"if_not_exists(#len, {zero}) + {count}")
    change.add("nb", N(1)).add("ids", {"BS": _keys_of(element)})
    if seen.incarnation is None:
        change.set("inc", S(incarnation)).set("fst", N(0)).set("bas", N(0)).remove("gone")
    else:
        change.equal("bas", N(seen.base)).equal("fst", N(seen.first))
        for key in _keys_of(element):
            change.require(f"NOT contains(#ids, {change.value({'B': key})})")
        if expect is not ANY:
            change.equal("len", N(expect.length if isinstance(expect, Head) else int(_length(expect))))
    if element.payload is None:
        change.equal("epoch", None if seen.epoch is None else {"N": seen.epoch})
    fence_holds(change, fence)
    return change


def _length(expect: ExpectHead) -> int:
    return expect if isinstance(expect, int) else -1


def let_go(elements: Sequence[Element], end: int, seen: LogState) -> Change:
    """Return the change by which a head lets go of the batches that a chunk holds.

    Args:
        elements: the batches.
        end: where the chunk ends.
        seen: the log, whose base must still be the same.

    """
    change = same_life(Change(), seen).equal("bas", N(seen.base)).set("bas", N(end))
    change.remove(*(f"tail[{number}]" for number in range(len(elements))))
    return change.delete("ids", {"BS": [key for element in elements for key in _keys_of(element)]})


def _identified(change: Change, write_id: str) -> Change:
    change.set_to("prev", f"if_not_exists(#ver, {change.value(_NOBODY)})")
    return change.set("ver", S(write_id))


def truncate(
    write_id: str, first: int, seen: LogState, expect: ExpectHead, fence: int | None, *, whole: bool
) -> Change:
    """Return the change of a truncate.

    Args:
        write_id: the id of the write.
        first: where the log is to begin.
        seen: the log, which must still begin where it did.
        expect: what must be there.
        fence: the token, or None.
        whole: whether it must still be as long as it was.

    """
    change = _identified(same_life(Change(), seen), write_id).set("fst", N(first)).equal("fst", N(seen.first))
    if whole or expect is not ANY:
        change.equal("len", N(seen.length))
    fence_holds(change, fence)
    return change


def drop(write_id: str, now: float, seen: LogState, expect: ExpectHead, fence: int | None) -> Change:
    """Return the change that leaves a grave in the place of a log.

    Args:
        write_id: the id of the write.
        now: the time.
        seen: the log.
        expect: what must be there.
        fence: the token, or None.

    """
    change = _identified(same_life(Change(), seen), write_id).set("gone", N(now))
    change.remove("tail", "ids", "inc", "len", "fst", "bas", "nb")
    change.add("trash", {"SS": [f"{seen.incarnation} {now:.0f}"]})
    if expect is not ANY:
        change.equal("len", N(seen.length)).equal("fst", N(seen.first))
    fence_holds(change, fence)
    return change


def restore(element: Element | None, write_id: str, first: int, seen: LogState) -> Change:
    """Return the change that makes a log which begins at a position.

    Args:
        element: its entries, as one batch, or None if it has none.
        write_id: the id of the write.
        first: the position.
        seen: what was seen: no log.

    """
    change = same_life(Change(), seen)
    change.set("inc", S(write_id)).set("fst", N(first)).set("bas", N(first)).remove("gone")
    change.set("len", N(first + (element.entries if element else 0))).set("nb", N(1 if element else 0))
    if element is not None:
        change.set("tail", {"L": [encoded(element)]}).set("ids", {"BS": _keys_of(element)})
        if element.payload is None:
            change.equal("epoch", None if seen.epoch is None else {"N": seen.epoch})
    return change


def seal(fence: int, seen: LogState | None = None) -> Change:
    """Return the change that raises the mark, and nothing else.

    Args:
        fence: the token.
        seen: no log, which must still be so; None where that does not matter.

    """
    change = Change() if seen is None else same_life(Change(), seen)
    fence_holds(change, fence)
    return change
