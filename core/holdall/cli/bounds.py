"""Bounds of what is read and written at once, and what makes two values the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from holdall.capabilities import Capabilities
from holdall.cli.damage import Damaged
from holdall.codec import encode

__all__ = ["READ_BYTES", "Limits", "Pace", "in_batches", "name_fault", "same", "size_of", "value_fault"]

READ_BYTES: Final = 2 * 2**20
"""How many bytes of values are asked for at once."""

_MOST_READ = 1_000
_FIRST_READ = 1
_MOST_WRITTEN = 500
_MOST_WRITTEN_BYTES = 2**20

Item = TypeVar("Item")


def size_of(value: Any) -> int:
    """Return the bytes of a value as holdall stores it.

    Args:
        value: a value that a store gave.

    """
    return len(encode(value))


def same(one: Any, other: Any) -> bool:
    """Return whether two values are the same in everything that a store keeps: types, signs, order of keys.

    Args:
        one: a value that a store gave.
        other: another.

    """
    return encode(one) == encode(other)


class Pace:
    """How many values to ask for at once, where nobody knows how large they are.

    It grows while they are small, and what came last brings it down, so that a next answer like it stays in bounds.
    """

    def __init__(self) -> None:
        self.count = _FIRST_READ

    def saw(self, sizes: Iterable[int]) -> None:
        """Take note of an answer.

        Args:
            sizes: the sizes of its values.

        """
        largest = max(sizes, default=1)
        self.count = max(1, min(self.count * 2, _MOST_READ, READ_BYTES // max(1, largest)))


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is written at once.

    Attributes:
        items: the most entries of a batch.
        operations: the most operations of a commit.
        bytes: the most bytes of either.

    """

    items: int
    operations: int
    bytes: int

    @classmethod
    def of(cls, capabilities: Capabilities) -> Limits:
        """Return what a destination takes, and no more than is good for it."""
        return cls(
            items=min(_MOST_WRITTEN, capabilities.max_batch_entries),
            operations=min(_MOST_WRITTEN, capabilities.max_commit_operations) if capabilities.atomic_commit else 1,
            bytes=min(_MOST_WRITTEN_BYTES, capabilities.max_batch_bytes),
        )


def in_batches(items: Iterable[tuple[Item, int]], most: int, most_bytes: int) -> Iterator[list[Item]]:
    """Cut items into batches; one that is larger than a batch stands alone.

    If the items end with damage, those before it come first.

    Args:
        items: the items, each with its size.
        most: how many a batch may hold.
        most_bytes: how many bytes it may hold.

    Raises:
        Damaged: the items did.

    """
    batch: list[Item] = []
    total = 0
    damage: Damaged | None = None
    try:
        for item, size in items:
            if batch and (len(batch) == most or total + size > most_bytes):
                yield batch
                batch, total = [], 0
            batch.append(item)
            total += size
    except Damaged as error:
        damage = error
    if batch:
        yield batch
    if damage is not None:
        raise damage


def name_fault(scope: str, key: str, capabilities: Capabilities) -> str | None:
    """Return why a destination does not take a name, or None if it does.

    Args:
        scope: the scope.
        key: the key.
        capabilities: those of the destination.

    """
    limits = (("scope", scope, capabilities.max_scope_bytes), ("key", key, capabilities.max_key_bytes))
    for what, name, limit in limits:
        size = len(name.encode())
        if size > limit:
            return f"its {what} has {size:,} bytes, DST takes {limit:,}"
    return None


def value_fault(size: int, capabilities: Capabilities, what: str = "its value") -> str | None:
    """Return why a destination does not take a value, or None if it does.

    Args:
        size: its bytes.
        capabilities: those of the destination.
        what: how to call it.

    """
    limit = min(capabilities.max_value_bytes, capabilities.max_batch_bytes)
    return f"{what} has {size:,} bytes, DST takes {limit:,}" if size > limit else None
