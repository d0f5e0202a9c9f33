"""One of the two processes of `holdall demo`; run as `python -m holdall.cli.demo_worker`, never by hand.

It opens store and lock by the name "default", reads orders from stdin and reports every acknowledged batch on stdout.
It ends when the demo does: by the kernel, which is asked to kill it with its parent, or because its stdin is closed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path
from typing import TextIO

from holdall.cli.conversation import Conversation
from holdall.cli.demo_protocol import STAY, Assignment, Event, batch_name
from holdall.cli.failures import line_of
from holdall.codec import digest
from holdall.errors import Fenced, LeaseLost
from holdall.lock import Hold, Lock
from holdall.opening import open_lock, open_store
from holdall.store import Store
from holdall.values import Head

__all__ = ["main"]

_PR_SET_PDEATHSIG = 1
_POLITENESS = 0.02


class Parent:
    """The demo at the other end of the pipes."""

    def __init__(self, orders: TextIO, reports: TextIO) -> None:
        self._orders = orders
        self._reports = reports

    def order(self) -> str:
        """Wait for an order; the end of the demo is the end of this process."""
        line = self._orders.readline()
        if not line:
            raise SystemExit(0)
        return line.strip()

    def tell(self, event: Event) -> None:
        """Report an event."""
        self._reports.write(event.to_line() + "\n")
        self._reports.flush()

    def ask(self, event: Event) -> str:
        """Report an event and wait for an order."""
        self.tell(event)
        return self.order()


class Worker:
    """Appends the conversation in turns with the other process, each turn under the lease."""

    def __init__(self, parent: Parent, assignment: Assignment, store: Store, lock: Lock) -> None:
        self._parent = parent
        self._assignment = assignment
        self._conversation = Conversation(Path(assignment.file), assignment.entries)
        self._store = store
        self._lock = lock

    def run(self) -> None:
        """Take turns until every entry is there."""
        self._parent.ask(Event("ready"))
        while not self._finished():
            try:
                self._turn()
            except (Fenced, LeaseLost):
                self._parent.tell(Event("lost"))
            time.sleep(_POLITENESS)  # a released lease goes to the other one, which has waited
        self._parent.tell(Event("finished"))

    def _finished(self) -> bool:
        head = self._store.head(self._assignment.scope, self._assignment.log)
        return head is not None and head.length >= self._assignment.entries

    def _turn(self) -> None:
        task = self._assignment
        with self._lock.hold(task.lease, ttl=task.ttl, timeout=task.patience) as hold:
            head = self._store.seal(task.scope, task.log, hold.lease, log=True)
            position = head.length if isinstance(head, Head) else 0
            order = self._parent.ask(Event("holding", hold.lease.token, position))
            for _ in range(task.turn_batches):
                if order == STAY or position >= task.entries:
                    break
                acknowledged = self._append(position, hold)
                position, order = acknowledged.end, self._parent.ask(acknowledged)
            if order == STAY:
                self._stay(position, hold)

    def _append(self, position: int, hold: Hold) -> Event:
        task = self._assignment
        entries = self._conversation.batch(position, task.batch_entries, task.batch_bytes)
        name = batch_name(task.log, position)
        self._store.append(task.scope, task.log, entries, expect=position, fence=hold.lease, batch_id=name)
        return Event("acknowledged", hold.lease.token, position, len(entries), digest(entries))

    def _stay(self, position: int, hold: Hold) -> None:
        """Go on appending, then hold on to the lease; only the kill ends this."""
        while position < self._assignment.stay_until:
            acknowledged = self._append(position, hold)
            self._parent.tell(acknowledged)
            position = acknowledged.end
        self._parent.order()


def _die_with_parent() -> None:
    """Ask the kernel for SIGKILL when the demo ends; a stopped or busy process would not see its stdin close."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _pipes() -> Parent:
    """Take stdout for reports alone: whatever else prints goes to stderr."""
    reports = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return Parent(sys.stdin, reports)


def main() -> None:
    """Read the assignment and do it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the demo ends its processes itself
    _die_with_parent()
    parent = _pipes()
    assignment = Assignment.from_line(parent.order())
    try:
        with open_store("default") as store, open_lock("default") as lock:
            Worker(parent, assignment, store, lock).run()
    except BrokenPipeError:
        raise SystemExit(0) from None
    except Exception as error:  # noqa: BLE001 - whatever it is, the demo says it
        parent.tell(Event("failed", message=line_of(error)))


if __name__ == "__main__":
    main()
