"""What the interpreters do that fork, and what their forked children do."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import holdall
from holdall import AsyncLock, AsyncStore, ForkedHandle, Put
from holdall.clock import boot_time
from holdall_conformance.children import PATIENCE, Parent
from holdall_conformance.harness import Harness

_AT_ONCE = 5.0
_HANGING = 20
_FORKS = 6
_BUSY_THREADS = 4

_STORE_CALLS: dict[str, Callable[[Any], Any]] = {
    "get": lambda store: store.get("s", "k"),
    "get_many": lambda store: store.get_many("s", ["k"]),
    "put": lambda store: store.put("s", "k", "child"),
    "update": lambda store: store.update("s", "k", lambda _: "child"),
    "touch": lambda store: store.touch("s", "k", 60),
    "delete": lambda store: store.delete("s", "k"),
    "put_many": lambda store: store.put_many("s", {"k": "child"}),
    "delete_many": lambda store: store.delete_many("s", ["k"]),
    "clear": lambda store: store.clear("s"),
    "scan": lambda store: store.scan("s"),
    "keys": lambda store: store.keys("s"),
    "scopes": lambda store: store.scopes(),
    "append": lambda store: store.append("s", "log", ["child"]),
    "read": lambda store: store.read("s", "log"),
    "tail": lambda store: store.tail("s", "log", 1),
    "head": lambda store: store.head("s", "log"),
    "truncate": lambda store: store.truncate("s", "log", 1),
    "drop": lambda store: store.drop("s", "log"),
    "logs": lambda store: store.logs("s"),
    "log_scopes": lambda store: store.log_scopes(),
    "restore_log": lambda store: store.restore_log("s", "new", 0, []),
    "seal": lambda store: store.seal("s", "k", 1),
    "commit": lambda store: store.commit([Put("s", "k", "child")]),
    "transaction": lambda store: store.transaction(lambda buffer: buffer.put("s", "k", "child")),
    "sweep": lambda store: store.sweep(),
    "ping": lambda store: store.ping(),
    "describe": lambda store: store.describe(),
    "iter_records": lambda store: _first(store.iter_records("s")),
    "iter_keys": lambda store: _first(store.iter_keys("s")),
    "iter_entries": lambda store: _first(store.iter_entries("s", "log")),
    "follow": lambda store: _first(store.follow("s", "log")),
}
_LOCK_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "try_acquire": lambda lock, _: lock.try_acquire("free"),
    "acquire": lambda lock, _: lock.acquire("free", timeout=None),
    "renew": lambda lock, lease: lock.renew(lease),
    "release": lambda lock, lease: lock.release(lease),
    "held": lambda lock, _: lock.held("held"),
    "holder": lambda lock, _: lock.holder("held"),
    "set_flag": lambda lock, _: lock.set_flag("flag"),
    "flag": lambda lock, _: lock.flag("flag"),
    "clear_flag": lambda lock, _: lock.clear_flag("flag"),
    "raise_floor": lambda lock, _: lock.raise_floor("free", 9),
    "hold": lambda lock, _: _entered(lock.hold("free")),
}


def _first(iterator: Any) -> Any:
    return anext(iterator) if hasattr(iterator, "__anext__") else next(iterator)


def _entered(hold: Any) -> Any:
    return hold.__aenter__() if hasattr(hold, "__aenter__") else hold.__enter__()


class _Handles:
    """A store and a lock of either kind, used directly: nothing of the kit stands between them and the fork."""

    def __init__(self, harness: Harness, *, asynchronous: bool) -> None:
        self.asynchronous = asynchronous
        self.loop = asyncio.new_event_loop()
        if self.asynchronous:
            self.store: Any = holdall.open_async_store(harness.url)
            self.lock: Any = holdall.open_async_lock(harness.url)
        else:
            self.store, self.lock = holdall.open_store(harness.url), holdall.open_lock(harness.url)

    def run(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Call, and wait for the result; in a forked child in a new loop."""
        if not self.asynchronous:
            return call(*arguments)
        return self.loop.run_until_complete(_awaited(call, arguments))

    def renew_loop(self) -> None:
        """Use a new loop, as a forked child must.

        The old one is given up without closing it: parent and child share its selector, so that closing it here would
        leave the parent's loop deaf.
        """
        warnings.simplefilter("ignore", ResourceWarning)
        vars(self.loop)["_closed"] = True
        self.loop = asyncio.new_event_loop()

    def close(self) -> None:
        """Close everything."""
        self.run(self.store.close)
        self.run(self.lock.close)
        self.loop.close()


async def _awaited(call: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    result = call(*arguments)
    return await result if hasattr(result, "__await__") else result


def _in_fork(work: Callable[[], list[str]], leave: Callable[[], object] | None = None) -> None:
    """Fork, do some work in the child, and demand that it found no fault and came to its end.

    Args:
        work: returns the faults it found.
        leave: how the child ends; by default at once, without any clean-up of the interpreter.

    """
    incoming, outgoing = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(_HANGING)
        try:
            faults = work()
        except BaseException as error:  # noqa: BLE001 - whatever it was, the parent is told
            faults = [repr(error)]
        os.write(outgoing, "; ".join(faults).encode()[:4_000])
        if leave is not None:
            leave()
        os._exit(0)
    os.close(outgoing)
    with os.fdopen(incoming, "rb") as pipe:
        faults_told = pipe.read().decode()
    _, status = os.waitpid(pid, 0)
    if os.waitstatus_to_exitcode(status) != 0 or faults_told:
        message = f"the forked child ended with {os.waitstatus_to_exitcode(status)} and found: {faults_told}"
        raise AssertionError(message)


def _refusals(handles: _Handles, lease: Any) -> list[str]:
    """Return what does not raise `ForkedHandle` at once."""
    handles.renew_loop()
    calls = {f"store.{name}": functools.partial(call, handles.store) for name, call in _STORE_CALLS.items()}
    calls |= {f"lock.{name}": functools.partial(call, handles.lock, lease) for name, call in _LOCK_CALLS.items()}
    return [fault for name, call in calls.items() if (fault := _refusal(handles, name, call))]


def _refusal(handles: _Handles, name: str, call: Callable[[], Any]) -> str:
    started = boot_time()
    try:
        handles.run(call)
    except ForkedHandle:
        took = boot_time() - started
        return "" if took < _AT_ONCE else f"{name} took {took:.1f} s to refuse"
    except Exception as error:  # noqa: BLE001 - any other error is the fault looked for
        return f"{name} raised {error!r}"
    return f"{name} raised nothing"


def fork_and_use(parent: Parent, harness: Harness, asynchronous: bool) -> None:  # noqa: FBT001 - comes as JSON
    """Use every operation of inherited handles in a child, and go on with them in the parent."""
    handles = _Handles(harness, asynchronous=asynchronous)
    handles.run(lambda: handles.store.put("s", "k", "parent"))
    handles.run(lambda: handles.store.append("s", "log", ["parent"]))
    lease = handles.run(lambda: handles.lock.try_acquire("held", ttl=PATIENCE))
    for leave in (None, sys.exit):

        def work() -> list[str]:
            faults = _refusals(handles, lease)
            handles.close()  # closing what one does not own does nothing
            return faults

        _in_fork(work, leave)
        _check_unharmed(handles, lease)
    handles.close()
    parent.say("done")


def _check_unharmed(handles: _Handles, lease: Any) -> None:
    record = handles.run(lambda: handles.store.get("s", "k"))
    entries = handles.run(lambda: handles.store.read("s", "log"))
    if record.value != "parent" or [entry.value for entry in entries] != ["parent"]:
        message = f"the child left its traces: {record.value}, {list(entries)}"
        raise AssertionError(message)
    handles.run(lambda: handles.store.put("s", "k", "parent"))
    if handles.run(lambda: handles.lock.renew(lease)).token != lease.token:
        message = "the lease was lost to a child"
        raise AssertionError(message)


def fork_in_hold(parent: Parent, harness: Harness, asynchronous: bool) -> None:  # noqa: FBT001 - comes as JSON
    """Leave a hold in a child, both ways of ending it, and keep it in the parent past its ttl."""
    handles = _Handles(harness, asynchronous=asynchronous)
    ttl = max(1.0, handles.lock.capabilities.min_ttl)
    hold = handles.lock.hold("held", ttl=ttl, timeout=PATIENCE)
    handles.run(lambda: _entered(hold))

    def leave_hold() -> list[str]:
        handles.renew_loop()
        faults = [] if hold.lost and hold.remaining == 0 else ["the hold is not lost in the child"]
        if handles.asynchronous:
            handles.run(lambda: hold.__aexit__(None, None, None))
        else:
            hold.__exit__(None, None, None)
        return faults

    for leave in (None, sys.exit):
        _in_fork(leave_hold, leave)
    with _second_lock(harness, handles) as other:
        end = boot_time() + 1.5 * ttl
        while boot_time() < end:
            if hold.lost or other() != hold.lease.token:
                message = "the parent lost its hold"
                raise AssertionError(message)
            time.sleep(0.05)
    if handles.asynchronous:
        handles.run(lambda: hold.__aexit__(None, None, None))
    else:
        hold.__exit__(None, None, None)
    if handles.run(lambda: handles.lock.held("held")):
        message = "the hold was not released in the end"
        raise AssertionError(message)
    handles.close()
    parent.say("done")


@contextlib.contextmanager
def _second_lock(harness: Harness, handles: _Handles) -> Any:
    """Give a function that returns the token of the holder, as others see it."""
    with contextlib.ExitStack() as closing:
        if harness.capabilities.cross_process:
            lock: Any = closing.enter_context(holdall.open_lock(harness.url))
            yield lambda: getattr(lock.holder("held"), "token", None)
        else:
            yield lambda: getattr(handles.run(lambda: handles.lock.holder("held")), "token", None)


def fork_while_busy(parent: Parent, harness: Harness, asynchronous: bool) -> None:  # noqa: FBT001 - comes as JSON
    """Fork again and again while threads work with the same handles."""
    handles = _Handles(harness, asynchronous=asynchronous)
    lease = handles.run(lambda: handles.lock.try_acquire("held", ttl=PATIENCE))
    ending, failures = threading.Event(), []

    def work(number: int) -> None:
        try:
            if handles.asynchronous:
                asyncio.run(_work_async(handles.store, handles.lock, ending, number))
            else:
                _work(handles.store, ending, number)
        except Exception as error:  # noqa: BLE001 - told below, in the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=[number]) for number in range(_BUSY_THREADS)]
    for thread in threads:
        thread.start()
    for number in range(_FORKS):
        time.sleep(0.01)
        _in_fork(lambda: _short_refusals(handles, lease), sys.exit if number % 2 else None)
    ending.set()
    for thread in threads:
        thread.join(PATIENCE)
        if thread.is_alive():
            failures.append(TimeoutError("a thread of the parent hangs"))
    if failures:
        raise failures[0]
    handles.run(lambda: handles.lock.renew(lease))
    handles.close()
    parent.say("done")


def _short_refusals(handles: _Handles, lease: Any) -> list[str]:
    handles.renew_loop()
    faults = [
        _refusal(handles, "put", lambda: handles.store.put("s", "k", "child")),
        _refusal(handles, "renew", lambda: handles.lock.renew(lease)),
    ]
    gc.collect()
    return [fault for fault in faults if fault]


def _work(store: Any, ending: threading.Event, number: int) -> None:
    while not ending.is_set():
        store.put("s", f"k{number}", number)
        store.append("s", f"log{number}", [number])
        store.get("s", f"k{number}")


async def _work_async(store: AsyncStore, lock: AsyncLock, ending: threading.Event, number: int) -> None:
    while not ending.is_set():
        await store.put("s", f"k{number}", number)
        await store.append("s", f"log{number}", [number])
        await lock.held("held")
