"""The way to a MongoDB deployment: commands on collections, by a client that blocks or one that suspends."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdall.errors import ConfigError, HoldallError
from holdall_adapters.connections.going_on import GoingOn, awaited
from holdall_adapters.mongodb.connections.transactions import Transaction
from holdall_adapters.mongodb.errors import translated

if TYPE_CHECKING:
    from holdall.spi import Environment

__all__ = ["Deployment", "Documents"]

Documents = list[dict[str, Any]]

_BATCH = 2_000
"""Documents of a reply, as far as 16 MB go: a page of keys comes in one."""


class Deployment:
    """A database of a deployment, and the client by which it is reached.

    Args:
        pymongo: the module.
        client: a `MongoClient`, an `AsyncMongoClient`, or a client of Motor.
        database: the name of the database.
        prefix: what the names of the collections begin with.
        timeout: seconds that bound every command.
        environment: tells the time, and sleeps.
        linearizable: whether reads of one document wait for a majority to confirm that this is the primary.
        suspending: whether commands are awaited.

    """

    def __init__(
        self,
        pymongo: Any,
        client: Any,
        database: str,
        prefix: str,
        timeout: float,
        environment: Environment,
        *,
        linearizable: bool,
        suspending: bool,
    ) -> None:
        self._pymongo = pymongo
        unreadable = importlib.import_module("bson.errors").BSONError  # a reply that is none
        self._failures = (pymongo.errors.PyMongoError, unreadable, OSError)
        self.client = client
        self._prefix = prefix
        self.timeout = timeout
        self.environment = environment
        self.database = client.get_database(
            database,
            read_concern=pymongo.read_concern.ReadConcern("majority"),
            write_concern=pymongo.WriteConcern(w="majority", j=True),
            read_preference=pymongo.ReadPreference.PRIMARY,
        )
        self._of_one = pymongo.read_concern.ReadConcern("linearizable") if linearizable else None
        self._collections: dict[str, Any] = {}
        self._going_on = GoingOn(suspending=suspending)

    def collection(self, name: str) -> Any:
        """Return a collection.

        Args:
            name: its name without the prefix.

        """
        found = self._collections.get(name)
        if found is None:
            found = self._collections[name] = self.database.get_collection(self._prefix + name)
        return found

    def _reader(self, name: str, within: Transaction | None) -> Any:
        """Return a collection for reading one document."""
        documents = self.collection(name)
        if self._of_one is None or within is not None:
            return documents
        return documents.with_options(read_concern=self._of_one)

    def bounded(self, share: float = 1) -> contextlib.AbstractContextManager[Any]:
        """Bound all commands within, together.

        Args:
            share: the part of the timeout that they may take.

        """
        bound: contextlib.AbstractContextManager[Any] = self._pymongo.timeout(self.timeout * share)
        return bound

    async def call(
        self,
        call: Callable[[Any], Any],
        *,
        writing: bool,
        timeout: float | None = None,
        within: Transaction | None = None,
    ) -> Any:
        """Return what a call of the driver comes to.

        Args:
            call: makes it; takes the session of a transaction, or None.
            writing: whether it writes, so that a lost reply leaves its outcome open.
            timeout: seconds that bound it, by default those of all commands.
            within: the transaction, if there is one.

        """
        try:
            if within is not None:  # there the time is bounded once
                within.check()
                return await awaited(call(within.session))
            with self._pymongo.timeout(self.timeout if timeout is None else timeout):
                return await self._going_on.result(lambda: call(None))
        except HoldallError:
            raise
        except self._failures as error:
            raise translated(error, self._pymongo.errors, writing=writing and within is None) from error

    async def find_one(
        self,
        collection: str,
        wanted: Mapping[str, Any],
        shown: Mapping[str, Any],
        within: Transaction | None = None,
    ) -> dict[str, Any] | None:
        """Return the document that a unique index leads to, or None."""
        documents = self._reader(collection, within)

        def call(session: Any) -> Any:
            return documents.find_one(wanted, shown, session=session)

        found: dict[str, Any] | None = await self.call(call, writing=False, within=within)
        return found

    async def aggregate(
        self,
        collection: str,
        pipeline: Sequence[Mapping[str, Any]],
        most_bytes: int | None = None,
        within: Transaction | None = None,
        *,
        of_one: bool = False,
    ) -> tuple[Documents, bool]:
        """Return documents, and whether there are more than fit into a number of bytes of payload.

        Args:
            collection: the collection.
            pipeline: what to find.
            most_bytes: bytes of payload after which no further document is taken.
            within: the transaction, if there is one.
            of_one: whether a unique index leads to the one document that there may be.

        """
        documents = self._reader(collection, within) if of_one else self.collection(collection)

        def call(session: Any) -> Any:
            return self._collected(documents, pipeline, most_bytes, session)

        found: tuple[Documents, bool] = await self.call(call, writing=False, within=within)
        return found

    async def _collected(
        self, documents: Any, pipeline: Sequence[Mapping[str, Any]], most_bytes: int | None, session: Any
    ) -> tuple[Documents, bool]:
        cursor = await awaited(documents.aggregate(list(pipeline), session=session, batchSize=_BATCH))
        if most_bytes is None:
            return await awaited(cursor.to_list(None)), False
        found, size = Documents(), 0
        try:
            async for document in _each(cursor):
                if size >= most_bytes:
                    return found, True
                found.append(document)
                size += _payload_of(document)
        finally:
            await awaited(cursor.close())
        return found, False

    async def update(
        self,
        collection: str,
        wanted: Mapping[str, Any],
        pipeline: Sequence[Mapping[str, Any]],
        *,
        upsert: bool,
        timeout: float | None = None,
        within: Transaction | None = None,
    ) -> bool:
        """Change the document that a unique index leads to by a pipeline, and tell whether that changed anything.

        Raises:
            Duplicate: another made it at the same moment: run it again.

        """
        documents = self.collection(collection)

        def call(session: Any) -> Any:
            return documents.update_one(wanted, pipeline, upsert=upsert, session=session)

        result = await self.call(call, writing=True, timeout=timeout, within=within)
        return bool(result.modified_count or result.upserted_id is not None)

    async def changed(
        self,
        collection: str,
        wanted: Mapping[str, Any],
        pipeline: Sequence[Mapping[str, Any]],
        shown: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Change the document that a unique index leads to by a pipeline, or make it; return what it is then.

        Raises:
            Duplicate: another made it at the same moment: run it again.

        """
        documents, after = self.collection(collection), self._pymongo.ReturnDocument.AFTER

        def call(_: Any) -> Any:
            return documents.find_one_and_update(wanted, pipeline, shown, upsert=True, return_document=after)

        found: dict[str, Any] = await self.call(call, writing=True)
        return found

    async def update_many(
        self, collection: str, wanted: Mapping[str, Any], pipeline: Sequence[Mapping[str, Any]]
    ) -> int:
        """Change documents, each by itself, and return how many were changed."""
        result = await self.call(lambda _: self.collection(collection).update_many(wanted, pipeline), writing=True)
        return int(result.modified_count)

    async def insert(self, collection: str, document: Mapping[str, Any]) -> None:
        """Insert a document.

        Raises:
            Duplicate: there is one.

        """
        await self.call(lambda _: self.collection(collection).insert_one(dict(document)), writing=True)

    async def delete_many(self, collection: str, wanted: Mapping[str, Any]) -> int:
        """Delete documents and return how many."""
        result = await self.call(lambda _: self.collection(collection).delete_many(wanted), writing=True)
        return int(result.deleted_count)

    async def upsert_many(
        self, collection: str, updates: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]
    ) -> None:
        """Change documents in one command, each by a pipeline of its own, and make those that are not there.

        Raises:
            Duplicate: another made one at the same moment: look which are missing, and run them again.

        """
        requests = [self._pymongo.UpdateOne(wanted, list(pipeline), upsert=True) for wanted, pipeline in updates]
        try:
            await self.call(lambda _: self.collection(collection).bulk_write(requests, ordered=False), writing=True)
        except HoldallError as error:
            if not isinstance(error.__cause__, self._pymongo.errors.BulkWriteError):
                raise
            raise self._of_bulk(error.__cause__) from error.__cause__

    def _of_bulk(self, error: Any) -> Exception:
        codes = {failure.get("code") for failure in error.details.get("writeErrors", [])}
        if codes and codes <= {11000, 112}:
            refused = self._pymongo.errors.WriteError("", min(codes))  # if others were in the way, these count
            return translated(refused, self._pymongo.errors, writing=True)
        return translated(self._pymongo.errors.WriteConcernError(""), self._pymongo.errors, writing=True)

    async def make_indexes(self, collection: str, indexes: Sequence[tuple[Sequence[str], bool]]) -> None:
        """Make indexes that are not there yet.

        Args:
            collection: the collection.
            indexes: the fields of each, in ascending order, and whether it is unique.

        """
        models = [
            self._pymongo.IndexModel([(field, 1) for field in fields], unique=unique) for fields, unique in indexes
        ]
        await self.call(lambda _: self.collection(collection).create_indexes(models), writing=False)

    async def command(self, name: str) -> dict[str, Any]:
        """Run a command of the administration that takes nothing, such as hello."""
        found: dict[str, Any] = await self.call(lambda _: self.client.admin.command(name), writing=False)
        return found

    async def transact(self, work: Callable[[Transaction], Awaitable[Any]]) -> None:
        """Run work in a transaction and commit it.

        Whoever waits for it may be cancelled: then no command is broken off, but the transaction is ended after the
        command that is under way, so that the server keeps no locks for it.

        Args:
            work: is given the transaction, for all its commands.

        Raises:
            InTheWay: another transaction was in the way, and nothing was applied.
            OutcomeUnknown: the reply to the commit was lost.

        """
        transaction = Transaction(self._pymongo)
        await self._going_on.to_its_end(self._transacted(transaction, work), transaction.give_up)

    async def _transacted(self, transaction: Transaction, work: Callable[[Transaction], Awaitable[Any]]) -> None:
        try:
            with self._pymongo.timeout(self.timeout):
                await transaction.run(self.client, work)
        except HoldallError:
            raise
        except self._failures as error:
            raise translated(error, self._pymongo.errors, writing=False) from error

    async def close(self) -> None:
        """Close the client, after the transactions that nobody waits for any more have ended."""
        await self._going_on.ended()
        await awaited(self.client.close())

    async def check(self) -> dict[str, Any]:
        """Reach the deployment, and return what it says of itself.

        Raises:
            ConfigError: it cannot serve.

        """
        hello = await self.command("hello")
        if hello.get("maxWireVersion", 0) < 9:  # noqa: PLR2004 - that of MongoDB 4.4
            message = "the server is too old: holdall needs MongoDB 4.4 or newer"
            raise ConfigError(message)
        return hello


async def _each(cursor: Any) -> AsyncIterator[dict[str, Any]]:
    """Go through a cursor of either kind."""
    if hasattr(cursor, "__aiter__"):
        async for document in cursor:
            yield document
        return
    for document in cursor:
        yield document


def _payload_of(document: Mapping[str, Any]) -> int:
    """Return how many bytes of payload a record, or a chunk with its batches, holds."""
    return len(document.get("p", b"")) + sum(len(batch["p"]) for batch in document.get("t", ()))
