"""A lease held for the length of a `with` block."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from holdall.clock import boot_time
from holdall.errors import InvalidArgument
from holdall.handles.arguments import check_seconds, check_ttl
from holdall.handles.heartbeat import Beat
from holdall.handles.tasks import finished
from holdall.keys import check_name

if TYPE_CHECKING:
    from holdall.capabilities import Capabilities
    from holdall.values import Lease

_log = logging.getLogger("holdall")

LockLike = TypeVar("LockLike", bound=Any)

_HEARTBEATS_PER_TTL = 3


@dataclass(frozen=True, slots=True)
class HoldSettings:
    """How a lease is to be held."""

    key: str
    ttl: float
    heartbeat: float
    timeout: float | None
    stop_flag: str | None

    @classmethod
    def checked(
        cls,
        capabilities: Capabilities,
        key: Any,
        ttl: Any,
        heartbeat: Any,
        timeout: Any,
        stop_flag: Any,
    ) -> Self:
        """Return the settings after a look at each."""
        seconds = check_ttl(ttl, capabilities.min_ttl)
        interval = seconds / _HEARTBEATS_PER_TTL if heartbeat is None else check_ttl(heartbeat, 0, "heartbeat")
        if interval >= seconds:
            message = (
                f"heartbeat must be below ttl, so that a renewal comes in time: {interval} s is not below {seconds} s"
            )
            raise InvalidArgument(message)
        check_seconds(timeout, "timeout")
        flag = None if stop_flag is None else check_name("stop_flag", stop_flag, capabilities.max_key_bytes)
        return cls(check_name("key", key, capabilities.max_key_bytes), seconds, interval, timeout, flag)


class _Held(Generic[LockLike]):
    """What the two holds have in common."""

    def __init__(self, lock: LockLike, settings: HoldSettings, on_lost: Callable[[Any], object] | None) -> None:
        self._lock = lock
        self._settings = settings
        self._entered: Beat | None = None
        self.on_lost = on_lost

    @property
    def _beat(self) -> Beat:
        if self._entered is None:
            message = "this hold has no lease yet: enter its `with` block"
            raise InvalidArgument(message)
        return self._entered

    @property
    def lease(self) -> Lease:
        """The lease as last renewed; pass it as `fence`."""
        return self._beat.lease

    @property
    def lost(self) -> bool:
        """Whether the lease is lost, for good; always so in a forked child."""
        beat = self._beat
        if beat.overdue():
            beat.tell()
        return beat.lost or self._lock.forked()

    @property
    def stop_requested(self) -> bool:
        """Whether the `stop_flag` has been seen raised."""
        return self._beat.stop_requested

    @property
    def remaining(self) -> float:
        """Seconds until the lease is lost unless it is renewed; 0 when it is lost."""
        return 0.0 if self.lost else max(0.0, self._beat.lease.deadline - boot_time())

    def _begin(self, lease: Lease) -> None:
        self._entered = Beat(lease, self._settings.heartbeat, self._settings.stop_flag, self)
        self._lock.beating().add(self._entered)

    def _check_free(self) -> None:
        if self._entered is not None and not self._entered.ended:
            message = "this hold is already entered: make another with lock.hold()"
            raise InvalidArgument(message)

    def _end(self) -> Lease | None:
        """Stop renewing, and return the lease if it is this process's to release."""
        self._beat.ended = True
        return None if self._lock.forked() else self._beat.lease


class HeldLease(_Held[Any]):
    """A `Hold`."""

    def __enter__(self) -> Self:
        """Acquire the lease."""
        self._check_free()
        settings = self._settings
        lease = self._lock.acquire(settings.key, ttl=settings.ttl, timeout=settings.timeout)
        try:
            self._begin(lease)
        except BaseException:
            self._lock.release(lease)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop renewing and release the lease."""
        lease = self._end()
        if lease is None:
            return
        try:
            self._lock.release(lease)
        except Exception as error:  # noqa: BLE001 - the body's outcome counts; an unreleased lease expires by itself
            _not_released(lease, error)


class AsyncHeldLease(_Held[Any]):
    """An `AsyncHold`."""

    async def __aenter__(self) -> Self:
        """Acquire the lease."""
        self._check_free()
        settings = self._settings
        lease = await self._lock.acquire(settings.key, ttl=settings.ttl, timeout=settings.timeout)
        try:
            self._begin(lease)
        except BaseException:
            await self._lock.release(lease)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop renewing and release the lease."""
        lease = self._end()
        if lease is None:
            return
        try:
            await finished(self._lock.release(lease))
        except Exception as error:  # noqa: BLE001 - the body's outcome counts; an unreleased lease expires by itself
            _not_released(lease, error)


def _not_released(lease: Lease, error: Exception) -> None:
    _log.warning("the lease of %r was not released and will expire by itself: %s", lease.key, error)
