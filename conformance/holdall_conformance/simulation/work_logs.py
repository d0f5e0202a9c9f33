"""What clients do with a log: append in every way, read, repeat batches, truncate, drop, fence; sweeps in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdall.spi import ABSENT, ANY, AppendRequest, LogRequest
from holdall.values import Entries, Entry, Head
from holdall_conformance.simulation.play import Answer, Batch, Workload
from holdall_conformance.simulation.work_records import SCOPE, sweep

if TYPE_CHECKING:
    from holdall.spi import StoredEntries
    from holdall_conformance.simulation.play import Client

__all__ = ["CHUNKS", "LOGS", "append_entries", "new_batch", "read_log", "seal_log"]

KEY = "log"
_PLACE = {"scope": SCOPE, "key": KEY}
_BULK = b" " * 33 * 1024
"""Behind the JSON of an entry: two such entries are what the derived parts put into a chunk."""
_TOKENS = 3


def _seen(client: Client) -> Any:
    return client.seen.get(KEY, ABSENT)


def _learn(client: Client, head: Head | None) -> None:
    client.seen[KEY] = ABSENT if head is None else head


async def append_entries(client: Client, batch: Batch, expect: Any = ANY, fence: int | None = None) -> Answer:
    """Append a batch.

    Args:
        client: who appends.
        batch: the entries, how large they are, and the id of the batch if it has one.
        expect: what must be there.
        fence: the fencing token.

    """
    entries, bulky, batch_id = batch
    payloads = [f'"{entry}"'.encode() + (_BULK if bulky else b"") for entry in entries]
    digest = None if batch_id is None else " ".join(entries)
    request = AppendRequest(SCOPE, KEY, payloads, client.environment.new_id(), expect, fence, batch_id, digest)
    arguments = {**_PLACE, "entries": entries, "expect": expect, "fence": fence, "batch_id": batch_id}
    answer = await client.call("append", arguments, client.store.append(request))
    if answer.returned:
        _learn(client, answer.result.head)
    elif hasattr(answer.result, "current"):
        _learn(client, answer.result.current)
    return answer


async def _append_bulk(client: Client) -> None:
    batch = new_batch(client, 3)
    await append_entries(client, batch._replace(bulky=True))


async def _append_bulk_batch(client: Client) -> None:
    batch = new_batch(client, 2)
    named = batch._replace(bulky=True, batch_id=f"batch-{batch.entries[0]}")
    client.play.batches.append(named)
    await append_entries(client, named)


def new_batch(client: Client, most: int = 1) -> Batch:
    """Return a batch of entries that nobody wrote before.

    Args:
        client: who is to append them.
        most: how many there may be.

    """
    count = 1 + client.pick(most) if most > 1 else 1
    return Batch([client.new_value() for _ in range(count)], client.pick(2) == 1)


def _entries(found: StoredEntries) -> Entries:
    values = [
        Entry(found.start + place, payload.rstrip().decode()[1:-1]) for place, payload in enumerate(found.payloads)
    ]
    return Entries(values, found.head)


async def read_log(client: Client, start: int = 0, limit: int | None = None) -> Answer:
    """Read entries; the head is remembered, and read from where the log begins if that was not known.

    Args:
        client: who reads.
        start: the first position.
        limit: the most entries.

    """

    async def read(begin: int) -> Entries:
        return _entries(await client.store.read(SCOPE, KEY, begin, limit, None))

    answer = await client.call("read", {**_PLACE, "start": start, "limit": limit}, read(start))
    if answer.refused:
        start = answer.result.first
        answer = await client.call("read", {**_PLACE, "start": start, "limit": limit}, read(start))
    if answer.returned:
        _learn(client, answer.result.head)
    return answer


async def seal_log(client: Client, fence: int) -> Answer:
    """Raise the mark of the log.

    Args:
        client: who seals.
        fence: the token.

    """
    return await client.call("seal", {**_PLACE, "fence": fence, "log": True}, client.store.seal_log(SCOPE, KEY, fence))


async def _read(client: Client) -> None:
    await read_log(client)


async def _read_part(client: Client) -> None:
    await read_log(client, client.pick(4), 1 + client.pick(3))


async def _append(client: Client) -> None:
    await append_entries(client, new_batch(client, 3))


async def _append_at_length(client: Client) -> None:
    seen = _seen(client)
    await append_entries(client, new_batch(client), seen if seen is ABSENT else seen.length)


async def _append_at_head(client: Client) -> None:
    await append_entries(client, new_batch(client, 2), _seen(client))


async def _append_batch(client: Client) -> None:
    batch = new_batch(client, 2)
    named = batch._replace(batch_id=f"batch-{batch.entries[0]}")
    client.play.batches.append(named)
    await append_entries(client, named)


def _pick_batch(client: Client) -> Batch | None:
    """Return a batch of anyone's, the latest for the plainest choice."""
    batches = client.play.batches
    return batches[-1 - client.pick(len(batches))] if batches else None


async def _repeat_batch(client: Client) -> None:
    """Send a batch once more: its sender may not know whether it got in."""
    batch = _pick_batch(client)
    if batch is not None:
        await append_entries(client, batch)


async def _misuse_batch(client: Client) -> None:
    """Send other entries under a batch id that was used."""
    batch = _pick_batch(client)
    if batch is not None:
        await append_entries(client, new_batch(client)._replace(batch_id=batch.batch_id))


async def _append_fenced(client: Client) -> None:
    await append_entries(client, new_batch(client), fence=1 + client.pick(_TOKENS))


async def _update(client: Client) -> None:
    """Read the log and append what depends on it, until nobody was faster."""
    for _ in range(3):
        read = await read_log(client)
        if read.returned and not (await append_entries(client, new_batch(client), _seen(client))).refused:
            return


async def _head(client: Client) -> None:
    answer = await client.call("head", _PLACE, client.store.head(SCOPE, KEY))
    if answer.returned:
        _learn(client, answer.result)


async def _tail(client: Client) -> None:
    count = 1 + client.pick(4)

    async def read() -> Entries:
        return _entries(await client.store.tail(SCOPE, KEY, count))

    await client.call("tail", {**_PLACE, "count": count}, read())


async def _truncate(client: Client) -> None:
    before, expect = client.pick(8), _seen(client) if client.pick(4) == 1 else ANY
    arguments = {**_PLACE, "before": before, "expect": expect, "fence": None}
    request = LogRequest(SCOPE, KEY, expect, None)
    await client.call("truncate", arguments, client.store.truncate(request, before))


async def _drop(client: Client) -> None:
    expect = _seen(client) if client.pick(4) == 1 else ANY
    arguments = {**_PLACE, "expect": expect, "fence": None}
    await client.call("drop", arguments, client.store.drop(LogRequest(SCOPE, KEY, expect, None)))


async def _seal(client: Client) -> None:
    await seal_log(client, 1 + client.pick(_TOKENS))


async def _finish(client: Client) -> None:
    await read_log(client)


LOGS = Workload(
    name="logs",
    operations=(
        _read,
        _append,
        _append_at_length,
        _append_at_head,
        _update,
        _append_batch,
        _repeat_batch,
        _head,
        _tail,
        _truncate,
        _append_fenced,
        _seal,
        _drop,
        sweep,
        _read_part,
        _misuse_batch,
    ),
    finish=_finish,
    clients=3,
    budget=6,
)

CHUNKS = Workload(
    name="chunks",
    operations=(
        _read,
        _append_bulk,
        _truncate,
        _append_bulk_batch,
        _repeat_batch,
        _append_at_head,
        sweep,
        _tail,
        _drop,
    ),
    finish=_finish,
    clients=2,
    budget=8,
)
