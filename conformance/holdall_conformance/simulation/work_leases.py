"""What clients do with leases: acquire, renew, release, overstay, and write what the lease guards, fenced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdall.errors import LeaseLost
from holdall.spi import LeaseRequest
from holdall.values import Lease
from holdall_conformance.simulation.play import Hold, Workload
from holdall_conformance.simulation.work_logs import append_entries, new_batch, read_log, seal_log
from holdall_conformance.simulation.work_records import get_record, put_record, seal_record, sweep, wait

if TYPE_CHECKING:
    from holdall_conformance.simulation.play import Answer, Client

__all__ = ["LEASES"]

_KEYS = ("key", "other")
_GUARDED = "k"
_SHORT = 1.0
_CALL_TIMEOUT = 0.25
_MARGIN_SHARE = 0.1


def _key(client: Client) -> str:
    return _KEYS[client.pick(4) == 1]


def _ttl(client: Client) -> float:
    return (1 + client.pick(2)) * max(_SHORT, client.play.subject.capabilities.min_ttl)


def _deadline(client: Client, sent: float, ttl: float) -> float:
    """Return when the holder must stop, on the world's clock: as a lock computes it from before it sent."""
    return sent + ttl - min(client.play.subject.capabilities.expiry_margin, _MARGIN_SHARE * ttl)


async def _acquire(client: Client) -> None:
    key, ttl = _key(client), _ttl(client)
    nonce, sent = client.environment.new_id(), client.play.world.clock
    deadline = _deadline(client, sent, ttl)

    async def acquire() -> Lease | None:
        token = await client.lock.acquire(key, nonce, client.name, ttl)
        return None if token is None else Lease(key, client.name, token, ttl, nonce, deadline)

    answer = await client.call("acquire", {"key": key, "ttl": ttl}, acquire())
    if answer.returned and answer.result is not None:
        hold = Hold(client.name, key, nonce, answer.result.token, client.play.world.clock, deadline)
        client.holds[key] = hold
        client.play.holds.append(hold)


def _is_over(client: Client, hold: Hold) -> bool:
    """Return whether a holder knows by itself that it has lost: where the storage has no clock to say so."""
    observes = client.play.subject.capabilities.expiry_clock in {"client", "estimated"}
    return observes and client.play.world.clock >= hold.until


def _request(hold: Hold) -> LeaseRequest:
    return LeaseRequest(hold.key, hold.nonce, hold.token, _CALL_TIMEOUT)


async def _some_hold(client: Client) -> Hold | None:
    """Return a lease of the client's, acquired first if it has none; None if somebody else has it."""
    if not client.holds:
        await _acquire(client)
    return next(iter(client.holds.values()), None)


async def _renew(client: Client) -> None:
    hold = await _some_hold(client)
    if hold is None or _is_over(client, hold):
        return
    ttl, sent = _ttl(client), client.play.world.clock
    lease = {"token": hold.token}
    _give_up(client, hold, _deadline(client, sent, ttl))  # it may get less than it had

    async def renew() -> Lease:
        if not await client.lock.renew(_request(hold), ttl):
            raise LeaseLost
        return Lease(hold.key, client.name, hold.token, ttl, hold.nonce, sent + ttl)

    answer = await client.call("renew", {"key": hold.key, "lease": lease, "ttl": ttl}, renew())
    if answer.refused:
        client.holds.pop(hold.key, None)
    elif answer.returned:
        _renewed(client, hold, _deadline(client, sent, ttl))


def _renewed(client: Client, hold: Hold, deadline: float) -> None:
    again = Hold(hold.client, hold.key, hold.nonce, hold.token, client.play.world.clock, deadline)
    client.holds[hold.key] = again
    client.play.holds.append(again)


def _give_up(client: Client, hold: Hold, until: float) -> None:
    """Have a lease no longer than up to a moment."""
    for own in client.play.holds:
        if own.nonce == hold.nonce:
            own.until = min(own.until, until)


async def _release(client: Client) -> None:
    hold = await _some_hold(client)
    if hold is None or _is_over(client, hold):
        return
    _give_up(client, hold, client.play.world.clock)
    lease = {"token": hold.token}
    await client.call("release", {"key": hold.key, "lease": lease}, client.lock.release(_request(hold)))
    client.holds.pop(hold.key, None)


async def _release_again(client: Client) -> None:
    """Release what it was granted some time, as a process does that slept through its lease."""
    holds = [hold for hold in client.play.holds if hold.client == client.name]
    if holds:
        client.holds[holds[-1].key] = holds[client.pick(len(holds))]
        await _release(client)


async def _holder(client: Client) -> None:
    key = _key(client)
    await client.call("holder", {"key": key}, client.lock.holder(key))


async def _raise_floor(client: Client) -> None:
    key, token = _key(client), 1 + client.pick(6)
    await client.call("raise_floor", {"key": key, "token": token}, client.lock.raise_floor(key, token))


async def _acquire_and_work(client: Client) -> None:
    await _acquire(client)
    await _work(client)


async def _work(client: Client) -> None:
    """Seal, read, and write what depends on it, as a holder does; it does not look at its watch."""
    hold = client.holds.get(_KEYS[0])
    if hold is None:
        return
    sealed: Answer = await seal_record(client, _GUARDED, hold.token)
    read = await get_record(client, _GUARDED)
    if sealed.returned and read.returned:
        await put_record(client, _GUARDED, fence=hold.token)


async def _write_log(client: Client) -> None:
    """Append to the log that the lease guards, as a holder does."""
    hold = client.holds.get(_KEYS[0])
    if hold is None:
        return
    sealed = await seal_log(client, hold.token)
    read = await read_log(client)
    if sealed.returned and read.returned:
        await append_entries(client, new_batch(client), fence=hold.token)


async def _finish(client: Client) -> None:
    await get_record(client, _GUARDED)
    await read_log(client)
    client.play.world.leap(1_000.0)
    await _acquire(client)


LEASES = Workload(
    name="leases",
    operations=(
        _acquire,
        _release,
        _renew,
        _acquire_and_work,
        _work,
        _write_log,
        _holder,
        wait,
        _raise_floor,
        _release_again,
        sweep,
    ),
    finish=_finish,
    clients=3,
    budget=5,
    wild_walls=True,
)
