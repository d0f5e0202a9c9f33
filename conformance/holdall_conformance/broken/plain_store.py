"""The whole store of a plain backend: records, logs, and commits of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdall import Appended
from holdall.rules import concerning
from holdall.spi import AppendRequest, CheckLogRequest, CheckRequest, DeleteRequest, PutRequest, WriteRequest
from holdall_conformance.broken.plain_logs import PlainLogs
from holdall_conformance.broken.state import Space

__all__ = ["PlainStore"]


class PlainStore(PlainLogs):
    """A `StoreDriver` that does everything right."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        """Apply all or none: everything is checked before the first is applied."""
        with self.room.turn(write=True) as space:
            checked = [self.check_one(space, request) for request in requests]
            return [self.apply_one(space, request, found) for request, found in zip(requests, checked, strict=True)]

    def check_one(self, space: Space, request: WriteRequest) -> Any:
        """Refuse one request of a commit, or return what was found."""
        with concerning(request):
            match request:
                case AppendRequest():
                    return self.check_append(space, request)
                case CheckLogRequest():
                    head = self.log_at(space, request.scope, request.key).head()
                    self.check_head(request.expect, head)
                    return head
                case CheckRequest():
                    return self.check(space, request.scope, request.key, request.expect, None)
                case PutRequest() | DeleteRequest():
                    return self.check(space, request.scope, request.key, request.expect, request.fence)

    def apply_one(self, space: Space, request: WriteRequest, found: Any) -> Any:
        """Apply one request of a commit that was checked."""
        match request:
            case PutRequest():
                return self.apply_put(space, request)
            case DeleteRequest():
                return self.apply_delete(space, request)
            case AppendRequest():
                return found if isinstance(found, Appended) else self.apply_append(space, request)
            case CheckRequest() | CheckLogRequest():
                return found

    async def sweep(self) -> int:
        """Remove what has expired."""
        with self.room.turn(write=True) as space:
            return self.sweep_records(space) + self.sweep_flags(space)

    def sweep_flags(self, space: Space) -> int:
        """Remove flags that have fallen."""
        fallen = [key for key, expires in space.flags.items() if expires <= self.now()]
        for key in fallen:
            del space.flags[key]
        return len(fallen)

    async def describe(self) -> Mapping[str, str]:
        """Return what the storage is."""
        return {"storage": type(self.room).__name__}
