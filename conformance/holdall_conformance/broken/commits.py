"""Broken in commits of several operations."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdall import ANY, Append, Appended, Check, Conflict, Delete, Fenced, HoldallError, Put, Unsupported
from holdall.spi import AppendRequest, CheckLogRequest, CheckRequest, DeleteRequest, PutRequest, WriteRequest
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.rooms import FileRoom
from holdall_conformance.broken.state import Space
from holdall_conformance.broken.wrapping import WrappedStore


@broken("commit-half-applied", "commits")
class CommitHalfApplied(PlainStore):
    """Applies each operation of a commit as soon as it is checked, and leaves it so when a later one is refused."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        with self.room.turn(write=True) as space:
            return [self.apply_one(space, request, self.check_one(space, request)) for request in requests]


@broken("commit-in-two-steps", "concurrency")
class CommitInTwoSteps(PlainStore):
    """Applies the operations of a commit one by one, so that readers see half of it."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        with self.room.turn() as space:
            checked = [self.check_one(space, request) for request in requests]
        results: list[Any] = []
        for request, found in zip(requests, checked, strict=True):
            with self.room.turn(write=True) as space:
                results.append(self.apply_one(space, request, found))
            await self.pause()
        return results


@broken("commit-ignores-checks", "commits", "transactions")
class CommitIgnoresChecks(PlainStore):
    """Takes the checks of a commit for fulfilled."""

    def check_one(self, space: Space, request: WriteRequest) -> Any:
        if isinstance(request, CheckRequest):
            return self.version_at(space, request.scope, request.key)
        return super().check_one(space, request)


@broken("commit-stumbles-over-ends", "commits")
class CommitStumblesOverEnds(PlainStore):
    """Finds nothing in a commit where a record is checked that expires some day."""

    def check_one(self, space: Space, request: WriteRequest) -> Any:
        if isinstance(request, CheckRequest) and self.record_at(space, request.scope, request.key).expires is not None:
            self.check_version(request.expect, None)
        return super().check_one(space, request)


@broken("commit-ignores-checks-of-logs", "commits", "transactions")
class CommitIgnoresChecksOfLogs(PlainStore):
    """Takes the checks of logs in a commit for fulfilled."""

    def check_one(self, space: Space, request: WriteRequest) -> Any:
        if isinstance(request, CheckLogRequest):
            return self.log_at(space, request.scope, request.key).head()
        return super().check_one(space, request)


@broken("commit-ignores-fences", "commits", "fencing")
class CommitIgnoresFences(PlainStore):
    """Lets stale tokens in with a commit."""

    def check_one(self, space: Space, request: WriteRequest) -> Any:
        if isinstance(request, PutRequest | DeleteRequest | AppendRequest):
            request = request._replace(fence=None)
        return super().check_one(space, request)


@broken("commit-keeps-old-marks", "commits", "fencing")
class CommitKeepsOldMarks(PlainStore):
    """Does not raise marks with a commit."""

    def apply_one(self, space: Space, request: WriteRequest, found: Any) -> Any:
        if isinstance(request, PutRequest | DeleteRequest | AppendRequest):
            request = request._replace(fence=None)
        return super().apply_one(space, request, found)


@broken("commit-checks-as-it-writes", "commits")
class CommitChecksAsItWrites(PlainStore):
    """Lets the expectation of the first put of a commit stand for all."""

    def check_one(self, space: Space, request: WriteRequest) -> Any:
        return super().check_one(space, request)

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        first = True
        eased: list[WriteRequest] = []
        for request in requests:
            if isinstance(request, PutRequest):
                eased.append(request if first else request._replace(expect=ANY))
                first = False
            else:
                eased.append(request)
        return await super().commit(eased)


@broken("commit-answers-out-of-order", "commits")
class CommitAnswersOutOfOrder(PlainStore):
    """Returns the results of puts, then of deletes, then of appends."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        found = await super().commit(requests)
        kinds = [PutRequest, DeleteRequest, AppendRequest, CheckRequest, CheckLogRequest]
        order = sorted(range(len(found)), key=lambda index: kinds.index(type(requests[index])))
        return [found[index] for index in order]


@broken("commit-deletes-always-true", "commits")
class CommitDeletesAlwaysTrue(PlainStore):
    """Says of every delete in a commit that there was something."""

    def apply_one(self, space: Space, request: WriteRequest, found: Any) -> Any:
        result = super().apply_one(space, request, found)
        return True if isinstance(request, DeleteRequest) else result


@broken("commit-drops-deletes", "commits")
class CommitDropsDeletes(PlainStore):
    """Forgets the deletes of a commit."""

    def apply_one(self, space: Space, request: WriteRequest, found: Any) -> Any:
        if isinstance(request, DeleteRequest):
            return self.version_at(space, request.scope, request.key) is not None
        return super().apply_one(space, request, found)


@broken("commit-names-the-first", "commits", "errors")
class CommitNamesTheFirst(WrappedStore):
    """Names in an error the first operation of a commit, whichever was refused."""

    def commit(self, operations: Any) -> Any:
        operations = list(operations)
        try:
            return self.inner.commit(operations)
        except (Conflict, Fenced) as error:
            error.scope, error.key = operations[0].scope, operations[0].key
            raise


@broken("commit-takes-duplicates", "commits")
class CommitTakesDuplicates(WrappedStore):
    """Lets the last of several operations on one key count."""

    def commit(self, operations: Any) -> Any:
        known: dict[Any, Any] = {}
        for one in operations:
            if not isinstance(one, Put | Delete | Append | Check):
                return self.inner.commit(operations)
            known[isinstance(one, Append) or (isinstance(one, Check) and one.log), one.scope, one.key] = one
        return self.inner.commit(known.values())


@broken("commit-of-nothing", "commits")
class CommitOfNothing(WrappedStore):
    """Takes a commit of nothing, and does nothing."""

    def commit(self, operations: Any) -> Any:
        operations = list(operations)
        return self.inner.commit(operations) if operations else []


@broken("commit-declared-but-not-there", "commits", "transactions")
class CommitDeclaredButNotThere(PlainStore):
    """Declares commits of several operations and refuses them."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        if len(requests) > 1:
            message = "this backend changes one key at a time"
            raise Unsupported(message)
        return await super().commit(requests)


@broken("commit-one-by-one", "commits", "transactions", declares={"atomic_commit": False, "max_commit_operations": 1})
class CommitOneByOne(WrappedStore):
    """Declares no commits of several operations, and carries them out one by one."""

    def commit(self, operations: Any) -> Any:
        results: list[Any] = []
        for one in list(operations):
            results += self.inner.commit([one])
        return results


@broken("commit-fewer-than-declared", "commits", declares={"max_commit_operations": 500})
class CommitFewerThanDeclared(PlainStore):
    """Declares commits of 500 operations and applies the first hundred."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        done = list(await super().commit(requests[:100]))
        rest = requests[100:]
        return [*done, *(Appended(0, 1, _head(self, one)) if isinstance(one, AppendRequest) else None for one in rest)]


def _head(store: PlainStore, request: AppendRequest) -> Any:
    with store.room.turn() as space:
        return store.log_at(space, request.scope, request.key).head()


@broken("commit-retried-blindly", "commits", "versions")
class CommitRetriedBlindly(WrappedStore):
    """Applies a commit that conflicts once more, with what it should expect left out."""

    def commit(self, operations: Any) -> Any:
        operations = list(operations)
        try:
            return self.inner.commit(operations)
        except Conflict:
            eased = [
                Put(one.scope, one.key, one.value, ttl=one.ttl, fence=one.fence)
                for one in operations
                if isinstance(one, Put)
            ]
            return self.inner.commit(eased) if len(eased) == len(operations) else self._refuse(operations)

    def _refuse(self, operations: Any) -> Any:
        return self.inner.commit(operations)


@broken("commit-torn-by-error", "commits", room=FileRoom)
class CommitTornByError(PlainStore):
    """Stores what a commit had written before one of its operations was refused."""

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        refusal: HoldallError | None = None
        results: list[Any] = []
        with self.room.turn(write=True) as space:
            try:
                results.extend(self.apply_one(space, one, self.check_one(space, one)) for one in requests)
            except HoldallError as error:
                refusal = error
        if refusal is not None:
            raise refusal
        return results
