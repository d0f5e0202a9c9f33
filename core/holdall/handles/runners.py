"""How an asynchronous handle runs an operation: at once, in a thread of its own, or on its event loop."""

from __future__ import annotations

import asyncio
import math
import queue
import threading
import types
from collections.abc import Coroutine, Generator
from typing import Any, Protocol, TypeVar

from holdall.clock import boot_time
from holdall.drive import drive
from holdall.errors import ClosedHandle, StoreTimeout, WrongLoop

Result = TypeVar("Result")


class HandOver:
    """A driver whose calls begin by going over to the worker thread: what is before them runs where the caller is.

    So arguments are checked and encoded before the caller goes on, and never by another thread.
    """

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    def __getattr__(self, name: str) -> Any:
        """Return a method of the driver that goes over first."""
        method = getattr(self._driver, name)

        async def call(*arguments: Any) -> Any:
            await _go_over()
            return await method(*arguments)

        setattr(self, name, call)
        return call


@types.coroutine
def _go_over() -> Generator[None, None, None]:
    yield


class Runner(Protocol):
    """Runs whole operations for an asynchronous handle."""

    def prepared(self, driver: Any) -> Any:
        """Return a driver as the operations of this runner are to call it."""
        ...

    async def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run an operation on a prepared driver to its end."""
        ...

    async def run_whole(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run what does not use a prepared driver, all of it where drivers are called."""
        ...

    async def finish(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a last coroutine, and give back what the runner holds."""
        ...

    def rest(self) -> None:
        """Give back what the runner holds until it is needed again."""
        ...

    def stop(self) -> None:
        """Give back what the runner holds."""
        ...


class InlineRunner:
    """For adapters that never wait: the operation runs at once, one at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()

    def prepared(self, driver: Any) -> Any:
        """Return the driver as it is."""
        return driver

    async def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run an operation to its end."""
        with self._turn:
            return drive(coroutine)

    async def run_whole(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run it like any other."""
        return await self.run(coroutine)

    async def finish(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a last coroutine like any other."""
        await self.run(coroutine)

    def rest(self) -> None:
        """Hold nothing, give back nothing."""

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
            result = _drive_on(self.coroutine)
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


def _drive_on(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end in the worker thread, where going over means nothing any more."""
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value


class ThreadRunner:
    """For blocking adapters: whole operations run in one thread that the handle owns, one hop an operation."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.RLock()
        self._stopped = False

    def prepared(self, driver: Any) -> Any:
        """Return the driver so that its calls go over to the thread."""
        return HandOver(driver)

    async def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Begin an operation here and end it in the thread, from the first call of the driver on."""
        try:
            coroutine.send(None)
        except StopIteration as stop:
            result: Result = stop.value
            return result
        return await self.run_whole(coroutine)

    async def run_whole(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the thread; if the waiting task is cancelled, one that has begun goes on.

        Raises:
            ClosedHandle: the runner was stopped.

        """
        job = _Job(coroutine, asyncio.get_running_loop(), boot_time() + self._timeout)
        self._hire(job)
        try:
            result: Result = await job.future
        except asyncio.CancelledError:
            job.abandoned = True
            raise
        return result

    def _hire(self, job: _Job) -> None:
        with self._starting:
            if self._stopped:
                job.coroutine.close()
                message = "this handle is closed: open a new one"
                raise ClosedHandle(message)
            if self._thread is None:
                thread = threading.Thread(target=_work, args=(self._jobs,), name="holdall-worker", daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    job.coroutine.close()
                    raise
                self._thread = thread
            self._jobs.put(job)

    async def finish(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a last coroutine after the jobs there are, whether or not somebody waits for it, and end the thread."""
        job = _Job(coroutine, asyncio.get_running_loop(), math.inf)
        self._hire(job)
        self.stop()
        await asyncio.shield(job.future)

    def rest(self) -> None:
        """End the thread after the jobs it has; the next operation hires another one."""
        with self._starting:
            jobs, self._jobs, self._thread = self._jobs, queue.SimpleQueue(), None
            jobs.put(None)

    def stop(self) -> None:
        """End the thread after the jobs it has."""
        with self._starting:
            self._stopped = True
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

    def prepared(self, driver: Any) -> Any:
        """Return the driver as it is."""
        return driver

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

    async def run_whole(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run it like any other."""
        return await self.run(coroutine)

    async def finish(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a last coroutine like any other."""
        await self.run(coroutine)

    def rest(self) -> None:
        """Hold nothing, give back nothing."""

    def stop(self) -> None:
        """Hold nothing, give back nothing."""
