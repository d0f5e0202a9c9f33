"""What clients do with records: reads, blind and conditional writes, loops, expiry, fences, and sweeping in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdall.spi import ABSENT, ANY, DeleteRequest, PutRequest
from holdall.values import Record
from holdall_conformance.simulation.play import Answer, Workload

if TYPE_CHECKING:
    from holdall_conformance.simulation.play import Client

__all__ = ["EXPIRY", "RECORDS", "SCOPE", "get_record", "put_record", "seal_record", "sweep", "wait"]

SCOPE = "s"
_KEYS = ("k", "l")
_TOKENS = 3
_SHORT = 1.0
_WAITS = (0.3, 1.1)


def _key(client: Client) -> str:
    return _KEYS[client.pick(len(_KEYS))]


def _shortest(client: Client) -> float:
    return max(_SHORT, client.play.subject.capabilities.min_ttl)


def _ttl(client: Client) -> float | None:
    shortest = _shortest(client)
    return (None, shortest, 2 * shortest)[client.pick(3)]


def _token(client: Client) -> int:
    return 1 + client.pick(_TOKENS)


def _seen(client: Client, key: str) -> Any:
    return client.seen.get(key, ABSENT)


async def get_record(client: Client, key: str) -> Answer:
    """Read a record; its version is remembered.

    Args:
        client: who reads.
        key: the key.

    """

    async def read() -> Record | None:
        found = await client.store.get(SCOPE, key)
        return None if found is None else Record(SCOPE, key, found.payload.decode()[1:-1], found.version)

    answer = await client.call("get", {"scope": SCOPE, "key": key}, read())
    if answer.returned:
        client.seen[key] = ABSENT if answer.result is None else answer.result.version
    return answer


async def put_record(
    client: Client, key: str, expect: Any = ANY, ttl: float | None = None, fence: Any = None
) -> Answer:
    """Write a record with a value that nobody wrote before; its version is remembered.

    Args:
        client: who writes.
        key: the key.
        expect: what must be there.
        ttl: how long it is to live.
        fence: the fencing token.

    """
    value, version = client.new_value(), client.environment.new_id()
    request = PutRequest(SCOPE, key, f'"{value}"'.encode(), version, expect, ttl, fence)
    arguments = {"scope": SCOPE, "key": key, "value": value, "expect": expect, "ttl": ttl, "fence": fence}

    async def write() -> str:
        await client.store.put(request)
        return version

    answer = await client.call("put", arguments, write())
    if answer.returned:
        client.seen[key] = version
    elif answer.refused:
        _learn(client, key, answer.result)
    return answer


def _learn(client: Client, key: str, refusal: Any) -> None:
    if hasattr(refusal, "current"):
        client.seen[key] = ABSENT if refusal.current is None else refusal.current


async def seal_record(client: Client, key: str, fence: int) -> Answer:
    """Raise the mark of a record.

    Args:
        client: who seals.
        key: the key.
        fence: the token.

    """
    arguments = {"scope": SCOPE, "key": key, "fence": fence, "log": False}
    return await client.call("seal", arguments, client.store.seal(SCOPE, key, fence))


async def _get(client: Client) -> None:
    await get_record(client, _key(client))


async def _put(client: Client) -> None:
    await put_record(client, _key(client), ttl=_ttl(client))


async def _put_expected(client: Client) -> None:
    key = _key(client)
    await put_record(client, key, _seen(client, key), _ttl(client))


async def _put_absent(client: Client) -> None:
    await put_record(client, _key(client), ABSENT, _ttl(client))


async def _put_mortal(client: Client) -> None:
    await put_record(client, _KEYS[0], ttl=_shortest(client))


async def _put_mortal_fenced(client: Client) -> None:
    await put_record(client, _KEYS[0], ttl=_shortest(client), fence=_token(client))


async def _get_first(client: Client) -> None:
    await get_record(client, _KEYS[0])


async def _let_expire(client: Client) -> None:
    """Write something and wait until it is gone."""
    ttl = _shortest(client)
    await put_record(client, _KEYS[0], ttl=ttl, fence=_token(client) if client.pick(4) == 1 else None)
    await client.environment.sleep(1.1 * ttl)


async def _put_fenced(client: Client) -> None:
    await put_record(client, _key(client), ttl=_ttl(client), fence=_token(client))


async def _update(client: Client) -> None:
    """Read and write what depends on it, until nobody was faster: a loop of compare-and-set."""
    key = _key(client)
    for _ in range(3):
        read = await get_record(client, key)
        if read.returned and not (await put_record(client, key, _seen(client, key))).refused:
            return


async def _delete_with(client: Client, key: str, expect: Any, fence: int | None) -> None:
    arguments = {"scope": SCOPE, "key": key, "expect": expect, "fence": fence}
    request = DeleteRequest(SCOPE, key, expect, fence)
    answer = await client.call("delete", arguments, client.store.delete(request))
    if answer.returned:
        client.seen[key] = ABSENT


async def _delete(client: Client) -> None:
    await _delete_with(client, _key(client), ANY, None)


async def _delete_expected(client: Client) -> None:
    key = _key(client)
    await _delete_with(client, key, _seen(client, key), None)


async def _delete_fenced(client: Client) -> None:
    await _delete_with(client, _key(client), ANY, _token(client))


async def _touch(client: Client) -> None:
    key, ttl = _key(client), _ttl(client)
    fence = _token(client) if client.pick(4) == 1 else None
    arguments = {"scope": SCOPE, "key": key, "ttl": ttl, "fence": fence}
    await client.call("touch", arguments, client.store.touch(SCOPE, key, ttl, fence))


async def _seal(client: Client) -> None:
    await seal_record(client, _key(client), _token(client))


async def wait(client: Client) -> None:
    """Do nothing for a while.

    Args:
        client: who waits.

    """
    await client.environment.sleep(_WAITS[client.pick(len(_WAITS))])


async def sweep(client: Client) -> None:
    """Sweep; it is no call of the history, since nobody may notice it.

    Args:
        client: who sweeps.

    """
    await client.unrecorded("sweep", client.store.sweep())


async def _finish(client: Client) -> None:
    for key in _KEYS:
        await get_record(client, key)


RECORDS = Workload(
    name="records",
    operations=(
        _get,
        _put,
        _put_expected,
        _update,
        _put_absent,
        _delete,
        _delete_expected,
        _put_fenced,
        _delete_fenced,
        _touch,
        _seal,
        wait,
        sweep,
    ),
    finish=_finish,
    clients=3,
    budget=5,
)

EXPIRY = Workload(
    name="expiry",
    operations=(
        _get_first,
        _put_mortal,
        _put_mortal_fenced,
        sweep,
        _let_expire,
        _put_expected,
        _touch,
        _put_fenced,
        _delete_fenced,
    ),
    finish=_finish,
    clients=2,
    budget=7,
)
