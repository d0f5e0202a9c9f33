"""Broken in one of several ways to do the same with records: the others are right."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdall import Append, Conflict, InvalidArgument, Put
from holdall.codec import decode, encode
from holdall.spi import DeleteRequest, PutRequest, StoredPage, StoredRecord, WriteRequest
from holdall.values import Expect
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Record, Space
from holdall_conformance.broken.values import everywhere
from holdall_conformance.broken.wrapping import WrappedStore


def rounded(payload: bytes) -> bytes:
    """Return the bytes of a value whose ints went through floats."""
    return encode(everywhere(decode(payload), _through_float))


def _through_float(part: Any) -> Any:
    return int(float(part)) if type(part) is int and abs(part) < 2**64 else part


def _sorted(payload: bytes) -> bytes:
    """Return the bytes of a value whose fields are in order."""
    return encode(everywhere(decode(payload), _in_order))


def _in_order(part: Any) -> Any:
    fields: dict[str, Any] = part
    return dict(sorted(fields.items())) if type(part) is dict else part


@broken("put-many-sorts-fields", "values")
class PutManySortsFields(PlainStore):
    """Stores with put_many objects whose fields are sorted."""

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        await super().put_many([request._replace(payload=_sorted(request.payload)) for request in requests])


@broken("commit-rounds-ints", "values", "commits")
class CommitRoundsInts(PlainStore):
    """Sends the values of a commit as numbers of JavaScript, which rounds large ints."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        return await super().commit(
            [r._replace(payload=rounded(r.payload)) if isinstance(r, PutRequest) else r for r in requests]
        )


@broken("listing-rounds-ints", "values", "paging")
class ListingRoundsInts(PlainStore):
    """Reads the values of a listing by another decoder, which rounds large ints."""

    async def scan(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[StoredRecord]:
        found = await super().scan(scope, prefix, after, limit)
        return StoredPage([row._replace(payload=rounded(row.payload)) for row in found.rows], found.next)


@broken("update-rounds-ints", "values")
class UpdateRoundsInts(WrappedStore):
    """Gives to the function of an update a value whose large ints are rounded."""

    def update(self, scope: str, key: str, function: Any, **named: Any) -> Any:
        def changed(value: Any) -> Any:
            return function(decode(rounded(encode(value))))

        return self.inner.update(scope, key, changed if callable(function) else function, **named)


@broken("put-many-ttl-of-the-first", "expiry")
class PutManyTtlOfTheFirst(PlainStore):
    """Gives the ttl of put_many to the first 25 records, as many as one request takes."""

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        await super().put_many([*requests[:25], *(request._replace(ttl=None) for request in requests[25:])])


@broken("delete-many-up-to-a-hundred", "records")
class DeleteManyUpToAHundred(PlainStore):
    """Deletes the first hundred keys of delete_many, and counts no more."""

    async def delete_many(self, scope: str, keys: Sequence[str]) -> int:
        return await super().delete_many(scope, keys[:100])


@broken("touch-of-the-permanent", "expiry")
class TouchOfThePermanent(PlainStore):
    """Touches only what has a ttl, and answers False for the rest."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        with self.room.turn() as space:
            record = self.record_at(space, scope, key)
            self.check_fence(record.mark, fence)
            permanent = record.expires is None
        return False if permanent else await super().touch(scope, key, ttl, fence)


@broken("touch-with-none-answers-false", "expiry", "records")
class TouchWithNoneAnswersFalse(PlainStore):
    """Answers False for a touch with None, as a database does that had nothing to change."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        return await super().touch(scope, key, ttl, fence) and ttl is not None


@broken("update-keeps-the-ttl", "expiry")
class UpdateKeepsTheTtl(WrappedStore):
    """Keeps with an update without ttl the one that the record had."""

    def update(self, scope: str, key: str, function: Any, *, ttl: Any = None, **named: Any) -> Any:
        before = self.inner.get(scope, key) if ttl is None and callable(function) else None
        left = ttl if before is None else before.expires_in
        return self.inner.update(scope, key, function, ttl=left, **named)


class _KeepingTtl(PlainStore):
    """Lets a record have the end that it had if a put gives none."""

    def keeping(self, space: Space, request: PutRequest) -> PutRequest:
        """Return a put with the ttl that its record has left."""
        before = self.record_at(space, request.scope, request.key)
        if request.ttl is not None or before.expires is None or not self.is_live(before):
            return request
        return request._replace(ttl=before.expires - self.now())


@broken("commit-keeps-the-ttl", "expiry")
class CommitKeepsTheTtl(_KeepingTtl):
    """Keeps with a put of a commit that has no ttl the one that the record had."""

    def apply_one(self, space: Space, request: WriteRequest, found: Any) -> Any:
        return super().apply_one(
            space, self.keeping(space, request) if isinstance(request, PutRequest) else request, found
        )


@broken("put-many-keeps-ttls", "expiry")
class PutManyKeepsTtls(_KeepingTtl):
    """Keeps with a put_many without ttl those that the records had."""

    async def put_many(self, requests: Sequence[PutRequest]) -> None:
        with self.room.turn() as space:
            kept = [self.keeping(space, request) for request in requests]
        await super().put_many(kept)


@broken("get-many-without-expires-in", "expiry")
class GetManyWithoutExpiresIn(PlainStore):
    """Tells in get_many of no record how long it lasts."""

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        return [record and record._replace(expires_in=None) for record in await super().get_many(scope, keys)]


@broken("conflict-tells-a-deleted-version", "versions", "errors")
class ConflictTellsADeletedVersion(PlainStore):
    """Names as the current version of a conflict the last one of a record that is deleted."""

    def apply_delete(self, space: Space, request: DeleteRequest) -> bool:
        space.notes[request.scope, request.key] = self.record_at(space, request.scope, request.key).version
        return super().apply_delete(space, request)

    def check(self, space: Space, scope: str, key: str, expect: Expect, fence: int | None) -> str | None:
        try:
            return super().check(space, scope, key, expect, fence)
        except Conflict as conflict:
            if conflict.current is not None:
                raise
            message = "it is at another version"
            raise Conflict(message, space.notes.get((scope, key))) from None


@broken("cursor-compares-utf16", "paging")
class CursorComparesUtf16(PlainStore):
    """Sorts names as it should, and compares them with the cursor by their UTF-16."""

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        found = super().names(kept, prefix, None)
        if after is None:
            return found
        return [name for name in found if name.encode("utf-16-be") > after.encode("utf-16-be")]


@broken("scopes-of-utf16", "paging")
class ScopesOfUtf16(PlainStore):
    """Sorts scopes by their UTF-16, and keys as it should."""

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        with self.room.turn() as space:
            names = [name for name in self.names(space.records, prefix, after) if any(self.live(space, name, "", None))]
            return self.page(sorted(names, key=lambda name: name.encode("utf-16-be")), limit, str)


@broken("prefix-of-scopes-folds-case", "keys", "paging")
class PrefixOfScopesFoldsCase(PlainStore):
    """Finds scopes by their prefix whatever its case, as LIKE does in SQLite."""

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        with self.room.turn() as space:
            names = self.names(space.records, "", after)
            living = (name for name in names if any(self.live(space, name, "", None)))
            return self.page((name for name in living if name.lower().startswith(prefix.lower())), limit, str)


@broken("commit-refuses-record-and-log-of-one-name", "commits")
class CommitRefusesRecordAndLogOfOneName(WrappedStore):
    """Takes the record and the log of one name for the same thing, which a commit may change only once."""

    def commit(self, operations: Any) -> Any:
        if isinstance(operations, list | tuple):
            listed: list[Any] = [*operations]
            of_records = {(one.scope, one.key) for one in listed if isinstance(one, Put)}
            of_logs = {(one.scope, one.key) for one in listed if isinstance(one, Append)}
            if of_records & of_logs:
                message = "a commit changes each key once"
                raise InvalidArgument(message)
        return self.inner.commit(operations)


@broken("touch-makes-floats-whole", "values", "expiry")
class TouchMakesFloatsWhole(PlainStore):
    """Reads a value and writes it again when it is touched, with whole floats as ints."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        there = await super().touch(scope, key, ttl, fence)
        with self.room.turn(write=True) as space:
            record: Record = self.record_at(space, scope, key)
            if record.payload is not None:
                whole = everywhere(decode(record.payload), _whole)
                record.payload = encode(whole)
        return there


def _whole(part: Any) -> Any:
    return int(part) if type(part) is float and part.is_integer() else part
