"""Logs as files: an append writes behind the last commit, decided under the guard of the log's name."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

from holdall.errors import AlreadyExists, Corrupt, HoldallError
from holdall.rules import KEPT_BATCHES, check_batch, check_fence, check_head, check_start, kept_position, raised_mark
from holdall.spi import AppendRequest, LogRequest, StoredEntries
from holdall.values import Appended, Head
from holdall_adapters.file.batch_index import BatchIndex, remembered_batches, remembered_line
from holdall_adapters.file.files import OpenFile, Place, place_of
from holdall_adapters.file.guards import Guards
from holdall_adapters.file.log_file import (
    Batch,
    Loaded,
    LogState,
    entry_lines,
    header_line,
    load,
    read_header,
    sealed_batch,
)
from holdall_adapters.file.log_reader import batch_start, offset_of, position_at, read_entries

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.file.disk import Disk

__all__ = ["INDEX", "TREE", "FileLogs"]

TREE = "logs"
INDEX = "index"
_MOST_KNOWN = 1_024
_COPIED = 2**20
_WORTH_REWRITING = 65_536


class OpenLog:
    """A log whose guard is held: its file if there is one, and its state; closed at the end of a `with` block."""

    __slots__ = ("file", "size", "state")

    def __init__(self, file: OpenFile | None, state: LogState, size: int) -> None:
        self.file = file
        self.state = state
        self.size = size

    def __enter__(self) -> Self:
        """Return the log."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close its file."""
        if self.file is not None:
            self.file.close()


class _Known(NamedTuple):
    """What a handle knows of a log.

    Attributes:
        state: its state when it was last read.
        sure: the last state that was read or written under its guard, if any. What is read without it may be taken
            back, if the disk fails before it has the batch.

    """

    state: LogState
    sure: LogState | None


class FileLogs:
    """Every operation on logs."""

    def __init__(self, disk: Disk, environment: Environment, guards: Guards) -> None:
        self._disk = disk
        self._environment = environment
        self._guards = guards
        self._known: dict[Place, _Known] = {}

    def _new_state(self, incarnation: str | None, first: int, mark: int) -> LogState:
        file_id = self._environment.new_id()
        return LogState(file_id, incarnation, first, first, mark, 0, 0, first, begin=0, end=0, stamp=b"")

    def _open(self, place: Place, scope: str, key: str) -> OpenLog:
        """Open a log under its guard; an absent one has an empty state."""
        known = self._known.get(place)
        file = self._disk.open(place, writing=True)
        if file is None:
            return OpenLog(None, self._new_state(None, 0, 0), 0)
        state, size, damaged = _loaded(file, scope, key, known)
        if damaged:
            message = "the log is damaged before its last batch: restore its file from a backup"
            raise Corrupt(message)
        self._know(place, state)
        return OpenLog(file, state, size)

    async def _load(self, scope: str, key: str) -> OpenLog | None:
        """Return a log without its guard, or None if there is none."""
        place = place_of(TREE, scope, key)
        known = self._known.get(place)
        file = self._disk.open(place)
        if file is None:
            return None
        state, size, damaged = _loaded(file, scope, key, known)
        log = OpenLog(file, state, size)
        if damaged:  # or a batch came while the file was read: nobody writes under the guard
            async with self._guards.of(place):
                log = self._open(place, scope, key)
        else:
            self._keep(place, _Known(state, None if known is None else known.sure))
        return None if log.file is None or log.state.incarnation is None else log

    def _know(self, place: Place, state: LogState) -> None:
        """Remember a state that was read or written under the guard."""
        self._keep(place, _Known(state, state))

    def _keep(self, place: Place, known: _Known) -> None:
        if len(self._known) >= _MOST_KNOWN and place not in self._known:
            self._known.pop(next(iter(self._known), place), None)
        self._known[place] = known

    async def append(self, request: AppendRequest) -> Appended:
        """Append a batch."""
        place = place_of(TREE, request.scope, request.key)
        async with self._guards.of(place) as guard:
            with self._open(place, request.scope, request.key) as log:
                repeated = self._repeated(request, log)
                if repeated is not None:
                    return repeated
                check_fence(log.state.mark, request.fence)
                check_head(request.expect, log.state.head())
                guard.check()
                return self._append(place, request, log)

    def _repeated(self, request: AppendRequest, log: OpenLog) -> Appended | None:
        """Return the first result of a batch whose id the log remembers, or None."""
        if request.batch_id is None or log.file is None:
            return None
        with self._disk.scratch(place_of(INDEX, request.scope, request.key)) as table:
            found = BatchIndex(table, log.file, log.state, self._environment.boot_id()).find(request.batch_id)
        if found is None:
            return None
        incarnation, again = log.state.incarnation or "", request.digest or ""
        return check_batch(found.start, found.end - found.start, found.digest, incarnation, found.first, again)

    def _append(self, place: Place, request: AppendRequest, log: OpenLog) -> Appended:
        state = log.state._replace(mark=raised_mark(log.state.mark, request.fence))
        batch = Batch(request.batch_id, request.digest)
        if log.file is None or state.incarnation is None:
            begun = self._new_state(request.write_id, 0, state.mark)
            state = self._create(place, request.scope, request.key, begun, request.payloads, batch)
        else:
            entries = entry_lines(state.length, request.payloads)
            data, state = sealed_batch(state, entries, len(request.payloads), batch)
            log.file.append(log.state.end, data, cut=log.size > log.state.end)
            self._know(place, state)
        count = len(request.payloads)
        return Appended(state.length - count, count, Head(state.first, state.length, state.incarnation or ""))

    def _create(
        self, place: Place, scope: str, key: str, state: LogState, payloads: Sequence[bytes], batch: Batch
    ) -> LogState:
        """Put a new file in the place of a log and return its state."""
        header = header_line(scope, key, state)
        state = state._replace(begin=len(header), end=len(header), stamp=header[-11:])
        data = b""
        if payloads:
            data, state = sealed_batch(state, entry_lines(state.length, payloads), len(payloads), batch)
        self._disk.replace(place, (header, data), self._environment.new_id())
        self._know(place, state)
        return state

    async def read(self, scope: str, key: str, start: int, limit: int | None, max_bytes: int | None) -> StoredEntries:
        """Return entries from a position on."""
        log = await self._load(scope, key)
        if log is None:
            return StoredEntries(None, start, [])
        with log:
            head = Head(log.state.first, log.state.length, log.state.incarnation or "")
            check_start(start, head)
            count = max(0, head.length - start)
            count = count if limit is None else min(limit, count)
            return StoredEntries(head, start, self._entries(log, start, count, max_bytes))

    @staticmethod
    def _entries(log: OpenLog, start: int, count: int, max_bytes: int | None) -> list[bytes]:
        return [] if log.file is None else read_entries(log.file, log.state, start, count, max_bytes)

    async def tail(self, scope: str, key: str, count: int) -> StoredEntries:
        """Return the last entries."""
        log = await self._load(scope, key)
        if log is None:
            return StoredEntries(None, 0, [])
        with log:
            length = log.state.length
            start = max(log.state.first, length - count)
            return StoredEntries(log.state.head(), start, self._entries(log, start, length - start, None))

    async def head(self, scope: str, key: str) -> Head | None:
        """Return the head of a log."""
        log = await self._load(scope, key)
        if log is None:
            return None
        with log:
            return log.state.head()

    def is_log(self, scope: str, key: str) -> bool:
        """Return whether there is a log, reading only the beginning of its file."""
        file = self._disk.open(place_of(TREE, scope, key))
        if file is None:
            return False
        with file:
            return read_header(file, scope, key).incarnation is not None

    async def truncate(self, request: LogRequest, before: int) -> int:
        """Forget entries: a commit says so at once, and the file is written anew when that saves half of it."""
        place = place_of(TREE, request.scope, request.key)
        async with self._guards.of(place) as guard:
            with self._opened(place, request) as log:
                guard.check()
                mark, head = raised_mark(log.state.mark, request.fence), log.state.head()
                if head is None:
                    self._keep_mark(place, request, log, mark)
                    return 0
                first = kept_position(head, before)
                forgotten = max(log.state.forgotten, log.state.batches - KEPT_BATCHES)
                self._change(place, log, log.state._replace(first=first, mark=mark, forgotten=forgotten))
            if first > head.first:
                with contextlib.suppress(HoldallError):  # it is done; a sweep gives the room back
                    self._rewrite_if_worth(place, request.scope, request.key)
            return first - head.first

    def _opened(self, place: Place, request: LogRequest) -> OpenLog:
        log = self._open(place, request.scope, request.key)
        check_fence(log.state.mark, request.fence)
        check_head(request.expect, log.state.head())
        return log

    def _keep_mark(self, place: Place, request: LogRequest, log: OpenLog, mark: int) -> None:
        """Leave nothing of a log but its mark."""
        if mark and (log.state.incarnation is not None or mark != log.state.mark):
            self._create(place, request.scope, request.key, self._new_state(None, 0, mark), [], Batch())
        elif not mark and log.file is not None:
            self._known.pop(place, None)
            folder = self._disk.remove(place)
            if folder is not None:
                self._disk.settle(folder)

    def _change(self, place: Place, log: OpenLog, state: LogState) -> None:
        """Commit another state, without entries."""
        if log.file is not None and state != log.state:
            data, state = sealed_batch(state, b"", 0, Batch())
            log.file.append(log.state.end, data, cut=log.size > log.state.end)
            self._know(place, state)

    async def drop(self, request: LogRequest) -> bool:
        """Delete a log."""
        place = place_of(TREE, request.scope, request.key)
        async with self._guards.of(place) as guard:
            with self._opened(place, request) as log:
                guard.check()
                self._keep_mark(place, request, log, raised_mark(log.state.mark, request.fence))
                with contextlib.suppress(HoldallError):  # it is done; a sweep removes what is left
                    self._disk.remove(place_of(INDEX, request.scope, request.key))
                return log.state.incarnation is not None

    async def restore_log(self, scope: str, key: str, first: int, payloads: Sequence[bytes], write_id: str) -> Head:
        """Create a log that begins at a position."""
        place = place_of(TREE, scope, key)
        async with self._guards.of(place) as guard:
            with self._open(place, scope, key) as log:
                former = log.state
            if former.incarnation is not None:
                message = "there is such a log: drop it before it is restored"
                raise AlreadyExists(message)
            guard.check()
            begun = self._new_state(write_id, first, former.mark)
            state = self._create(place, scope, key, begun, payloads, Batch())
            return Head(state.first, state.length, write_id)

    async def seal_log(self, scope: str, key: str, fence: int) -> Head | None:
        """Raise the mark of a log."""
        place = place_of(TREE, scope, key)
        async with self._guards.of(place) as guard:
            with self._open(place, scope, key) as log:
                check_fence(log.state.mark, fence)
                guard.check()
                if log.state.incarnation is None:
                    if log.state.mark != fence:
                        self._create(place, scope, key, self._new_state(None, 0, fence), [], Batch())
                    return None
                self._change(place, log, log.state._replace(mark=fence))
                return log.state.head()

    def _rewrite_if_worth(self, place: Place, scope: str, key: str) -> None:
        """Write the file anew if more than half of it is forgotten."""
        with self._open(place, scope, key) as log:
            size = log.state.end - log.state.begin
            if log.file is None or size < _WORTH_REWRITING:
                return
            if self._kept_from(log.file, log.state) - log.state.begin > size // 2:
                self._rewrite(place, scope, key, log.file, log.state)

    @staticmethod
    def _kept_from(file: OpenFile, state: LogState) -> int:
        """Return where the first batch begins that has an entry to keep."""
        if state.first == state.length:
            return state.end
        return batch_start(file, state, offset_of(file, state, state.first))

    def _rewrite(self, place: Place, scope: str, key: str, file: OpenFile, state: LogState) -> None:
        """Put a file in the place of a log that holds no batch which is all forgotten."""
        offset = self._kept_from(file, state)
        start = position_at(file, state, offset)
        remembered = b"".join(map(remembered_line, remembered_batches(file, state, offset)))
        new = state._replace(file_id=self._environment.new_id(), start=start, length=start)
        header = header_line(scope, key, new, remembered)
        with self._disk.draft((header,), self._environment.new_id()) as draft:
            written = len(header)
            for at in range(offset, state.end, _COPIED):
                written = draft.write((file.read(at, min(_COPIED, state.end - at)),), written)
            if self._disk.durable:
                draft.sync()
            folder = self._disk.publish(draft, place)
        self._known.pop(place, None)
        self._disk.settle(folder)

    async def sweep_log(self, scope: str, key: str) -> bool:
        """Write a log anew whose file holds batches that are all forgotten; return whether it did."""
        found = await self._load(scope, key)
        if found is None:
            return False
        with found:
            if found.state.first == found.state.start:
                return False
        place = place_of(TREE, scope, key)
        async with self._guards.of(place) as guard:
            with self._open(place, scope, key) as log:
                guard.check()
                if log.file is None or self._kept_from(log.file, log.state) == log.state.begin:
                    return False
                self._rewrite(place, scope, key, log.file, log.state)
                return True

    async def sweep_index(self, scope: str, key: str) -> bool:
        """Remove an index whose log is gone; return whether it was."""
        log = self._disk.open(place_of(TREE, scope, key))
        if log is not None:
            log.close()
            return False
        return self._disk.remove(place_of(INDEX, scope, key)) is not None


def _loaded(file: OpenFile, scope: str, key: str, known: _Known | None) -> Loaded:
    """Return the state of a log.

    Raises:
        Corrupt: it is damaged, or shorter than it was.

    """
    try:
        loaded = load(file, scope, key, None if known is None else known.state)
    except BaseException:
        file.close()
        raise
    if known is not None and known.sure is not None and _is_behind(loaded.state, known.sure):
        file.close()
        message = "the log is shorter than it was: something other than holdall cut or replaced its file"
        raise Corrupt(message)
    return loaded


def _is_behind(state: LogState, sure: LogState) -> bool:
    """Return whether a state comes before one that the same log had."""
    if state.incarnation != sure.incarnation:
        return False
    names = ("length", "first", "mark", "batches", "forgotten")
    return any(getattr(state, name) < getattr(sure, name) for name in names)
