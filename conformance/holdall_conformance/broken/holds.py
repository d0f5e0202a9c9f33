"""Broken in what keeps a lease alive for the length of a block."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import contextlib
from typing import Any, Self

from holdall import InvalidArgument, Lease, LeaseLost
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.wrapping import WrappedLock


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

    def __exit__(self, kind: object, error: object, traceback: object) -> bool | None:
        self.inner.__exit__(kind, error, traceback)
        return None


class _Holding(WrappedLock):
    """Gives out other holds than the lock behind it."""

    holding: type[PassingHold] = PassingHold

    def hold(self, key: str, **settings: Any) -> Any:
        return self.holding(self.inner.hold(key, **settings), self.inner)


class _Masking(PassingHold):
    def __exit__(self, kind: object, error: object, traceback: object) -> bool | None:
        lost = self.inner.lost
        self.inner.__exit__(kind, error, traceback)
        if lost or (not self.lock.release(self.inner.lease) and kind is not None):
            message = "the lease is lost"
            raise LeaseLost(message)
        return None


@broken("hold-masks-errors", "holds")
class HoldMasksErrors(_Holding):
    """Raises LeaseLost at the end of a block that failed itself."""

    holding = _Masking


class _Swallowing(PassingHold):
    def __exit__(self, kind: object, error: object, traceback: object) -> bool | None:
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
    def __exit__(self, kind: object, error: object, traceback: object) -> bool | None:
        return None


@broken("hold-goes-on", "holds")
class HoldGoesOn(_Holding):
    """Renews on when the block has ended."""

    holding = _NotReleasing


class _Remaining(PassingHold):
    @property
    def remaining(self) -> float:
        return float(self.inner.lease.ttl)


@broken("remaining-stands-still", "holds")
class RemainingStandsStill(_Holding):
    """Tells the whole ttl as what remains, also when the lease is lost."""

    holding = _Remaining


class _FirstLease(PassingHold):
    def __enter__(self) -> Self:
        super().__enter__()
        self.first: Lease = self.inner.lease
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

    def __exit__(self, kind: object, error: object, traceback: object) -> bool | None:
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
