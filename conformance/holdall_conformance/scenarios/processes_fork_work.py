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
from dataclasses import replace
from typing import Any

from holdall import ForkedHandle, Put, WrongLoop
from holdall.clock import boot_time
from holdall_conformance.children import PATIENCE, Parent
from holdall_conformance.harness import Harness

_AT_ONCE = 5.0
_HANGING = 20
_FORKS = 6
_BUSY_THREADS = 4
_WORKS = "works"

_STORE_CALLS: dict[str, Callable[[Any, str], Any]] = {
    "get": lambda store, scope: store.get(scope, "k"),
    "get_many": lambda store, scope: store.get_many(scope, ["k"]),
    "put": lambda store, scope: store.put(scope, "other", "child"),
    "update": lambda store, scope: store.update(scope, "other", lambda _: "child"),
    "touch": lambda store, scope: store.touch(scope, "other", 60),
    "delete": lambda store, scope: store.delete(scope, "other"),
    "put_many": lambda store, scope: store.put_many(scope, {"other": "child"}),
    "delete_many": lambda store, scope: store.delete_many(scope, ["other"]),
    "clear": lambda store, scope: store.clear(f"{scope}-other"),
    "scan": lambda store, scope: store.scan(scope),
    "keys": lambda store, scope: store.keys(scope),
    "scopes": lambda store, _: store.scopes(),
    "append": lambda store, scope: store.append(scope, "other", ["child"]),
    "read": lambda store, scope: store.read(scope, "log"),
    "tail": lambda store, scope: store.tail(scope, "log", 1),
    "head": lambda store, scope: store.head(scope, "log"),
    "truncate": lambda store, scope: store.truncate(scope, "other", 1),
    "drop": lambda store, scope: store.drop(scope, "other"),
    "logs": lambda store, scope: store.logs(scope),
    "log_scopes": lambda store, _: store.log_scopes(),
    "restore_log": lambda store, scope: store.restore_log(scope, "new", 0, [1]),
    "seal": lambda store, scope: store.seal(scope, "other", 1),
    "commit": lambda store, scope: store.commit([Put(scope, "other", "child")]),
    "transaction": lambda store, scope: store.transaction(lambda buffer: buffer.put(scope, "other", "child")),
    "sweep": lambda store, _: store.sweep(),
    "ping": lambda store, _: store.ping(),
    "describe": lambda store, _: store.describe(),
    "iter_records": lambda store, scope: _first(store.iter_records(scope)),
    "iter_keys": lambda store, scope: _first(store.iter_keys(scope)),
    "iter_entries": lambda store, scope: _first(store.iter_entries(scope, "log")),
    "follow": lambda store, scope: _first(store.follow(scope, "log", timeout=1.0)),
}
_LOCK_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "try_acquire": lambda lock, lease: lock.try_acquire(f"{lease.key}-free"),
    "acquire": lambda lock, lease: lock.acquire(f"{lease.key}-free", timeout=1.0),
    "renew": lambda lock, lease: lock.renew(lease),
    "release": lambda lock, lease: lock.release(replace(lease, nonce="of somebody else")),
    "held": lambda lock, lease: lock.held(lease.key),
    "holder": lambda lock, lease: lock.holder(lease.key),
    "set_flag": lambda lock, lease: lock.set_flag(f"{lease.key}-flag"),
    "flag": lambda lock, lease: lock.flag(f"{lease.key}-flag"),
    "clear_flag": lambda lock, lease: lock.clear_flag(f"{lease.key}-flag"),
    "raise_floor": lambda lock, lease: lock.raise_floor(f"{lease.key}-free", 9),
    "hold": lambda lock, lease: _entered(lock.hold(f"{lease.key}-hold")),
}


def _first(iterator: Any) -> Any:
    return anext(iterator) if hasattr(iterator, "__anext__") else next(iterator)


def _entered(hold: Any) -> Any:
    return hold.__aenter__() if hasattr(hold, "__aenter__") else hold.__enter__()


class _Handles:
    """A store and a lock of either kind, used directly: nothing of the kit stands between them and the fork."""

    def __init__(self, harness: Harness, scope: str, *, asynchronous: bool) -> None:
        self.asynchronous = asynchronous
        self.scope = scope
        self.loop = asyncio.new_event_loop()
        self.store = harness.bare_store(asynchronous=asynchronous)
        self.lock = harness.bare_lock(asynchronous=asynchronous)

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
    """Return what neither raises `ForkedHandle` at once nor works, as everything else on the handle does."""
    handles.renew_loop()
    calls = {name: functools.partial(call, handles.store, handles.scope) for name, call in _STORE_CALLS.items()}
    faults = _refusals_of(handles, {name: call for name, call in calls.items() if hasattr(handles.store, name)})
    calls = {name: functools.partial(call, handles.lock, lease) for name, call in _LOCK_CALLS.items()}
    return faults + _refusals_of(handles, {name: call for name, call in calls.items() if hasattr(handles.lock, name)})


def _refusals_of(handles: _Handles, calls: dict[str, Callable[[], Any]]) -> list[str]:
    outcomes = {name: _refusal(handles, name, call) for name, call in calls.items()}
    works = [name for name, outcome in outcomes.items() if outcome == _WORKS]
    faults = [outcome for outcome in outcomes.values() if outcome not in {"", _WORKS}]
    return faults if len(works) in {0, len(calls)} else [*faults, f"refused by some, but {', '.join(works)} went on"]


def _refusal(handles: _Handles, name: str, call: Callable[[], Any]) -> str:
    started = boot_time()
    try:
        handles.run(call)
    except ForkedHandle:
        took = boot_time() - started
        return "" if took < _AT_ONCE else f"{name} took {took:.1f} s to refuse"
    except Exception as error:  # noqa: BLE001 - any other error is the fault looked for
        return f"{name} raised {error!r}"
    return _WORKS


def fork_and_use(parent: Parent, harness: Harness, asynchronous: bool, scope: str) -> None:  # noqa: FBT001 - comes as JSON
    """Use every operation of inherited handles in a child, and go on with them in the parent."""
    handles = _Handles(harness, scope, asynchronous=asynchronous)
    handles.run(lambda: handles.store.put(handles.scope, "k", "parent"))
    handles.run(lambda: handles.store.append(handles.scope, "log", ["parent"]))
    lease = handles.run(lambda: handles.lock.try_acquire(handles.scope, ttl=PATIENCE))
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
    record = handles.run(lambda: handles.store.get(handles.scope, "k"))
    entries = handles.run(lambda: handles.store.read(handles.scope, "log"))
    if record.value != "parent" or [entry.value for entry in entries] != ["parent"]:
        message = f"the child left its traces: {record.value}, {list(entries)}"
        raise AssertionError(message)
    handles.run(lambda: handles.store.put(handles.scope, "k", "parent"))
    if handles.run(lambda: handles.lock.renew(lease)).token != lease.token:
        message = "the lease was lost to a child"
        raise AssertionError(message)


def fork_in_hold(parent: Parent, harness: Harness, asynchronous: bool, scope: str) -> None:  # noqa: FBT001 - comes as JSON
    """Leave a hold in a child, both ways of ending it, and keep it in the parent past its ttl."""
    handles = _Handles(harness, scope, asynchronous=asynchronous)
    ttl = max(1.0, handles.lock.capabilities.min_ttl)
    hold = handles.lock.hold(handles.scope, ttl=ttl, timeout=PATIENCE)
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
    if handles.run(lambda: handles.lock.held(handles.scope)):
        message = "the hold was not released in the end"
        raise AssertionError(message)
    handles.close()
    parent.say("done")


@contextlib.contextmanager
def _second_lock(harness: Harness, handles: _Handles) -> Any:
    """Give a function that returns the token of the holder, as others see it."""
    with contextlib.ExitStack() as closing:
        if harness.capabilities.cross_process:
            lock: Any = closing.enter_context(harness.open_lock())
            yield lambda: getattr(lock.holder(handles.scope), "token", None)
        else:
            yield lambda: getattr(handles.run(lambda: handles.lock.holder(handles.scope)), "token", None)


def fork_while_busy(parent: Parent, harness: Harness, asynchronous: bool, scope: str) -> None:  # noqa: FBT001 - comes as JSON
    """Fork again and again while threads work with the same handles."""
    handles = _Handles(harness, scope, asynchronous=asynchronous)
    handles.run(lambda: handles.store.get(handles.scope, "k"))  # whoever closes the handle owns it
    lease = handles.run(lambda: handles.lock.try_acquire(handles.scope, ttl=PATIENCE))
    ending, failures = threading.Event(), []

    def work(number: int) -> None:
        try:
            if handles.asynchronous:
                asyncio.run(_work_async(handles, ending, number))
            else:
                _work(handles, ending, number)
        except WrongLoop:
            return  # a handle may refuse the loop of another thread
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
        _refusal(handles, "put", lambda: handles.store.put(handles.scope, "other", "child")),
        _refusal(handles, "renew", lambda: handles.lock.renew(lease)),
    ]
    gc.collect()
    return [fault for fault in faults if fault not in {"", _WORKS}]


def _work(handles: _Handles, ending: threading.Event, number: int) -> None:
    while not ending.is_set():
        handles.store.put(handles.scope, f"k{number}", number)
        handles.store.append(handles.scope, f"log{number}", [number])
        handles.store.get(handles.scope, f"k{number}")


async def _work_async(handles: _Handles, ending: threading.Event, number: int) -> None:
    while not ending.is_set():
        await handles.store.put(handles.scope, f"k{number}", number)
        await handles.store.append(handles.scope, f"log{number}", [number])
        await handles.lock.held(handles.scope)
