"""Broken when a process is killed while it writes what is large: small writes are whole."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Sequence

from holdall import ANY, Head
from holdall.spi import AppendRequest, PutRequest
from holdall_conformance.broken.concurrency_parts import BatchesByTheHundred
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.rooms import FileRoom


@broken("torn-large-value", "crash", room=FileRoom)
class TornLargeValue(PlainStore):
    """Stores the later half of a value of more than 64 KiB in a step of its own, over the half of the one before."""

    async def put(self, request: PutRequest) -> None:
        with self.room.turn() as space:
            before = self.record_at(space, request.scope, request.key).payload or b""
        half = len(request.payload) // 2
        if half > 32 * 1024:
            await super().put(request._replace(payload=request.payload[:half] + before[half:]))
            await self.environment.sleep(0.03)
            request = request._replace(expect=ANY)
        await super().put(request)


@broken("torn-large-batch", "crash", room=FileRoom)
class TornLargeBatch(BatchesByTheHundred):
    """Stores a batch of more than a hundred entries a hundred at a time, so that a kill leaves some of them."""

    async def pause(self) -> None:
        await self.environment.sleep(0.02)


@broken("torn-restore", "crash", room=FileRoom)
class TornRestore(PlainStore):
    """Makes a log that is restored in one step, and stores its entries in another."""

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        head = await super().restore_log(scope, key, first, [], write_id)
        await self.environment.sleep(0.03)
        if payloads:
            head = (await self.append(AppendRequest(scope, key, payloads, write_id, head, None, None, None))).head
        return head
