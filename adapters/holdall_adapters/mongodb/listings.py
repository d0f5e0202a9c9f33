"""Records of MongoDB as they are read: one, several, and pages of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdall.keys import text_after
from holdall.spi import StoredPage, StoredRecord
from holdall_adapters.mongodb.expressions import live, milliseconds_left

if TYPE_CHECKING:
    from holdall_adapters.mongodb.connection import Deployment, Documents

__all__ = ["RECORDS", "MongoListings", "between", "page_of_names"]

RECORDS = "records"
_MOST_ROWS = 10_000
_STRIDE = 200
"""Documents that are looked at between two leaps from scope to scope."""
_MOST_KEYS = 1_000
_MOST_BYTES = 8 * 2**20
_IS_LIVE: dict[str, Any] = {"$match": {"$expr": live()}}
"""A stage of its own, so that the index is used for the one before."""


def between(field: str, prefix: str, after: str | None) -> dict[str, Any]:
    """Return the condition that names begin with a prefix and lie behind another name.

    Args:
        field: the field of the name.
        prefix: what they begin with.
        after: the name behind which they lie, or None.

    """
    end = text_after(prefix)
    behind = {"$gt": after} if after is not None and after >= prefix else {"$gte": prefix}
    return {field: behind if end is None else {**behind, "$lt": end}}


async def page_of_names(
    deployment: Deployment, collection: str, match: Sequence[Mapping[str, Any]], field: str, limit: int
) -> StoredPage[str]:
    """Return a page of names in order.

    Args:
        deployment: the deployment.
        collection: the collection.
        match: the stages that choose documents.
        field: the field of the name, behind the scope in the index.
        limit: the most the page may hold.

    """
    limit = min(limit, _MOST_ROWS)
    ordered: list[Mapping[str, Any]] = [
        {"$sort": {"s": 1, field: 1}},
        {"$limit": limit + 1},
        {"$project": {"_id": 0, field: 1}},
    ]
    documents, _ = await deployment.aggregate(collection, [*match, *ordered])
    names = [document[field] for document in documents]
    return StoredPage(names[:limit], names[limit - 1] if len(names) > limit else None)


class MongoListings:
    """The operations that read records."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment

    async def get(self, scope: str, key: str) -> StoredRecord | None:
        """Return a live record."""
        found, _ = await self._live({"s": scope, "k": key}, of_one=True)
        return _stored(found[0]) if found else None

    async def _live(
        self,
        wanted: Mapping[str, Any],
        *following: Mapping[str, Any],
        most_bytes: int | None = None,
        of_one: bool = False,
    ) -> tuple[Documents, bool]:
        """Return live records as documents, with the milliseconds that they have left."""
        shown = {"_id": 0, "k": 1, "p": 1, "v": 1, "left": milliseconds_left()}
        pipeline = [{"$match": wanted}, _IS_LIVE, *following, {"$project": shown}]
        return await self._deployment.aggregate(RECORDS, pipeline, most_bytes, of_one=of_one)

    async def get_many(self, scope: str, keys: Sequence[str]) -> Sequence[StoredRecord | None]:
        """Return live records in the order asked."""
        found: dict[str, StoredRecord] = {}
        for start in range(0, len(keys), _MOST_KEYS):
            documents, _ = await self._live({"s": scope, "k": {"$in": list(keys[start : start + _MOST_KEYS])}})
            found.update((document["k"], _stored(document)) for document in documents)
        return [found.get(key) for key in keys]

    async def scan(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[StoredRecord]:
        """Return a page of live records, up to a bound of bytes."""
        limit = min(limit, _MOST_ROWS)
        wanted = {"s": scope, **between("k", prefix, after)}
        ordered: list[dict[str, Any]] = [{"$sort": {"s": 1, "k": 1}}, {"$limit": limit + 1}]
        documents, cut = await self._live(wanted, *ordered, most_bytes=_MOST_BYTES)
        rows = [_stored(document) for document in documents[:limit]]
        return StoredPage(rows, rows[-1].key if cut or len(documents) > limit else None)

    async def keys(self, scope: str, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of keys."""
        match = [{"$match": {"s": scope, **between("k", prefix, after)}}, _IS_LIVE]
        return await page_of_names(self._deployment, RECORDS, match, "k", limit)

    async def scopes(self, prefix: str, after: str | None, limit: int) -> StoredPage[str]:
        """Return a page of scopes, leaping over what is left of one that holds much."""
        return await self._scopes_of(RECORDS, _IS_LIVE, prefix, after, limit)

    async def _scopes_of(
        self, collection: str, living: Mapping[str, Any], prefix: str, after: str | None, limit: int
    ) -> StoredPage[str]:
        limit, names = min(limit, _MOST_ROWS), list[str]()
        while len(names) <= limit:
            match = {"$match": between("s", prefix, names[-1] if names else after)}
            shown = {"$project": {"_id": 0, "s": 1}}
            ordered: list[Mapping[str, Any]] = [{"$sort": {"s": 1, "k": 1}}, {"$limit": _STRIDE}, shown]
            documents, _ = await self._deployment.aggregate(collection, [match, living, *ordered])
            names += dict.fromkeys(document["s"] for document in documents)
            if len(documents) < _STRIDE:
                break
        return StoredPage(names[:limit], names[limit - 1] if len(names) > limit else None)


def _stored(document: Mapping[str, Any]) -> StoredRecord:
    left = document["left"]
    return StoredRecord(document["k"], bytes(document["p"]), document["v"], None if left is None else left / 1000)
