"""Clients that do random operations on a few records or logs and take down what came of each.

They run in threads of one process and in processes of their own; the boot clock is common to all.
"""

from __future__ import annotations

import contextlib
import random
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from holdall import ABSENT, Entries, Record, Store
from holdall_conformance.children import PATIENCE, Parent, wait_until
from holdall_conformance.harness import Harness
from holdall_conformance.history.calls import Recorder

__all__ = ["WORKLOADS", "call_in_child", "work"]


_STOPS = 0.003
"""How likely a stop is at each place: a few in ten operations."""
_MOMENT = 3e-4
"""Seconds that it lasts: long enough for others to carry out several operations in memory."""


class _Client:
    """One client: what it knows of each key, and what it does next."""

    def __init__(self, store: Store, recorder: Recorder, name: str, place: tuple[str, Sequence[str]]) -> None:
        self.store = store
        self.name = name
        self.token: int | None = None
        self._recorder = recorder
        self._scope, self._keys = place
        self._known: dict[str, Any] = {}
        self._batches: dict[str, tuple[str, list[str]]] = {}
        self._count = 0

    def value(self) -> str:
        """Return a value that nobody else writes."""
        self._count += 1
        return f"{self.name}-{self._count}"

    def call(self, operation: str, key: str, **arguments: Any) -> Any:
        """Make a call, and return its result, None if it was refused or its outcome is open."""
        given = {"scope": self._scope, "key": key, **arguments}
        method: Callable[..., Any] = getattr(self.store, operation)
        found: Any = None
        with self._recorder.call(self.name, operation, **given) as running:
            found = running.returns(method(**given))
        self._learn(running.result)
        return found

    def _learn(self, told: Any) -> None:
        """Take over what a refusal tells: who is shut out goes on under a higher token."""
        if isinstance(told, Mapping) and "mark" in told and self.token is not None:
            self.token = int(told["mark"]) + 1

    def fenced(self) -> dict[str, int]:
        """Return the argument that fences a write, if the client has a token."""
        return {} if self.token is None else {"fence": self.token}

    def record(self, chance: random.Random) -> None:
        """Do something to a record."""
        key = chance.choice(self._keys)
        expect = self._known.get(key, ABSENT)
        match chance.choices(["get", "change", "put", "expect", "create", "delete"], [4, 8, 1, 3, 1, 1])[0]:
            case "get":
                self._note(key, self.call("get", key))
            case "change":
                self._note(key, self.call("get", key))
                changed = self.call("put", key, value=self.value(), expect=self._known[key], **self.fenced())
                self._note(key, changed)
            case "put":
                self._note(key, self.call("put", key, value=self.value(), **self.fenced()))
            case "expect":
                self._note(key, self.call("put", key, value=self.value(), expect=expect, **self.fenced()))
            case "create":
                self._note(key, self.call("put", key, value=self.value(), expect=ABSENT, **self.fenced()))
            case _:
                self.call("delete", key, **({"expect": expect} if chance.random() < 1 / 2 else {}), **self.fenced())

    def _note(self, key: str, found: Any) -> None:
        version = found.version if isinstance(found, Record) else found
        self._known[key] = ABSENT if version is None else version

    def log(self, chance: random.Random) -> None:
        """Append to a log or look at it."""
        key = chance.choice(self._keys)
        kinds = ["append", "expect", "change", "batch", "again", "read", "tail"]
        match chance.choices(kinds, [5, 3, 5, 2, 2, 5, 2])[0]:
            case "append":
                self._grown(key, self.call("append", key, entries=self._entries(chance), **self.fenced()))
            case "expect":
                self._append_there(key, chance)
            case "change":
                self._known[key] = self.call("head", key)
                self._append_there(key, chance)
            case "batch":
                self._batches[key] = self.value(), self._entries(chance)
                self._append_batch(key)
            case "again":
                self._append_batch(key)
            case "read":
                head = self._known.get(key)
                start = 0 if head is None else max(head.first, head.length - chance.randrange(4))
                self._read(key, self.call("read", key, start=start))
            case _:
                self._read(key, self.call("tail", key, count=chance.randint(1, 5)))

    def _entries(self, chance: random.Random) -> list[str]:
        return [self.value() for _ in range(chance.choice([1, 1, 2, 3, 5]))]

    def _append_there(self, key: str, chance: random.Random) -> None:
        """Append where the log is known to end."""
        head = self._known.get(key)
        expect = ABSENT if head is None else chance.choice([head, head.length])
        entries = self._entries(chance)
        self._grown(key, self.call("append", key, entries=entries, expect=expect, **self.fenced()))

    def _append_batch(self, key: str) -> None:
        if key in self._batches:
            batch_id, entries = self._batches[key]
            self._grown(key, self.call("append", key, entries=entries, batch_id=batch_id, **self.fenced()))

    def _grown(self, key: str, appended: Any) -> None:
        if appended is not None:
            self._known[key] = appended.head

    def _read(self, key: str, found: Any) -> None:
        self._known[key] = found.head if isinstance(found, Entries) else None

    def log_and_lives(self, chance: random.Random) -> None:
        """Do what `log` does, and now and then truncate or drop."""
        key = chance.choice(self._keys)
        head = self._known.get(key)
        match chance.choices(["log", "truncate", "drop"], [20, 2, 1])[0]:
            case "truncate" if head is not None:
                self.call("truncate", key, before=max(0, head.length - 2), **self.fenced())
            case "drop" if head is not None:
                expect = {} if chance.random() < 1 / 2 else {"expect": head}
                if self.call("drop", key, **expect, **self.fenced()):
                    self._known.pop(key, None)
            case _:
                self.log(chance)

    def fenced_record(self, chance: random.Random) -> None:
        """Do what `record` does under a token, and now and then take over with a higher one."""
        if self._takes_over(chance):
            key = chance.choice(self._keys)
            self._note(key, self.call("seal", key, fence=self.token))
        self.record(chance)

    def fenced_log(self, chance: random.Random) -> None:
        """Do what `log` does under a token, and now and then take over with a higher one."""
        if self._takes_over(chance):
            key = chance.choice(self._keys)
            self._known[key] = self.call("seal", key, fence=self.token, log=True)
        self.log(chance)

    def _takes_over(self, chance: random.Random) -> bool:
        before = self.token
        self.token = before or 1
        if before is not None and chance.random() < 1 / 8:
            self.token = before + 1
        return self.token != before


WORKLOADS: Mapping[str, Callable[[_Client, random.Random], None]] = {
    "record": _Client.record,
    "log": _Client.log,
    "log-and-lives": _Client.log_and_lives,
    "fenced-record": _Client.fenced_record,
    "fenced-log": _Client.fenced_log,
}


def work(
    store: Store, recorder: Recorder, workload: str, place: tuple[str, Sequence[str]], *, seed: str, times: int
) -> None:
    """Do random operations as one client.

    Args:
        store: the store.
        recorder: takes down the calls.
        workload: one of `WORKLOADS`.
        place: the scope, and the keys to choose from.
        seed: what the choices grow from, the name of the client too.
        times: how many operations.

    """
    client, chance = _Client(store, recorder, seed.rpartition(" ")[2], place), random.Random(seed)
    with _stopping(random.Random(f"{seed} stops")):
        for _ in range(times):
            WORKLOADS[workload](client, chance)


@contextlib.contextmanager
def _stopping(chance: random.Random) -> Generator[None]:
    """Let this thread stop for a moment at random places within operations, wherever a function is called or left.

    So whatever can come between two steps does come between them now and then, also on a busy machine.
    """
    if sys.getprofile() is not None:  # somebody measures
        yield
        return

    def stop(*_: object) -> None:
        if chance.random() < _STOPS:
            time.sleep(_MOMENT)

    sys.setprofile(stop)
    try:
        yield
    finally:
        sys.setprofile(None)


def call_in_child(
    parent: Parent, harness: Harness, workload: str, scope: str, seed: str, times: int, number: int
) -> None:
    """Do random operations on one key, and say the calls."""
    store, recorder = harness.open_store(timeout=PATIENCE), Recorder()
    parent.say("ready")
    wait_until(parent.hear())
    work(store, recorder, workload, (scope, ["k"]), seed=f"{seed} p{number}", times=times)
    parent.say([call.to_json() for call in recorder.calls])
