"""The native store of the memory adapter: records here, logs in `logs`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdall.rules import check_fence, check_head, check_version, concerning, raised_mark
from holdall.spi import (
    AppendRequest,
    CheckLogRequest,
    CheckRequest,
    DeleteRequest,
    PutRequest,
    StoredPage,
    StoredRecord,
    WriteRequest,
)
from holdall.values import ANY, Appended
from holdall_adapters.memory.logs import MemoryLogs
from holdall_adapters.memory.port import OrderedNames, Record
from holdall_adapters.pages import page

if TYPE_CHECKING:
    from holdall.values import Expect

__all__ = ["MemoryStore"]

_NO_RECORD = Record(None, "", None, 0)


class MemoryStore(MemoryLogs):
    """Records in dictionaries; every operation is one hold of the mutex."""

    async def get(self, scope: str, key: str) -> StoredRecord | None:
        """Return a live record."""
        with self._space.mutex:
            return self._stored(scope, key)

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        """Return live records in the order asked."""
        with self._space.mutex:
            return [self._stored(scope, key) for key in keys]

    def _stored(self, scope: str, key: str) -> StoredRecord | None:
        record = self._space.records.get(scope, {}).get(key)
        if record is None or record.payload is None:
            return None
        if record.expires is None:
            return StoredRecord(key, record.payload, record.version, None)
        left = record.expires - self._now()
        return StoredRecord(key, record.payload, record.version, left) if left > 0 else None

    def _record(self, scope: str, key: str) -> tuple[Record, str | None]:
        """Return what is there, and its version if it is live."""
        record = self._space.records.get(scope, {}).get(key, _NO_RECORD)
        live = record.payload is not None and (record.expires is None or record.expires > self._now())
        return record, record.version if live else None

    def _keep(self, scope: str, key: str, record: Record) -> None:
        """Keep a record; it is there with the last step, and names that lead to nothing are passed over."""
        self._space.record_scopes.add(scope)
        self._space.record_keys.setdefault(scope, OrderedNames()).add(key)
        self._space.records.setdefault(scope, {})[key] = record

    def _forget(self, scope: str, key: str) -> None:
        records = self._space.records.get(scope, {})
        if records.pop(key, None) is None:
            return
        self._space.record_keys.setdefault(scope, OrderedNames()).shrink(records)
        if not records:
            self._space.records.pop(scope, None)
            self._space.record_keys.pop(scope, None)
            self._space.record_scopes.shrink(self._space.records)

    async def put(self, request: PutRequest) -> None:
        """Write a record."""
        with self._space.mutex:
            self._check_record(request.scope, request.key, request.expect, request.fence)
            self._apply_put(request)

    def _check_record(self, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        record, version = self._record(scope, key)
        check_fence(record.mark, fence)
        check_version(expect, version)
        return version

    def _apply_put(self, request: PutRequest) -> None:
        mark = raised_mark(self._record(request.scope, request.key)[0].mark, request.fence)
        expires = None if request.ttl is None else self._now() + request.ttl
        self._keep(request.scope, request.key, Record(request.payload, request.version, expires, mark))

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        """Set a new expiry."""
        with self._space.mutex:
            record, version = self._record(scope, key)
            check_fence(record.mark, fence)
            if version is None:
                self._raise_mark(scope, key, record, fence)
                return False
            record.mark = raised_mark(record.mark, fence)
            record.expires = None if ttl is None else self._now() + ttl
            return True

    async def delete(self, request: DeleteRequest) -> bool:
        """Delete a record."""
        with self._space.mutex:
            self._check_record(request.scope, request.key, request.expect, request.fence)
            return self._apply_delete(request)

    def _apply_delete(self, request: DeleteRequest) -> bool:
        record, version = self._record(request.scope, request.key)
        mark = raised_mark(record.mark, request.fence)
        if mark:
            self._keep(request.scope, request.key, Record(None, "", None, mark))
        elif record is not _NO_RECORD:
            self._forget(request.scope, request.key)
        return version is not None

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        """Write records without conditions."""
        with self._space.mutex:
            for request in requests:
                self._apply_put(request)

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        """Delete records without conditions."""
        with self._space.mutex:
            return sum(self._apply_delete(DeleteRequest(scope, key, ANY, None)) for key in keys)

    async def scan(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[StoredRecord]:
        """Return a page of live records."""
        with self._space.mutex:
            return page(self._live(scope, prefix, after), limit, lambda row: row.key)

    def _live(self, scope: str, prefix: str, after: str | None) -> Iterator[StoredRecord]:
        names = self._space.record_keys.get(scope)
        if names is None:
            return
        for key in names.behind(prefix, after):
            stored = self._stored(scope, key)
            if stored is not None:
                yield stored

    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""
        with self._space.mutex:
            return page((row.key for row in self._live(scope, prefix, after)), limit, str)

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes."""
        with self._space.mutex:
            names = self._space.record_scopes.behind(prefix, after)
            return page((scope for scope in names if any(self._live(scope, "", None))), limit, str)

    async def seal(self, scope: str, key: str, fence: int) -> str | None:
        """Raise the mark of a record."""
        with self._space.mutex:
            record, version = self._record(scope, key)
            check_fence(record.mark, fence)
            self._raise_mark(scope, key, record, fence)
            return version

    def _raise_mark(self, scope: str, key: str, record: Record, fence: int | None) -> None:
        """Raise the mark of a record, or of one that is not there."""
        if record is not _NO_RECORD:
            record.mark = raised_mark(record.mark, fence)
        elif fence is not None:
            self._keep(scope, key, Record(None, "", None, fence))

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        """Apply all or none: everything is checked before the first is applied."""
        with self._space.mutex:
            checked = [self._check_one(request) for request in requests]
            undo = [self._undoing(request) for request in requests]
            try:
                return [self._apply_one(request, found) for request, found in zip(requests, checked, strict=True)]
            except BaseException:  # an interrupt: nothing of ours fails here
                for step in undo:
                    step()
                raise

    def _undoing(self, request: WriteRequest) -> Callable[[], None]:
        """Return what takes a request back that has not been applied, or only half."""
        scope, key = request.scope, request.key
        if isinstance(request, AppendRequest):
            return self._undoing_append(request)
        before = self._space.records.get(scope, {}).get(key)

        def undo() -> None:
            if before is not None:
                self._keep(scope, key, before)
            elif key in self._space.records.get(scope, {}):
                self._forget(scope, key)

        return undo

    def _check_one(self, request: WriteRequest) -> Any:
        with concerning(request):
            match request:
                case AppendRequest():
                    return self._check_append(request)
                case CheckLogRequest():
                    head = self._log(request.scope, request.key).head()
                    check_head(request.expect, head)
                    return head
                case CheckRequest():
                    return self._check_record(request.scope, request.key, request.expect, None)
                case _:
                    return self._check_record(request.scope, request.key, request.expect, request.fence)

    def _apply_one(self, request: WriteRequest, found: Any) -> Any:
        match request:
            case PutRequest():
                return self._apply_put(request)
            case DeleteRequest():
                return self._apply_delete(request)
            case AppendRequest():
                return found if isinstance(found, Appended) else self._apply_append(request)
            case CheckRequest() | CheckLogRequest():
                return found

    async def sweep(self) -> int:
        """Remove what has expired."""
        with self._space.mutex:
            return self._sweep_records() + self._sweep_flags()

    def _sweep_records(self) -> int:
        now = self._now()
        expired = [
            (scope, key, record)
            for scope, records in self._space.records.items()
            for key, record in records.items()
            if record.payload is not None and record.expires is not None and record.expires <= now
        ]
        for scope, key, record in expired:
            if record.mark:
                self._keep(scope, key, Record(None, "", None, record.mark))
            else:
                self._forget(scope, key)
        return len(expired)

    def _sweep_flags(self) -> int:
        now = self._now()
        fallen = [key for key, expires in self._space.flags.items() if expires <= now]
        for key in fallen:
            del self._space.flags[key]
        return len(fallen)

    async def describe(self) -> Mapping[str, str]:
        """Return how much there is."""
        with self._space.mutex:
            records, logs = (sum(map(len, kind.values())) for kind in (self._space.records, self._space.logs))
        return {"storage": "native, in this process", "records": str(records), "logs": str(logs)}
