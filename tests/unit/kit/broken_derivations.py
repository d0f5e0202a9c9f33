"""Derived parts that are wrong in one place each: what the simulation has to find."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from holdall.derived.access import Access, Decision
from holdall.derived.clock import open_clock
from holdall.derived.envelope import decode_envelope
from holdall.derived.layout import CHUNK, LEASE, LOG, RECORD, chunk_end, chunk_key, named, part_prefix
from holdall.derived.leases import DerivedLock
from holdall.derived.log_state import decode_state, encode_chunk
from holdall.derived.store import DerivedStore
from holdall.errors import HoldallError, OutcomeUnknown
from holdall.rules import check_fence, kept_position
from holdall.spi import ABSENT, ANY, Connection, Mismatch, StoredRecord
from holdall_conformance.simulation import DerivedSubject, PortBackend


class ClaimsSuccess(Access):
    """Takes every write whose reply was lost for applied."""

    async def replace(self, key, decide, settle, *more):
        return await super().replace(key, decide, lambda _: True, *more)


class ClaimsFailure(Access):
    """Takes every write whose reply was lost for not applied, and decides anew."""

    async def replace(self, key, decide, settle, *more):
        while True:
            item = await self.get(key)
            decision = await decide(item)
            if not isinstance(decision, Decision):
                return decision.result
            try:
                await self._carry_out(key, decision, ABSENT if item is None else item.tag)
            except (Mismatch, OutcomeUnknown):
                await self.environment.sleep(0.01)
            else:
                return decision.result


class RetriesBlindly(Access):
    """Sends a write whose reply was lost once more, without its condition."""

    async def _carry_out(self, key, decision, tag):
        try:
            await super()._carry_out(key, decision, tag)
        except OutcomeUnknown:
            await super()._carry_out(key, decision, ANY)


class WritesBlindly(Access):
    """Reads a lease and then writes it without a condition."""

    async def _carry_out(self, key, decision, tag):
        await super()._carry_out(key, decision, ANY if key[:1] == LEASE else tag)


class ExpectsNothingOfNew(Access):
    """Creates without the condition that nobody was faster."""

    async def _carry_out(self, key, decision, tag):
        await super()._carry_out(key, decision, ANY if tag is ABSENT else tag)


class CommitsFirst(DerivedStore):
    """Commits a head that points to a chunk, and writes the chunk after it."""

    async def _grow(self, state, request):
        shorter, self.leaving = state.spilled()
        grown = shorter.grown(request.write_id, request.payloads, request.batch_id, request.digest)
        return replace(grown, mark=max(state.mark, request.fence or 0))

    async def append(self, request):
        self.leaving = ()
        result = await super().append(request)
        if self.leaving:
            key = chunk_key(result.head.incarnation, self.leaving[-1].end)
            await self._access.put_new(key, encode_chunk(request.scope, request.key, self.leaving))
            await self._remember(result.head.incarnation, request.scope, request.key, self.leaving)
        return result


class ForgetsIncarnation(DerivedStore):
    """Gives a log another incarnation when it is truncated."""

    async def truncate(self, request, before):
        count = await super().truncate(request, before)
        with contextlib.suppress(Mismatch, HoldallError):
            key = named(LOG, request.scope, request.key)
            item = await self._access.get(key)
            if count and item is not None:
                write = self._new_id()
                state = replace(decode_state(item.payload)[0], incarnation=write)
                await self._access.put(key, state.encode(write), item.tag)
        return count


class ForgetsBatches(DerivedStore):
    """Does not remember batches that leave the tail."""

    async def _remember(self, incarnation, scope, key, batches):
        return None


class ReadsOnce(DerivedStore):
    """Takes chunks that vanish under a reader for the end of the log."""

    async def _chunks_from(self, state, position):
        return await super()._chunks_from(state, position) or [b'"?"'] * (state.base - position)


class TruncatesChunksFirst(DerivedStore):
    """Deletes chunks before the head says so."""

    async def truncate(self, request, before):
        item = await self._access.get(named(LOG, request.scope, request.key))
        if item is not None:
            state = decode_state(item.payload)[0]
            if state.incarnation is not None:
                position = kept_position(state.head(), before)
                async for chunk in self._access.items(part_prefix(CHUNK, state.incarnation)):
                    if chunk_end(chunk.key) <= position:
                        await self._access.delete(chunk.key, ANY)
        return await super().truncate(request, before)


class SweepsMarks(DerivedStore):
    """Sweeps expired records together with their marks."""

    async def _sweep_record(self, scope, key):
        item = await self._access.get(named(RECORD, scope, key))
        if item is not None and not decode_envelope(item.payload).is_live(await self._clock.now()):
            with contextlib.suppress(Mismatch):
                await self._access.delete(item.key, item.tag)


class SweepsBlindly(DerivedStore):
    """Sweeps what was expired when it looked first, even if somebody has written it since."""

    async def _sweep_record(self, scope, key):
        key_of_item = named(RECORD, scope, key)
        first, now = await self._access.get(key_of_item), await self._clock.now()
        await self._access.get(key_of_item)
        found = None if first is None else decode_envelope(first.payload)
        if found is not None and found.mark:
            await super()._sweep_record(scope, key)
        elif found is not None and not found.is_live(now):
            await self._access.delete(key_of_item, ANY)


class DeletesMarks(DerivedStore):
    """Deletes a record together with its mark."""

    async def delete(self, request):
        result = await super().delete(request)
        key = named(RECORD, request.scope, request.key)
        with contextlib.suppress(Mismatch, HoldallError):
            item = await self._access.get(key)
            if item is not None and decode_envelope(item.payload).payload is None:
                await self._access.delete(key, item.tag)
        return result


class ChecksFenceFirst(DerivedStore):
    """Checks the fence of a put before it reads what it replaces, and not again."""

    async def put(self, request):
        if request.fence is not None:
            item = await self._access.get(named(RECORD, request.scope, request.key))
            check_fence(0 if item is None else decode_envelope(item.payload).mark, request.fence)
        await super().put(request._replace(fence=None))


class Immortal(DerivedStore):
    """Returns records that have expired, as long as nobody has swept."""

    async def get(self, scope, key):
        item = await self._access.get(named(RECORD, scope, key))
        found = None if item is None else decode_envelope(item.payload)
        if found is None or found.payload is None:
            return None
        return StoredRecord(key, found.payload, found.version, None)


class ReleasesAnybody(DerivedLock):
    """Releases whatever lease there is, without comparing the nonce."""

    async def release(self, request):
        item = await self._access.get(LEASE + request.key.encode())
        if item is None:
            return False
        state = self.decoded(item)
        current = request._replace(nonce=state.nonce or "", token=state.token)
        return await super().release(current)

    def decoded(self, item):
        return _lease_state(item)


class RenewsTheExpired(DerivedLock):
    """Renews a lease that has expired, as long as nobody has taken it."""

    async def renew(self, request, ttl):
        item = await self._access.get(LEASE + request.key.encode())
        state = None if item is None else _lease_state(item)
        if state is None or (state.nonce, state.token) != (request.nonce, request.token):
            return False
        expires = await self._clock.now() + ttl
        renewed = state._replace(ttl=ttl, expires=expires, write=self._environment.new_id())
        try:
            await self._access.put(item.key, renewed.encode(), item.tag)
        except Mismatch:
            return await self.renew(request, ttl)
        return True


class RestartsTokens(DerivedLock):
    """Deletes the lease on release, and with it the token."""

    async def release(self, request):
        released = await super().release(request)
        if released:
            await self._access.delete(LEASE + request.key.encode(), ANY)
        return released


class TwoStepBackend(PortBackend):
    """Compares in one request and writes in the next."""

    async def put(self, key, payload, expect):
        item = await self.get(key)
        if expect is not ANY and (item is None) != (expect is ABSENT):
            raise Mismatch
        if expect is not ANY and item is not None and item.tag != expect:
            raise Mismatch
        return await super().put(key, payload, ANY)


def _lease_state(item):
    from holdall.derived.leases import _state  # noqa: PLC0415 - the private part under test

    return _state(item)


def broken(store=DerivedStore, lock=DerivedLock, access=Access, backend=None):
    """Return the derived parts, some of them wrong, as a subject."""

    async def core(given, capabilities, environment, timeout):
        used = given if backend is None else backend(given._items, given._step)
        reach = access(used, environment, timeout)
        clock = await open_clock(reach, capabilities.expiry_clock)
        return Connection(store=store(reach, clock), lock=lock(reach, clock), capabilities=capabilities)

    return DerivedSubject("boot", core)


BROKEN = {
    "claims success": broken(access=ClaimsSuccess),
    "claims failure": broken(access=ClaimsFailure),
    "retries blindly": broken(access=RetriesBlindly),
    "writes blindly": broken(access=WritesBlindly),
    "expects nothing of new": broken(access=ExpectsNothingOfNew),
    "commits first": broken(store=CommitsFirst),
    "forgets the incarnation": broken(store=ForgetsIncarnation),
    "forgets batches": broken(store=ForgetsBatches),
    "reads once": broken(store=ReadsOnce),
    "truncates chunks first": broken(store=TruncatesChunksFirst),
    "sweeps marks": broken(store=SweepsMarks),
    "sweeps blindly": broken(store=SweepsBlindly),
    "deletes marks": broken(store=DeletesMarks),
    "checks the fence first": broken(store=ChecksFenceFirst),
    "immortal": broken(store=Immortal),
    "releases anybody": broken(lock=ReleasesAnybody),
    "renews the expired": broken(lock=RenewsTheExpired),
    "restarts tokens": broken(lock=RestartsTokens),
    "two steps": broken(backend=TwoStepBackend),
}

DOMAINS = {
    "commits first": "chunks",
    "forgets batches": "chunks",
    "reads once": "chunks",
    "truncates chunks first": "chunks",
    "sweeps blindly": "expiry",
    "sweeps marks": "expiry",
    "releases anybody": "leases",
    "renews the expired": "leases",
}
"""The workload that is to find it, where others would only take longer."""
