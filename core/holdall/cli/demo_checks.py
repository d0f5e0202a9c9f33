"""What the demo compares and copies: logs with files, logs with what was acknowledged, one log with another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from holdall.cli.demo_protocol import Event, batch_name
from holdall.cli.demo_race import DoesNotHold
from holdall.cli.demo_setting import SCOPE
from holdall.codec import digest, encode
from holdall.errors import Fenced
from holdall.store import Store
from holdall.values import Entry

__all__ = ["MOST_BYTES", "MOST_ENTRIES", "check", "checked_values", "copy_log", "log_digest", "refused_mark"]

MOST_ENTRIES: Final = 500
MOST_BYTES: Final = 2**20


def check(holds: bool, otherwise: str) -> None:
    """Go on if something holds.

    Args:
        holds: whether it does.
        otherwise: what to say if not.

    Raises:
        DoesNotHold: it does not.

    """
    if not holds:
        raise DoesNotHold(otherwise)


def refused_mark(store: Store, log: str, entries: list[Any], token: int, name: str) -> int:
    """Append with an old token, and return the mark that kept it out.

    Args:
        store: the store.
        log: key of the log.
        entries: what to append.
        token: the old token.
        name: the batch id.

    Raises:
        DoesNotHold: the store took it.

    """
    try:
        store.append(SCOPE, log, entries, fence=token, batch_id=name)
    except Fenced as error:
        check(error.mark > token, "it was refused by a mark that is not above its token")
        return error.mark
    message = f"a write with the old token {token} was taken"
    raise DoesNotHold(message)


def _positions(store: Store, log: str) -> Iterator[Entry]:
    for expected, entry in enumerate(store.iter_entries(SCOPE, log)):
        check(entry.position == expected, f"position {entry.position} comes where {expected} should")
        yield entry


def log_digest(store: Store, log: str) -> str:
    """Return the digest of all values of a log, whose positions must have no gap.

    Args:
        store: the store.
        log: key of the log.

    Raises:
        DoesNotHold: a position is missing.

    """
    return digest(entry.value for entry in _positions(store, log))


def checked_values(store: Store, log: str, acknowledged: list[Event]) -> Iterator[Any]:
    """Pass the values of a log on, comparing every acknowledged batch with what is at its place.

    Args:
        store: the store.
        log: key of the log.
        acknowledged: the batches that were acknowledged.

    Raises:
        DoesNotHold: a batch is not there, or not there alone.

    """
    values = (entry.value for entry in _positions(store, log))
    position = 0
    for event in sorted(acknowledged, key=lambda event: event.start):
        check(event.start >= position, f"two batches were acknowledged for position {event.start}")
        yield from islice(values, event.start - position)
        batch = list(islice(values, event.count))
        check(digest(batch) == event.digest, f"the batch acknowledged at position {event.start} is not there")
        yield from batch
        position = event.end
    yield from values


def copy_log(store: Store, other: Store, log: str) -> int:
    """Copy a log in bounded memory, and return in how many batches.

    Args:
        store: where the log is.
        other: where the copy goes; there must be no such log.
        log: its key.

    """
    count = 0
    for start, batch in _batches(store, other, log):
        if not count:
            other.restore_log(SCOPE, log, start, batch)
        else:
            other.append(SCOPE, log, batch, expect=start, batch_id=batch_name(log, start))
        count += 1
    return count


def _batches(store: Store, other: Store, log: str) -> Iterator[tuple[int, list[Any]]]:
    """Cut a log into batches that another store takes, each with its first position."""
    limits = other.capabilities
    most, room = min(MOST_ENTRIES, limits.max_batch_entries), min(MOST_BYTES, limits.max_batch_bytes)
    start, size = 0, 0
    batch: list[Any] = []
    for entry in store.iter_entries(SCOPE, log):
        added = len(encode(entry.value))
        if batch and (len(batch) == most or size + added > room):
            yield start, batch
            batch, size = [], 0
        start = start if batch else entry.position
        batch.append(entry.value)
        size += added
    if batch:
        yield start, batch
