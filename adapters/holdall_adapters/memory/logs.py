"""The logs of the memory adapter's native store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from holdall.errors import AlreadyExists
from holdall.rules import (
    KEPT_BATCHES,
    check_batch,
    check_fence,
    check_head,
    check_start,
    kept_position,
    raised_mark,
)
from holdall.spi import AppendRequest, LogRequest, StoredEntries, StoredPage
from holdall.values import Appended, Head
from holdall_adapters.memory.port import Log, OrderedNames, RememberedBatch, Space
from holdall_adapters.pages import page

if TYPE_CHECKING:
    from holdall.spi import Environment

__all__ = ["MemoryLogs"]


class MemoryLogs:
    """Logs as lists of payloads; every operation is one hold of the mutex."""

    def __init__(self, space: Space, environment: Environment) -> None:
        self._space = space
        self._environment = environment
        self._now = environment.boot_time

    def _log(self, scope: str, key: str) -> Log:
        """Return a log, or an empty one that is not kept."""
        return self._space.logs.get(scope, {}).get(key) or Log()

    def _keep_log(self, scope: str, key: str, log: Log) -> None:
        """Keep a log; it is there with the last step, and names that lead to nothing are passed over."""
        self._space.log_scopes.add(scope)
        self._space.log_keys.setdefault(scope, OrderedNames()).add(key)
        self._space.logs.setdefault(scope, {})[key] = log

    def _forget_log(self, scope: str, key: str) -> None:
        logs = self._space.logs.get(scope, {})
        if logs.pop(key, None) is None:
            return
        self._space.log_keys.setdefault(scope, OrderedNames()).shrink(logs)
        if not logs:
            self._space.logs.pop(scope, None)
            self._space.log_keys.pop(scope, None)
            self._space.log_scopes.shrink(self._space.logs)

    async def append(self, request: AppendRequest) -> Appended:
        """Append a batch."""
        with self._space.mutex:
            repeated = self._check_append(request)
            if repeated is not None:
                return repeated
            undo = self._undoing_append(request)
            try:
                return self._apply_append(request)
            except BaseException:  # an interrupt: nothing of ours fails here
                undo()
                raise

    def _undoing_append(self, request: AppendRequest) -> Callable[[], None]:
        """Return what takes an append back that has not been applied, or only half."""
        log = self._space.logs.get(request.scope, {}).get(request.key)
        if log is None:
            return lambda: self._forget_log(request.scope, request.key)
        before = (log.incarnation, log.mark, log.batches, len(log.payloads))

        def undo() -> None:
            log.incarnation, log.mark, log.batches, length = before
            del log.payloads[length:]
            log.remembered.pop(request.batch_id or "", None)

        return undo

    def _check_append(self, request: AppendRequest) -> Appended | None:
        """Check a batch; return the first result if it is a repetition."""
        log = self._log(request.scope, request.key)
        before = log.remembered.get(request.batch_id) if request.batch_id else None
        if before is not None:
            first = before.result
            head = first.head
            again = request.digest or ""
            return check_batch(first.start, first.count, before.digest, head.incarnation, head.first, again)
        check_fence(log.mark, request.fence)
        check_head(request.expect, log.head())
        return None

    def _apply_append(self, request: AppendRequest) -> Appended:
        log = self._log(request.scope, request.key)
        self._begin(log)
        log.mark = raised_mark(log.mark, request.fence)
        result = self._extend(log, request.payloads)
        if request.batch_id is not None:
            log.remembered[request.batch_id] = RememberedBatch(log.batches, request.digest or "", result)
        self._keep_log(request.scope, request.key, log)
        return result

    def _begin(self, log: Log) -> str:
        if log.incarnation is None:
            log.incarnation = self._environment.new_id()
        return log.incarnation

    def _extend(self, log: Log, payloads: Sequence[bytes]) -> Appended:
        start = log.first + len(log.payloads)
        log.payloads.extend(payloads)
        log.batches += 1
        return Appended(start, len(payloads), Head(log.first, start + len(payloads), self._begin(log)))

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        """Return entries from a position on."""
        with self._space.mutex:
            log = self._log(scope, key)
            head = log.head()
            if head is None:
                return StoredEntries(None, start, [])
            check_start(start, head)
            begin = start - log.first
            end = None if limit is None else begin + limit
            found = log.payloads[begin:end]
        return StoredEntries(head, start, found if max_bytes is None else list(bounded(found, max_bytes)))

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        """Return the last entries."""
        with self._space.mutex:
            log = self._log(scope, key)
            begin = max(0, len(log.payloads) - count)
            return StoredEntries(log.head(), log.first + begin, log.payloads[begin:])

    async def head(self, scope: str, key: str) -> Head | None:
        """Return the head of a log."""
        with self._space.mutex:
            return self._log(scope, key).head()

    async def truncate(self, request: LogRequest, before: int) -> int:
        """Forget entries."""
        with self._space.mutex:
            log, head = self._checked(request)
            if head is None:
                self._keep_mark(request, log)
                return 0
            log.mark = raised_mark(log.mark, request.fence)
            count = kept_position(head, before) - head.first
            del log.payloads[:count]
            log.first += count
            self._forget_batches(log)
            return count

    def _checked(self, request: LogRequest) -> tuple[Log, Head | None]:
        log = self._log(request.scope, request.key)
        head = log.head()
        check_fence(log.mark, request.fence)
        check_head(request.expect, head)
        return log, head

    def _forget_batches(self, log: Log) -> None:
        oldest = log.batches - KEPT_BATCHES
        for batch_id, batch in list(log.remembered.items()):
            if batch.result.start + batch.result.count <= log.first and batch.number <= oldest:
                del log.remembered[batch_id]

    def _keep_mark(self, request: LogRequest, log: Log) -> None:
        mark = raised_mark(log.mark, request.fence)
        if mark:
            self._keep_log(request.scope, request.key, Log(mark=mark))
        else:
            self._forget_log(request.scope, request.key)

    async def drop(self, request: LogRequest) -> bool:
        """Delete a log."""
        with self._space.mutex:
            log, head = self._checked(request)
            self._keep_mark(request, log)
            return head is not None

    async def logs(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""
        with self._space.mutex:
            return page(self._live_logs(scope, prefix, after), limit, str)

    def _live_logs(self, scope: str, prefix: str, after: str | None) -> Iterator[str]:
        names = self._space.log_keys.get(scope)
        if names is None:
            return
        for key in names.behind(prefix, after):
            if self._log(scope, key).incarnation is not None:
                yield key

    async def log_scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes."""
        with self._space.mutex:
            names = self._space.log_scopes.behind(prefix, after)
            return page((scope for scope in names if any(self._live_logs(scope, "", None))), limit, str)

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        """Create a log that begins at a position."""
        with self._space.mutex:
            log = self._log(scope, key)
            if log.incarnation is not None:
                message = "there is such a log: drop it before it is restored"
                raise AlreadyExists(message)
            restored = Log(incarnation=write_id, first=first, mark=log.mark)
            head = self._extend(restored, payloads).head
            self._keep_log(scope, key, restored)
            return head

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        """Raise the mark of a log."""
        with self._space.mutex:
            log = self._log(scope, key)
            check_fence(log.mark, fence)
            log.mark = fence
            self._keep_log(scope, key, log)
            return log.head()


def bounded(payloads: Sequence[bytes], max_bytes: int) -> Iterator[bytes]:
    """Iterate over payloads until they are more than some bytes; at least one.

    Args:
        payloads: the payloads.
        max_bytes: the bytes after which to stop.

    """
    total = 0
    for payload in payloads:
        yield payload
        total += len(payload)
        if total >= max_bytes:
            return
