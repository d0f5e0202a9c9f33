"""Waits for appends by change streams, where the deployment has them, while somebody follows."""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdall.errors import HoldallError
from holdall_adapters.mongodb.log_readers import LOGS, head_of

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.mongodb.connection import Deployment
    from holdall_adapters.mongodb.log_readers import Name

__all__ = ["Streams"]

_STEP = 0.25
"""Seconds for which the server keeps one question for changes: nothing else can be done with the stream meanwhile."""
_LOOK = 2.0
"""Seconds after which one who waits looks again."""
_MOST_IDLE = 16
_SHOWN = {"f": 1, "n": 1, "i": 1}


@dataclass(frozen=True, slots=True, eq=False)
class _Stream:
    """The changes of one head of a log."""

    name: Name
    document: Any
    changes: Any


class Streams:
    """Change streams, each of one log; those that nobody waits for are kept for whoever follows the same log.

    Args:
        deployment: a deployment that has change streams.
        environment: tells the time.

    """

    def __init__(self, deployment: Deployment, environment: Environment) -> None:
        self._deployment = deployment
        self._environment = environment
        self._idle: deque[_Stream] = deque()
        self._closed = False

    async def wait(self, scope: str, key: str, position: int, seconds: float) -> bool:
        """Wait until a log may be longer, or until it is time to look again.

        Args:
            scope: its scope.
            key: its key.
            position: how long it was.
            seconds: the longest wait.

        Returns:
            Whether there was a way to wait.

        """
        if seconds < _STEP:
            return False
        stream = self._pop((scope, key))
        try:
            stream = stream or await self._new((scope, key))
            if stream is None or not await self._heard(stream, position, min(seconds, _LOOK)):
                await self._discard(stream)
                return False
        except HoldallError:
            await self._discard(stream)
            return False
        except BaseException:
            await self._discard(stream)
            raise
        await self._push(stream)
        return True

    async def _new(self, name: Name) -> _Stream | None:
        """Begin to listen to a log; None where there was none yet."""
        found = await self._deployment.find_one(LOGS, {"s": name[0], "k": name[1]}, {"_id": 1})
        if found is None:
            return None
        pipeline = [{"$match": {"documentKey._id": found["_id"]}}, {"$project": {"_id": 1}}]
        logs, wait = self._deployment.collection(LOGS), round(_STEP * 1000)
        changes = await self._deployment.call(lambda _: logs.watch(pipeline, max_await_time_ms=wait), writing=False)
        return _Stream(name, found["_id"], changes)

    async def _heard(self, stream: _Stream, position: int, seconds: float) -> bool:
        """Wait for a change, unless the log is longer already; False if its document is gone, and tells no more."""
        found = await self._deployment.find_one(LOGS, {"_id": stream.document}, _SHOWN)
        if found is None:
            return False
        head, end = head_of(found), self._environment.boot_time() + seconds
        if head is not None and head.length > position:
            return True
        while self._environment.boot_time() + _STEP <= end:
            if await self._deployment.call(lambda _: stream.changes.try_next(), writing=False) is not None:
                break
        return True

    def _pop(self, name: Name) -> _Stream | None:
        """Return one that listens to a log and that nobody waits for, the one that was used last."""
        for stream in reversed(list(self._idle)):
            if stream.name == name:
                with contextlib.suppress(ValueError):  # another thread was faster
                    self._idle.remove(stream)
                    return stream
        return None

    async def _push(self, stream: _Stream) -> None:
        self._idle.append(stream)
        if self._closed:
            await self.close()
        elif len(self._idle) > _MOST_IDLE:
            with contextlib.suppress(IndexError):
                await self._discard(self._idle.popleft())

    async def _discard(self, stream: _Stream | None) -> None:
        if stream is not None:
            with contextlib.suppress(HoldallError):
                await self._deployment.call(lambda _: stream.changes.close(), writing=False)

    async def close(self) -> None:
        """End those that nobody waits for; the others end when they have waited."""
        self._closed = True
        with contextlib.suppress(IndexError):
            while True:
                await self._discard(self._idle.popleft())
