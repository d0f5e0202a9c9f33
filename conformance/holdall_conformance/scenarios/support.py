"""What scenarios have in common: reading what must be there, exact comparison, threads, and waiting."""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from holdall import Entry, Head, Lease, Lock, Page, Record, Store, StoreTimeout
from holdall.clock import boot_time
from holdall_conformance.absence import Absent
from holdall_conformance.processors import on_any_processor

__all__ = [
    "all_items",
    "append_all",
    "demand_any",
    "eventually",
    "fill",
    "has",
    "head_of",
    "identical",
    "in_threads",
    "interleaving",
    "keys_of",
    "lease_of",
    "record_of",
    "settled",
    "text_of",
    "value_of",
    "values_of",
]

Result = TypeVar("Result")

_PATIENCE = 60.0
_TRIES = 20
_WATCHED, _REST = 10.0, 0.02
"""Seconds for which a lease is watched at the most, and between two looks."""
_TURN = 1e-6
"""Seconds after which a thread must let another go on."""


def record_of(store: Store, scope: str, key: str) -> Record:
    """Return a record that must be there."""
    record = store.get(scope, key)
    assert record is not None, f"no record under {key!r}"
    return record


def value_of(store: Store, scope: str, key: str) -> Any:
    """Return the value of a record that must be there."""
    return record_of(store, scope, key).value


def head_of(store: Store, scope: str, key: str) -> Head:
    """Return the head of a log that must be there."""
    head = store.head(scope, key)
    assert head is not None, f"no log under {key!r}"
    return head


def lease_of(lock: Lock, key: str, *, ttl: float = 60, owner: str | None = None) -> Lease:
    """Take a key that must be free.

    A lease that was granted so late that it is over already is no lease: on a busy machine a short one is asked for
    again. Without a clock that clients share, a lease of another has to be watched before it can be taken.
    """
    until = boot_time() + (_WATCHED if lock.capabilities.expiry_clock == "client" else 0)
    for _ in itertools.count() if boot_time() < until else range(_TRIES):
        began = boot_time()
        lease = lock.try_acquire(key, ttl=ttl, owner=owner)
        if lease is not None:
            return lease
        assert boot_time() - began > ttl / 2 or boot_time() < until, f"{key!r} is not free"
        if boot_time() < until:
            time.sleep(_REST)
    raise AssertionError(f"{key!r} could not be had in time")


def settled(call: Callable[[], Result]) -> Result:
    """Return what a renewal or release comes to.

    It is bounded by a quarter of the ttl, so that on a busy machine that of a short lease may time out: that says
    nothing of the lease, and its holder asks again.

    Args:
        call: renews or releases.

    """
    for _ in range(_TRIES):
        with contextlib.suppress(StoreTimeout):
            return call()
    return call()


def has(store: Store, *operations: str) -> bool:
    """Tell whether a backend has operations, for clauses that look at records and logs, or by many ways, at once."""
    try:
        return all(getattr(store, operation) is not None for operation in operations)
    except Absent:
        return False


def demand_any(store: Store, *operations: str) -> None:
    """End the scenario as absent if the backend has none of some operations."""
    if not any(has(store, operation) for operation in operations):
        raise Absent(f"the backend has no {', no '.join(operations)}")


def fill(store: Store, scope: str, values: Mapping[str, Any], *, ttl: float | None = None) -> None:
    """Write records of which a clause is not about how they are written."""
    options: dict[str, Any] = {} if ttl is None else {"ttl": ttl}  # not every store takes it
    if has(store, "put_many"):
        store.put_many(scope, values, **options)
        return
    for key, value in values.items():
        store.put(scope, key, value, **options)


def append_all(store: Store, scope: str, key: str, values: Sequence[Any]) -> None:
    """Append values in batches that the backend takes."""
    most = store.capabilities.max_batch_entries
    for start in range(0, len(values), most):
        store.append(scope, key, values[start : start + most])


def values_of(entries: Iterable[Entry]) -> list[Any]:
    """Return the values of entries."""
    return [entry.value for entry in entries]


def keys_of(records: Iterable[Record]) -> list[str]:
    """Return the keys of records."""
    return [record.key for record in records]


def identical(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are the same in type, sign of zero and order of keys too."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(identical(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(identical, left, right))
    return repr(left) == repr(right) if isinstance(left, float) else bool(left == right)


def all_items(listing: Callable[..., Page[Any]], *arguments: str, limit: int) -> Iterator[Any]:
    """Iterate over the items of all pages of a listing, page by page."""
    after: str | None = None
    while True:
        found = listing(*arguments, after=after, limit=limit)
        yield from found.items
        assert found.next is None or after is None or found.next > after, "the cursor does not advance"
        after = found.next
        if after is None:
            return


def in_threads(functions: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run functions at once, each in a thread, and return what each returned or raised."""
    results: list[Any] = [None] * len(functions)
    barrier = threading.Barrier(len(functions))

    def run(index: int, function: Callable[[], Any]) -> None:
        try:
            barrier.wait(_PATIENCE)
            results[index] = function()
        except BaseException as error:  # noqa: BLE001 - whoever asked for the results judges it
            results[index] = error

    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in enumerate(functions)]
    with interleaving(), on_any_processor():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(_PATIENCE)
            assert not thread.is_alive(), "an operation hangs"
    for result in results:
        if isinstance(result, Absent) or (isinstance(result, BaseException) and not isinstance(result, Exception)):
            raise result  # "did not raise" of pytest is no Exception
    return results


class _Interleaving:
    """How many want threads to take turns often, and what the interpreter's interval was before the first of them."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._wanted = 0
        self._before = 0.0

    def begin(self) -> None:
        with self._turn:
            if not self._wanted:
                self._before = sys.getswitchinterval()
                sys.setswitchinterval(_TURN)
            self._wanted += 1

    def end(self) -> None:
        with self._turn:
            self._wanted -= 1
            if not self._wanted:
                sys.setswitchinterval(self._before)


_interleaving = _Interleaving()


@contextlib.contextmanager
def interleaving() -> Generator[None]:
    """Let threads take turns within operations: in memory one would be over before the next thread gets a turn."""
    _interleaving.begin()
    try:
        yield
    finally:
        _interleaving.end()


def eventually(condition: Callable[[], bool], within: float) -> bool:
    """Wait until a condition holds, and return whether it did in time."""
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.005)
    return True


def text_of(size: int) -> str:
    """Return a str whose JSON has so many bytes."""
    return "x" * (size - 2)
