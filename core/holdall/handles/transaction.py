"""The buffer of an optimistic transaction: what was read, and what is to be written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdall.codec import decode, encode
from holdall.drive import drive
from holdall.errors import InvalidArgument
from holdall.values import ABSENT, ANY, Append, Check, CommitOperation, Delete, Fence, Head, Put, Record

Name = tuple[str, str]


class Buffer:
    """Remembers every version and head that was read, and every write, and turns them into one commit."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._read: dict[Name, Record | None] = {}
        self._heads: dict[Name, Head | None] = {}
        self._writes: dict[Name, Put | Delete] = {}
        self._appends: dict[Name, Append] = {}

    async def get(self, scope: str, key: str) -> Record | None:
        """Return a record as this transaction sees it: its own write, or what it read first."""
        return (await self.get_many(scope, [key]))[0]

    async def get_many(self, scope: str, keys: Iterable[str]) -> list[Record | None]:
        """Return several records as this transaction sees them."""
        wanted = list(keys)
        unread = [key for key in wanted if (scope, key) not in self._read and (scope, key) not in self._writes]
        for key, record in zip(unread, await self._store.get_many(scope, unread), strict=True):
            self._read[scope, key] = record
        return [self._seen((scope, key)) for key in wanted]

    def _seen(self, name: Name) -> Record | None:
        write = self._writes.get(name)
        if isinstance(write, Put):
            return Record(*name, decode(encode(write.value)), "", write.ttl)
        return None if isinstance(write, Delete) else self._read[name]

    async def head(self, scope: str, key: str) -> Head | None:
        """Return the head of a log as it was before this transaction."""
        if (scope, key) not in self._heads:
            self._heads[scope, key] = await self._store.head(scope, key)
        return self._heads[scope, key]

    def put(self, scope: str, key: str, value: Any, *, ttl: float | None = None, fence: Fence = None) -> None:
        """Write a record at commit."""
        self._writes[scope, key] = Put(scope, key, decode(encode(value)), ttl=ttl, fence=fence)

    def delete(self, scope: str, key: str, *, fence: Fence = None) -> None:
        """Delete a record at commit."""
        self._writes[scope, key] = Delete(scope, key, fence=fence)

    def append(
        self, scope: str, key: str, entries: Iterable[Any], *, fence: Fence = None, batch_id: str | None = None
    ) -> None:
        """Append to a log at commit; several appends to one log become one batch."""
        before = self._appends.get((scope, key))
        added = [decode(encode(entry)) for entry in entries]
        if before is None:
            self._appends[scope, key] = Append(scope, key, added, fence=fence, batch_id=batch_id)
            return
        if (fence, batch_id) != (before.fence, before.batch_id):
            message = "appends to one log in one transaction become one batch: give them the same fence and batch_id"
            raise InvalidArgument(message)
        self._appends[scope, key] = Append(scope, key, [*before.entries, *added], fence=fence, batch_id=batch_id)

    def operations(self) -> list[CommitOperation]:
        """Return the commit: every write with what was read as its expectation, and a check of the rest."""
        writes: list[CommitOperation] = [self._expecting(name, write) for name, write in self._writes.items()]
        writes += [self._expecting_head(name, append) for name, append in self._appends.items()]
        checks = [Check(*name, _version(record)) for name, record in self._read.items() if name not in self._writes]
        heads = [
            Check(*name, ABSENT if head is None else head, log=True)
            for name, head in self._heads.items()
            if name not in self._appends
        ]
        return [*writes, *checks, *heads]

    def _expecting(self, name: Name, write: Put | Delete) -> Put | Delete:
        expect = _version(self._read[name]) if name in self._read else ANY
        if isinstance(write, Put):
            return Put(*name, write.value, expect=expect, ttl=write.ttl, fence=write.fence)
        return Delete(*name, expect=expect, fence=write.fence)

    def _expecting_head(self, name: Name, append: Append) -> Append:
        if name not in self._heads:
            return append
        head = self._heads[name]
        expect = ABSENT if head is None else head
        return Append(*name, append.entries, expect=expect, fence=append.fence, batch_id=append.batch_id)


def _version(record: Record | None) -> Any:
    return ABSENT if record is None else record.version


class DrivenTransaction:
    """The synchronous face of a buffer."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self.put = buffer.put
        self.delete = buffer.delete
        self.append = buffer.append

    def get(self, scope: str, key: str) -> Record | None:
        """As `Transaction.get`."""
        return drive(self._buffer.get(scope, key))

    def get_many(self, scope: str, keys: Iterable[str]) -> list[Record | None]:
        """As `Transaction.get_many`."""
        return drive(self._buffer.get_many(scope, keys))

    def head(self, scope: str, key: str) -> Head | None:
        """As `Transaction.head`."""
        return drive(self._buffer.head(scope, key))
