"""Commits: what is concerned is read, judged, and written in one transaction if it is still so."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdall.errors import HoldallError, OutcomeUnknown, StoreTimeout
from holdall.rules import check_fence, check_head, check_version, concerning
from holdall.spi import AppendRequest, CheckLogRequest, CheckRequest, DeleteRequest, PutRequest, WriteRequest
from holdall.values import Appended, Head
from holdall_adapters.aws.errors import Cancelled
from holdall_adapters.aws.service import bounded
from holdall_adapters.dynamodb import log_changes, names, record_changes
from holdall_adapters.dynamodb.changes import Change
from holdall_adapters.dynamodb.log_state import Element, LogState, state_of
from holdall_adapters.dynamodb.log_writers import FULL
from holdall_adapters.dynamodb.logs import OVERFULL, DynamoLogs, hashed_id
from holdall_adapters.dynamodb.record_changes import INLINE, Found, found_in
from holdall_adapters.dynamodb.records import DynamoRecords
from holdall_adapters.lost_replies import ATTEMPTS, Unsettled, lost

if TYPE_CHECKING:
    from holdall_adapters.dynamodb.names import Key
    from holdall_adapters.dynamodb.table import Item

__all__ = ["DynamoCommits"]

_MOST_INLINE = 1_500_000
"""Bytes of values up to which all stand in their records: a transaction ends at 4 MB, with all that its items hold."""
_SHORT = 16_000
_FIRST_DELAY, _LAST_DELAY = 0.01, 0.25
_SHOWN = (*record_changes.BRIEF, "pk", "sk", "inc", "len", "fst", "bas", "nb", "tail")
_AGAIN = {"None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}


class Step(NamedTuple):
    """A part of a transaction.

    Attributes:
        change: what it does, or None if it is no write at all.
        result: what the commit returns of it.
        write_id: the id that it leaves behind, or None.
        cleaned: what its record held before, if it was there.

    """

    change: Change
    result: Any
    write_id: str | None = None
    cleaned: Found = Found()
    is_check: bool = False


class DynamoCommits(DynamoRecords, DynamoLogs):
    """Commits of several operations."""

    @bounded
    async def commit_together(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        """Apply all or none, in one transaction; one that was in the way of another is run again."""
        await self._enter_all(requests)
        prepared = await self._prepare(requests)
        deadline, delay = self.environment.boot_time() + self.table.timeout, _FIRST_DELAY
        with Unsettled("commit") as settling:
            while True:
                found = await self._found(requests)
                await self._empty_tails(requests, found)
                steps = [
                    await self._step(request, found[number], prepared[number], number, requests)
                    for number, request in enumerate(requests)
                ]
                if await self._transact(requests, steps, settling):
                    await self._follow_up(requests, steps, found, prepared)
                    return [step.result for step in steps]
                if settling.is_lost:
                    raise settling.unknown()
                if self.environment.boot_time() + delay >= deadline:
                    message = "others changed the same records again and again"
                    raise StoreTimeout(message)
                await self.environment.sleep(delay * (0.5 + self.environment.random()))
                delay = min(delay * 2, _LAST_DELAY)

    async def _enter_all(self, requests: Sequence[WriteRequest]) -> None:
        for request in requests:
            if isinstance(request, PutRequest | AppendRequest) or getattr(request, "fence", None) is not None:
                await self.enter(b"t" if isinstance(request, AppendRequest) else b"s", request.scope)
        if any(isinstance(request, PutRequest) and request.ttl is not None for request in requests):
            await self._clear_sight(1.0)

    def _key(self, request: WriteRequest) -> Key:
        make = names.log if isinstance(request, AppendRequest | CheckLogRequest) else names.record
        return make(request.scope, request.key, self.shards)

    async def _prepare(self, requests: Sequence[WriteRequest]) -> list[Any]:
        """Write parts of what is large, outside of the transaction; return what takes the place of each payload."""
        total = sum(len(request.payload) for request in requests if isinstance(request, PutRequest))
        most = INLINE if total <= _MOST_INLINE else _SHORT
        prepared: list[Any] = []
        for request in requests:
            match request:
                case PutRequest():
                    payload: bytes | int = request.payload
                    if len(request.payload) > most:
                        payload = await self.parts.write(request.version, self._key(request), request.payload)
                    prepared.append(payload)
                case AppendRequest():
                    name, hashed = (request.scope, request.key), hashed_id(request.batch_id)
                    prepared.append(
                        await self.element(name, request.write_id, request.payloads, 0, hashed, request.digest)
                    )
                case _:
                    prepared.append(None)
        return prepared

    async def _found(self, requests: Sequence[WriteRequest]) -> list[Found | LogState]:
        """Return what is there of all that is concerned."""
        past, keys = self.times.past(), [self._key(request) for request in requests]
        items = await self.table.get_all(keys, *_SHOWN)
        found: list[Found | LogState] = []
        for request, key in zip(requests, keys, strict=True):
            item: Item | None = items.get((key["pk"]["B"], key["sk"]["B"]))
            is_log = isinstance(request, AppendRequest | CheckLogRequest)
            found.append(state_of(item) if is_log else found_in(item, past))
        return found

    async def _empty_tails(self, requests: Sequence[WriteRequest], found: list[Found | LogState]) -> None:
        for number, request in enumerate(requests):
            state = found[number]
            if isinstance(request, AppendRequest) and isinstance(state, LogState) and state.size > OVERFULL:
                found[number] = await self._emptied((request.scope, request.key))

    async def _step(
        self, request: WriteRequest, found: Any, prepared: Any, number: int, requests: Sequence[WriteRequest]
    ) -> Step:
        """Judge a request by what was found, and return what it does in the transaction."""
        with concerning(requests[number]):
            match request:
                case PutRequest():
                    return self._put_step(request, found, prepared)
                case DeleteRequest():
                    return self._delete_step(request, found)
                case AppendRequest():
                    return await self._append_step(request, found, prepared)
                case CheckLogRequest():
                    check_head(request.expect, found.head)
                    return Step(_same_log(Change(), found), found.head, is_check=True)
                case CheckRequest():
                    check_version(request.expect, found.live)
                    return Step(record_changes.same(Change(), found), found.live, is_check=True)

    def _put_step(self, request: PutRequest, found: Found, payload: bytes | int) -> Step:
        check_fence(found.mark, request.fence)
        check_version(request.expect, found.live)
        change = record_changes.put(
            request.version, payload, request.expect, request.ttl, request.fence, found, self.times
        )
        return Step(record_changes.same(change, found), None, request.version, found)

    def _delete_step(self, request: DeleteRequest, found: Found) -> Step:
        check_fence(found.mark, request.fence)
        check_version(request.expect, found.live)
        if found.live is not None:
            write_id = self.environment.new_id()
            change = record_changes.delete(write_id, request.expect, request.fence, found, self.times)
            return Step(record_changes.same(change, found), result=True, write_id=write_id, cleaned=found)
        if request.fence is not None:
            return Step(record_changes.same(record_changes.seal(request.fence), found), result=False)
        return Step(record_changes.same(Change(), found), result=False, is_check=True)

    async def _append_step(self, request: AppendRequest, state: LogState, element: Element) -> Step:
        repeated = await self._repeated(request, element.hashed, state)
        if repeated is not None:
            return Step(_same_log(Change(), state, whole=False), repeated, is_check=True)
        check_fence(state.mark, request.fence)
        check_head(request.expect, state.head)
        placed = element._replace(first=state.first)
        change = log_changes.append(placed, request.expect, request.fence, state)
        if state.incarnation is not None:
            change.equal("len", names.N(state.length))
        length, incarnation = state.length + element.entries, state.incarnation or element.write_id
        head = Head(state.first, length, incarnation)
        return Step(change, Appended(state.length, element.entries, head), request.write_id)

    async def _transact(self, requests: Sequence[WriteRequest], steps: Sequence[Step], settling: Unsettled) -> bool:
        """Run a transaction, the same again after a lost reply; tell whether it was applied."""
        items = [self._item(request, step) for request, step in zip(requests, steps, strict=True)]
        token = self.environment.new_id()
        for _ in range(ATTEMPTS):
            try:
                await self.table.call(
                    "transact_write_items", writing=True, TransactItems=items, ClientRequestToken=token
                )
            except OutcomeUnknown:
                settling.is_lost = True
            except Cancelled as error:
                if settling.is_lost and await self._is_written(requests, steps):
                    return True
                if not set(error.reasons) <= _AGAIN | {"ConditionalCheckFailed"}:
                    message = f"the service refused the transaction ({', '.join(error.reasons)})"
                    raise StoreTimeout(message) from error
                return False
            else:
                settling.is_applied = True
                return True
        raise lost("commit")

    def _item(self, request: WriteRequest, step: Step) -> Item:
        arguments: Item = {"TableName": self.table.name, "Key": self._key(request), **step.change.arguments()}
        return {"ConditionCheck" if step.is_check else "Update": arguments}

    async def _is_written(self, requests: Sequence[WriteRequest], steps: Sequence[Step]) -> bool:
        """Tell whether a commit whose reply was lost left one of its writes; then all are there."""
        found = await self._found(requests)
        for each, step in zip(found, steps, strict=True):
            if step.write_id is None:
                continue
            if isinstance(each, Found) and step.write_id in (each.version, each.previous):
                return True
            if isinstance(each, LogState) and any(element.write_id == step.write_id for element in each.tail):
                return True
        return False

    async def _follow_up(
        self, requests: Sequence[WriteRequest], steps: Sequence[Step], found: Sequence[Any], prepared: Sequence[Any]
    ) -> None:
        """Clean up after a commit; what fails here is left for whoever comes next."""
        with contextlib.suppress(HoldallError):
            for number, request in enumerate(requests):
                if isinstance(request, AppendRequest):
                    await self._after_append(request, found[number], prepared[number], steps[number])
                elif steps[number].cleaned.parts:
                    await self._clean_up(steps[number].cleaned)

    async def _after_append(self, request: AppendRequest, state: LogState, element: Element, step: Step) -> None:
        name = (request.scope, request.key)
        if step.is_check:  # it was there before
            await self._leave(element, step.result)
            return
        await self.own_parts(element)
        self._seen.pop(name, None)
        if state.size + element.size >= FULL:
            await self.move(name, await self.state(name))


def _same_log(change: Change, state: LogState, *, whole: bool = True) -> Change:
    """Let a change happen only if the log is as it was found."""
    change.equal("inc", None if state.incarnation is None else names.S(state.incarnation))
    if state.incarnation is not None and whole:
        change.equal("len", names.N(state.length)).equal("fst", names.N(state.first))
    return change
