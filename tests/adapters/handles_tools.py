"""A store and a lock of either kind, driven by the same test."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import holdall

KINDS = ("sync", "async")


class Handles:
    """A store and a lock, of either kind: what their methods return is run to its end by `run`."""

    def __init__(self, kind: str, url: str, **named: Any) -> None:
        self.is_async = kind == "async"
        self.runner = asyncio.Runner()
        if self.is_async:
            self.store: Any = holdall.open_async_store(url, **named)
            self.lock: Any = holdall.open_async_lock(self.store)
        else:
            self.store = holdall.open_store(url, **named)
            self.lock = holdall.open_lock(self.store)

    def run(self, result: Any) -> Any:
        """Return what an operation returned, awaited where that is needed."""
        return self.runner.run(_awaited(result)) if self.is_async else result

    def close(self) -> None:
        """Close both, and the loop."""
        self.run(self.lock.close())
        self.run(self.store.close())
        self.runner.close()


async def _awaited(result: Any) -> Any:
    return await result


@contextlib.contextmanager
def opened(kind: str, url: str, **named: Any) -> Iterator[Handles]:
    """Give a store and a lock on a URL."""
    handles = Handles(kind, url, **named)
    try:
        handles.run(handles.store.ping())
        yield handles
    finally:
        handles.close()
