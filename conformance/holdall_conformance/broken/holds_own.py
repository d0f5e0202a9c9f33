"""Broken in holds that renew by themselves."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import asyncio
import contextlib
import threading
import weakref
from typing import Any, Self

from holdall import HoldallError, InvalidArgument, Lease, LeaseLost
from holdall.clock import boot_time
from holdall_conformance.broken.holds import PassingHold
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.wrapping import WrappedAsyncLock, WrappedLock


@broken("hold-waits-for-ever", "holds")
class HoldWaitsForEver(WrappedLock):
    """Waits for a held key in a hold that has no timeout."""

    def hold(self, key: str, **settings: Any) -> Any:
        return self.inner.hold(key, **{"timeout": None, **settings})


class OwnHold(PassingHold):
    """A hold that acquires, renews and releases by itself, in a thread of its own."""

    renewing = True
    knows_its_deadline = True

    def __init__(self, inner: Any, lock: Any, key: str = "", **settings: Any) -> None:
        super().__init__(inner, lock)
        self.key = key
        self.settings = settings
        self.ended = threading.Event()
        self.ended.set()
        self.mine: Any = None
        self.gone = False

    @property
    def lease(self) -> Lease:
        if self.mine is None:
            message = "not entered"
            raise InvalidArgument(message)
        lease: Lease = self.mine
        return lease

    @property
    def lost(self) -> bool:
        if self.knows_its_deadline and boot_time() >= self.lease.deadline:
            self.gone = True
        return self.gone

    @property
    def stop_requested(self) -> bool:
        flag = self.settings.get("stop_flag")
        return flag is not None and bool(self.lock.flag(flag))

    @property
    def remaining(self) -> float:
        return 0.0 if self.lost else max(0.0, self.lease.deadline - boot_time())

    @property
    def pause(self) -> float:
        heartbeat = self.settings.get("heartbeat")
        return float(self.settings.get("ttl", 60)) / 3 if heartbeat is None else float(heartbeat)

    def __enter__(self) -> Self:
        if not self.ended.is_set():
            message = "entered twice"
            raise InvalidArgument(message)
        timeout = self.settings.get("timeout", 0)
        self.mine = self.lock.acquire(self.key, ttl=self.settings.get("ttl", 60), timeout=timeout)
        self.ended.clear()
        if self.renewing:
            arguments = (weakref.ref(self), self.ended, self.pause)
            threading.Thread(target=_renew, args=arguments, daemon=True).start()
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> bool | None:
        self.ended.set()
        with contextlib.suppress(HoldallError):
            self.lock.release(self.mine)
        return None

    def renew(self) -> None:
        """Renew, and tell of a loss."""
        try:
            self.mine = self.lock.renew(self.mine)
        except LeaseLost:
            self.gone = True
            self.ended.set()
            on_lost = self.settings.get("on_lost")
            if on_lost is not None:
                with contextlib.suppress(Exception):
                    on_lost(self)
        except HoldallError:
            return


def _renew(reference: weakref.ref[OwnHold], ended: threading.Event, pause: float) -> None:
    while not ended.wait(pause):
        hold = reference()
        if hold is None:
            return
        hold.renew()
        del hold


class _OwnHolding(WrappedLock):
    owning: type[OwnHold] = OwnHold

    def hold(self, key: str, **settings: Any) -> Any:
        return self.owning(self.inner.hold(key, **settings), self.inner, key, **settings)


@broken("a-thread-for-each-hold", "holds")
class AThreadForEachHold(_OwnHolding):
    """Starts a thread for each lease that is held."""


class _WithoutRenewal(OwnHold):
    renewing = False


@broken("hold-not-renewed", "holds")
class HoldNotRenewed(_OwnHolding):
    """Acquires at the beginning, releases at the end, and renews nothing."""

    owning = _WithoutRenewal


class _WithoutDeadline(OwnHold):
    knows_its_deadline = False


@broken("loss-known-when-told", "holds")
class LossKnownWhenTold(_OwnHolding):
    """Takes a lease for held until the store says otherwise, also when the store cannot be reached."""

    owning = _WithoutDeadline


class _LoopHold:
    """A hold that a task of the body's own event loop renews."""

    def __init__(self, inner: Any, lock: Any, key: str, settings: dict[str, Any]) -> None:
        self.inner = inner
        self.lock = lock
        self.key = key
        self.settings = settings
        self.task: asyncio.Task[None] | None = None
        self.mine: Any = None
        self.stopping = False

    @property
    def lease(self) -> Any:
        return self.mine if self.mine is not None else self.inner.lease

    @property
    def lost(self) -> bool:
        return bool(boot_time() >= self.lease.deadline)

    @property
    def stop_requested(self) -> bool:
        return self.stopping

    @property
    def remaining(self) -> float:
        return float(max(0.0, self.lease.deadline - boot_time()))

    async def __aenter__(self) -> Self:
        timeout, ttl = self.settings.get("timeout", 0), self.settings.get("ttl", 60)
        self.mine = await self.lock.acquire(self.key, ttl=ttl, timeout=timeout)
        self.task = asyncio.ensure_future(self._renew(ttl / 3))
        return self

    async def _renew(self, pause: float) -> None:
        renewed = boot_time()
        while True:
            flag = self.settings.get("stop_flag")
            self.stopping = self.stopping or (flag is not None and await self.lock.flag(flag))
            await asyncio.sleep(min(pause, 0.05))
            if boot_time() - renewed > pause:
                self.mine, renewed = await self.lock.renew(self.mine), boot_time()

    async def __aexit__(self, *_: object) -> None:
        if self.task is not None:
            self.task.cancel()
        with contextlib.suppress(HoldallError):
            await self.lock.release(self.mine)


@broken("hold-renewed-in-the-loop", "holds", side="async")
class HoldRenewedInTheLoop(WrappedAsyncLock):
    """Renews in the event loop of the body, which loses the lease when the body blocks it."""

    def hold(self, key: str, **settings: Any) -> Any:
        return _LoopHold(self.inner.hold(key, **settings), self.inner, key, settings)
