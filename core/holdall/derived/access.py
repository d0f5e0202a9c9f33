"""How the derived parts reach a backend: with patience for transient faults, and by compare-and-set.

A write whose reply was lost is settled by reading: every payload names the write that made it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from holdall.errors import (
    AlreadyExists,
    BatchMismatch,
    Conflict,
    Fenced,
    OutcomeUnknown,
    StoreTimeout,
    Unavailable,
)
from holdall.spi import ABSENT, Backend, BackendItem, Environment, Mismatch, Tag

if TYPE_CHECKING:
    from holdall.derived.clock import Moment

Result = TypeVar("Result")

_ATTEMPTS = 5
_FIRST_DELAY, _LAST_DELAY, _GROWTH = 0.002, 0.2, 2.0
_SCAN = 100
_STILL_ON_ITS_WAY = "the reply to the write was lost, and it may still arrive: read again and decide"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a write is to do with what it found.

    Attributes:
        payload: what to put, or None to delete.
        result: what the write returns.

    """

    payload: bytes | None
    result: Any


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A write that has nothing to do; `result` is what it returns."""

    result: Any


class _Attempt:
    """How far a write came: what was sent last, the tag it expected if its reply was lost, and whether one ever was."""

    def __init__(self) -> None:
        self.sent = Decision(None, None)
        self.unsettled: Tag = None
        self.lost_a_reply = False


Decide = Callable[[BackendItem | None], Awaitable[Decision | Unchanged]]
Settle = Callable[[BackendItem | None], bool]


class Access:
    """A backend, approached with patience."""

    def __init__(self, backend: Backend, environment: Environment, timeout: float) -> None:
        self.backend = backend
        self.environment = environment
        self._timeout = timeout

    async def get(self, key: bytes) -> BackendItem | None:
        """Return what is under a key."""
        return await self._patiently(lambda: self.backend.get(key))

    async def scan(self, prefix: bytes, after: bytes | None, limit: int) -> Sequence[BackendItem]:
        """Return items in order."""
        return await self._patiently(lambda: self.backend.scan(prefix, after, limit))

    async def put(self, key: bytes, payload: bytes, expect: Tag) -> None:
        """Write if the key is as expected."""
        await self._patiently(lambda: self.backend.put(key, payload, expect))

    async def delete(self, key: bytes, expect: Tag) -> None:
        """Delete if the key is as expected."""
        await self._patiently(lambda: self.backend.delete(key, expect))

    async def put_new(self, key: bytes, payload: bytes) -> None:
        """Write an item whose content its key decides, unless somebody has done so."""
        for _ in range(_ATTEMPTS):
            try:
                await self.put(key, payload, ABSENT)
            except Mismatch:
                return
            except OutcomeUnknown:
                if await self.get(key) is not None:
                    return
            else:
                return
        raise Unavailable("the replies to a write were lost again and again")

    async def items(self, prefix: bytes) -> AsyncIterator[BackendItem]:
        """Iterate over all items with a prefix."""
        after: bytes | None = None
        while True:
            found = await self.scan(prefix, after, _SCAN)
            for item in found:
                yield item
            if len(found) < _SCAN:
                return
            after = found[-1].key

    async def look(
        self, key: bytes, moment: Moment, judge: Callable[[BackendItem | None], Awaitable[Result]]
    ) -> Result:
        """Return what a judgement makes of what is under a key.

        Args:
            key: the key.
            moment: what the judgement asks about expiry.
            judge: takes what is there.

        """
        while True:
            await moment.begin()
            item = await self.get(key)
            judged = await judge(item)
            if not await self._is_overtaken(item, moment):
                return judged

    async def _is_overtaken(self, item: BackendItem | None, moment: Moment | None) -> bool:
        """Tell whether something else is there than what was found to have expired, by a clock looked at too late."""
        if moment is None or item is None or not moment.doubtful:
            return False
        again = await self.get(item.key)
        return again is None or again.tag != item.tag

    async def replace(self, key: bytes, decide: Decide, settle: Settle, moment: Moment | None = None) -> Any:
        """Replace what is under a key by what a decision makes of it, until nobody was faster.

        Args:
            key: the key.
            decide: takes what is there and returns what to do; a refusal raises.
            settle: takes what is there after the reply of a write was lost, and returns whether the write was
                applied; raises `OutcomeUnknown` where that cannot be told. It is not asked while the key has the very
                tag that the write expected. Absence has none: what is absent may have come and gone.
            moment: what `decide` asks about expiry, if it does.

        Raises:
            StoreTimeout: others were faster until the time was up.
            OutcomeUnknown: a reply was lost and cannot be settled.

        """
        attempt = _Attempt()
        try:
            return await self._replace(key, decide, settle, attempt, moment)
        except (Unavailable, StoreTimeout) as error:
            if not attempt.lost_a_reply:
                raise
            raise OutcomeUnknown("the reply to the write was lost, and it could not be looked for") from error

    async def _replace(
        self, key: bytes, decide: Decide, settle: Settle, attempt: _Attempt, moment: Moment | None
    ) -> Any:
        deadline = self.environment.boot_time() + self._timeout
        delay = _FIRST_DELAY
        while True:
            if moment is not None:
                await moment.begin()
            item = await self.get(key)
            tag = ABSENT if item is None else item.tag
            if attempt.unsettled is not None and (item is None or tag != attempt.unsettled):
                if settle(item):
                    return attempt.sent.result
                attempt.unsettled = None
            decision = await self._decided(decide, item, attempt, moment)
            if decision is None:
                continue
            if isinstance(decision, Unchanged):
                return decision.result
            attempt.sent = decision
            try:
                await self._carry_out(key, decision, tag)
            except Mismatch:
                delay = await self._wait(delay, deadline)
            except OutcomeUnknown:
                attempt.unsettled, attempt.lost_a_reply = tag, True
                delay = await self._wait(delay, deadline)
            else:
                return decision.result

    async def _decided(
        self, decide: Decide, item: BackendItem | None, attempt: _Attempt, moment: Moment | None
    ) -> Decision | Unchanged | None:
        """Decide; while a write of ours may still arrive, nothing but writing again can be said for certain.

        Returns:
            The decision, or None if there is another item to decide on.

        """
        try:
            decision = await decide(item)
        except (Conflict, Fenced, AlreadyExists, BatchMismatch) as error:
            if await self._is_overtaken(item, moment):
                return None
            if attempt.unsettled is None:
                raise
            raise OutcomeUnknown(_STILL_ON_ITS_WAY) from error
        if isinstance(decision, Unchanged):
            if await self._is_overtaken(item, moment):
                return None
            if attempt.unsettled is not None:
                raise OutcomeUnknown(_STILL_ON_ITS_WAY)
        return decision

    async def _carry_out(self, key: bytes, decision: Decision, tag: Tag) -> None:
        if decision.payload is None:
            await self.delete(key, tag)
        else:
            await self.put(key, decision.payload, tag)

    async def _wait(self, delay: float, deadline: float) -> float:
        if self.environment.boot_time() >= deadline:
            message = "others changed the same key again and again until the time was up"
            raise StoreTimeout(message)
        await self.environment.sleep(delay * self.environment.random())
        return min(delay * _GROWTH, _LAST_DELAY)

    async def _patiently(self, call: Callable[[], Awaitable[Result]]) -> Result:
        delay, deadline = _FIRST_DELAY, self.environment.boot_time() + self._timeout
        for _ in range(_ATTEMPTS - 1):
            try:
                return await call()
            except Unavailable:
                if self.environment.boot_time() >= deadline:
                    raise  # a try may have taken the whole time already
                await self.environment.sleep(delay * (0.5 + self.environment.random()))
                delay = min(delay * _GROWTH, _LAST_DELAY)
        return await call()


def lost(what: str) -> OutcomeUnknown:
    """Return the error for a write that cannot be settled.

    Args:
        what: what was written, such as "put".

    """
    return OutcomeUnknown(f"the reply to the {what} was lost, and others wrote since: read again and decide")
