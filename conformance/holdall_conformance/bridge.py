"""Asynchronous stores and locks behind the synchronous face, so that a scenario is written once.

Every call goes to an event loop in a thread of its own, and waits there for its result.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, Self

__all__ = ["BridgedLock", "BridgedStore", "LoopThread"]

_PATIENCE = 120.0


class LoopThread:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="bridge-loop", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the loop and return its result."""
        return asyncio.run_coroutine_threadsafe(_without_exits(coroutine), self.loop).result(_PATIENCE)

    def iterate(self, iterator: AsyncIterator[Any]) -> Iterator[Any]:
        """Iterate over an async iterator from outside of the loop."""
        try:
            while True:
                try:
                    yield self.run(_next(iterator))
                except StopAsyncIteration:
                    return
        finally:
            close = getattr(iterator, "aclose", None)
            if close is not None:
                self.run(close())

    def stop(self) -> None:
        """End the loop."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(_PATIENCE)
        self.loop.close()


async def _without_exits(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine; one that wants to end the process would end the loop, and everybody else would wait for it."""
    try:
        return await coroutine
    except (SystemExit, KeyboardInterrupt) as error:
        message = f"the operation raised {type(error).__name__}"
        raise RuntimeError(message) from error


async def _next(iterator: AsyncIterator[Any]) -> Any:
    return await anext(iterator)


class _Bridge:
    """Turns every method of an asynchronous handle into one that blocks."""

    def __init__(self, inner: Any, thread: LoopThread) -> None:
        self.inner = inner
        self._thread = thread

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.inner, name)
        if not callable(attribute):
            return attribute

        def call(*arguments: Any, **named: Any) -> Any:
            result = attribute(*arguments, **named)
            if inspect.isasyncgen(result):
                return self._thread.iterate(result)
            return self._thread.run(_awaited(result)) if inspect.isawaitable(result) else result

        return call

    def __enter__(self) -> Self:
        self._thread.run(self.inner.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.run(self.inner.close())

    def __repr__(self) -> str:
        return repr(self.inner)


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


class BridgedStore(_Bridge):
    """An `AsyncStore` behind the face of a `Store`."""

    def update(self, scope: str, key: str, function: Any, **named: Any) -> Any:
        """Run a synchronous function as an update, in a thread beside the loop."""

        async def run(value: Any) -> Any:
            return await asyncio.to_thread(function, value)

        return self._thread.run(self.inner.update(scope, key, run if callable(function) else function, **named))

    def transaction(self, function: Any, *, attempts: int = 10) -> Any:
        """Run a synchronous function as a transaction, in a thread beside the loop."""

        async def run(buffer: Any) -> Any:
            return await asyncio.to_thread(function, _Bridge(buffer, self._thread))

        return self._thread.run(self.inner.transaction(run if callable(function) else function, attempts=attempts))


class _BridgedHold(_Bridge):
    """An `AsyncHold` behind the face of a `Hold`."""

    def __enter__(self) -> Self:
        self._thread.run(self.inner.__aenter__())
        return self

    def __exit__(self, *error: object) -> None:
        self._thread.run(self.inner.__aexit__(*error))


class BridgedLock(_Bridge):
    """An `AsyncLock` behind the face of a `Lock`."""

    def hold(self, key: str, **settings: Any) -> _BridgedHold:
        """Return a hold whose block is a plain `with`."""
        return _BridgedHold(self.inner.hold(key, **settings), self._thread)
