"""The collections and indexes, made on first use, and the version of their layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdall.errors import ConfigError
from holdall_adapters.mongodb.errors import Duplicate
from holdall_adapters.mongodb.expressions import literal

if TYPE_CHECKING:
    from holdall_adapters.mongodb.connection import Deployment

__all__ = ["LAYOUT", "prepare"]

LAYOUT = 1
_META = "meta"
_INDEXES: dict[str, list[tuple[tuple[str, ...], bool]]] = {
    "records": [(("s", "k"), True), (("x",), False)],
    "logs": [(("s", "k"), True)],
    "chunks": [(("i", "a"), True), (("i", "e"), False), (("i", "h"), False), (("i", "w"), False)],
    "leases": [(("k",), True)],
    "flags": [(("k",), True)],
}


async def prepare(deployment: Deployment, *, create: bool) -> bool:
    """Make the indexes if they are not there yet, and return whether the deployment has transactions.

    Args:
        deployment: the deployment.
        create: whether they may be made.

    Raises:
        ConfigError: the deployment or the collections cannot serve.

    """
    hello = await deployment.check()
    found = await deployment.find_one(_META, {"_id": "layout"}, {"version": 1})
    if found is None:
        if not create:
            message = "the database has no collections of holdall, and create=false forbids to make them"
            raise ConfigError(message)
        for collection, indexes in _INDEXES.items():
            await deployment.make_indexes(collection, indexes)
        await _note(deployment)
    elif found["version"] > LAYOUT:
        message = f"the collections are of version {found['version']}, and this holdall knows {LAYOUT}: install a newer"
        raise ConfigError(message)
    return "setName" in hello or hello.get("msg") == "isdbgrid"


async def _note(deployment: Deployment) -> None:
    """Note the version last, so that whoever finds it finds all indexes."""
    pipeline = [{"$replaceWith": {"_id": "$_id", "version": literal(LAYOUT)}}]
    try:
        await deployment.update(_META, {"_id": "layout"}, pipeline, upsert=True)
    except Duplicate:
        return
