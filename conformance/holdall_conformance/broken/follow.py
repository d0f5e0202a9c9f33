"""Broken in how a log is followed."""
# ruff: noqa: ARG002, D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, ClassVar

from holdall import Entry, NotFound, Truncated
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.wrapping import WrappedStore

_POLL = 0.005


class Polling(WrappedStore):
    """Follows a log by reading it again and again."""

    def found(self, scope: str, key: str, start: int) -> list[Entry]:
        """Return what there is now."""
        return list(self.inner.read(scope, key, start))

    def checked(self, scope: str, key: str, incarnation: str | None) -> str | None:
        """Refuse to go on with another log than before; return the incarnation of the log."""
        head = self.inner.head(scope, key)
        now = None if head is None else str(head.incarnation)
        if incarnation is not None and now != incarnation:
            message = "the log was dropped"
            raise NotFound(message)
        return now

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: Any = None) -> Iterator[Entry]:
        if type(timeout) not in {int, float, type(None)} or (timeout is not None and not timeout >= 0):
            yield from self.inner.follow(scope, key, start, timeout=timeout)
        last, incarnation = time.monotonic(), None
        while True:
            incarnation = self.checked(scope, key, incarnation)
            for entry in self.found(scope, key, start):
                yield entry
                start, last = entry.position + 1, time.monotonic()
            if timeout is not None and time.monotonic() - last >= timeout:
                return
            time.sleep(_POLL)


@broken("follow-does-not-notice-drops", "follow")
class FollowDoesNotNoticeDrops(Polling):
    """Goes on with whatever log stands under the name, and waits where there is none any more."""

    def checked(self, scope: str, key: str, incarnation: str | None) -> str | None:
        return None


@broken("follow-passes-over-truncated", "follow")
class FollowPassesOverTruncated(WrappedStore):
    """Goes on with the first kept entry when its position was truncated."""

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: Any = None) -> Iterator[Entry]:
        while True:
            try:
                for entry in self.inner.follow(scope, key, start, timeout=timeout):
                    start = entry.position + 1
                    yield entry
            except Truncated as truncated:
                start = truncated.first
            else:
                return


@broken("follow-sees-the-last-only", "follow")
class FollowSeesTheLastOnly(Polling):
    """Gives of several entries that came at once the last one."""

    def found(self, scope: str, key: str, start: int) -> list[Entry]:
        found = super().found(scope, key, start)
        return found[-1:] if start else found


@broken("follow-repeats", "follow")
class FollowRepeats(Polling):
    """Gives the last entry again whenever new ones have come."""

    def found(self, scope: str, key: str, start: int) -> list[Entry]:
        found = super().found(scope, key, start)
        return [*super().found(scope, key, start - 1)[:1], *found] if found and start else found


@broken("follow-does-not-wait", "follow")
class FollowDoesNotWait(WrappedStore):
    """Ends where the log ends."""

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: Any = None) -> Iterator[Entry]:
        usual = type(timeout) in {int, float} and timeout > 0
        yield from self.inner.follow(scope, key, start, timeout=0 if usual or timeout is None else timeout)


@broken("follow-does-not-wait-for-a-log", "follow")
class FollowDoesNotWaitForALog(WrappedStore):
    """Raises NotFound where there is no log yet."""

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: Any = None) -> Iterator[Entry]:
        if (timeout is None or timeout) and self.inner.head(scope, key) is None:
            raise NotFound(key)
        yield from self.inner.follow(scope, key, start, timeout=timeout)


@broken("follow-never-ends", "follow")
class FollowNeverEnds(WrappedStore):
    """Waits on when the timeout is over."""

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: Any = None) -> Iterator[Entry]:
        yield from self.inner.follow(
            scope, key, start, timeout=None if type(timeout) is float and timeout > 0 else timeout
        )


@broken("follow-ends-by-the-clock", "follow")
class FollowEndsByTheClock(WrappedStore):
    """Counts the timeout from the beginning, however many entries came."""

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: Any = None) -> Iterator[Entry]:
        began = time.monotonic()
        for entry in self.inner.follow(scope, key, start, timeout=timeout):
            yield entry
            if type(timeout) is float and timeout > 0 and time.monotonic() - began > timeout:
                return


@broken("follow-timeout-is-an-error", "follow")
class FollowTimeoutIsAnError(WrappedStore):
    """Raises TimeoutError when the timeout is over."""

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: Any = None) -> Iterator[Entry]:
        yield from self.inner.follow(scope, key, start, timeout=timeout)
        if timeout:
            raise TimeoutError(key)


@broken("follow-begins-at-the-end", "follow")
class FollowBeginsAtTheEnd(WrappedStore):
    """Gives only what comes after one began to follow."""

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: Any = None) -> Iterator[Entry]:
        head = self.inner.head(scope, key)
        yield from self.inner.follow(scope, key, start if head is None else head.length, timeout=timeout)


@broken("follow-of-one-page", "follow")
class FollowOfOnePage(Polling):
    """Looks at the last thousand entries each time, so that a late follower misses the ones before."""

    def found(self, scope: str, key: str, start: int) -> list[Entry]:
        return [entry for entry in self.inner.tail(scope, key, 1_000) if entry.position >= start]


@broken("follow-takes-any-timeout", "follow")
class FollowTakesAnyTimeout(WrappedStore):
    """Takes a negative timeout for 0."""

    def follow(self, scope: str, key: str, start: int = 0, *, timeout: Any = None) -> Iterator[Entry]:
        negative = type(timeout) in {int, float} and timeout < 0
        yield from self.inner.follow(scope, key, start, timeout=0 if negative else timeout)


@broken("followers-share", "follow")
class FollowersShare(Polling):
    """Gives each entry to one of several followers of a log, as a queue does."""

    taken: ClassVar[dict[tuple[str, str], set[int]]] = {}

    def found(self, scope: str, key: str, start: int) -> list[Entry]:
        taken = self.taken.setdefault((scope, key), set())
        mine = [entry for entry in super().found(scope, key, start) if entry.position not in taken]
        if start or self.checked(scope, key, None) is None:
            taken.update(entry.position for entry in mine)
        return mine
