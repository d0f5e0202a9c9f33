"""Records as files: a change is one file put in its place, decided under the guard of its name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from holdall.errors import HoldallError
from holdall.rules import check_fence, check_version, concerning, raised_mark
from holdall.spi import ANY, DeleteRequest, PutRequest, StoredRecord
from holdall_adapters.file.files import Place, place_of
from holdall_adapters.file.guards import Guards
from holdall_adapters.file.record_file import RecordState, Stored, read_record, read_state, record_content

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall.values import Expect
    from holdall_adapters.file.disk import Disk
    from holdall_adapters.file.files import Draft
    from holdall_adapters.file.folders import Folder

__all__ = ["TREE", "FileRecords", "record_place"]

TREE = "records"
_MOST_DRAFTS = 64


class PlacedKey(NamedTuple):
    """What an error is about; a flag has no scope."""

    scope: str | None
    key: str


def record_place(scope: str, key: str) -> Place:
    """Return the place of a record's file.

    Args:
        scope: its scope.
        key: its key.

    """
    return place_of(TREE, scope, key)


class FileRecords:
    """Every operation on single records, and on many."""

    def __init__(self, disk: Disk, environment: Environment, now: Callable[[], float], guards: Guards) -> None:
        self._disk = disk
        self._environment = environment
        self._now = now
        self._guards = guards

    def _state(self, place: Place, scope: str, key: str) -> RecordState | None:
        file = self._disk.open(place)
        if file is None:
            return None
        with file:
            return read_state(file, scope, key)

    def _read(self, scope: str, key: str) -> Stored | None:
        file = self._disk.open(record_place(scope, key))
        if file is None:
            return None
        with file:
            return read_record(file, scope, key)

    def _replace(self, place: Place, scope: str, key: str, stored: Stored) -> None:
        content = record_content(scope, key, stored.state, stored.payload)
        self._disk.replace(place, content, self._environment.new_id())

    async def get(self, scope: str, key: str) -> StoredRecord | None:
        """Return a live record."""
        return self.live_record(scope, key)

    def live_record(self, scope: str, key: str) -> StoredRecord | None:
        """Return a live record, or None."""
        stored = self._read(scope, key)
        if stored is None:
            return None
        (version, expires, _), payload = stored
        if version is None:
            return None
        if expires is None:
            return StoredRecord(key, payload, version, None)
        left = expires - self._now()
        return StoredRecord(key, payload, version, left) if left > 0 else None

    def is_record(self, scope: str, key: str) -> bool:
        """Return whether there is a live record, without reading its value."""
        state = self._state(record_place(scope, key), scope, key)
        return state is not None and state.is_live(self._now())

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        """Return live records in the order asked."""
        found: list[StoredRecord | None] = []
        for key in keys:
            with concerning(PlacedKey(scope, key)):
                found.append(self.live_record(scope, key))
        return found

    async def put(self, request: PutRequest) -> None:
        """Write a record."""
        place = record_place(request.scope, request.key)
        async with self._guards.of(place) as guard:
            state = self._checked(place, request.scope, request.key, request.expect, request.fence)
            guard.check()
            new = self._state_of(request, raised_mark(state.mark, request.fence))
            self._replace(place, request.scope, request.key, Stored(new, request.payload))

    def _state_of(self, request: PutRequest, mark: int) -> RecordState:
        expires = None if request.ttl is None else self._now() + request.ttl
        return RecordState(request.version, expires, mark)

    def _checked(self, place: Place, scope: str, key: str, expect: Expect, fence: int | None) -> RecordState:
        """Return the state of a record, that of an absent one where there is no file; raise if it is refused."""
        state = self._state(place, scope, key) or RecordState()
        check_fence(state.mark, fence)
        if expect is not ANY:
            check_version(expect, state.version if state.is_live(self._now()) else None)
        return state

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        """Set a new expiry; the file is written again with it."""
        place = record_place(scope, key)
        async with self._guards.of(place) as guard:
            stored = self._read(scope, key) or Stored(RecordState(), b"")
            check_fence(stored.state.mark, fence)
            guard.check()
            mark, live = raised_mark(stored.state.mark, fence), stored.state.is_live(self._now())
            if live:
                expires = None if ttl is None else self._now() + ttl
                state = RecordState(stored.state.version, expires, mark)
            else:
                state = stored.state._replace(mark=mark)
            if live or mark != stored.state.mark:
                self._replace(place, scope, key, Stored(state, stored.payload))
            return live

    async def delete(self, request: DeleteRequest) -> bool:
        """Delete a record."""
        existed, folder = await self._delete(request)
        if folder is not None:
            self._disk.settle(folder)
        return existed

    async def _delete(self, request: DeleteRequest) -> tuple[bool, Folder | None]:
        """Delete a record; return whether it was live, and the folder to settle, if any."""
        scope, key = request.scope, request.key
        place = record_place(scope, key)
        async with self._guards.of(place) as guard:
            state = self._checked(place, scope, key, request.expect, request.fence)
            guard.check()
            existed, mark = state.is_live(self._now()), raised_mark(state.mark, request.fence)
            if not mark:
                return existed, self._disk.remove(place)
            if existed or mark != state.mark:
                self._replace(place, scope, key, Stored(RecordState(mark=mark), b""))
            return existed, None

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        """Raise the mark of a record and return its version."""
        place = record_place(scope, key)
        async with self._guards.of(place) as guard:
            stored = self._read(scope, key) or Stored(RecordState(), b"")
            check_fence(stored.state.mark, fence)
            guard.check()
            if stored.state.mark != fence:
                state = stored.state._replace(mark=fence)
                self._replace(place, scope, key, Stored(state, stored.payload))
            return stored.state.version if stored.state.is_live(self._now()) else None

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        """Write records without conditions: many files first, so that the disk is waited for about once for all."""
        published: dict[str, Folder] = {}
        try:
            for start in range(0, len(requests), _MOST_DRAFTS):
                with contextlib.ExitStack() as stack:
                    for request, draft, mark in self._drafts(requests[start : start + _MOST_DRAFTS], stack):
                        with concerning(request):
                            published[request.key] = await self._publish(request, draft, mark)
        except HoldallError as error:
            self._settle_all(published, error)
            raise
        self._settle_all(published, None)

    def _drafts(
        self, requests: Sequence[PutRequest], stack: contextlib.ExitStack
    ) -> list[tuple[PutRequest, Draft, int]]:
        """Return each request with its file, which is on the disk, and the mark in it; the stack closes the files."""
        drafts: list[tuple[PutRequest, Draft, int]] = []
        for request in requests:
            with concerning(request):
                state = self._state(record_place(request.scope, request.key), request.scope, request.key)
                mark = 0 if state is None else state.mark
                content = record_content(request.scope, request.key, self._state_of(request, mark), request.payload)
                draft = stack.enter_context(self._disk.draft(content, self._environment.new_id()))
                drafts.append((request, draft, mark))
        if self._disk.durable:
            for request, draft, _ in drafts:
                with concerning(request):
                    draft.sync()
        return drafts

    async def _publish(self, request: PutRequest, draft: Draft, mark: int) -> Folder:
        place = record_place(request.scope, request.key)
        async with self._guards.of(place) as guard:
            state = self._state(place, request.scope, request.key) or RecordState()
            guard.check()
            if state.mark == mark:
                return self._disk.publish(draft, place)
            new = self._state_of(request, state.mark)  # somebody raised the mark since the draft was written
            content = record_content(request.scope, request.key, new, request.payload)
            with self._disk.draft(content, self._environment.new_id()) as another:
                if self._disk.durable:
                    another.sync()
                return self._disk.publish(another, place)

    def _settle_all(self, published: dict[str, Folder], error: HoldallError | None) -> None:
        """Wait for the disk, and note on an error what was written before it."""
        for folder in {id(folder): folder for folder in published.values()}.values():
            self._disk.settle(folder)
        if error is not None:
            error.done = tuple(published)

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        """Delete records without conditions."""
        removed: dict[str, Folder] = {}
        done: list[str] = []
        count = 0
        try:
            for key in keys:
                with concerning(PlacedKey(scope, key)):
                    existed, folder = await self._delete(DeleteRequest(scope, key, ANY, None))
                count += existed
                done.append(key)
                if folder is not None:
                    removed[key] = folder
        except HoldallError as error:
            self._settle_all(removed, error)
            error.done = tuple(done)
            raise
        self._settle_all(removed, None)
        return count

    async def sweep_record(self, scope: str, key: str) -> bool:
        """Remove a record that has expired; return whether it had. Its mark stays."""
        place = record_place(scope, key)
        state = self._state(place, scope, key)
        if state is None or state.version is None or state.is_live(self._now()):
            return False
        async with self._guards.of(place) as guard:
            state = self._state(place, scope, key)
            if state is None or state.version is None or state.is_live(self._now()):
                return False
            guard.check()
            if state.mark:
                self._replace(place, scope, key, Stored(RecordState(mark=state.mark), b""))
            else:
                with contextlib.suppress(HoldallError):
                    self._disk.remove(place)
            return True
