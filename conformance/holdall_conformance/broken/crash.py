"""Broken when a process is killed: right as long as every one comes to its end."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import contextlib
import os
import pickle
import threading
import time
from collections.abc import Generator, Sequence
from typing import Any, ClassVar

from holdall import Appended
from holdall.spi import AppendRequest, LogRequest, PutRequest, WriteRequest
from holdall_conformance.broken.concurrency import AppendsOneByOne
from holdall_conformance.broken.plain_lock import PlainLock
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.rooms import FileRoom
from holdall_conformance.broken.state import LeaseState, Remembered, Space


@broken("acknowledges-before-it-stores", "crash")
class AcknowledgesBeforeItStores(FileRoom):
    """Stores what was written a little later, in the background, and acknowledges it at once."""

    pending: ClassVar[dict[Any, Space]] = {}

    def load(self) -> Space:
        return self.pending.get(self.file) or super().load()

    def save(self, space: Space) -> None:
        if self.file not in self.pending:
            threading.Thread(target=self._later, daemon=True).start()
        self.pending[self.file] = space

    def _later(self) -> None:
        time.sleep(0.01)
        with contextlib.suppress(FileNotFoundError), self.locked():  # the folder may be gone with its test
            super().save(self.pending.pop(self.file))


@broken("overwrites-in-place", "crash")
class OverwritesInPlace(FileRoom):
    """Empties the file and writes it anew, so that a kill in between leaves half of it."""

    def save(self, space: Space) -> None:
        content = pickle.dumps(space)
        with self.file.open("wb", buffering=0) as stream:
            for start in range(0, len(content), 1 + len(content) // 4):
                stream.write(content[start : start + 1 + len(content) // 4])
                time.sleep(0.001)


@broken("lock-file-stays", "crash")
class LockFileStays(FileRoom):
    """Locks by the existence of a file, which a killed process leaves behind for ever."""

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        guard = self.file.with_suffix(".exists")
        while True:
            try:
                os.close(os.open(guard, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                time.sleep(0.0005)
            else:
                break
        try:
            yield
        finally:
            guard.unlink()


@broken("torn-batch", "crash", room=FileRoom)
class TornBatch(AppendsOneByOne):
    """Stores the entries of a batch one by one, so that a kill leaves half of it."""


@broken("torn-commit", "crash", room=FileRoom)
class TornCommit(PlainStore):
    """Stores the operations of a commit one by one, so that a kill leaves half of it."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        results: list[Any] = []
        for request in requests:
            with self.room.turn(write=True) as space:
                results.append(self.apply_one(space, request, self.check_one(space, request)))
            await self.environment.sleep(0.002)
        return results


@broken("torn-truncate", "crash", room=FileRoom)
class TornTruncate(PlainStore):
    """Removes entries in one step and notes the first position in another."""

    async def truncate(self, request: LogRequest, before: int) -> int:
        with self.room.turn() as space:
            first = self.check_log(space, request).first
        with self.room.turn(write=True) as space:
            log = self.check_log(space, request)
            count = self.shorten(log, before)
            kept, log.first = log.first, first
        await self.environment.sleep(0.005)
        with self.room.turn(write=True) as space:
            self.log_at(space, request.scope, request.key).first = kept
        return count


@broken("torn-drop", "crash", room=FileRoom)
class TornDrop(PlainStore):
    """Removes the entries of a dropped log in one step and the log in another."""

    async def drop(self, request: LogRequest) -> bool:
        with self.room.turn(write=True) as space:
            log = self.check_log(space, request)
            log.payloads.clear()
            log.first = 0
        await self.environment.sleep(0.05)
        return await super().drop(request)


@broken("torn-record", "crash", room=FileRoom)
class TornRecord(PlainStore):
    """Removes a record and writes it anew, so that a kill in between leaves none."""

    async def put(self, request: PutRequest) -> None:
        with self.room.turn(write=True) as space:
            self.check(space, request.scope, request.key, request.expect, request.fence)
            record = self.record_at(space, request.scope, request.key)
            record.payload = None
            self.keep(space, request.scope, request.key, record)
        await self.environment.sleep(0.005)
        with self.room.turn(write=True) as space:
            self.apply_put(space, request)


@broken("id-stored-after-the-batch", "crash", room=FileRoom)
class IdStoredAfterTheBatch(PlainStore):
    """Stores a batch in one step and its id in another, so that a retry after a kill appends it again."""

    async def append(self, request: AppendRequest) -> Appended:
        with self.room.turn(write=True) as space:
            found = self.check_append(space, request)
            if found is not None:
                return found
            result = self.apply_append(space, request._replace(batch_id=None))
            number = self.log_at(space, request.scope, request.key).batches
        await self.environment.sleep(0.005)
        with self.room.turn(write=True) as space:
            if request.batch_id is not None:
                log = self.log_at(space, request.scope, request.key)
                log.remembered[request.batch_id] = Remembered(number, request.digest or "", result)
        return result


@broken("id-stored-before-the-batch", "crash", room=FileRoom)
class IdStoredBeforeTheBatch(PlainStore):
    """Stores the id of a batch in one step and its entries in another, so that a retry after a kill appends nothing."""

    async def append(self, request: AppendRequest) -> Appended:
        with self.room.turn(write=True) as space:
            found = self.check_append(space, request)
            if found is not None:
                return found
            log = self.log_at(space, request.scope, request.key)
            start = 0 if (head := log.head()) is None else head.length
            result = self.extend(log, [])
            result = Appended(start, len(request.payloads), result.head)
            if request.batch_id is not None:
                log.remembered[request.batch_id] = Remembered(log.batches, request.digest or "", result)
            self.keep_log(space, request.scope, request.key, log)
        await self.environment.sleep(0.005)
        with self.room.turn(write=True) as space:
            return self.apply_append(space, request._replace(batch_id=None, expect=result.head))


@broken("token-stored-late", "crash", room=FileRoom)
class TokenStoredLate(PlainLock):
    """Gives a token out before it is stored, so that after a kill the next holder gets the same."""

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        with self.room.turn(write=True) as space:
            lease = self.lease_at(space, key)
            if self.is_taken(lease):
                return None
            token = self.grant(lease, nonce, owner, ttl)
            lease.token = space.notes.get(key, 0)
            space.notes[key] = token
            return token

    def next_token(self, lease: LeaseState) -> int:
        return max(lease.token, lease.floor) + 1

    def is_current(self, lease: Any, request: Any) -> bool:
        return self.is_taken(lease) and lease.nonce == request.nonce


@broken("lease-outlives-its-process", "processes", room=FileRoom)
class LeaseOutlivesItsProcess(PlainLock):
    """Waits for a holder that was killed, as a lock without a ttl does."""

    def is_taken(self, lease: Any) -> bool:
        return lease.nonce is not None
