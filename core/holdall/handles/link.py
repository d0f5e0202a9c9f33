"""The way from a handle to its storage: opening it, guarding it against fork and close, observing its operations."""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar, cast

from holdall.clock import boot_time
from holdall.derived import derive
from holdall.drive import drive
from holdall.environment import BlockingEnvironment, SuspendingEnvironment
from holdall.errors import ClosedHandle, ConfigError, ForkedHandle, HoldallError
from holdall.handles.runners import InlineRunner, LoopRunner, Runner, ThreadRunner
from holdall.operation import Operation
from holdall.plugins import observers
from holdall.spi import Adapter, Connection, Target
from holdall.url import Url
from holdall.values import Lease

_log = logging.getLogger("holdall")


@dataclass(frozen=True, slots=True)
class Opening:
    """All that is needed to open a storage, as often as wanted."""

    adapter: Adapter
    url: Url
    options: dict[str, Any]
    timeout: float
    client: Any
    folder: str | None

    async def connect(self, *, suspending: bool) -> Connection:
        """Open the storage.

        Args:
            suspending: whether an event loop runs the calls.

        Raises:
            ConfigError: the adapter has no way to be opened like this.

        """
        target = self.target(suspending=suspending)
        if self.adapter.connect is not None:
            return await self.adapter.connect(target)
        if self.adapter.backend is None:
            message = f"adapter {self.adapter.name!r} brings no such handle"
            raise ConfigError(message)
        backend = await self.adapter.backend(target)
        return await derive(backend, self.adapter.capabilities, target.environment, self.timeout)

    def target(self, *, suspending: bool) -> Target:
        """Return what the adapter is asked to open.

        Args:
            suspending: whether an event loop runs the calls.

        """
        return Target(
            url=self.url,
            options=self.options,
            timeout=self.timeout,
            client=self.client,
            environment=SuspendingEnvironment() if suspending else BlockingEnvironment(),
            suspending=suspending,
            folder=Path.cwd() if self.folder is None else Path(self.folder),
        )


class Link:
    """What the handles on one storage share; the handle that opened it closes it."""

    def __init__(self, opening: Opening) -> None:
        self.opening = opening
        self.adapter = opening.adapter.name
        self.connection: Connection | None = None
        self.closed = False
        self._pid = os.getpid()

    @property
    def place(self) -> str:
        """The URL without secrets."""
        return str(self.opening.url)

    def check(self) -> None:
        """Refuse to work in a forked child or after closing.

        Raises:
            ForkedHandle: this is a child of the process that opened the handle.
            ClosedHandle: the handle was closed.

        """
        if os.getpid() != self._pid:
            message = "this handle was opened before a fork: open a new one in the child process"
            raise ForkedHandle(message)
        if self.closed:
            message = "this handle is closed: open a new one"
            raise ClosedHandle(message)

    def forked(self) -> bool:
        """Return whether this is a child of the process that opened the handle."""
        return os.getpid() != self._pid

    def observed(self, name: str, scope: str | None, started: float, outcome: str) -> None:
        """Tell the observers, if there are any."""
        observe = observers()
        if observe is None:
            return
        duration = boot_time() - started
        try:
            observe(operation=Operation(name, self.adapter, scope, duration, outcome))
        except Exception:  # noqa: BLE001 - an observer must not break what it observes
            _log.exception("a holdall_operation hook failed")


class SyncLink(Link):
    """A link whose operations block."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self.connection = drive(opening.connect(suspending=False))
        self._abandoned = weakref.finalize(self, _close_if_same_process, self.connection, os.getpid())

    def prepared(self, driver: Any) -> Any:
        """Return a driver as operations are to call it: as it is."""
        return driver

    def close(self) -> None:
        """Close the storage, once."""
        if self.closed or self.forked():
            return
        self.closed = True
        self._abandoned.detach()
        if self.connection is not None:
            drive(_close(self.connection))


class AsyncLink(Link):
    """A link whose operations are awaited; it connects with the first of them."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self._runner = self._make_runner()

    def _make_runner(self) -> Runner:
        match self.opening.adapter.io:
            case "none":
                return InlineRunner()
            case "blocking":
                runner = ThreadRunner(self.opening.timeout)
                weakref.finalize(self, runner.stop)
                return runner
            case "suspending":
                return LoopRunner()

    async def connect(self) -> Connection:
        """Open the storage if that has not been done."""
        if self.connection is None:
            self.check()
            try:
                await self._runner.run_whole(self._connect_once())
            finally:
                if self.connection is None:
                    self._runner.rest()  # nobody closes a handle that did not open
        return self._connected()

    def _connected(self) -> Connection:
        if self.connection is None:
            message = "the handle was closed while it connected"
            raise ClosedHandle(message)
        return self.connection

    async def _connect_once(self) -> None:
        if self.connection is None:
            suspending = self.opening.adapter.io == "suspending"
            connection = await self.opening.connect(suspending=suspending)
            if self.closed or self._adopt(connection) is not connection:
                await connection.close()  # it was closed, or another task connected meanwhile

    def _adopt(self, connection: Connection) -> Connection:
        self.connection = self.connection or connection
        return self.connection

    def prepared(self, driver: Any) -> Any:
        """Return a driver as operations are to call it."""
        return self._runner.prepared(driver)

    def waiting_connection(self) -> Connection | None:
        """Return the connection if its way to wait suspends, and does not block the event loop."""
        return self.connection if self.opening.adapter.io == "suspending" else None

    async def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run an operation to its end."""
        return await self._runner.run(coroutine)

    async def close(self) -> None:
        """Close the storage, once."""
        if self.closed or self.forked():
            return
        self.closed = True
        if self.connection is None:
            self._runner.stop()
        else:
            await self._runner.finish(_close(self.connection))


async def _close(connection: Connection) -> None:
    await connection.close()


def _close_if_same_process(connection: Connection, pid: int) -> None:
    if os.getpid() == pid:
        drive(_close(connection))


AnyLink = TypeVar("AnyLink", bound=Link)


class Handle(Generic[AnyLink]):
    """What every handle has: its link, a repr without secrets, and no way to be pickled or copied."""

    _link: AnyLink

    @property
    def adapter(self) -> str:
        """The name of the adapter."""
        return self._link.adapter

    def __repr__(self) -> str:
        """Return the kind of handle and the URL without secrets."""
        return f"<holdall {type(self).__name__} {self._link.place}>"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied.

        Raises:
            TypeError: always.

        """
        message = f"a {type(self).__name__} cannot be pickled or copied: open it again from its URL where it is needed"
        raise TypeError(message)


class Locating:
    """Notes on an error of holdall that leaves its block where it happened."""

    __slots__ = ("_adapter", "_key", "_operation", "_scope")

    def __init__(self, adapter: str, operation: str, scope: Any = None, key: Any = None) -> None:
        self._adapter = adapter
        self._operation = operation
        self._scope = scope if isinstance(scope, str) else None
        self._key = key if isinstance(key, str) else None

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Note the place on the error."""
        if isinstance(error, HoldallError):
            error.located(self._adapter, self._operation, self._scope, self._key)

    async def each(self, iterator: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Iterate, noting the place on what the iterator raises."""
        async with contextlib.aclosing(cast("AsyncGenerator[Any, None]", iterator)) as closing:
            with self:
                async for item in closing:
                    yield item


class Place:
    """Finds the scope and key among the arguments of an operation, for errors and observers; a lease names its key."""

    def __init__(self, function: Callable[..., Any]) -> None:
        names = list(inspect.signature(function).parameters)[1:]
        wanted = ("scope", "lease" if "lease" in names else "key")
        self._positions = [(names.index(name), name) if name in names else None for name in wanted]

    def find(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[str | None, str | None]:
        """Return the scope and the key, None for what is not there or no str."""
        scope, key = (_argument(position, arguments, named) for position in self._positions)
        return scope, key

    def locate(
        self, error: BaseException, adapter: str, operation: str, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> None:
        """Note on an error of holdall where it happened."""
        if isinstance(error, HoldallError):
            error.located(adapter, operation, *self.find(arguments, named))


def _argument(position: tuple[int, str] | None, arguments: tuple[Any, ...], named: dict[str, Any]) -> str | None:
    if position is None:
        return None
    index, name = position
    value = arguments[index] if index < len(arguments) else named.get(name)
    if isinstance(value, Lease):
        return value.key
    return value if isinstance(value, str) else None
