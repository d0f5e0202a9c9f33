"""How an asynchronous handle runs an operation: at once, in a thread of its own, or on its event loop."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

from holdall.clock import boot_time
from holdall.drive import drive
from holdall.errors import StoreTimeout, WrongLoop

Result = TypeVar("Result")


class Runner(Protocol):
    """Runs whole operations for an asynchronous handle."""

    async def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run an operation to its end."""
        ...

    def stop(self) -> None:
        """Give back what the runner holds."""
        ...


class InlineRunner:
    """For adapters that never wait: the operation runs at once, one at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()

    async def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run an operation to its end."""
        with self._turn:
            return drive(coroutine)

    def stop(self) -> None:
        """Hold nothing, give back nothing."""


class _Job:
    """An operation on its way to the worker thread and back."""

    __slots__ = ("abandoned", "coroutine", "deadline", "future", "loop")

    def __init__(self, coroutine: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop, deadline: float) -> None:
        self.coroutine = coroutine
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.deadline = deadline
        self.abandoned = False

    def work(self) -> None:
        """Run in the worker thread; a job that nobody waits for any more is not begun."""
        if self.abandoned:
            self.coroutine.close()
            return
        result, error = None, None
        try:
            if boot_time() > self.deadline:
                self.coroutine.close()
                message = "the operation did not get its turn in time: others keep this handle busy"
                raise StoreTimeout(message)  # noqa: TRY301 - goes the way of every other error of the job
            result = drive(self.coroutine)
        except BaseException as caught:  # noqa: BLE001 - everything goes to whoever awaits the job
            error = caught
        try:
            self.loop.call_soon_threadsafe(self._finish, result, error)
        except RuntimeError:
            return  # the loop was closed meanwhile, nobody waits

    def _finish(self, result: Any, error: BaseException | None) -> None:
        if self.future.cancelled():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


class ThreadRunner:
    """For blocking adapters: whole operations run in one thread that the handle owns, one hop an operation."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    async def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run an operation to its end in the thread; if the waiting task is cancelled, one that has begun goes on."""
        if self._thread is None:
            self._start()
        job = _Job(coroutine, asyncio.get_running_loop(), boot_time() + self._timeout)
        self._jobs.put(job)
        try:
            result: Result = await job.future
        except asyncio.CancelledError:
            job.abandoned = True
            raise
        return result

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=_work, args=(self._jobs,), name="holdall-worker", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the thread after the jobs it has."""
        self._jobs.put(None)


def _work(jobs: queue.SimpleQueue[_Job | None]) -> None:
    while True:
        job = jobs.get()
        if job is None:
            return
        job.work()
        del job


class LoopRunner:
    """For adapters with an async driver: operations run on the event loop that used the handle first."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run an operation to its end.

        Raises:
            WrongLoop: it is another loop than before.

        """
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            coroutine.close()
            message = "this handle belongs to another event loop: open one in every loop that uses the store"
            raise WrongLoop(message)
        return await coroutine

    def stop(self) -> None:
        """Hold nothing, give back nothing."""
