"""Broken in what keeps a lease alive for the length of a block."""
# ruff: noqa: D102, D107 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import asyncio
import contextlib
import threading
import weakref
from typing import Any, Self

from holdall import HoldallError, InvalidArgument, Lease, LeaseLost
from holdall.clock import boot_time
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.wrapping import WrappedAsyncLock, WrappedLock


class PassingHold:
    """A hold that passes everything on to another one.

    Args:
        inner: the other hold.
        lock: the lock it belongs to.

    """

    def __init__(self, inner: Any, lock: Any) -> None:
        self.inner = inner
        self.lock = lock

    @property
    def lease(self) -> Lease:
        lease: Lease = self.inner.lease
        return lease

    @property
    def lost(self) -> bool:
        return bool(self.inner.lost)

    @property
    def stop_requested(self) -> bool:
        return bool(self.inner.stop_requested)

    @property
    def remaining(self) -> float:
        return float(self.inner.remaining)

    def __enter__(self) -> Self:
        self.inner.__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool | None:
        self.inner.__exit__(kind, error, traceback)
        return None


class _Holding(WrappedLock):
    """Gives out other holds than the lock behind it."""

    holding: type[PassingHold] = PassingHold

    def hold(self, key: str, **settings: Any) -> Any:
        return self.holding(self.inner.hold(key, **settings), self.inner)


class _Masking(PassingHold):
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool | None:
        lost = self.inner.lost
        self.inner.__exit__(kind, error, traceback)
        if lost or not self.lock.release(self.inner.lease) and kind is not None:
            message = "the lease is lost"
            raise LeaseLost(message)
        return None


@broken("hold-masks-errors", "holds")
class HoldMasksErrors(_Holding):
    """Raises LeaseLost at the end of a block that failed itself."""

    holding = _Masking


class _Swallowing(PassingHold):
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool | None:
        self.inner.__exit__(kind, error, traceback)
        return True


@broken("hold-swallows-errors", "holds")
class HoldSwallowsErrors(_Holding):
    """Swallows what the body raises."""

    holding = _Swallowing


class _AsTheStoreSays(PassingHold):
    @property
    def lost(self) -> bool:
        return self.lock.holder(self.inner.lease.key) is None


@broken("loss-is-not-final", "holds")
class LossIsNotFinal(_Holding):
    """Takes a lease for held as long as anybody has the key."""

    holding = _AsTheStoreSays


class _Never(PassingHold):
    @property
    def lost(self) -> bool:
        return False


@broken("never-lost", "holds")
class NeverLost(_Holding):
    """Never tells that a lease is lost."""

    holding = _Never


class _NotReleasing(PassingHold):
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool | None:
        return None


@broken("hold-goes-on", "holds")
class HoldGoesOn(_Holding):
    """Renews on when the block has ended."""

    holding = _NotReleasing


class _Remaining(PassingHold):
    @property
    def remaining(self) -> float:
        return self.inner.lease.ttl if self.inner.lease else 0.0


@broken("remaining-stands-still", "holds")
class RemainingStandsStill(_Holding):
    """Tells the whole ttl as what remains, also when the lease is lost."""

    holding = _Remaining


class _FirstLease(PassingHold):
    def __enter__(self) -> Self:
        super().__enter__()
        self.first = self.inner.lease
        return self

    @property
    def lease(self) -> Lease:
        if not hasattr(self, "first"):
            message = "not entered"
            raise InvalidArgument(message)
        return self.first


@broken("hold-shows-its-first-lease", "holds")
class HoldShowsItsFirstLease(_Holding):
    """Shows the lease as it was acquired, with a deadline that passes."""

    holding = _FirstLease


@broken("on-lost-never-called", "holds")
class OnLostNeverCalled(WrappedLock):
    """Does not call on_lost."""

    def hold(self, key: str, *, on_lost: Any = None, **settings: Any) -> Any:
        return self.inner.hold(key, **settings)


@broken("on-lost-called-twice", "holds")
class OnLostCalledTwice(WrappedLock):
    """Calls on_lost twice."""

    def hold(self, key: str, *, on_lost: Any = None, **settings: Any) -> Any:
        def twice(hold: Any) -> None:
            with contextlib.suppress(ArithmeticError):
                on_lost(hold)
            on_lost(hold)

        return self.inner.hold(key, on_lost=None if on_lost is None else twice, **settings)


class _TellingAtTheEnd(PassingHold):
    on_lost: Any = None

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool | None:
        self.inner.__exit__(kind, error, traceback)
        if self.on_lost is not None and not self.inner.lost:
            self.on_lost(self)
        return None


@broken("on-lost-called-at-the-end", "holds")
class OnLostCalledAtTheEnd(WrappedLock):
    """Calls on_lost when the block ends as it should."""

    def hold(self, key: str, *, on_lost: Any = None, **settings: Any) -> Any:
        hold = _TellingAtTheEnd(self.inner.hold(key, on_lost=on_lost, **settings), self.inner)
        hold.on_lost = on_lost
        return hold


@broken("stop-flag-ignored", "holds")
class StopFlagIgnored(WrappedLock):
    """Does not look at the stop flag."""

    def hold(self, key: str, *, stop_flag: Any = None, **settings: Any) -> Any:
        return self.inner.hold(key, **settings)


@broken("stop-flag-is-the-key", "holds")
class StopFlagIsTheKey(WrappedLock):
    """Looks at the flag of the key's name, whichever it was told to watch."""

    def hold(self, key: str, *, stop_flag: Any = None, **settings: Any) -> Any:
        return self.inner.hold(key, stop_flag=None if stop_flag is None else key, **settings)


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

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool | None:
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

    @property
    def lease(self) -> Any:
        return self.mine if self.mine is not None else self.inner.lease

    @property
    def lost(self) -> bool:
        return bool(boot_time() >= self.lease.deadline)

    @property
    def stop_requested(self) -> bool:
        return False

    @property
    def remaining(self) -> float:
        return max(0.0, self.lease.deadline - boot_time())

    async def __aenter__(self) -> Self:
        timeout, ttl = self.settings.get("timeout", 0), self.settings.get("ttl", 60)
        self.mine = await self.lock.acquire(self.key, ttl=ttl, timeout=timeout)
        self.task = asyncio.ensure_future(self._renew(ttl / 3))
        return self

    async def _renew(self, pause: float) -> None:
        while True:
            await asyncio.sleep(pause)
            self.mine = await self.lock.renew(self.mine)

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
