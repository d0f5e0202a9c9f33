"""The derived store: records and logs, and what concerns both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdall.derived.access import Access
from holdall.derived.envelope import decode_envelope
from holdall.derived.layout import BATCH, CHUNK, FLAG, LOG, RECORD, named, split_named, split_part
from holdall.derived.leases import flag_expires
from holdall.derived.log_state import LogState, decode_chunk, decode_remembered, decode_state
from holdall.derived.logs import DerivedLogs
from holdall.derived.records import DerivedRecords
from holdall.rules import commit_single
from holdall.spi import Mismatch, WriteRequest

if TYPE_CHECKING:
    from holdall.derived.clock import Clock
    from holdall.spi import BackendItem


class DerivedStore(DerivedRecords, DerivedLogs):
    """A `StoreDriver` on five primitives."""

    def __init__(self, access: Access, clock: Clock) -> None:
        DerivedRecords.__init__(self, access, clock)

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        """Apply one request; several at once are beyond the primitives."""
        return await commit_single(self, requests)

    async def sweep(self) -> int:
        """Remove what has expired, and what crashes left of logs; marks and tokens stay."""
        return await self._sweep_records() + await self._sweep_flags() + await self._sweep_logs()

    async def _sweep_records(self) -> int:
        count = 0
        async for item in self._access.items(RECORD):
            found = decode_envelope(item.payload)
            if found.expires is not None and not found.is_live(await self._clock.now()):
                scope, key = split_named(item.key)
                await self._sweep_record(scope, key)
                count += 1
        return count

    async def _sweep_record(self, scope: str, key: str) -> None:
        item = await self._access.get(named(RECORD, scope, key))
        found = None if item is None else decode_envelope(item.payload)
        if item is None or found is None or found.is_live(await self._clock.now()):
            return
        try:
            if found.mark:
                bare = found._replace(write=self._new_id(), expires=None, payload=None)
                await self._access.put(item.key, bare.encode(), item.tag)
            else:
                await self._access.delete(item.key, item.tag)
        except Mismatch:
            return  # somebody wrote it meanwhile: it is not for sweeping any more

    async def _sweep_flags(self) -> int:
        count = 0
        async for item in self._access.items(FLAG):
            if flag_expires(item) <= await self._clock.now():
                try:
                    await self._access.delete(item.key, item.tag)
                except Mismatch:
                    continue  # it was raised again
                count += 1
        return count

    async def _sweep_logs(self) -> int:
        count = 0
        seen: set[str] = set()
        for kind in (CHUNK, BATCH):
            async for item in self._access.items(kind):
                incarnation = split_part(item.key)[0]
                if incarnation not in seen:
                    seen.add(incarnation)
                    count += await self.forget_parts(incarnation, await self._state_of(kind, item))
        return count

    async def _state_of(self, kind: bytes, item: BackendItem) -> LogState:
        """Return the state of the log that a part belongs to, read after the part was found."""
        scope, key = (decode_chunk if kind == CHUNK else decode_remembered)(item.payload)[:2]
        head = await self._access.get(named(LOG, str(scope), str(key)))
        return LogState() if head is None else decode_state(head.payload)[0]

    async def describe(self) -> Mapping[str, str]:
        """Reach the backend and say that its store is derived."""
        await self._access.scan(RECORD, None, 1)
        return {"storage": f"derived from the primitives of {type(self._access.backend).__name__}"}
