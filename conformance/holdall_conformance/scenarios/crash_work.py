"""What the writers of the group "crash" do until they are killed: number their operations, and report each one done.

A writer says [number, result] before it goes on, so an operation that was reported must be there afterwards, and only
the one after it may be there or not. What an operation writes follows from the writer and the number alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from holdall import Append, Delete, Fenced, Lock, Put, Store
from holdall.clock import boot_time
from holdall_conformance.children import PATIENCE, Parent
from holdall_conformance.harness import Harness
from holdall_conformance.scenarios.processes_work import patient_store

_LEASE_TTL = 0.15
"""Long enough for one fenced write, short enough to be waited for."""


def lease_ttl(lock: Lock) -> float:
    """Return how long the leases of writers last, in seconds."""
    return max(_LEASE_TTL, lock.capabilities.min_ttl)


Operation = Callable[[Store, Lock, str, int, int], Any]


def padded(writer: int, number: int) -> list[Any]:
    """Return a value of up to some pages whose every part tells where it comes from."""
    return [writer, number, f"{writer}.{number};" * (number * 37 % 800)]


def batch_of(writer: int, number: int) -> list[list[int]]:
    """Return a batch of 1 to 20 entries."""
    size = 1 + (number * 7 + writer * 3) % 20
    return [[writer, number, index, size] for index in range(size)]


class LogModel(NamedTuple):
    """A log as the operations of `truncates` leave it."""

    exists: bool = False
    first: int = 0
    length: int = 0
    generation: int = 0


def log_model(last: int) -> LogModel:
    """Return the state of a writer's log after the operations up to a number."""
    state = LogModel()
    for number in range(last + 1):
        match number % 6:
            case 0 | 2:
                state = state._replace(exists=True, length=state.length + 5)
            case 1:
                state = state._replace(first=state.length - 3)
            case 3:
                state = state._replace(first=state.length)
            case 4:
                state = state._replace(length=state.length + 1)
            case _ if number % 12 == 5:
                state = LogModel(generation=state.generation + 1)
            case _:
                pass
    return state


def records(store: Store, _: Lock, scope: str, writer: int, number: int) -> str:
    """Put a record of one's own, or count in one that all share."""
    if number % 2 == 0:
        return store.put(scope, f"own-{writer}", padded(writer, number))

    def count(tally: Any) -> Any:
        return {**(tally or {}), str(writer): (tally or {}).get(str(writer), 0) + 1}

    return store.update(scope, "tally", count).version


def logs(store: Store, _: Lock, scope: str, writer: int, number: int) -> int:
    """Append a batch with an id to a log that all share."""
    return store.append(scope, "log", batch_of(writer, number), batch_id=f"{writer}-{number}").start


def commits(store: Store, _: Lock, scope: str, writer: int, number: int) -> int:
    """Commit to several records and a log."""
    results = store.commit(
        [
            Put(scope, f"a-{writer}", number),
            Put(scope, f"b-{writer}", padded(writer, number)),
            Append(scope, f"log-{writer}", [number]),
            Put(scope, f"step-{writer}-{number}", number),
            Delete(scope, f"step-{writer}-{number - 1}"),
        ]
    )
    start: int = results[2].start
    return start


def truncates(store: Store, _: Lock, scope: str, writer: int, number: int) -> None:
    """Append to a log of one's own, truncate it, or drop it."""
    key = f"log-{writer}"
    before, after = log_model(number - 1), log_model(number)
    if after.length > before.length:
        added = range(before.length, after.length)
        store.append(scope, key, [[writer, before.generation, position] for position in added])
    elif after.generation > before.generation:
        store.drop(scope, key)
    else:
        store.truncate(scope, key, after.first)


def leases(store: Store, lock: Lock, scope: str, writer: int, number: int) -> int:
    """Take a lease that all want, write with it, and release it every other time."""
    while True:
        lease = lock.acquire(scope, ttl=lease_ttl(lock), timeout=None)
        try:
            store.put(scope, "guarded", [lease.token, writer, number], fence=lease)
        except Fenced:
            continue  # so slow a machine that the lease expired first
        if number % 2:
            lock.release(lease)
        return lease.token


def large_text(writer: int, number: int) -> str:
    """Return a text of 100 KB to a megabyte whose every part tells where it comes from."""
    sign = f"{writer}.{number};"
    return sign * ((100_000 + number * 377_777 % 900_000) // len(sign))


def large_batch(writer: int, number: int) -> list[str]:
    """Return many small entries or some large ones, as many and as much as every backend takes at once."""
    count, size = ((1_000, 20), (40, 50_000), (300, 2_000))[number % 3]
    return [f"{writer}.{number}.{index};".ljust(size, "x") for index in range(count)]


def restored(writer: int, number: int) -> tuple[int, list[str]] | None:
    """Return where the log that an operation of `restores` leaves begins, and its entries; None if it leaves none."""
    return None if number % 2 else (number % 4 * 350, large_batch(writer, number // 2))


def large_values(store: Store, _: Lock, scope: str, writer: int, number: int) -> str:
    """Put a large record over the one before."""
    return store.put(scope, f"own-{writer}", large_text(writer, number))


def large_batches(store: Store, _: Lock, scope: str, writer: int, number: int) -> int:
    """Append a large batch to a log of one's own."""
    return store.append(scope, f"log-{writer}", large_batch(writer, number)).start


def restores(store: Store, _: Lock, scope: str, writer: int, number: int) -> int | bool:
    """Restore a large log, or drop it."""
    log = restored(writer, number)
    if log is None:
        return store.drop(scope, f"log-{writer}")
    return store.restore_log(scope, f"log-{writer}", *log).length


OPERATIONS: dict[str, Operation] = {
    "records": records,
    "logs": logs,
    "commits": commits,
    "truncates": truncates,
    "leases": leases,
    "large-values": large_values,
    "large-batches": large_batches,
    "restores": restores,
}


def write(parent: Parent, harness: Harness, kind: str, scope: str, writer: int) -> None:
    """Write until killed."""
    started = boot_time()
    store, lock = patient_store(harness), harness.open_lock(timeout=PATIENCE)
    store.head(scope, "log")
    lock.held(scope)
    parent.say(boot_time() - started)
    number = 0
    while True:
        parent.say([number, OPERATIONS[kind](store, lock, scope, writer, number)])
        number += 1
