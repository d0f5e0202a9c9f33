"""Logs as items. The head of a log holds its last batches, the tail; those before lie in chunks.

A chunk is a function of the tail alone, so whoever moves batches out of the same tail writes the same chunk.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from holdall.values import Head
from holdall_adapters.dynamodb.names import B, N, S

__all__ = ["Element", "LogState", "elements_of", "encoded", "moved", "state_of"]

CHUNK = 12 * 1024
_OVERHEAD = 112
"""Bytes that a batch counts beside its entries: one expression removes what a chunk holds, and it has bounds too."""


class Element(NamedTuple):
    """A batch in a tail or chunk.

    Attributes:
        write_id: the id of its append.
        entries: how many it has.
        payload: the entries, a line each; None if they lie in parts.
        parts: how many parts hold them.
        first: the first position that the log kept then.
        hashed: its batch id, hashed, or None.
        digest: the digest of its entries, or None.

    """

    write_id: str
    entries: int
    payload: bytes | None
    parts: int
    first: int
    hashed: bytes | None
    digest: str | None

    @property
    def size(self) -> int:
        """The bytes that it takes in its item, about."""
        return _OVERHEAD + len(self.payload or b"")


class LogState(NamedTuple):
    """The head of a log.

    Attributes:
        incarnation: that of the log, None if there is none.
        length: how many entries it has had.
        first: the first position that it keeps.
        base: where its tail begins.
        tail: the batches in it.
        batches: how many batches it has had.
        mark: the highest token seen, 0 for none.
        epoch: counts the sweeps that looked for orphans of it, as it is stored, or None.
        version: the id of the last truncate or drop.
        previous: that of the one before.
        size: the bytes of the tail, about.

    """

    incarnation: str | None = None
    length: int = 0
    first: int = 0
    base: int = 0
    tail: tuple[Element, ...] = ()
    batches: int = 0
    mark: int = 0
    epoch: str | None = None
    version: str | None = None
    previous: str | None = None
    size: int = 0

    @property
    def head(self) -> Head | None:
        """The head, or None if there is no log."""
        return None if self.incarnation is None else Head(self.first, self.length, self.incarnation)

    def placed(self) -> Iterable[tuple[int, Element]]:
        """Return the batches of the tail with their positions."""
        position = self.base
        for element in self.tail:
            yield position, element
            position += element.entries

    def is_same(self, other: LogState) -> bool:
        """Tell whether both are of one life of the log and begin at the same places."""
        return self[0] == other[0] and self[2:4] == other[2:4] and self.version == other.version


def state_of(item: dict[str, Any] | None) -> LogState:
    """Return the state that an item tells.

    Args:
        item: the item, or None.

    """
    if item is None:
        return LogState()
    tail = elements_of(item.get("tail", {}).get("L", ()))
    return LogState(
        incarnation=_text(item, "inc"),
        length=_count(item, "len"),
        first=_count(item, "fst"),
        base=_count(item, "bas"),
        tail=tail,
        batches=_count(item, "nb"),
        mark=_count(item, "mark"),
        epoch=item["epoch"]["N"] if "epoch" in item else None,
        version=_text(item, "ver"),
        previous=_text(item, "prev"),
        size=sum(element.size for element in tail),
    )


def _text(item: dict[str, Any], name: str) -> str | None:
    return item[name]["S"] if name in item else None


def _count(item: dict[str, Any], name: str) -> int:
    return int(item[name]["N"]) if name in item else 0


def elements_of(values: Iterable[dict[str, Any]]) -> tuple[Element, ...]:
    """Return the batches in a list.

    Args:
        values: the values of the list.

    """
    return tuple(_element(value["M"]) for value in values)


def _element(value: dict[str, Any]) -> Element:
    return Element(
        write_id=value["i"]["B"].hex(),
        entries=_count(value, "n"),
        payload=value["p"]["B"] if "p" in value else None,
        parts=_count(value, "k"),
        first=_count(value, "f"),
        hashed=value["h"]["B"] if "h" in value else None,
        digest=_text(value, "d"),
    )


def encoded(element: Element) -> dict[str, Any]:
    """Return a batch as a value.

    Args:
        element: the batch.

    """
    value: dict[str, Any] = {"i": B(bytes.fromhex(element.write_id)), "n": N(element.entries), "f": N(element.first)}
    if element.payload is None:
        value["k"] = N(element.parts)
    else:
        value["p"] = B(element.payload)
    if element.hashed is not None:
        value |= {"h": B(element.hashed), "d": S(element.digest or "-")}
    return {"M": value}


def moved(tail: Sequence[Element]) -> Sequence[Element]:
    """Return the batches that go into a chunk: the shortest beginning of the tail that is large enough.

    Args:
        tail: the tail.

    """
    size = 0
    for number, element in enumerate(tail):
        size += element.size
        if size >= CHUNK:
            return tail[: number + 1]
    return tail
