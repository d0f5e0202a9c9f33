"""Keeps leases alive: one thread per lock handle decides what is due, and a few others make the calls.

A lease is lost when the store says so, or when its deadline passes without a renewal, whatever hangs: the deciding
thread never calls the storage itself. Loss is final. A renewal whose reply is lost is tried again until the deadline.
"""

from __future__ import annotations

import logging
import queue
import random
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdall.clock import boot_time
from holdall.drive import drive
from holdall.errors import ClosedHandle, LeaseLost, Unsupported
from holdall.handles.leases import LockOperations

if TYPE_CHECKING:
    from holdall.handles.link import Opening
    from holdall.spi import Connection
    from holdall.values import Lease

_log = logging.getLogger("holdall")
_random = random.SystemRandom()

_MOST_CALLERS = 8
_LONGEST_FLAG_WAIT = 1.0
_RETRIES_PER_INTERVAL = 4
_LATEST_SHARE = 0.8


class Beat:
    """A lease that is being kept alive; shared by a hold and the heartbeat.

    Attributes:
        lease: the lease as last renewed.
        lost: whether it is lost, for good.
        ended: whether its hold is over.
        stop_requested: whether its flag was seen raised.
        renewing: whether a renewal is on its way.
        looking: whether a look at the flag is on its way.
        next_renewal: when the next renewal is due, by the boot clock.
        next_look: when the next look at the flag is due.

    """

    def __init__(self, lease: Lease, interval: float, stop_flag: str | None, hold: Any) -> None:
        now = boot_time()
        self.lease = lease
        self.interval = interval
        self.stop_flag = stop_flag
        self.lost = self.ended = self.stop_requested = False
        self.renewing = self.looking = False
        self.next_renewal = now
        self.next_look = now
        self._hold: weakref.ref[Any] = weakref.ref(hold)
        self._losing = threading.Lock()
        self.plan(now)

    def plan(self, sent: float) -> None:
        """Plan the next renewal: after the interval, and well before the deadline.

        Args:
            sent: when the lease was asked for, by the boot clock.

        """
        latest = (self.lease.deadline - sent) * _LATEST_SHARE
        self.next_renewal = sent + min(jittered(self.interval), latest)

    def is_over(self) -> bool:
        """Return whether there is nothing to keep alive any more: ended, lost, or its hold was thrown away."""
        return self.ended or self.lost or self._hold() is None

    def overdue(self) -> bool:
        """Return whether the deadline has passed, and mark the lease as lost if so; True only the first time."""
        return boot_time() >= self.lease.deadline and self.lose()

    def lose(self) -> bool:
        """Mark the lease as lost; return whether this call did it."""
        with self._losing:
            if self.lost or self.ended:
                return False
            self.lost = True
            return True

    def tell(self) -> None:
        """Call `on_lost`."""
        hold = self._hold()
        if hold is None or hold.on_lost is None:
            return
        try:
            hold.on_lost(hold)
        except (Exception, SystemExit):  # noqa: BLE001 - a failing callback must not stop the renewals of other leases
            _log.exception("on_lost of the lease of %r failed", self.lease.key)

    def next_event(self) -> float:
        """Return when something is next due."""
        times = [self.lease.deadline]
        if not self.renewing:
            times.append(self.next_renewal)
        if self.stop_flag is not None and not self.stop_requested and not self.looking:
            times.append(self.next_look)
        return min(times)


def jittered(interval: float) -> float:
    """Return an interval, up to a tenth shorter or longer.

    Args:
        interval: seconds.

    """
    return interval * (0.9 + 0.2 * _random.random())


class _CallerState:
    """What the caller threads share; it does not know who gives them jobs, so that those can be thrown away."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.count = 0
        self.idle = 0
        self.counting = threading.Lock()

    def stop(self) -> None:
        """Let the threads end after the jobs they have."""
        for _ in range(self.count):
            self.jobs.put(None)


def _make_calls(state: _CallerState) -> None:
    while (job := state.jobs.get()) is not None:
        try:
            job()
        except BaseException:  # noqa: BLE001 - the thread must live for the next call
            _log.exception("a call of the heartbeat failed")
        del job
        with state.counting:
            state.idle += 1


class Callers:
    """A few daemon threads that run calls; started when all are busy, never waited for."""

    def __init__(self) -> None:
        self._state = _CallerState()
        self.stop = weakref.finalize(self, self._state.stop)
        self.stop.atexit = False

    def call(self, job: Callable[[], None]) -> None:
        """Run a job in a thread."""
        state = self._state
        with state.counting:
            if state.idle <= 0 and state.count < _MOST_CALLERS:
                threading.Thread(target=_make_calls, args=(state,), name="holdall-renewals", daemon=True).start()
                state.count += 1
            else:
                state.idle -= 1
        state.jobs.put(job)

    def started(self) -> bool:
        """Return whether there was ever a job."""
        return self._state.count > 0


class Heartbeat:
    """Renews the leases of one lock handle, over a connection of its own."""

    def __init__(self, opening: Opening, shared: Callable[[], Connection | None]) -> None:
        self._opening = opening
        self._shared = shared
        self._beats: list[Beat] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._callers = Callers()
        self._tellers = Callers()
        self._connecting = threading.Lock()
        self._connection: Connection | None = None
        self._operations: LockOperations | None = None
        self._closed = False

    def add(self, beat: Beat) -> None:
        """Begin to keep a lease alive."""
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(target=self._decide, name="holdall-heartbeat", daemon=True)
                self._beats.append(beat)
                try:
                    thread.start()
                except RuntimeError:
                    self._beats.remove(beat)
                    raise
                self._thread = thread
            else:
                self._beats.append(beat)
            self._changed.notify()

    def close(self) -> None:
        """Stop renewing; what was held is lost when it expires."""
        with self._changed:
            self._closed = True
            self._beats.clear()
            self._changed.notify()
        if self._callers.started():
            self._callers.call(self._disconnect)
            self._callers.stop()
        self._tellers.stop()

    def _decide(self) -> None:
        while True:
            with self._changed:
                self._beats = [beat for beat in self._beats if not beat.is_over()]
                if not self._beats:
                    self._thread = None
                    return
                for beat in self._beats:
                    self._start_safely(beat)
                event = min(beat.next_event() for beat in self._beats)
                self._changed.wait(max(0.0, event - boot_time()))

    def _start_safely(self, beat: Beat) -> None:
        try:
            self._start_what_is_due(beat)
        except RuntimeError:  # no thread could be started for a call
            _log.exception("a call for the lease of %r could not be started", beat.lease.key)
            if beat.lost:
                beat.tell()
            beat.renewing = beat.looking = False
            later = boot_time() + beat.interval / _RETRIES_PER_INTERVAL
            beat.next_renewal = beat.next_look = later

    def _start_what_is_due(self, beat: Beat) -> None:
        now = boot_time()
        if beat.overdue():
            self._tellers.call(beat.tell)
        elif not beat.renewing and now >= beat.next_renewal:
            beat.renewing = True
            self._callers.call(lambda: self._renew(beat))
        if beat.stop_flag is not None and not beat.looking and not beat.stop_requested and now >= beat.next_look:
            beat.looking = True
            self._callers.call(lambda: self._look(beat))

    def _renew(self, beat: Beat) -> None:
        sent = boot_time()
        try:
            renewed = drive(self._connected().renew(beat.lease))
        except LeaseLost:
            if beat.lose():
                beat.tell()
        except Exception as error:  # noqa: BLE001 - whatever failed, the lease may be alive: try until the deadline
            _log.info(
                "a renewal of the lease of %r failed and is tried again: %s", beat.lease.key, type(error).__name__
            )
            beat.next_renewal = boot_time() + jittered(beat.interval / _RETRIES_PER_INTERVAL)
        else:
            if not beat.lost:
                beat.lease = renewed
            beat.plan(sent)
        beat.renewing = False
        self._notify()

    def _look(self, beat: Beat) -> None:
        try:
            beat.stop_requested = drive(self._connected().flag(beat.stop_flag or ""))
        except Exception as error:  # noqa: BLE001 - a look that failed is taken again
            _log.info("a look at flag %r failed and is taken again: %s", beat.stop_flag, type(error).__name__)
        beat.next_look = boot_time() + min(beat.interval, _LONGEST_FLAG_WAIT)
        beat.looking = False
        self._notify()

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify()

    def _connected(self) -> LockOperations:
        with self._connecting:
            if self._closed:
                message = "the lock is closed"
                raise ClosedHandle(message)
            if self._operations is None:
                self._connection = self._connect()
                if self._connection.lock is None:
                    message = "this adapter has no lock"
                    raise Unsupported(message)
                capabilities = self._connection.capabilities
                self._operations = LockOperations(self._connection.lock, capabilities, self._opening.timeout)
            return self._operations

    def _connect(self) -> Connection:
        shared = self._shared()
        if shared is not None and shared.sibling is not None:
            sibling: Connection = drive(_awaited(shared.sibling()))
            return sibling
        return drive(self._opening.connect(suspending=False))

    def _disconnect(self) -> None:
        with self._connecting:
            if self._connection is not None:
                drive(_awaited(self._connection.close()))
                self._connection = self._operations = None


async def _awaited(awaitable: Any) -> Any:
    return await awaitable
