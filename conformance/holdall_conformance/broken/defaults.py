"""Broken in what holds where an option is not given."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from holdall import Entry
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.wrapping import WrappedAsyncStore, WrappedLock, WrappedStore


@broken("scan-of-a-thousand-by-default", "paging", "handles")
class ScanOfAThousandByDefault(WrappedStore):
    """Scans a thousand records at once where no limit is given."""

    def scan(self, scope: str, prefix: str = "", *, after: Any = None, limit: Any = 1000) -> Any:
        return self.inner.scan(scope, prefix, after=after, limit=limit)


@broken("keys-without-limit-by-default", "paging", "handles")
class KeysWithoutLimitByDefault(WrappedStore):
    """Lists all keys on one page where no limit is given."""

    def keys(self, scope: str, prefix: str = "", *, after: Any = None, **named: Any) -> Any:
        return self.inner.keys(scope, prefix, after=after, limit=named.get("limit", 10**9))


@broken("follow-gives-up-by-default", "handles", "follow")
class FollowGivesUpByDefault(WrappedStore):
    """Follows for half a minute where no timeout is given."""

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: Any = 30) -> Any:
        return self.inner.follow(scope, key, start, timeout=timeout)


@broken("flag-of-a-minute-by-default", "handles")
class FlagOfAMinuteByDefault(WrappedLock):
    """Raises a flag for a minute where no ttl is given."""

    def set_flag(self, key: str, *, ttl: Any = 60) -> None:
        self.inner.set_flag(key, ttl=ttl)


@broken("lease-of-half-a-minute-by-default", "leases")
class LeaseOfHalfAMinuteByDefault(WrappedLock):
    """Takes a key for half a minute where no ttl is given."""

    def try_acquire(self, key: str, **named: Any) -> Any:
        return self.inner.try_acquire(key, **{"ttl": 30, **named})


@broken("hold-waits-by-default", "handles", "holds")
class HoldWaitsByDefault(WrappedLock):
    """Waits for a held key in a hold to which no timeout is given."""

    def hold(self, key: str, *, timeout: Any = 10, **named: Any) -> Any:
        return self.inner.hold(key, timeout=timeout, **named)


@broken("follow-leaves-a-task", "follow", side="async")
class FollowLeavesATask(WrappedAsyncStore):
    """Leaves the task that listened for a follower behind when he is gone."""

    listening: set[asyncio.Task[None]]

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.listening = set()

    async def follow(self, scope: str, key: str, start: int = 0, *, timeout: Any = None) -> AsyncIterator[Entry]:
        self.listening.add(asyncio.create_task(asyncio.sleep(30)))
        async for entry in self.inner.follow(scope, key, start, timeout=timeout):
            yield entry
